package recall

import (
	"slices"

	"evoke/scoring"
)

// page sorts the candidates, drops those under the minimum and those that say what a better one already says, and
// returns the first of the rest, the newer of two that speak of the same thing above the older.
func (p *plan) page(all []*candidate, res *Response) []*candidate {
	slices.SortFunc(all, compare)
	var basis map[string]float64
	if res.Confidence, basis = p.confidence(all); p.req.Explain {
		res.Basis = basis
	}
	if p.req.Explain || len(p.req.WhyNot) > 0 {
		for i := range p.dates {
			res.Days = append(res.Days, p.dates[i].String())
		}
	}
	kept := make([]*candidate, 0, min(p.req.Limit, len(all)))
	for _, c := range all {
		if !p.blank && c.hit.Score < p.minimum {
			break // sorted: all that follow are lower
		}
		if of := p.duplicateOf(c, kept); of != nil {
			res.Duplicates = append(res.Duplicates, Duplicate{ID: c.hit.Item.ID, Of: of.hit.Item.ID})
			continue
		}
		kept = append(kept, c)
		if len(kept) == p.req.Limit {
			break
		}
	}
	p.contest(kept)
	for _, c := range kept {
		res.Hits = append(res.Hits, c.hit)
	}
	return kept
}

// duplicateOf returns the kept candidate that says the same as c.
func (p *plan) duplicateOf(c *candidate, kept []*candidate) *candidate {
	if p.opts.Duplicate < 0 {
		return nil
	}
	for _, k := range kept {
		x, y := &c.hit.Item, &k.hit.Item
		// "I ran today", said on two days, is two runs: what a text resolves to must be the same as well.
		if x.Turn.Speaker != y.Turn.Speaker || !slices.Equal(c.record.Doc.Ranges, k.record.Doc.Ranges) {
			continue
		}
		if x.ContentKey != "" && x.ContentKey == y.ContentKey || scoring.NearDuplicate(c.record.Doc, k.record.Doc, p.opts.Duplicate) {
			return k
		}
	}
	return nil
}
