package recall

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"evoke/scoring"
	"evoke/store"
)

// ranked are candidates with the given sums, at places 0, 1, … of a session.
func ranked(p *plan, sums ...float64) []*candidate {
	all := make([]*candidate, len(sums))
	for i, s := range sums {
		it := store.Item{ID: fmt.Sprint(i), Kind: store.Episodic, Turn: store.Turn{Session: "s", Position: i}, ValidFrom: now.Add(-time.Duration(i) * time.Hour)}
		all[i] = &candidate{record: &store.Record{Item: it, Doc: &scoring.Doc{}}, terms: terms{sum: s, core: s}}
		p.finish(all[i])
	}
	return all
}

func newest(weights Weights) *plan {
	return &plan{now: now, weights: weights, opts: &Options{}}
}

func TestBehindTheFirstATurnGainsByThoseBehindIt(t *testing.T) {
	p := newest(profiles["default"])
	all := ranked(p, 0.30, 0.9, 0.85, 0.8, 0.75, 0.7, 0.25, 0.32)
	// Of 0 and 7, the lesser leads up to a good one.
	p.secondLook(all)
	if a, b := all[0].terms, all[7].terms; a.sum != 0.32 || b.sum != 0.30 || a.ahead <= 0 || b.ahead != 0 || a.second <= 0 || b.second >= 0 {
		t.Errorf("0: %+v\n7: %+v", a, b)
	}
	for i := 1; i <= 5; i++ {
		if all[i].terms.second != 0 {
			t.Errorf("place of %d changed", i)
		}
	}
}

func TestBehindTheFirstATurnBetweenPeopleGainsByItsSession(t *testing.T) {
	for _, personal := range []bool{true, false} {
		p := newest(profiles["default"])
		all := ranked(p, 0.9, 0.85, 0.8, 0.75, 0.7, 0.30, 0.31)
		for _, c := range all {
			c.personal = personal
			c.record.Item.Turn.Position *= 10 // no neighbours
		}
		all[6].record.Item.Turn.Session = "another"
		p.secondLook(all)
		if gained := all[5].terms.sum > all[6].terms.sum; gained != personal {
			t.Errorf("between people %v: %v and %v", personal, all[5].terms.sum, all[6].terms.sum)
		}
	}
}

// The first stay the first in their order, whatever the weights; nothing gets a sum that was not there before; and the
// order in which candidates come does not matter.
func TestSecondLookExchangesOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sums := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 30).Draw(t, "sums")
		w := rapid.SampledFrom([]Weights{profiles["default"], profiles["classic"], {Recency: 1}}).Draw(t, "weights")
		p := newest(w)
		all := ranked(p, sums...)
		before := slices.Clone(all)
		slices.SortFunc(before, compare)
		p.secondLook(all)
		after := slices.Clone(all)
		slices.SortFunc(after, compare)
		first := min(secondKeeps, len(all))
		if !slices.Equal(before[:first], after[:first]) {
			t.Fatalf("the first changed")
		}
		for _, c := range all {
			if got := w.Semantic*c.terms.sum + c.hit.Parts.Recency + c.hit.Parts.Importance; math.Abs(got-c.hit.Score) > 1e-9 {
				t.Fatalf("score %v, parts %v", c.hit.Score, got)
			}
			if c.terms.sum < 0 || c.terms.sum > slices.Max(sums) {
				t.Fatalf("sum %v of %v", c.terms.sum, sums)
			}
		}
		again := ranked(p, sums...)
		mixed := rapid.Permutation(slices.Clone(again)).Draw(t, "order")
		p.secondLook(mixed)
		for i := range all {
			if all[i].terms.sum != again[i].terms.sum {
				t.Fatalf("%d: %v, in another order %v", i, all[i].terms.sum, again[i].terms.sum)
			}
		}
	})
}
