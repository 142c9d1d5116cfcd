package recall

import (
	"slices"

	"evoke/scoring"
)

// contest lifts, within the page, the newer of two items that speak of the same thing to the score of the older, as the
// part named "update": at equal scores the newer stands first. Nothing enters or leaves the page. Only dated items take
// part, and only of questions that do not ask about the past: pairs that the write path linked (one supersedes the
// other), and, when the question asks for the present state, pairs of one subject or alike by what they share.
func (p *plan) contest(kept []*candidate) {
	if p.blank || p.past || !p.update || len(kept) < 2 {
		return
	}
	order := slices.Clone(kept)
	slices.SortFunc(order, compare)
	band := make(map[*candidate]int, len(order))
	for i, c := range order {
		band[c] = bandOf(i)
	}
	// From the oldest on: whatever an item may be lifted to is final when its turn comes.
	slices.SortStableFunc(order, age)
	for i, c := range order {
		merit := c.hit.Score
		for _, o := range order[:i] {
			if o.hit.Score <= c.hit.Score || !newer(c, o) {
				continue
			}
			near := p.present && band[c] >= 0 && band[c] == band[o]
			if linked(c, o) || near && (sameSubject(c, o) || o.hit.Score-merit < contestReach && sameMatter(c, o)) {
				c.lift(o.hit.Score)
			}
		}
	}
	slices.SortFunc(kept, compare)
}

// bandOf is the group of ranks within which likeness alone may change the order, so that it changes neither what the
// first five nor what the first ten are; -1 beyond them.
func bandOf(place int) int {
	for band, end := range contestBands {
		if place < end {
			return band
		}
	}
	return -1
}

// lift raises a candidate's final score and says so in its parts.
func (c *candidate) lift(to float64) {
	c.hit.Parts.Update += to - c.hit.Score
	c.hit.Score = to
}

// age orders dated items from the oldest to the newest; those of one time and session by their place in it.
func age(a, b *candidate) int {
	x, y := &a.hit.Item, &b.hit.Item
	if c := x.ValidFrom.Compare(y.ValidFrom); c != 0 {
		return c
	}
	return compareTies(b, a)
}

// newer reports whether a is known to be newer than b: by its time or, at one time, by its place in their session.
func newer(a, b *candidate) bool {
	x, y := &a.hit.Item, &b.hit.Item
	if x.ValidFrom.IsZero() || y.ValidFrom.IsZero() {
		return false
	}
	if x.ValidFrom.Equal(y.ValidFrom) {
		return x.Turn.IsTurn() && x.Turn.Thread == y.Turn.Thread && x.Turn.Session == y.Turn.Session && x.Turn.Position > y.Turn.Position
	}
	return x.ValidFrom.After(y.ValidFrom)
}

// linked reports whether the write path noted that a replaced b.
func linked(a, b *candidate) bool {
	if a.scope != b.scope {
		return false
	}
	x, y := &a.hit.Item, &b.hit.Item
	return x.Supersedes == y.ID && y.ID != "" || y.SupersededBy == x.ID && x.ID != ""
}

// sameSubject reports whether two distilled statements are about one thing of one speaker.
func sameSubject(a, b *candidate) bool {
	x, y := &a.hit.Item, &b.hit.Item
	return x.Provenance.Subject != "" && x.Provenance.Subject == y.Provenance.Subject && x.Turn.Speaker == y.Turn.Speaker && a.scope == b.scope
}

// sameMatter reports whether two items, taken for what they say, speak of the same thing: one speaker, some words in
// common, and among them much of what the question asks for. Where both state figures and these differ, less will do: two
// statements of a quantity in the words of one question are an old and a new value more often than not.
func sameMatter(a, b *candidate) bool {
	x, y := a.record.Doc, b.record.Doc
	if a.scope != b.scope || a.hit.Item.Turn.Speaker != b.hit.Item.Turn.Speaker {
		return false
	}
	need := contestShared
	if x.Guard != 0 && y.Guard != 0 && x.Guard != y.Guard {
		need = contestSharedValue
	}
	return a.matter.Coverage(x, y) >= need && scoring.Similarity(x, y) >= contestSimilarity
}
