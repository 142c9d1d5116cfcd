package recall

import "slices"

// Emptiness is why an answer or a block has no hits.
type Emptiness string

// The reasons.
const (
	NoItems      Emptiness = "no_items"        // the memories searched hold nothing that is current
	FilteredOut  Emptiness = "filtered"        // there are items, and the filter selects none of those found
	BelowMinimum Emptiness = "below_min_score" // all candidates are under the minimum
	NoCandidates Emptiness = "no_candidates"   // there are items, and no arm nominated any
	NoRoom       Emptiness = "budget"          // of a block: there are hits, and none had room
)

// blockEmptiness is why no hit is in a block, "" when there is one, as whatever part it stands there.
func blockEmptiness(b *Block, res *Response) Emptiness {
	if len(res.Hits) == 0 {
		return res.Empty
	}
	for i := range res.Hits {
		if slices.Contains(b.Items, res.Hits[i].Item.ID) {
			return ""
		}
	}
	return NoRoom
}

// emptiness is why an answer is empty, "" when it is not.
func (p *plan) emptiness(scopes []searched, res *Response) Emptiness {
	if len(res.Hits) > 0 {
		return ""
	}
	if res.Candidates > 0 {
		return BelowMinimum
	}
	items := 0
	for _, s := range scopes {
		items += s.found.Stats.Docs
	}
	switch {
	case items == 0:
		return NoItems
	case !p.filter.IsZero():
		return FilteredOut
	}
	return NoCandidates
}
