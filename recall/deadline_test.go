package recall

import (
	"context"
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
