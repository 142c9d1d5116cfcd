package recall

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"evoke/store"
)

// judge is a reranker that finds relevant what holds a word; it may stall, fail, or answer nonsense.
type judge struct {
	word  string
	stall time.Duration
	err   error
	extra int
	asked *int
}

func (j judge) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	*j.asked++
	if query == "" {
		return nil, errors.New("no query")
	}
	if j.stall > 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(j.stall):
		}
	}
	out := make([]float64, len(texts)+j.extra)
	for i, t := range texts {
		if strings.Contains(t, j.word) {
			out[i] = 1
		}
	}
	return out, j.err
}

func TestReranker(t *testing.T) {
	req := Request{Query: "greyhound from the shelter", Limit: 8, MinScore: ptr(0.0), Explain: true}
	plain := recall(t, engine(t, conversation(), nil, Options{}), req)
	synctest.Test(t, func(t *testing.T) {
		n := 0
		res := recall(t, engine(t, conversation(), nil, Options{Reranker: judge{word: "pottery", asked: &n}}), req)
		if res.Hits[0].Item.ID != "5" || res.Hits[0].Explain.Terms["rerank"] != 1 || len(res.Degraded) > 0 {
			t.Errorf("%v, degraded %v", ids(res), res.Degraded)
		}
		for i, h := range res.Hits {
			sum := h.Parts.Semantic + h.Parts.Recency + h.Parts.Importance + h.Parts.Update
			if math.Abs(sum-h.Score) > 1e-6 || h.Score > 1 || i > 0 && h.Score > res.Hits[i-1].Score {
				t.Errorf("hit %d: %+v, score %g", i, h.Parts, h.Score)
			}
		}
		if recall(t, engine(t, conversation(), nil, Options{Reranker: judge{asked: &n}}), Request{}); n != 1 {
			t.Errorf("without a query the reranker was asked (%d times in all)", n)
		}
	})
	// Whatever goes wrong, the first ranking stands, in time.
	for name, c := range map[string]struct {
		judge
		why string
	}{
		"stalls": {judge{stall: time.Hour}, "timed out"}, "fails": {judge{err: store.ErrUnavailable}, "unavailable"}, "nonsense": {judge{extra: 1}, "unavailable"},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			c.asked = &n
			e := engine(t, conversation(), nil, Options{Reranker: c.judge})
			for _, limit := range []time.Duration{0, 100 * time.Millisecond} {
				ctx, cancel := context.WithCancel(t.Context())
				if limit > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), limit)
				}
				began := time.Now()
				res, err := e.Recall(ctx, []store.Scope{alice}, req)
				cancel()
				if err != nil || res.Degraded["rerank"] != c.why {
					t.Fatalf("%s: %v, %v", name, res, err)
				}
				if took := time.Since(began); limit > 0 && took >= limit || took > defaultRerankTimeout {
					t.Errorf("%s: took %v", name, took)
				}
				for i, h := range res.Hits {
					if h.Item.ID != plain.Hits[i].Item.ID || h.Score != plain.Hits[i].Score {
						t.Errorf("%s: hit %d is %s %g, was %s %g", name, i, h.Item.ID, h.Score, plain.Hits[i].Item.ID, plain.Hits[i].Score)
					}
				}
			}
			if name != "stalls" {
				return
			}
			for range 2 * breakerStalls {
				recall(t, e, req)
			}
			if n > breakerStalls+1 {
				t.Errorf("a reranker that stalls was asked %d times", n)
			}
		})
	}
}
