package recall

import (
	"cmp"
	"slices"
)

// secondLook exchanges places behind the first secondKeeps, which stay as they are. An item that answers in full stands
// among those; behind them most have a part of the question's words, and one in a stretch of talk about the matter is more
// often meant than one by itself. So a turn gains by the two turns behind it where these say more of the matter, and
// between people by the best of its session. Among the first, both would lift what only leads up to the answer.
//
// The sums are handed out anew, the greatest first: which items have them changes, what a score means does not.
func (p *plan) secondLook(all []*candidate) {
	if len(all) <= secondKeeps || p.weights.Semantic == 0 {
		return
	}
	lookAround(all)
	order := slices.Clone(all)
	slices.SortFunc(order, compare)
	least, rest := order[secondKeeps-1].hit.Score, order[secondKeeps:]
	sums := make([]float64, len(rest))
	for i, c := range rest {
		sums[i] = c.terms.sum
	}
	slices.Sort(sums)
	slices.Reverse(sums)
	slices.SortStableFunc(rest, func(a, b *candidate) int { return cmp.Compare(b.promise(), a.promise()) })
	for i, c := range rest {
		to := sums[i]
		if to > c.terms.sum { // not among the first, whatever its recency and importance
			most := (least - secondGap - c.hit.Parts.Recency - c.hit.Parts.Importance) / p.weights.Semantic
			to = max(min(to, most), c.terms.sum)
		}
		if to != c.terms.sum || p.req.Explain {
			c.terms.second, c.terms.sum = to-c.terms.sum, to
			p.finish(c)
		}
	}
}

// firstLook are the candidates, sorted, as they stood before the second look: confidence is calibrated on that order.
func (p *plan) firstLook(all []*candidate) []*candidate {
	order := slices.Clone(all)
	was := func(c *candidate) float64 { return c.hit.Score - p.weights.Semantic*c.terms.second }
	slices.SortStableFunc(order, func(a, b *candidate) int { return cmp.Compare(was(b), was(a)) })
	return order
}

// promise is what the second look goes by.
func (c *candidate) promise() float64 {
	return c.terms.sum + weightAhead*c.terms.ahead + weightAround*c.terms.around
}

// lookAround fills what the second look goes by. What is no turn between people stands as in a middling session.
func lookAround(all []*candidate) {
	places := placesOf(all)
	best := map[spot]float64{}
	session := func(c *candidate) spot {
		return spot{thread: c.record.Item.Turn.Thread, session: c.record.Item.Turn.Session}
	}
	for _, c := range all {
		if c.personal {
			at := session(c)
			best[at] = max(best[at], c.terms.core)
		}
	}
	var around []float64
	for _, c := range all {
		t, turn := &c.terms, &c.record.Item.Turn
		if c.personal {
			t.around = best[session(c)]
			around = append(around, t.around)
		}
		if !turn.IsTurn() || c.record.Item.IsSummary() {
			continue
		}
		for ahead := 1; ahead <= 2; ahead++ {
			if n := places[spot{turn.Thread, turn.Session, turn.Position + ahead}]; n != nil {
				t.ahead = max(t.ahead, n.terms.core-t.core)
			}
		}
	}
	if len(around) == 0 {
		return
	}
	slices.Sort(around)
	for _, c := range all {
		if !c.personal {
			c.terms.around = around[len(around)/2]
		}
	}
}
