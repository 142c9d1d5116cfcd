package extract

import (
	"time"

	"evoke/store"
)

// Placement is a finished item that an application stores itself, and what it is to be brought together with.
type Placement struct {
	Item      store.Item
	Exclusive bool         // Item.Provenance.Subject holds one value at a time
	Current   []store.Item // what the view shows: of Candidates and, when Exclusive, of the items of that subject
	Near      []string     // ids of those that lie near it in the vector space
	Now       time.Time
}

// Placed is what came of it.
type Placed struct {
	Item     store.Item   // the item that makes the statement now
	Existing bool         // it was there already and is confirmed
	Put      []store.Item // the changes
	Embed    []string     // ids of those that need vectors
}

// Place reconciles an item as the operations of an extraction are (see reconciler): the same statement is confirmed,
// another value of an exclusive subject closes what its speaker said of it before and is linked with it, anything else is
// added. It reads and writes nothing.
func (p Placement) Place() Placed {
	r := reconciler{now: p.Now, near: map[string][]string{p.Item.Content: p.Near}}
	r.begin()
	for i := range p.Current {
		it := p.Current[i]
		r.byID[it.ID] = &it
		view := store.Current(p.Now)
		switch {
		case !it.Closed():
			r.index(&it)
		case view.Sees(&it): // its end is set, in the future: still the same statement, but its subject has another value
			r.byID[it.ID] = &it
		default:
			r.past[it.ID] = &it
		}
	}
	it := p.Item
	op := Operation{
		Action: Add, Kind: it.Kind, Category: it.Category, Content: it.Content, Quote: it.Content, Speaker: it.Turn.Speaker,
		Subject: it.Provenance.Subject, Exclusive: p.Exclusive, At: it.ValidFrom, Confidence: it.Confidence, Importance: it.Importance,
	}
	r.said = saidNow(op.At, p.Now)
	it.Provenance.Said = r.said
	r.finished = &it
	now := r.write(op, nil, r.bySubject[subjectOf(op.Subject, op.Speaker)])
	out := r.outcome()
	return Placed{Item: *now, Existing: now != &it, Put: out.put, Embed: out.embed}
}
