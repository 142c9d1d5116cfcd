package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/qdrant/go-client/qdrant"

	"evoke/scoring"
	"evoke/store"
)

// maxArm is the greatest number of candidates that an arm may be asked for.
const maxArm = 10000

// Search runs the arms. It takes three rounds: the counts that make up the statistics, at once; all arms, in one batch (and a
// second, small one when the last places of the recent or important arm are tied); what was nominated, with its neighbours
// and the dense scores still missing, at once.
func (db *DB) Search(ctx context.Context, sc store.Scope, q store.Query) (*store.Candidates, error) {
	if err := db.enterScope(ctx, sc); err != nil {
		return nil, err
	}
	defer db.leave()
	if err := checkQuery(&q); err != nil {
		return nil, err
	}
	s := &search{db: db, scope: sc, q: &q, selected: selection(sc, &q.Filter, q.View), found: map[string]*candidate{},
		out: &store.Candidates{Stats: scoring.LexicalStats{DF: map[scoring.Term]int{}}}}
	return s.run(ctx)
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

// search is one search under way.
type search struct {
	db       *DB
	scope    store.Scope
	q        *store.Query
	selected []*qdrant.Condition // of filter and view
	out      *store.Candidates
	vector   bool // the query's vector is valid and the store has a space
	hits     []*candidate
	found    map[string]*candidate // by the text of the point's id
	order    []*candidate
}

// candidate is a point that an arm nominated.
type candidate struct {
	point    *qdrant.PointId
	id       string
	session  string
	position int // -1 outside a session
	ranks    map[store.Arm]int
	dense    float64
	embedded bool
	scored   bool // dense and embedded are known
	item     *store.Item
	doc      *scoring.Doc
}

func (s *search) run(ctx context.Context) (*store.Candidates, error) {
	sp, err := s.space(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.checkVector(sp); err != nil {
		s.fail(store.DenseArm, err)
	}
	err = s.statistics(ctx, sp)
	if err == nil && s.q.Correct {
		err = s.correct(ctx)
	}
	s.out.Terms = s.q.Terms
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) {
			return nil, err
		}
		s.fail(store.LexicalArm, err) // without frequencies it cannot weigh
	}
	if err := s.runArms(ctx); err != nil {
		return nil, err
	}
	if err := s.gather(ctx); err != nil {
		return nil, err
	}
	return s.out, nil
}

// space is the vector space as far as the query needs it.
func (s *search) space(ctx context.Context) (space, error) {
	if s.q.Vector != nil {
		return s.db.vectorSpace(ctx)
	}
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	return s.db.space, nil
}

func (s *search) checkVector(sp space) error {
	if s.q.Vector == nil || sp.dim == 0 {
		return nil
	}
	err := store.ValidateVector("query vector", s.q.Vector, sp.dim)
	s.vector = err == nil
	return err
}

func (s *search) fail(arm store.Arm, err error) {
	if s.out.Failed == nil {
		s.out.Failed = map[store.Arm]error{}
	}
	s.out.Failed[arm] = err
}

// statistics counts, within the scope alone, the current items, those of them without vectors, and those with each term.
func (s *search) statistics(ctx context.Context, sp space) error {
	terms := queryTerms(s.q.Terms)
	var mu sync.Mutex
	st := &s.out.Stats
	err := each(len(terms)+2, width, func(i int) error {
		switch {
		case i == 0:
			n, err := s.db.count(ctx, s.scope, current())
			st.Docs = n
			return err
		case i == 1 && sp.dim == 0:
			return nil
		case i == 1:
			n, err := s.db.count(ctx, s.scope, current(), not(qdrant.NewHasVector(denseVector)))
			s.out.Pending = n
			return err
		}
		t := terms[i-2].Term
		n, err := s.db.count(ctx, s.scope, current(), qdrant.NewMatchInt(fieldTerms, int64(t)))
		if n > 0 {
			mu.Lock()
			defer mu.Unlock()
			st.DF[t] = n
		}
		return err
	})
	if sp.dim == 0 {
		s.out.Pending = st.Docs
	}
	return err
}

// correct replaces the terms that no current item has by what they may be slips of. All that come into question are counted
// at once, so that a query without such terms costs nothing; where the past is asked for and no current item has them, as what
// was seen then has them.
func (s *search) correct(ctx context.Context) error {
	var candidates []int64
	for _, t := range s.q.Terms {
		if !t.Known && s.out.Stats.DF[t.Term] == 0 {
			candidates = append(candidates, int64(t.Term))
			for _, c := range scoring.TypoTerms(t.Token) {
				candidates = append(candidates, int64(c))
			}
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	counts := maps.Clone(s.out.Stats.DF)
	if err := s.countTerms(ctx, candidates, counts, current()); err != nil {
		return err
	}
	spelt := counts
	if !s.q.View.KnownAt.IsZero() {
		spelt = map[scoring.Term]int{}
		if err := s.countTerms(ctx, candidates, spelt, viewConditions(s.q.View)...); err != nil {
			return err
		}
		maps.Copy(spelt, counts)
	}
	s.q.Terms = scoring.CorrectTypos(s.q.Terms, func(t scoring.Term) int { return spelt[t] })
	for _, t := range s.q.Terms {
		if n := counts[t.Term]; n > 0 {
			s.out.Stats.DF[t.Term] = n
		}
	}
	return nil
}

// countTerms adds in how many of the scope's items under conditions each of the terms, sorted, occurs.
func (s *search) countTerms(ctx context.Context, terms []int64, counts map[scoring.Term]int, conds ...*qdrant.Condition) error {
	hits, err := s.db.facet(ctx, fieldTerms, within(s.scope, append(slices.Clone(conds), qdrant.NewMatchInts(fieldTerms, terms...))...))
	if err != nil {
		return err
	}
	for _, h := range hits {
		if v := h.GetValue().GetIntegerValue(); v >= 0 && v <= math.MaxUint32 {
			if _, wanted := slices.BinarySearch(terms, v); wanted {
				counts[scoring.Term(v)] = int(h.GetCount())
			}
		}
	}
	return nil
}

// queryTerms are the terms of a query, each once: the server refuses a vector that names one twice.
func queryTerms(terms []scoring.QueryTerm) []scoring.QueryTerm {
	at := make(map[scoring.Term]int, len(terms))
	out := make([]scoring.QueryTerm, 0, len(terms))
	for _, t := range terms {
		n := max(t.N, 1)
		if i, ok := at[t.Term]; ok {
			out[i].N += n
			continue
		}
		at[t.Term] = len(out)
		t.N = n
		out = append(out, t)
	}
	return out
}

// filter is the root filter of the search: scope, view, filter and more.
func (s *search) filter(conds ...*qdrant.Condition) *qdrant.Filter {
	return within(s.scope, append(slices.Clone(s.selected), conds...)...)
}

// nominate notes a rank of a point; of several in one arm the first counts.
func (s *search) nominate(arm store.Arm, rank int, c *candidate) *candidate {
	uuid := c.point.GetUuid()
	known, ok := s.found[uuid]
	if !ok {
		known = c
		known.ranks = make(map[store.Arm]int, 2)
		s.found[uuid] = known
		s.order = append(s.order, known)
	}
	if _, ok := known.ranks[arm]; !ok {
		known.ranks[arm] = rank
	}
	return known
}
