package evoke

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"evoke/recall"
	"evoke/store"
)

func procedure(t *testing.T, m *Memory, who Who, content string) string {
	t.Helper()
	r, err := m.Remember(t.Context(), RememberRequest{Who: who, Kind: store.Procedural, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	return r.Item.ID
}

func TestOutcomesAreCountedAndRecalled(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	m := open(t, &Options{Clock: clockAt(now).now})
	who := Who{User: "ann"}
	id := procedure(t, m, who, "To release, run the tests, then tag.")
	report := func(how store.Outcome, at time.Time) store.Item {
		t.Helper()
		it, err := m.Outcome(t.Context(), OutcomeRequest{Who: who, ID: id, Outcome: how, At: at})
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	report(store.Succeeded, now.Add(-time.Hour))
	report(store.Succeeded, now.Add(-2*time.Hour))
	it := report(store.Failed, now.Add(time.Hour)) // a clock that goes fast
	want := store.Outcomes{Succeeded: 2, Failed: 1, Last: store.Failed, LastAt: now}
	if it.Outcomes != want {
		t.Errorf("%+v, want %+v", it.Outcomes, want)
	}
	res, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{
		Query: "how do I release?", Kinds: []store.Kind{store.Procedural}, MinScore: ptr(0.0)}})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Item.Outcomes != want {
		t.Errorf("recalled %+v, %v", res.Hits, err)
	}
	var out bytes.Buffer
	if _, err := m.Export(t.Context(), who, &out); err != nil {
		t.Fatal(err)
	}
	other := open(t, nil)
	if res, err := other.Import(t.Context(), Who{}, &out, nil); err != nil || res.Imported != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if it, err := other.Get(t.Context(), who, id); err != nil || it.Outcomes != want {
		t.Errorf("moved: %+v, %v", it.Outcomes, err)
	}
}

func TestOutcomeRefused(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "ann"}
	id := procedure(t, m, who, "To release, run the tests.")
	fact, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: "Likes tea."})
	if err != nil {
		t.Fatal(err)
	}
	old := procedure(t, m, who, "To deploy, copy the files.")
	if _, err := m.Update(t.Context(), UpdateRequest{Who: who, ID: old, Content: ptr("To deploy, push.")}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		r    OutcomeRequest
		want error
	}{
		"a fact":           {OutcomeRequest{Who: who, ID: fact.Item.ID, Outcome: store.Failed}, store.ErrInvalid},
		"no outcome":       {OutcomeRequest{Who: who, ID: id}, store.ErrInvalid},
		"another outcome":  {OutcomeRequest{Who: who, ID: id, Outcome: "maybe"}, store.ErrInvalid},
		"unknown":          {OutcomeRequest{Who: who, ID: "nothing", Outcome: store.Failed}, store.ErrNotFound},
		"no id":            {OutcomeRequest{Who: who, Outcome: store.Failed}, store.ErrNotFound},
		"another user's":   {OutcomeRequest{Who: Who{User: "bob"}, ID: id, Outcome: store.Failed}, store.ErrNotFound},
		"an old version":   {OutcomeRequest{Who: who, ID: old, Outcome: store.Failed}, store.ErrConflict},
		"an ancient times": {OutcomeRequest{Who: who, ID: id, Outcome: store.Failed, At: time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)}, store.ErrInvalid},
	} {
		if _, err := m.Outcome(t.Context(), c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	rival, err := m.ForTenant("rival")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rival.Outcome(t.Context(), OutcomeRequest{Who: who, ID: id, Outcome: store.Failed}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another tenant's: %v", err)
	}
	if it, err := m.Get(t.Context(), who, id); err != nil || it.Outcomes != (store.Outcomes{}) {
		t.Errorf("a refused report counted: %+v, %v", it.Outcomes, err)
	}
}

func TestOutcomesOfManyAtOnceAreAllCounted(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "ann"}
	id := procedure(t, m, who, "To release, run the tests.")
	const n = 40
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			how, key := store.Succeeded, ""
			if i%4 == 0 {
				how, key = store.Failed, "once"
			}
			if _, err := m.Outcome(t.Context(), OutcomeRequest{Who: who, ID: id, Outcome: how, IdempotencyKey: key}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	it, err := m.Get(t.Context(), who, id)
	if err != nil || it.Outcomes.Succeeded != n*3/4 || it.Outcomes.Failed != 1 {
		t.Errorf("%+v, %v; want %d and 1", it.Outcomes, err, n*3/4)
	}
	if _, err := m.Outcome(t.Context(), OutcomeRequest{Who: who, ID: id, Outcome: store.Succeeded, IdempotencyKey: "once"}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the key with another report: %v", err)
	}
}
