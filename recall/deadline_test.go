package recall

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"evoke/store"
)

// An embedder or a store that stalls takes its part of the call's time and no more: the rest still answers.
func TestStallsLeaveTimeToAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine(t, conversation(), toy{axes: []string{"greyhound"}, sleep: time.Hour}, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		began := time.Now()
		res, err := e.Recall(ctx, []store.Scope{alice}, Request{Query: "greyhound from the shelter"})
		if err != nil || len(res.Hits) == 0 || res.Hits[0].Item.ID != "2" || res.Embedder != "none" {
			t.Fatalf("%+v, %v", res, err)
		}
		if res.Degraded["dense"] != "the query could not be embedded (timed out)" {
			t.Errorf("degraded: %v", res.Degraded)
		}
		if took := time.Since(began); took != 200*time.Millisecond {
			t.Errorf("the vector took %v of 500 ms, want 40 %%", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := conversation()
		f.add(pair, item("p", "", "The greyhound from the shelter likes the agent."))
		f.stall = map[string]time.Duration{alice.Key(): time.Hour}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		res, err := engine(t, f, nil, Options{}).Recall(ctx, []store.Scope{alice, pair}, Request{Query: "greyhound shelter"})
		if err != nil || len(res.Hits) != 1 || res.Hits[0].Item.ID != "p" {
			t.Fatalf("%+v, %v", res, err)
		}
		if res.Degraded["store"] != "one of the memories could not be searched (timed out)" {
			t.Errorf("degraded: %v", res.Degraded)
		}
	})
}

// stalling embeds at once or, while it is told to, not at all.
type stalling struct {
	toy
	stalls *atomic.Bool
	asked  *atomic.Int64
}

func (s stalling) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	s.asked.Add(1)
	if s.stalls.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.toy.EmbedQuery(ctx, text)
}

// An embedder that has stalled some times in a row is left out, so that calls no longer wait for it, and asked again by one
// call at a time after ever longer rests.
func TestStalledEmbedderIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stalling{toy{axes: []string{"greyhound"}}, new(atomic.Bool), new(atomic.Int64)}
		e := engine(t, conversation(), s, Options{EmbedTimeout: 300 * time.Millisecond})
		ask := func() (*Response, time.Duration) {
			t.Helper()
			began := time.Now()
			res := recall(t, e, Request{Query: "greyhound from the shelter"})
			if len(res.Hits) == 0 || res.Hits[0].Item.ID != "2" {
				t.Fatalf("no lexical answer: %+v", res)
			}
			return res, time.Since(began)
		}
		if res, _ := ask(); res.Embedder == "none" {
			t.Fatalf("%+v", res)
		}
		s.stalls.Store(true)
		for range breakerStalls {
			if _, took := ask(); took != 300*time.Millisecond {
				t.Errorf("took %v", took)
			}
		}
		before := s.asked.Load()
		for range 5 {
			if res, took := ask(); took != 0 || res.Degraded["dense"] != "the embedder is left out after it stalled" || s.asked.Load() != before {
				t.Errorf("took %v, degraded %v", took, res.Degraded)
			}
		}
		// One call tries it after the rest, and the next rest is longer.
		time.Sleep(breakerRest)
		if _, took := ask(); took != 300*time.Millisecond || s.asked.Load() != before+1 {
			t.Errorf("the trial took %v, %d asked", took, s.asked.Load()-before)
		}
		time.Sleep(breakerRest)
		if _, took := ask(); took != 0 {
			t.Errorf("within the longer rest a call took %v", took)
		}
		s.stalls.Store(false)
		time.Sleep(breakerRest)
		for range 2 {
			if res, _ := ask(); res.Embedder == "none" || len(res.Degraded) > 0 {
				t.Errorf("after it came back: %+v", res)
			}
		}
		// A caller who leaves says nothing about the embedder.
		s.stalls.Store(true)
		for range 2 * breakerStalls {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, cancel)
			if _, err := e.Recall(ctx, []store.Scope{alice}, Request{Query: "greyhound"}); err == nil {
				t.Error("a call whose caller left has an answer")
			}
		}
		s.stalls.Store(false)
		if res, _ := ask(); res.Embedder == "none" {
			t.Errorf("%+v", res)
		}
	})
}

// With a deadline far too short for the embedder an answer comes before it, and in time.
func TestAnswersWithinTheDeadline(t *testing.T) {
	for _, deadline := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			e := engine(t, conversation(), toy{axes: []string{"greyhound"}, sleep: time.Hour}, Options{})
			for range 2 * breakerStalls {
				ctx, cancel := context.WithTimeout(t.Context(), deadline)
				began := time.Now()
				res, err := e.Recall(ctx, []store.Scope{alice}, Request{Query: "greyhound from the shelter"})
				cancel()
				if err != nil || len(res.Hits) == 0 || time.Since(began) >= deadline || res.Degraded["dense"] == "" {
					t.Errorf("deadline %v: after %v %+v, %v", deadline, time.Since(began), res, err)
				}
			}
		})
	}
}

// A request may say itself how long it may take, for callers that have no context to end.
func TestARequestsOwnTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine(t, conversation(), toy{axes: []string{"greyhound"}, sleep: time.Hour}, Options{})
		req := Request{Query: "greyhound from the shelter", Timeout: 500 * time.Millisecond}
		began := time.Now()
		res, err := e.Recall(t.Context(), []store.Scope{alice}, req)
		if err != nil || len(res.Hits) == 0 || res.Hits[0].Item.ID != "2" || res.Degraded["dense"] == "" {
			t.Fatalf("%+v, %v", res, err)
		}
		if took := time.Since(began); took != 200*time.Millisecond {
			t.Errorf("took %v", took)
		}
		began = time.Now()
		b, err := e.Context(t.Context(), []store.Scope{alice}, BlockRequest{Request: req, MaxTokens: 500})
		if err != nil || len(b.Items) == 0 || b.Response.Degraded["dense"] == "" || time.Since(began) >= req.Timeout {
			t.Errorf("after %v: %+v, %v", time.Since(began), b, err)
		}
		for _, wrong := range []time.Duration{-1, maxTimeout + 1} {
			if _, err := e.Recall(t.Context(), []store.Scope{alice}, Request{Query: "x", Timeout: wrong}); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%v: %v", wrong, err)
			}
		}
	})
}
