package qdrantstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/qdrant/go-client/qdrant"

	"evoke/scoring"
	"evoke/store"
)

// turn is an item that stands near a candidate in its session.
type turn struct {
	point *qdrant.PointId
	id    string
	kind  store.Kind
	load  map[string]*qdrant.Value
	doc   *scoring.Doc // when read
}

// spot is where a turn stands.
type spot struct {
	session  string
	position int
}

// gather reads what was nominated, what stands near it, and the dense scores that the dense arm did not bring; then it
// nominates the context arm and makes the records.
func (s *search) gather(ctx context.Context) error {
	near := map[spot][]turn{}
	tasks := []func() error{func() error { return s.readItems(ctx) }}
	if places := s.places(); len(places) > 0 {
		tasks = append(tasks, func() error { return s.readPlaces(ctx, places, near) })
	}
	var behind scores
	if s.vector {
		tasks = append(tasks, func() error { return s.scoreMissing(ctx, s.order) },
			func() (err error) {
				behind, err = s.scoreBehind(ctx)
				return err
			})
	}
	if err := each(len(tasks), len(tasks), func(i int) error { return tasks[i]() }); err != nil {
		return err
	}
	fresh, err := s.context(near)
	if err != nil {
		return err
	}
	for _, c := range fresh {
		c.dense, c.embedded = behind.of[c.point.GetUuid()]
		c.scored = c.embedded || behind.all
	}
	if s.vector {
		if err := s.scoreMissing(ctx, fresh); err != nil {
			return err
		}
	}
	return s.records(near)
}

// readItems reads the items of all candidates. One that is gone, or no longer selected, stays without.
func (s *search) readItems(ctx context.Context) error {
	points := make([]*qdrant.PointId, len(s.order))
	for i, c := range s.order {
		points[i] = c.point
	}
	return s.db.retrieve(ctx, points, qdrant.NewWithPayloadInclude(fieldItem, fieldDoc), func(p *qdrant.RetrievedPoint) error {
		return s.read(s.found[p.GetId().GetUuid()], p.GetPayload())
	})
}

func (s *search) read(c *candidate, payload map[string]*qdrant.Value) error {
	it, err := itemOf(payload)
	if err != nil {
		return err
	}
	if !s.q.View.Sees(&it) || !s.q.Filter.Match(&it) {
		return nil // changed since the arm saw it
	}
	c.doc, err = docOf(payload)
	c.item = &it
	return err
}

// places are hashes of the spots that neighbours and context may stand at: two before every candidate, and of lexical hits
// also themselves (the turn before what follows) and the two behind.
func (s *search) places() []int64 {
	spots := map[spot]bool{}
	add := func(c *candidate, from, to int) {
		for p := max(c.position+from, 0); p <= c.position+to; p++ {
			spots[spot{c.session, p}] = true
		}
	}
	for _, c := range s.order {
		if c.position >= 0 {
			add(c, -2, -1)
		}
	}
	for _, c := range s.hits {
		if c.position >= 0 {
			add(c, -1, 2)
		}
	}
	return s.hashes(spots)
}

// placePage is how many turns are read at a time.
const placePage = 256

// readPlaces reads the turns that the view sees at the places; whether the filter selects them does not matter here.
func (s *search) readPlaces(ctx context.Context, places []int64, near map[spot][]turn) error {
	req := &qdrant.ScrollPoints{CollectionName: s.db.set.Collection,
		Filter:      within(s.scope, append(viewConditions(s.q.View), qdrant.NewMatchInts(fieldPlace, places...))...),
		WithPayload: qdrant.NewWithPayloadInclude(fieldID, fieldKind, fieldSession, fieldPosition, fieldItem, fieldDoc)}
	return s.db.scroll(ctx, req, placePage, func(ps []*qdrant.RetrievedPoint) error {
		for _, p := range ps {
			load := p.GetPayload()
			at := spot{load[fieldSession].GetStringValue(), int(load[fieldPosition].GetIntegerValue())}
			near[at] = append(near[at], turn{point: p.GetId(), id: load[fieldID].GetStringValue(),
				kind: store.Kind(load[fieldKind].GetStringValue()), load: load})
		}
		return nil
	})
}

// scores are dense scores by point; all is true when whoever is not among them has no vector.
type scores struct {
	of  map[string]float64
	all bool
}

// scoreBehind asks for the dense scores of what stands behind the lexical hits, before it is known what that is, which saves
// a round. There is hardly ever more than one item at a place; should there be, scoreMissing makes up for it.
func (s *search) scoreBehind(ctx context.Context) (scores, error) {
	out := scores{of: map[string]float64{}, all: true}
	spots := map[spot]bool{}
	for _, c := range s.hits {
		if c.position >= 0 {
			spots[spot{c.session, c.position + 1}], spots[spot{c.session, c.position + 2}] = true, true
		}
	}
	if len(spots) == 0 {
		return out, nil
	}
	limit := 2*len(spots) + 16
	q := &qdrant.QueryPoints{CollectionName: s.db.set.Collection, Query: s.denseQuery(), Filter: s.filter(qdrant.NewMatchInts(fieldPlace, s.hashes(spots)...)),
		Limit: qdrant.PtrOf(uint64(limit)), WithPayload: qdrant.NewWithPayload(false)}
	s.useDense(q)
	hits, err := call(ctx, s.db, "score", func(ctx context.Context) ([]*qdrant.ScoredPoint, error) { return s.db.client.Query(ctx, q) })
	for _, h := range hits {
		out.of[h.GetId().GetUuid()] = float64(h.GetScore())
	}
	out.all = len(hits) < limit
	return out, err
}

func (s *search) hashes(spots map[spot]bool) []int64 {
	list := make([]int64, 0, len(spots))
	for sp := range spots {
		list = append(list, place(s.scope, sp.session, sp.position))
	}
	return list
}

// scorePage is how many candidates are scored in one query.
const scorePage = 2000

// scoreMissing asks for the dense scores of candidates that have none yet. Those that do not come back have no vector.
func (s *search) scoreMissing(ctx context.Context, list []*candidate) error {
	var points []*qdrant.PointId
	for _, c := range list {
		if !c.scored {
			points = append(points, c.point)
		}
	}
	for part := range slices.Chunk(points, scorePage) {
		q := &qdrant.QueryPoints{CollectionName: s.db.set.Collection, Query: s.denseQuery(), Filter: within(s.scope, qdrant.NewHasID(part...)),
			Limit: qdrant.PtrOf(uint64(len(part))), WithPayload: qdrant.NewWithPayload(false)}
		s.useDense(q)
		hits, err := call(ctx, s.db, "score", func(ctx context.Context) ([]*qdrant.ScoredPoint, error) { return s.db.client.Query(ctx, q) })
		if err != nil {
			return err
		}
		for _, h := range hits {
			if c := s.found[h.GetId().GetUuid()]; c != nil {
				c.dense, c.embedded = float64(h.GetScore()), true
			}
		}
	}
	for _, c := range list {
		c.scored = true
	}
	return nil
}

// context nominates what stands one and two positions behind the lexical hits, in the order of the hits, and returns those
// that no other arm had brought.
func (s *search) context(near map[spot][]turn) (fresh []*candidate, err error) {
	rank := 0
	seen := map[string]bool{}
	for _, h := range s.hits {
		if h.position < 0 {
			continue
		}
		for ahead := 1; ahead <= 2; ahead++ {
			at := spot{h.session, h.position + ahead}
			list := slices.Clone(near[at])
			slices.SortFunc(list, func(a, b turn) int { return strings.Compare(a.id, b.id) })
			for _, t := range list {
				if seen[t.id] {
					continue
				}
				c := s.found[t.point.GetUuid()]
				if c == nil {
					c = &candidate{point: t.point, id: t.id, session: at.session, position: at.position}
				}
				if c.item == nil {
					if err := s.read(c, t.load); err != nil {
						return nil, err
					}
				}
				if c.item == nil {
					continue
				}
				seen[t.id] = true
				rank++
				if s.found[t.point.GetUuid()] == nil {
					fresh = append(fresh, c)
				}
				s.nominate(store.ContextArm, rank, c)
			}
		}
	}
	return fresh, nil
}

func (s *search) records(near map[spot][]turn) error {
	s.out.Records = make([]store.Record, 0, len(s.order))
	for _, c := range s.order {
		if c.item == nil {
			continue
		}
		r := store.Record{Item: *c.item, Doc: c.doc, Ranks: c.ranks}
		if s.vector && c.embedded {
			r.Dense, r.Embedded = c.dense, true
		}
		if t := c.item.Turn; t.IsTurn() {
			var err error
			if r.Prev1, err = previous(near, t, 1); err != nil {
				return err
			}
			if r.Prev2, err = previous(near, t, 2); err != nil {
				return err
			}
		}
		s.out.Records = append(s.out.Records, r)
	}
	return nil
}

// previous returns the turn that many positions before: of several an episodic one first, then the smallest id.
func previous(near map[spot][]turn, t store.Turn, back int) (*scoring.Doc, error) {
	list := near[spot{t.Session, t.Position - back}]
	if len(list) == 0 {
		return nil, nil
	}
	best := 0
	for i := range list {
		if precedes(&list[i], &list[best]) < 0 {
			best = i
		}
	}
	if list[best].doc == nil {
		var err error
		if list[best].doc, err = docOf(list[best].load); err != nil {
			return nil, err
		}
	}
	return list[best].doc, nil
}

func precedes(a, b *turn) int {
	if (a.kind == store.Episodic) != (b.kind == store.Episodic) {
		if a.kind == store.Episodic {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.id, b.id)
}
