package extract

import (
	"math"
	"slices"
	"time"

	"evoke/store"
)

// value is what a fact is worth keeping for, from 0 to 1:
//
//	0.4·importance + 0.25·confidence + 0.2·min(uses/10, 1) + 0.1·2^(−age/180 d) + 0.05·min((evidence−1)/4, 1)
//
// where evidence is the number of turns it rests on and age counts from its latest use or, unused, from when it was
// recorded.
func value(it *store.Item, now time.Time) float64 {
	const halfLife = 180 * 24 * time.Hour
	last := it.RecordedAt
	if it.LastUsed.After(last) {
		last = it.LastUsed
	}
	age := max(0, now.Sub(last))
	evidence := max(0, len(it.Provenance.Turns)-1)
	return 0.4*it.Importance + 0.25*it.Confidence + 0.2*min(float64(it.Uses)/10, 1) +
		0.1*math.Exp2(-float64(age)/float64(halfLife)) + 0.05*min(float64(evidence)/4, 1)
}

// isProtected reports whether an item is evicted only when nothing else is left: what the user corrected or laid down
// as a standing instruction.
func isProtected(it *store.Item) bool {
	return it.Category == store.Correction || it.Kind == store.Procedural
}

// evict retracts the distilled facts of the lowest value until MaxFacts are left. Retracted items stay in the history.
func (r *reconciler) evict() {
	var facts []*store.Item
	for _, it := range r.byID {
		if isDistilled(it) {
			facts = append(facts, it)
		}
	}
	if len(facts) <= r.opts.MaxFacts {
		return
	}
	slices.SortFunc(facts, func(a, b *store.Item) int {
		if p, q := isProtected(a), isProtected(b); p != q {
			if q {
				return -1
			}
			return 1
		}
		if v, w := value(a, r.now), value(b, r.now); v != w {
			if v < w {
				return -1
			}
			return 1
		}
		if c := a.RecordedAt.Compare(b.RecordedAt); c != 0 {
			return c
		}
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	for _, it := range facts[:len(facts)-r.opts.MaxFacts] {
		it.RetractedAt = r.now
		r.forget(it)
		delete(r.counted, it.ID)
		r.touch(it)
	}
}
