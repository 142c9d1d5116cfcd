package evoke

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"evoke/recall"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// flaky is an item store of its own, apart from the ledger, that can be out of reach.
type flaky struct {
	store.Store
	down atomic.Bool
}

func (f *flaky) Apply(ctx context.Context, sc store.Scope, c store.Change) error {
	if f.down.Load() {
		return fmt.Errorf("apply: %w", store.ErrUnavailable)
	}
	return f.Store.Apply(ctx, sc, c)
}

// openFlaky opens a memory whose items and ledger are two databases.
func openFlaky(t *testing.T) (*Memory, *flaky) {
	t.Helper()
	var dbs [2]*sqlitestore.DB
	for i := range dbs {
		db, err := sqlitestore.OpenMemory(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		dbs[i] = db
	}
	f := &flaky{Store: dbs[0]}
	return open(t, &Options{Store: f, Ledger: dbs[1]}), f
}

// TestOutageOfTheItemStore: a write that fails after it was recorded is completed by the retry loop, before any later
// write of its memory, and a retry under its key does not make it twice.
func TestOutageOfTheItemStore(t *testing.T) {
	ctx, who := t.Context(), Who{User: "u", Thread: "t"}
	m, f := openFlaky(t)
	f.down.Store(true)
	req := IngestRequest{Who: who, Messages: chat("I like tea.", "Good."), IdempotencyKey: "k"}
	if _, err := m.Ingest(ctx, req); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("%v", err)
	}
	f.down.Store(false)
	if _, err := m.Ingest(ctx, req); err != nil {
		t.Fatal(err)
	}
	if err := m.replay(ctx); err != nil {
		t.Fatal(err)
	}
	if st, err := m.Stats(ctx, who); err != nil || st.Episodic != 2 {
		t.Fatalf("%+v, %v", st, err)
	}
	f.down.Store(true)
	if _, err := m.Remember(ctx, RememberRequest{Who: who, ID: "a", Content: "first"}); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("%v", err)
	}
	f.down.Store(false)
	if _, err := m.Remember(ctx, RememberRequest{Who: who, ID: "b", Content: "second"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		if _, err := m.Get(ctx, who, id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if n, err := m.Flush(ctx, who); err != nil || n != 1 {
		t.Errorf("flush: %d, %v", n, err)
	}
	res, err := m.Recall(ctx, RecallRequest{Who: Who{User: "u"}, Request: recall.Request{Query: "tea"}})
	if err != nil || len(res.Hits) == 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestReplayLoopCompletesAWriteByItself(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the loop's tick of 5 s; it runs without -short")
	}
	ctx, who := t.Context(), Who{User: "u"}
	m, f := openFlaky(t)
	f.down.Store(true)
	if _, err := m.Remember(ctx, RememberRequest{Who: who, ID: "a", Content: "kept"}); err == nil {
		t.Fatal("the store was out of reach")
	}
	f.down.Store(false)
	for end := time.Now().Add(3 * replayEvery); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if _, err := m.Get(ctx, who, "a"); err == nil {
			return
		}
	}
	t.Error("the write was never completed")
}
