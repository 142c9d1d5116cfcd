package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

// itemFlags are the flags that remember and update share.
type itemFlags struct {
	category               string
	metadata               []string
	importance, confidence float64
	validFrom, validTo     string
	expires                string
}

func (f *itemFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.category, "category", "", "preference, knowledge, context, behavior, goal or correction")
	c.Flags().StringArrayVar(&f.metadata, "meta", nil, "metadata as name=value; the value is JSON, or text where it is not (repeatable)")
	c.Flags().Float64Var(&f.importance, "importance", 0.5, "0 to 1")
	c.Flags().Float64Var(&f.confidence, "confidence", 1, "0 to 1")
	c.Flags().StringVar(&f.validFrom, "valid-from", "", "when it became true: "+timeForms+" (default now)")
	c.Flags().StringVar(&f.validTo, "valid-to", "", "when it ceased to be true")
	c.Flags().StringVar(&f.expires, "expires", "", "from when it is kept no longer: "+laterForms+" (default: kept for good)")
}

// update builds the request of the flags that were given.
func (f *itemFlags) update(c *cobra.Command, content string) (evoke.UpdateRequest, error) {
	var r evoke.UpdateRequest
	given := c.Flags().Changed
	if given("content") {
		r.Content = &content
	}
	if given("category") {
		cat := store.Category(f.category)
		r.Category = &cat
	}
	if given("importance") {
		r.Importance = &f.importance
	}
	if given("confidence") {
		r.Confidence = &f.confidence
	}
	var err error
	if r.Metadata, err = metadata(f.metadata); err != nil {
		return r, err
	}
	for _, t := range []struct {
		flag, text string
		to         **time.Time
	}{{"valid-from", f.validFrom, &r.ValidFrom}, {"valid-to", f.validTo, &r.ValidTo}} {
		if !given(t.flag) {
			continue
		}
		at, err := when(t.flag, t.text)
		if err != nil {
			return r, err
		}
		*t.to = &at
	}
	if given("expires") {
		at, err := later("expires", f.expires)
		if err != nil {
			return r, err
		}
		r.ExpiresAt = &at
	}
	if r.ExpiresAt == nil && r.Content == nil && r.Category == nil && r.Importance == nil && r.Confidence == nil && r.Metadata == nil && r.ValidFrom == nil && r.ValidTo == nil {
		return r, store.Invalid("update", "told what to change (see evoke update --help)", "no change")
	}
	return r, nil
}

// text joins the arguments, or reads standard input for "-".
func (a *app) text(args []string) (string, error) {
	if len(args) != 1 || args[0] != "-" {
		return strings.Join(args, " "), nil
	}
	const most = 64 << 20
	b, err := io.ReadAll(io.LimitReader(a.process.In, most+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(b) > most {
		return "", store.Invalid("content", fmt.Sprintf("at most %d bytes", most), "")
	}
	return string(b), nil
}

// metadata reads name=value pairs.
func metadata(pairs []string) (store.Metadata, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	m := store.Metadata{}
	for _, p := range pairs {
		name, v, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, store.Invalid("--meta", "name=value", "")
		}
		m[name] = value(v)
	}
	return m, nil
}

// value reads JSON, or takes the text as it is.
func value(s string) store.Value {
	var v store.Value
	if json.Valid([]byte(s)) && v.UnmarshalJSON([]byte(s)) == nil {
		return v
	}
	return store.String(s)
}

// asOfFlags are the two times of a look at the past.
type asOfFlags struct{ asOf, known string }

func (f *asOfFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.asOf, "as-of", "", "what was true at this time, by what was known then: "+timeForms)
	c.Flags().StringVar(&f.known, "known-at", "", "by what was known at this time instead: \"now\" with --as-of looks at the past as it is known today")
}

func (f *asOfFlags) times() (asOf, known time.Time, err error) {
	if asOf, err = when("as-of", f.asOf); err != nil {
		return asOf, known, err
	}
	known, err = when("known-at", f.known)
	return asOf, known, err
}

// timeForms is what every flag that takes a time reads.
const timeForms = "a date, a time (RFC 3339), how long ago (36h, 7d, 2w) or now"

// when reads a date, a time or an age; "" is the zero time.
func when(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if s == "now" {
		return time.Now(), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	if ago, ok := age(s); ok {
		return time.Now().Add(-ago), nil
	}
	return time.Time{}, store.Invalid("--"+flag, "a date such as 2026-01-31, a time such as 2026-01-31T09:30:00Z, how long ago: 36h, 7d, 2w, or now", fmt.Sprintf("%.40q", s))
}

// laterForms is what flags that take a time to come read.
const laterForms = "a date, a time (RFC 3339), or how long from now (36h, 7d, 2w)"

// later reads a time to come; "" is the zero time.
func later(flag, s string) (time.Time, error) {
	if s != "" {
		if in, ok := age(s); ok {
			return time.Now().Add(in), nil
		}
	}
	t, err := when(flag, s)
	if err != nil {
		return t, store.Invalid("--"+flag, "a date such as 2026-01-31, a time such as 2026-01-31T09:30:00Z, or how long from now: 36h, 7d, 2w", fmt.Sprintf("%.40q", s))
	}
	return t, nil
}

// age reads a length of time; beside what Go knows, days and weeks.
func age(s string) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	unit := map[byte]time.Duration{'d': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[s[len(s)-1]]
	if unit == 0 {
		d, err := time.ParseDuration(s)
		return d, err == nil && d >= 0
	}
	n, err := strconv.Atoi(s[:len(s)-1])
	return time.Duration(n) * unit, err == nil && n >= 0 && n <= 36500
}
