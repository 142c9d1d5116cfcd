package sqlitestore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"evoke/scoring"
	"evoke/store"
)

// maxArm is the greatest number of candidates that an arm may be asked for.
const maxArm = 10000

// Search runs the arms on the scope's index.
func (db *DB) Search(ctx context.Context, sc store.Scope, q store.Query) (*store.Candidates, error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	if err := sc.Validate(); err != nil {
		return nil, err
	}
	if err := checkQuery(&q); err != nil {
		return nil, err
	}
	scope, ok, err := db.scopeID(ctx, sc)
	if err != nil {
		return nil, err
	}
	if !ok {
		return &store.Candidates{Stats: scoring.LexicalStats{DF: map[scoring.Term]int{}}}, nil
	}
	x, err := db.indexOf(ctx, scope)
	if err != nil {
		return nil, err
	}
	s := &search{x: x, q: &q, ranks: map[int32]map[store.Arm]int{}}
	return s.run(), nil
}

func checkQuery(q *store.Query) error {
	for _, f := range [...]struct {
		name string
		n    int
	}{{"dense", q.Dense}, {"lexical", q.Lexical}, {"recent", q.Recent}, {"important", q.Important}} {
		if f.n < 0 || f.n > maxArm {
			return store.Invalid(f.name, fmt.Sprintf("from 0 to %d", maxArm), fmt.Sprint(f.n))
		}
	}
	return q.Filter.Validate()
}

// search is one search under way. It holds the index for reading.
type search struct {
	x *index
	q *store.Query
	*scratch
	ranks map[int32]map[store.Arm]int
	order []int32 // nominated slots
}

// scratch is memory that searches of an index use again.
type scratch struct {
	seen     []uint8   // per slot: not looked at, selected, not selected
	scores   []float32 // per slot; all zeros between uses
	products []float32 // per row
	touched  []int32   // slots with a score
}

// takeScratch returns scratch for the index as it is now; nothing in seen was looked at.
func (x *index) takeScratch() *scratch {
	c, ok := x.spare.Get().(*scratch)
	if !ok {
		c = &scratch{}
	}
	if n := len(x.entries); cap(c.seen) < n || cap(c.scores) < n {
		c.seen, c.scores = make([]uint8, n, n+n/8), make([]float32, n, n+n/8)
	} else {
		c.seen, c.scores = c.seen[:n], c.scores[:n]
		clear(c.seen)
	}
	if n := len(x.rowSlot); cap(c.products) < n {
		c.products = make([]float32, n, n+n/8)
	} else {
		c.products = c.products[:n]
	}
	return c
}

func (s *search) run() *store.Candidates {
	s.x.mu.RLock()
	defer s.x.mu.RUnlock()
	s.scratch = s.x.takeScratch()
	defer s.x.spare.Put(s.scratch)
	s.narrow()
	if s.q.Correct {
		s.q.Terms = scoring.CorrectTypos(s.q.Terms, s.spelt)
	}
	c := &store.Candidates{Stats: s.stats(), Terms: s.q.Terms, Pending: s.x.pending}
	vector := false
	if s.q.Vector != nil && s.x.dim > 0 {
		if err := store.ValidateVector("query vector", s.q.Vector, s.x.dim); err != nil {
			c.Failed = map[store.Arm]error{store.DenseArm: err}
		} else {
			vector = true
			s.dense()
		}
	}
	if s.q.Lexical > 0 && len(s.q.Terms) > 0 {
		s.lexical(&c.Stats)
	}
	s.walk(store.RecentArm, s.x.recent, s.q.Recent)
	s.walk(store.ImportantArm, s.x.important, s.q.Important)
	c.Records = s.records(vector)
	return c
}

// selected reports whether the filter and the view select the item of a slot; each is looked at once a search.
func (s *search) selected(slot int32) bool {
	if v := s.seen[slot]; v != 0 {
		return v == 1
	}
	e := &s.x.entries[slot]
	if e.live && s.q.View.Sees(&e.item) && (s.q.Filter.IsZero() || s.q.Filter.Match(&e.item)) {
		s.seen[slot] = 1
		return true
	}
	s.seen[slot] = 2
	return false
}

// narrow decides at once on all items when the filter can only select a few that are easily found, so that it is not
// compared with every item: those of ids, of places in sessions, of the categories and sections that blocks ask for.
func (s *search) narrow() {
	slots, ok := s.few()
	if !ok {
		return
	}
	for i := range s.seen {
		s.seen[i] = 2
	}
	for _, slot := range slots {
		s.seen[slot] = 0
		s.selected(slot)
	}
}

// mostPlaces is how many positions of a session are looked up one by one.
const mostPlaces = 64

// few returns slots among which all are that the filter may select; ok is false when that cannot be told cheaply.
func (s *search) few() (slots []int32, ok bool) {
	f := &s.q.Filter
	switch {
	case len(f.IDs) > 0:
		for _, id := range f.IDs {
			if slot, ok := s.x.byID[id]; ok {
				slots = append(slots, slot)
			}
		}
		return slots, true
	case len(f.Categories) > 0 && !slices.ContainsFunc(f.Categories, func(c store.Category) bool { return !slices.Contains(apartCategories, c) }),
		len(f.ContentKeys) > 0 && !slices.ContainsFunc(f.ContentKeys, func(k string) bool { return !slices.Contains(store.ProfileKeys(), k) }):
		for slot := range s.x.apart {
			slots = append(slots, slot)
		}
		return slots, true
	case len(f.Any) == 0:
		return nil, false
	}
	for i := range f.Any {
		a := &f.Any[i]
		if len(a.Sessions) == 0 || a.Positions.To == 0 || a.Positions.To-a.Positions.From > mostPlaces {
			return nil, false
		}
		for _, session := range a.Sessions {
			for p := a.Positions.From; p < a.Positions.To; p++ {
				for _, at := range s.x.at(session, p) {
					slots = append(slots, at.slot)
				}
			}
		}
	}
	return slots, true
}

func (s *search) nominate(arm store.Arm, slot int32, rank int) {
	r, ok := s.ranks[slot]
	if !ok {
		r = make(map[store.Arm]int, 2)
		s.ranks[slot] = r
		s.order = append(s.order, slot)
	}
	if _, ok := r[arm]; !ok {
		r[arm] = rank
	}
}

// walk nominates the first n selected items of an order.
func (s *search) walk(arm store.Arm, order []int32, n int) {
	rank := 0
	for _, slot := range order {
		if rank == n {
			return
		}
		if s.selected(slot) {
			rank++
			s.nominate(arm, slot, rank)
		}
	}
}

func (s *search) stats() scoring.LexicalStats {
	st := scoring.LexicalStats{Docs: s.x.current, DF: make(map[scoring.Term]int, len(s.q.Terms))}
	for _, t := range s.q.Terms {
		if df := s.x.df(t.Term); df > 0 {
			st.DF[t.Term] = df
		}
	}
	return st
}

// df is in how many current items a term occurs.
func (x *index) df(t scoring.Term) int {
	if l := x.terms[t]; l != nil {
		return int(l.df)
	}
	return 0
}

// spelt is how often a term is met in that spelling: in current items or, where none has it and the past is asked for, in what
// was seen then.
func (s *search) spelt(t scoring.Term) int {
	l := s.x.terms[t]
	if l == nil || l.df > 0 || s.q.View.KnownAt.IsZero() {
		return s.x.df(t)
	}
	n := 0
	for _, p := range l.postings {
		if e := &s.x.entries[p.slot]; e.live && s.q.View.Sees(&e.item) {
			n++
		}
	}
	return n
}

func (s *search) records(vector bool) []store.Record {
	out := make([]store.Record, len(s.order))
	for i, slot := range s.order {
		e := &s.x.entries[slot]
		r := store.Record{Item: cloneItem(&e.item), Doc: e.doc, Ranks: s.ranks[slot], Embedded: vector && e.nrows > 0}
		if r.Embedded {
			r.Dense = s.x.exact(slot, s.q.Vector)
		}
		if t := &e.item.Turn; t.IsTurn() {
			r.Prev1, r.Prev2 = s.neighbour(t, 1), s.neighbour(t, 2)
		}
		out[i] = r
	}
	return out
}

// neighbour returns the turn of the same session that many positions before: of several that the view sees, an
// episodic one first, then the smallest id.
func (s *search) neighbour(t *store.Turn, back int) *scoring.Doc {
	if t.Position < back {
		return nil
	}
	var best *entry
	for _, p := range s.x.at(t.Session, t.Position-back) {
		e := &s.x.entries[p.slot]
		if s.q.View.Sees(&e.item) && (best == nil || before(&e.item, &best.item)) {
			best = e
		}
	}
	if best == nil {
		return nil
	}
	return best.doc
}

func before(a, b *store.Item) bool {
	if (a.Kind == store.Episodic) != (b.Kind == store.Episodic) {
		return a.Kind == store.Episodic
	}
	return strings.Compare(a.ID, b.ID) < 0
}
