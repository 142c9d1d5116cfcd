package lifecycle

import (
	"time"

	"evoke/store"
)

// How a version of an item stands, beside Replaced, Ended and Retracted.
const (
	Current    = "current"    // it holds, or is to begin
	Forgotten  = "forgotten"  // softly: it can be restored
	Summarized = "summarized" // a summary stands in its place
)

// StateOf tells in one word how a version stands at a moment: the first of the reasons for which the current view lacks it.
func StateOf(it *store.Item, now time.Time) string {
	past := func(t time.Time) bool { return !t.IsZero() && !t.After(now) }
	switch {
	case it.Aside.Forgotten():
		return Forgotten
	case it.Aside.Summary != "":
		return Summarized
	case !it.RetractedAt.IsZero():
		return Retracted
	case past(it.ValidTo) && it.SupersededBy != "":
		return Replaced
	case past(it.ValidTo):
		return Ended
	case past(it.ExpiresAt):
		return string(Expired) // it is kept no longer, and goes with a purge
	}
	return Current
}
