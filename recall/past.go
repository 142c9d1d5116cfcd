package recall

import (
	"maps"

	"evoke/scoring"
	"evoke/store"
)

// pastStats lets the words of the past count. The statistics of a store are of what holds now: a word that only ended items
// have would weigh nothing, and nothing be found by it as of the time when it held. Such a word counts as often as the
// candidates of the view have it.
func (p *plan) pastStats(found *store.Candidates) {
	if p.view.KnownAt.IsZero() {
		return
	}
	var df map[scoring.Term]int
	for _, q := range found.Terms {
		if found.Stats.DF[q.Term] > 0 || df[q.Term] > 0 {
			continue
		}
		n := 0
		for i := range found.Records {
			if found.Records[i].Doc.Holds(q.Term) {
				n++
			}
		}
		if n == 0 {
			continue
		}
		if df == nil {
			if df = maps.Clone(found.Stats.DF); df == nil { // the store's own stays as it is
				df = map[scoring.Term]int{}
			}
		}
		df[q.Term] = n
	}
	if df != nil {
		found.Stats.DF = df
	}
}
