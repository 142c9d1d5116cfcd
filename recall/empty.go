package recall

// Emptiness is why an answer has no hits.
type Emptiness string

// The reasons.
const (
	NoItems      Emptiness = "no_items"        // the memories searched hold nothing that is current
	FilteredOut  Emptiness = "filtered"        // there are items, and the filter selects none of those found
	BelowMinimum Emptiness = "below_min_score" // all candidates are under the minimum
	NoCandidates Emptiness = "no_candidates"   // there are items, and no arm nominated any
)

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
