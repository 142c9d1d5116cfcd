package store

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits bound what one item may hold. The zero value of a field means its default.
type Limits struct {
	ContentBytes  int // default 1 MiB
	MetadataKeys  int // default 64
	MetadataBytes int // default 16 KiB
}

// WithDefaults returns a filled copy.
func (l Limits) WithDefaults() Limits {
	if l.ContentBytes == 0 {
		l.ContentBytes = 1 << 20
	}
	if l.MetadataKeys == 0 {
		l.MetadataKeys = 64
	}
	if l.MetadataBytes == 0 {
		l.MetadataBytes = 16 << 10
	}
	return l
}

// The times that items may carry: years 1 to 9999, so that RFC 3339 and every backend can hold them.
var (
	minTime = time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC)
	maxTime = time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
)

// Validate refuses an unknown kind.
func (k Kind) Validate() error {
	if slices.Contains(Kinds(), k) {
		return nil
	}
	return Invalid("kind", "episodic, semantic or procedural", quote(string(k)))
}

// Validate refuses an unknown category; empty is legal.
func (c Category) Validate() error {
	if c == "" || slices.Contains(Categories(), c) {
		return nil
	}
	return Invalid("category", "preference, knowledge, context, behavior, goal, correction or empty", quote(string(c)))
}

// Prepare brings an item into the stored form (UTF-8 repaired, NUL dropped, content trimmed, times in UTC at
// microseconds) and checks it against the limits.
func (it *Item) Prepare(l Limits) error {
	l = l.WithDefaults()
	it.Content = CleanText(it.Content)
	it.Provenance.Quote = CleanText(it.Provenance.Quote)
	it.Turn.Speaker = CleanText(it.Turn.Speaker)
	it.Provenance.repair()
	it.Metadata = it.Metadata.repaired()
	if z := ZoneOf(it.ValidFrom); z != "" {
		it.Provenance.Zone = z
	}
	it.Aside.prepare(it.RecordedAt)
	for _, t := range []*time.Time{&it.ValidFrom, &it.ValidTo, &it.RecordedAt, &it.ClosedAt, &it.RetractedAt, &it.LastUsed, &it.Outcomes.LastAt,
		&it.ExpiresAt, &it.Aside.SummarizedAt, &it.Aside.ForgottenAt, &it.Aside.PurgeAt} {
		if !t.IsZero() {
			*t = t.UTC().Truncate(time.Microsecond)
		}
	}
	return it.validate(l)
}

func (it *Item) validate(l Limits) error {
	if it.ID == "" {
		return Invalid("id", "given", "")
	}
	for _, f := range [...]struct{ name, v string }{{"id", it.ID}, {"thread", it.Turn.Thread}, {"session", it.Turn.Session},
		{"speaker", it.Turn.Speaker}, {"role", it.Turn.Role}, {"supersedes", it.Supersedes}, {"superseded_by", it.SupersededBy},
		{"aside.summary", it.Aside.Summary}, {"aside.forgotten_by", it.Aside.ForgottenBy}} {
		if err := ValidateName(f.name, f.v); err != nil {
			return err
		}
	}
	if err := it.Kind.Validate(); err != nil {
		return err
	}
	if err := it.Category.Validate(); err != nil {
		return err
	}
	if it.Content == "" {
		return Invalid("content", "more than blanks", "")
	}
	if len(it.Content) > l.ContentBytes {
		return Invalid("content", fmt.Sprintf("at most %d bytes (split it, or raise limits.content_bytes)", l.ContentBytes), fmt.Sprintf("%d bytes", len(it.Content)))
	}
	if err := InUnit("importance", it.Importance); err != nil {
		return err
	}
	if err := InUnit("confidence", it.Confidence); err != nil {
		return err
	}
	if it.Uses < 0 {
		return Invalid("uses", "zero or more", fmt.Sprint(it.Uses))
	}
	if err := it.Outcomes.validate(it.Kind); err != nil {
		return err
	}
	if it.Turn.Position < 0 || it.Turn.Position > math.MaxInt32 {
		return Invalid("position", "from 0 to 2147483647", fmt.Sprint(it.Turn.Position))
	}
	for _, f := range [...]struct {
		name string
		t    time.Time
	}{{"valid_from", it.ValidFrom}, {"valid_to", it.ValidTo}, {"recorded_at", it.RecordedAt},
		{"closed_at", it.ClosedAt}, {"retracted_at", it.RetractedAt}, {"last_used", it.LastUsed}, {"outcomes.last_at", it.Outcomes.LastAt},
		{"expires_at", it.ExpiresAt}, {"aside.summarized_at", it.Aside.SummarizedAt}, {"aside.forgotten_at", it.Aside.ForgottenAt}, {"aside.purge_at", it.Aside.PurgeAt}} {
		if !f.t.IsZero() && (f.t.Before(minTime) || f.t.After(maxTime)) {
			return Invalid(f.name, "in the years 1 to 9999", "")
		}
	}
	if !it.ValidTo.IsZero() && it.ValidTo.Before(it.ValidFrom) {
		return Invalid("valid_to", "not before valid_from", "")
	}
	return it.Metadata.validate(l)
}

// InUnit refuses NaN and anything outside 0–1.
func InUnit(field string, f float64) error {
	if math.IsNaN(f) || f < 0 || f > 1 {
		return Invalid(field, "a number from 0 to 1", fmt.Sprint(f))
	}
	return nil
}

// CleanText repairs UTF-8 (broken bytes become U+FFFD), drops NUL and trims surrounding blanks.
func CleanText(s string) string {
	s = repairUTF8(s)
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return strings.TrimSpace(s)
}

// repairUTF8 makes broken bytes U+FFFD.
func repairUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// quote gives a short, safe form of a name for an error message.
func quote(s string) string {
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}
