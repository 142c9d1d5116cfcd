package qdrantstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"evoke/store"
)

// margin is how many more than asked for the arms of scores fetch, so that equal scores can be ordered by id.
const margin = 16

// leg is one arm as a query of the batch.
type leg struct {
	arm   store.Arm
	n     int // asked for
	query *qdrant.QueryPoints
	hits  []*qdrant.ScoredPoint
}

// What a leg brings of each point.
func legPayload() *qdrant.WithPayloadSelector {
	return qdrant.NewWithPayloadInclude(fieldID, fieldSession, fieldPosition, fieldTie)
}

func (s *search) leg(arm store.Arm, n, limit int, query *qdrant.Query, conds ...*qdrant.Condition) *leg {
	return &leg{arm: arm, n: n, query: &qdrant.QueryPoints{CollectionName: s.db.set.Collection, Query: query, Filter: s.filter(conds...),
		Limit: qdrant.PtrOf(uint64(limit)), WithPayload: legPayload()}}
}

// ordered is a leg that is ordered by a field.
func (s *search) ordered(arm store.Arm, n, limit int, field string, dir qdrant.Direction, conds ...*qdrant.Condition) *leg {
	return s.leg(arm, n, limit, qdrant.NewQueryOrderBy(&qdrant.OrderBy{Key: field, Direction: &dir}), conds...)
}

func (s *search) legs() []*leg {
	var legs []*leg
	if s.vector && s.q.Dense > 0 {
		l := s.leg(store.DenseArm, s.q.Dense, s.q.Dense+margin, s.denseQuery())
		s.useDense(l.query)
		legs = append(legs, l)
	}
	if s.q.Lexical > 0 && len(s.q.Terms) > 0 && s.out.Failed[store.LexicalArm] == nil {
		l := s.leg(store.LexicalArm, s.q.Lexical, s.q.Lexical+margin, s.lexicalQuery())
		l.query.Using = qdrant.PtrOf(lexicalVector)
		legs = append(legs, l)
	}
	if s.q.Recent > 0 { // one more than asked for shows whether the last place is tied
		legs = append(legs, s.ordered(store.RecentArm, s.q.Recent, s.q.Recent+1, fieldMoment, qdrant.Direction_Desc))
	}
	if s.q.Important > 0 {
		legs = append(legs, s.ordered(store.ImportantArm, s.q.Important, s.q.Important+1, fieldRank, qdrant.Direction_Desc))
	}
	return legs
}

func (s *search) denseQuery() *qdrant.Query {
	return qdrant.NewQueryNearest(qdrant.NewVectorInputMulti([][]float32{s.q.Vector}))
}

// useDense: exact, because from a graph that does not fit the filter the server silently answers too little.
func (s *search) useDense(q *qdrant.QueryPoints) {
	q.Using = qdrant.PtrOf(denseVector)
	q.Params = &qdrant.SearchParams{Exact: qdrant.PtrOf(true)}
}

// lexicalQuery weighs each term by how often the query says it and by its idf within the scope.
func (s *search) lexicalQuery() *qdrant.Query {
	terms := queryTerms(s.q.Terms)
	ids, weights := make([]uint32, len(terms)), make([]float32, len(terms))
	for i, t := range terms {
		df := s.out.Stats.DF[t.Term]
		ids[i] = uint32(t.Term)
		weights[i] = float32(float64(t.N) * s.db.bm25.IDF(max(s.out.Stats.Docs, df), df))
	}
	return qdrant.NewQuerySparse(ids, weights)
}

// runArms runs all arms in one batch and nominates what they bring.
func (s *search) runArms(ctx context.Context) error {
	legs := s.legs()
	if err := s.runLegs(ctx, legs); err != nil {
		return err
	}
	if err := s.breakTies(ctx, legs); err != nil {
		return err
	}
	for _, l := range legs {
		if s.out.Failed[l.arm] != nil {
			continue
		}
		if l.arm == store.DenseArm || l.arm == store.LexicalArm {
			slices.SortStableFunc(l.hits, func(a, b *qdrant.ScoredPoint) int {
				return cmp.Or(cmp.Compare(b.GetScore(), a.GetScore()), strings.Compare(itemID(a), itemID(b)))
			})
		}
		for i, h := range l.hits[:min(l.n, len(l.hits))] {
			c := s.nominate(l.arm, i+1, newCandidate(h))
			if l.arm == store.DenseArm {
				c.dense, c.embedded, c.scored = float64(h.GetScore()), true, true
			}
			if l.arm == store.LexicalArm {
				s.hits = append(s.hits, c)
			}
		}
	}
	return nil
}

func itemID(h *qdrant.ScoredPoint) string { return h.GetPayload()[fieldID].GetStringValue() }

func newCandidate(h *qdrant.ScoredPoint) *candidate {
	p := h.GetPayload()
	c := &candidate{point: h.GetId(), id: p[fieldID].GetStringValue(), session: p[fieldSession].GetStringValue(), position: -1}
	if c.session != "" {
		c.position = int(p[fieldPosition].GetIntegerValue())
	}
	return c
}

// runLegs runs legs in one batch. One bad query fails a batch, so when the server refuses it each leg is tried alone and
// those that fail are reported. It fails when no leg could be run.
func (s *search) runLegs(ctx context.Context, legs []*leg) error {
	if len(legs) == 0 {
		return nil
	}
	queries := make([]*qdrant.QueryPoints, len(legs))
	for i, l := range legs {
		queries[i] = l.query
	}
	rs, err := call(ctx, s.db, "search", func(ctx context.Context) ([]*qdrant.BatchResult, error) {
		return s.db.client.QueryBatch(ctx, &qdrant.QueryBatchPoints{CollectionName: s.db.set.Collection, QueryPoints: queries})
	})
	if err == nil && len(rs) == len(legs) {
		for i, r := range rs {
			legs[i].hits = r.GetResult()
		}
		return nil
	}
	if ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) && !errors.Is(err, errTooLarge) {
		return err
	}
	ok := false
	for _, l := range legs {
		hits, err := call(ctx, s.db, "search", func(ctx context.Context) ([]*qdrant.ScoredPoint, error) { return s.db.client.Query(ctx, l.query) })
		if err != nil {
			s.fail(l.arm, err)
			continue
		}
		l.hits, ok = hits, true
	}
	if !ok {
		return err
	}
	return nil
}

// breakTies puts the legs that are ordered by a field into a fixed order. The server leaves equal values in any; when the
// value of the last place goes on behind it, those that belong there are read anew, ordered by the hash of their ids.
func (s *search) breakTies(ctx context.Context, legs []*leg) error {
	var again []*leg
	of := map[*leg]*leg{}
	for _, l := range legs {
		if l.arm != store.RecentArm && l.arm != store.ImportantArm {
			continue
		}
		if len(l.hits) > l.n && orderValue(l.hits[l.n]) == orderValue(l.hits[l.n-1]) {
			v := orderValue(l.hits[l.n])
			l.hits = slices.DeleteFunc(l.hits, func(h *qdrant.ScoredPoint) bool { return orderValue(h) == v })
			rest := s.ordered(l.arm, 0, l.n-len(l.hits), fieldTie, qdrant.Direction_Asc, s.tied(l.arm, v))
			of[rest] = l
			again = append(again, rest)
		}
		slices.SortStableFunc(l.hits, func(a, b *qdrant.ScoredPoint) int {
			return cmp.Or(cmp.Compare(orderValue(b), orderValue(a)), cmp.Compare(tieOf(a), tieOf(b)))
		})
	}
	if err := s.runLegs(ctx, again); err != nil {
		return err
	}
	for rest, l := range of {
		slices.SortStableFunc(rest.hits, func(a, b *qdrant.ScoredPoint) int { return cmp.Compare(tieOf(a), tieOf(b)) })
		l.hits = append(l.hits, rest.hits...)
	}
	return nil
}

func (s *search) tied(arm store.Arm, v int64) *qdrant.Condition {
	if arm == store.ImportantArm {
		return qdrant.NewMatchInt(fieldRank, v)
	}
	at := stamp(time.UnixMicro(v))
	return qdrant.NewDatetimeRange(fieldMoment, &qdrant.DatetimeRange{Gte: at, Lte: at})
}

func orderValue(h *qdrant.ScoredPoint) int64 { return h.GetOrderValue().GetInt() }

func tieOf(h *qdrant.ScoredPoint) int64 { return h.GetPayload()[fieldTie].GetIntegerValue() }
