package lifecycle

import (
	"cmp"
	"slices"
	"time"

	"evoke/store"
)

// What happened to a version of an item.
const (
	Added     = "added"
	Replaced  = "replaced"  // by the version that With names
	Ended     = "ended"     // it stopped to hold, and nothing took its place
	Retracted = "retracted" // taken back: it counts as never said
	Restored  = "restored"  // an undo made it hold again
	Redated   = "redated"   // it ended sooner than was known: the version that With names has its end
)

// Change is one step in the life of an item: who did what to which version, on what grounds, and when.
type Change struct {
	At        time.Time `json:"at"`
	Did       string    `json:"did"`
	ID        string    `json:"id"` // of the version
	With      string    `json:"with,omitempty"`
	Who       string    `json:"who,omitempty"`       // who said it
	By        string    `json:"by,omitempty"`        // what did it: an extractor, "remember", "import", "update" and so on
	Operation string    `json:"operation,omitempty"` // the operation that did it
	Turns     []string  `json:"turns,omitempty"`     // why: the turns that it rests on
	Quote     string    `json:"quote,omitempty"`     // the words in them
}

// Changes tells the life of an item from its versions, oldest change first.
func Changes(versions []store.Item) []Change {
	byID := map[string]*store.Item{}
	for i := range versions {
		byID[versions[i].ID] = &versions[i]
	}
	out := make([]Change, 0, 2*len(versions))
	for i := range versions {
		it := &versions[i]
		p := &it.Provenance
		c := Change{At: it.RecordedAt, Did: Added, ID: it.ID}
		c.grounds(it)
		if p.By != "" {
			c.Did = Restored
		}
		redates := Redates(it, byID[it.Supersedes])
		if !redates {
			out = append(out, c)
		}
		if !it.ClosedAt.IsZero() && !(redates && it.ClosedAt.Equal(it.RecordedAt)) {
			c := Change{At: it.ClosedAt, Did: Ended, ID: it.ID}
			if by := byID[it.SupersededBy]; by != nil && !by.RecordedAt.After(it.ClosedAt) {
				c.Did, c.With = Replaced, by.ID
				c.grounds(by)
			}
			out = append(out, c)
		}
		if by := byID[it.SupersededBy]; Redates(by, it) {
			out = append(out, Change{At: it.RetractedAt, Did: Redated, ID: it.ID, With: by.ID})
		} else if !it.RetractedAt.IsZero() && (p.EndedBy != "" || !it.RetractedAt.Equal(it.ClosedAt)) {
			c := Change{At: it.RetractedAt, Did: Retracted, ID: it.ID, Operation: p.EndedBy}
			if p.EndedBy != "" {
				c.By = "operation"
			}
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return a.At.Compare(b.At) })
	return out
}

// grounds are those of the version that a change brought: whose word it is, what did it, and what it rests on. What somebody
// rewrote rests on nobody's turn: the words that it was distilled from need not say it.
func (c *Change) grounds(it *store.Item) {
	p := &it.Provenance
	c.Who, c.By, c.Turns, c.Quote = it.Turn.Speaker, cmp.Or(p.Extractor, p.Origin), p.Turns, p.Quote
	switch {
	case p.By != "":
		c.By, c.Operation = "operation", p.By
	case p.Edited:
		c.By, c.Turns, c.Quote = "update", nil, ""
	}
}

// Redates tells whether a version is another one with an earlier end, that came to be known with it. Each may be nil.
func Redates(it, before *store.Item) bool {
	return it != nil && before != nil && it.Supersedes == before.ID && before.SupersededBy == it.ID && before.Provenance.EndedBy == "" &&
		!before.RetractedAt.IsZero() && before.RetractedAt.Equal(it.RecordedAt) && it.ContentKey == before.ContentKey && it.ValidTo.Before(before.ValidTo)
}
