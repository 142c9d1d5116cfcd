package store

import (
	"time"

	"evoke/scoring"
)

// Worth is what keeping the item is worth at a moment, from 0 to 1; see scoring.Worth.Value.
func (it *Item) Worth(now time.Time) float64 {
	last := it.RecordedAt
	if it.LastUsed.After(last) {
		last = it.LastUsed
	}
	return scoring.Worth{
		Importance: it.Importance, Confidence: it.Confidence, Uses: it.Uses, Age: now.Sub(last),
		Evidence: max(len(it.Provenance.Turns)-1, it.Provenance.Evidence),
	}.Value()
}

// Protected reports whether the item goes last where room is made: what the user corrected or laid down as a standing
// instruction.
func (it *Item) Protected() bool {
	return it.Category == Correction || it.Kind == Procedural || it.Provenance.Corrections > 0
}
