package store

import (
	"slices"
	"time"
)

// SummaryOrigin is the Provenance.Origin of a summary.
const SummaryOrigin = "summary"

// IsSummary reports whether the item stands for others, whose ids are its Provenance.Turns: it tells what they say and makes
// no statement of its own that could be confirmed or replaced.
func (it *Item) IsSummary() bool { return it.Provenance.Origin == SummaryOrigin }

// Aside tells why an item is out of the ordinary views. The zero value: it is not.
type Aside struct {
	// Summary is the id of the summary that stands in the item's place, "" for none. Views that know only what was known
	// before SummarizedAt still see the item; the current one does not, but with View.Sources.
	Summary      string    `json:"summary,omitempty"`
	SummarizedAt time.Time `json:"summarized_at,omitzero"`
	// ForgottenAt is when the item was softly forgotten: no view sees it, of the past neither, but View.All and
	// View.Forgotten. It goes for good at PurgeAt; until then it can be restored.
	ForgottenAt time.Time `json:"forgotten_at,omitzero"`
	PurgeAt     time.Time `json:"purge_at,omitzero"`
	ForgottenBy string    `json:"forgotten_by,omitempty"` // the operation or the verb that did it
}

// Forgotten reports whether the item is softly forgotten.
func (a *Aside) Forgotten() bool { return !a.ForgottenAt.IsZero() }

// Out reports whether the item is out of the ordinary views of the present, for whatever reason.
func (a *Aside) Out() bool { return a.Forgotten() || a.Summary != "" }

// ForgetAs has the item softly forgotten as another is, or remembered as it is.
func (a *Aside) ForgetAs(other Aside) {
	a.ForgottenAt, a.PurgeAt, a.ForgottenBy = other.ForgottenAt, other.PurgeAt, other.ForgottenBy
}

// DropSummary has nothing stand in the item's place.
func (a *Aside) DropSummary() { a.Summary, a.SummarizedAt = "", time.Time{} }

// prepare drops what says nothing without its reason. A summary without a time stands since the item was recorded.
func (a *Aside) prepare(recorded time.Time) {
	if a.Summary == "" {
		a.SummarizedAt = time.Time{}
	} else if a.SummarizedAt.IsZero() {
		a.SummarizedAt = recorded
	}
	if !a.Forgotten() {
		a.PurgeAt, a.ForgottenBy = time.Time{}, ""
	}
	a.Summary, a.ForgottenBy = repairUTF8(a.Summary), repairUTF8(a.ForgottenBy)
}

// Counted reports whether the statistics of searches count the item: it is neither retracted nor closed nor aside, and no
// section of a profile. See Candidates.
func (it *Item) Counted() bool {
	return it.RetractedAt.IsZero() && it.ValidTo.IsZero() && !it.Aside.Out() && !it.IsProfile()
}

// Remembered leaves out, in place, what is softly forgotten: what reads items by id gets those, too.
func Remembered(items []Item) []Item {
	return slices.DeleteFunc(items, func(it Item) bool { return it.Aside.Forgotten() })
}
