package store

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Scope is one memory: a partition that reads and writes never leave. Tenant comes from the credential; User and
// Agent are chosen by the namespace policy: {t, u, ""} is a user's own memory, {t, u, a} that of a user with an
// agent, {t, "", a} an agent's own. No call of a port compiles without one, and an empty tenant fails closed.
type Scope struct {
	Tenant string `json:"tenant"`
	User   string `json:"user,omitempty"`
	Agent  string `json:"agent,omitempty"`
}

// maxName is the longest tenant, user, agent or thread name, in bytes.
const maxName = 256

// Validate fails with ErrTenant for an empty tenant and ErrInvalid for a malformed name.
func (s Scope) Validate() error {
	if s.Tenant == "" {
		return fmt.Errorf("%w: the scope names no tenant", ErrTenant)
	}
	if s.User == "" && s.Agent == "" {
		return Invalid("user", "given (or an agent with a memory of its own)", "neither user nor agent")
	}
	for _, f := range [...]struct{ name, v string }{{"tenant", s.Tenant}, {"user", s.User}, {"agent", s.Agent}} {
		if err := ValidateName(f.name, f.v); err != nil {
			return err
		}
	}
	return nil
}

// ValidateName checks a tenant, user, agent, thread or item name: at most 256 bytes of UTF-8 without control
// characters. Empty is accepted: whether a name may be missing is for the caller to say.
func ValidateName(field, v string) error {
	switch {
	case len(v) > maxName:
		return Invalid(field, fmt.Sprintf("at most %d bytes", maxName), fmt.Sprintf("%d bytes", len(v)))
	case !utf8.ValidString(v):
		return Invalid(field, "valid UTF-8", "")
	case strings.ContainsFunc(v, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return Invalid(field, "free of control characters", "")
	case v != "" && strings.TrimSpace(v) == "":
		return Invalid(field, "more than blanks", "")
	}
	return nil
}

// ValidateNewTenant checks the name of a tenant that is not there yet. Beyond ValidateName it refuses what reads like another
// name or cannot stand in an address. Tenants that were named so before keep their names.
func ValidateNewTenant(field, v string) error {
	trimmed := strings.TrimSpace(v)
	switch {
	case trimmed == "" || v == "*":
		return Invalid(field, `a name, and not "*"`, "")
	case v == "." || v == "..":
		return Invalid(field, `another name than "." and "..", which an address cannot hold`, fmt.Sprintf("%q", v))
	case strings.ContainsFunc(v, unseen):
		return Invalid(field, "free of control characters and of those that are not seen or turn the direction of writing", fmt.Sprintf("%.80q", v))
	case trimmed != v:
		return Invalid(field, fmt.Sprintf("without blanks at its ends (%.80q)", trimmed), fmt.Sprintf("%.80q", v))
	}
	return ValidateName(field, v)
}

// unseen reports whether a character is a control, is not seen, or changes how a name reads. Joiners are of several scripts'
// words.
func unseen(r rune) bool {
	switch {
	case r == ' ', r == '\u200c', r == '\u200d', unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	case r == '\u034f', r == '\u115f', r == '\u1160', r == '\u2800', r == '\u3164', r == '\uffa0': // fillers
		return true
	}
	return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector)
}

// Key is an unambiguous text form: no two scopes share one, whatever characters their names hold.
func (s Scope) Key() string {
	return fmt.Sprintf("%d:%s%d:%s%d:%s", len(s.Tenant), s.Tenant, len(s.User), s.User, len(s.Agent), s.Agent)
}

// View selects the versions that a read sees.
//
// The current view (ValidAt and KnownAt zero) sees items that are neither retracted nor closed before Now. With
// KnownAt, only what was recorded, and not yet retracted or closed, at that moment; with ValidAt, only what was true
// in the world then. An "as of" query sets both to the same time.
type View struct {
	Now     time.Time
	ValidAt time.Time
	KnownAt time.Time
	All     bool // every version, for history and export; those of a profile's sections and what is aside too
	// Kept narrows All to what is not softly forgotten: what a caller may read.
	Kept bool
	// Forgotten sees only what is softly forgotten, every version of it, whatever else the view says.
	Forgotten bool
	// Sources sees also what summaries stand for. Without it, views of what was known before an item's SummarizedAt see it
	// still.
	Sources bool
	Profile bool // the sections of the profile, see Item.IsProfile; other views leave them out
	// Threads are those that the call names. What holds for one task only (Item.OfTask) is seen in calls that name its
	// thread.
	Threads []string
}

// Current is the view of the present.
func Current(now time.Time) View { return View{Now: now} }

// AsOf is the view of what was known and true at t.
func AsOf(t time.Time) View { return View{Now: t, ValidAt: t, KnownAt: t} }

// At is the view of what was true at one moment by what was known at another. Without a known it is AsOf(valid), without a
// valid it is of the present, and with neither Current.
func At(now, valid, known time.Time) View {
	switch {
	case known.IsZero() && valid.IsZero():
		return Current(now)
	case known.IsZero():
		return AsOf(valid)
	case valid.IsZero():
		valid = now
	}
	return View{Now: valid, ValidAt: valid, KnownAt: known}
}

// Sees reports whether the view contains the item.
func (v View) Sees(it *Item) bool {
	forgotten := it.Aside.Forgotten()
	switch {
	case v.Forgotten:
		return forgotten
	case v.All:
		return !(v.Kept && forgotten)
	case forgotten || v.summarized(it) || v.expired(it):
		return false
	}
	if !v.Profile && it.IsProfile() || it.OfTask() && !slices.Contains(v.Threads, it.Turn.Thread) {
		return false
	}
	validTo := it.ValidTo
	if v.KnownAt.IsZero() {
		if !it.RetractedAt.IsZero() || v.ValidAt.IsZero() && it.Over().After(v.Now) {
			return false
		}
	} else {
		if it.RecordedAt.After(v.KnownAt) || (!it.RetractedAt.IsZero() && !it.RetractedAt.After(v.KnownAt)) {
			return false
		}
		if !it.ClosedAt.IsZero() && it.ClosedAt.After(v.KnownAt) {
			validTo = time.Time{} // its end was not known yet
		}
	}
	at := v.ValidAt
	if at.IsZero() {
		at = v.Now
	} else if it.ValidFrom.After(at) {
		return false
	}
	return validTo.IsZero() || validTo.After(at)
}

// known is the moment up to which the view knows.
func (v View) known() time.Time {
	if v.KnownAt.IsZero() {
		return v.Now
	}
	return v.KnownAt
}

// expired: the item was no longer kept by then.
func (v View) expired(it *Item) bool {
	return !it.ExpiresAt.IsZero() && !it.ExpiresAt.After(v.known())
}

// summarized: a summary stands in the item's place, and the view knows it.
func (v View) summarized(it *Item) bool {
	return !v.Sources && it.Aside.Summary != "" && (v.KnownAt.IsZero() || !it.Aside.SummarizedAt.After(v.KnownAt))
}
