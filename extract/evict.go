package extract

import (
	"cmp"
	"slices"
	"time"

	"evoke/store"
)

// evict retracts the distilled facts of the lowest value until every category is within its cap and MaxFacts are left.
// Retracted items stay in the history.
func (r *reconciler) evict() {
	byCategory := map[store.Category][]*store.Item{}
	var tasks []*store.Item // they go by themselves, and drive nothing else out
	for _, it := range r.byID {
		switch {
		case !isDistilled(it), it.IsSummary():
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
	if p, q := a.Protected(), b.Protected(); p != q {
		if q {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Worth(now), b.Worth(now)), a.RecordedAt.Compare(b.RecordedAt), cmp.Compare(a.ID, b.ID))
}
