package extract

import (
	"cmp"
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
	evidence := max(0, len(it.Provenance.Turns)-1, it.Provenance.Evidence)
	return 0.4*it.Importance + 0.25*it.Confidence + 0.2*min(float64(it.Uses)/10, 1) +
		0.1*math.Exp2(-float64(age)/float64(halfLife)) + 0.05*min(float64(evidence)/4, 1)
}

// isProtected reports whether an item is evicted only when nothing else is left: what the user corrected or laid down
// as a standing instruction.
func isProtected(it *store.Item) bool {
	return it.Category == store.Correction || it.Kind == store.Procedural || it.Provenance.Corrections > 0
}

// evict retracts the distilled facts of the lowest value until every category is within its cap and MaxFacts are left.
// Retracted items stay in the history.
func (r *reconciler) evict() {
	byCategory := map[store.Category][]*store.Item{}
	var tasks []*store.Item // they go by themselves, and drive nothing else out
	for _, it := range r.byID {
		switch {
		case !isDistilled(it):
		case it.OfTask():
			tasks = append(tasks, it)
		default:
			byCategory[it.Category] = append(byCategory[it.Category], it)
		}
	}
	var facts []*store.Item
	for c, its := range byCategory {
		if most := r.opts.CategoryCaps[c]; most > 0 {
			its = r.keep(its, most)
		}
		facts = append(facts, its...)
	}
	r.keep(facts, r.opts.MaxFacts)
	r.keep(tasks, r.opts.MaxFacts)
}

// keep retracts all but the most facts of the highest value and returns those.
func (r *reconciler) keep(facts []*store.Item, most int) []*store.Item {
	if len(facts) <= most {
		return facts
	}
	slices.SortFunc(facts, func(a, b *store.Item) int { return worth(a, b, r.now) })
	cut := len(facts) - most
	for _, it := range facts[:cut] {
		it.RetractedAt = r.now
		r.forget(it)
		delete(r.counted, it.ID)
		r.touch(it)
	}
	return facts[cut:]
}

// worth orders items by what is evicted first. Ties go by age and id, so that the order is total.
func worth(a, b *store.Item, now time.Time) int {
	if p, q := isProtected(a), isProtected(b); p != q {
		if q {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(value(a, now), value(b, now)), a.RecordedAt.Compare(b.RecordedAt), cmp.Compare(a.ID, b.ID))
}
