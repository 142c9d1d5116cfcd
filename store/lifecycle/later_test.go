package lifecycle_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// Work that waits for something gives way: others that came later end before it, and it ends itself in the end.
func TestWorkThatWaitsGivesWay(t *testing.T) {
	db := openLedger(t, filepath.Join(t.TempDir(), "m.db"))
	defer db.Close()
	var ready atomic.Bool
	runs := 0
	r := newRunner(t, db, map[string]lifecycle.Work{
		"slow": func(context.Context, *lifecycle.Progress) (any, error) {
			if runs++; !ready.Load() {
				time.Sleep(time.Millisecond)
				return nil, lifecycle.ErrLater
			}
			return "slow", nil
		},
		"quick": func(context.Context, *lifecycle.Progress) (any, error) { return "quick", nil },
	})
	start(t, r)
	slow := submit(t, r, "slow", nil)
	for range 3 {
		if op := wait(t, r, submit(t, r, "quick", nil).ID); op.State != store.OperationDone {
			t.Errorf("%s: %s", op.State, op.Note)
		}
	}
	canceled := submit(t, r, "slow", nil)
	if _, err := r.Cancel(t.Context(), "acme", canceled.ID); err != nil {
		t.Fatal(err)
	}
	if op := wait(t, r, canceled.ID); op.State != store.OperationCanceled {
		t.Errorf("one that was canceled while it waited: %s", op.State)
	}
	ready.Store(true)
	if op := wait(t, r, slow.ID); op.State != store.OperationDone || runs < 2 {
		t.Errorf("%s after %d runs", op.State, runs)
	}
}

// What a process does not know how to do it leaves to one that does.
func TestUnknownKindsAreLeft(t *testing.T) {
	db := openLedger(t, filepath.Join(t.TempDir(), "m.db"))
	defer db.Close()
	work := map[string]lifecycle.Work{"here": func(context.Context, *lifecycle.Progress) (any, error) { return nil, nil }}
	elsewhere := map[string]lifecycle.Work{"there": work["here"]}
	left := submit(t, newRunner(t, db, elsewhere), "there", nil) // not started
	r := newRunner(t, db, work)
	start(t, r)
	if op := wait(t, r, submit(t, r, "here", nil).ID); op.State != store.OperationDone {
		t.Errorf("%s: %s", op.State, op.Note)
	}
	if op, err := db.Operation(t.Context(), "acme", left.ID); err != nil || op.State != store.OperationQueued {
		t.Errorf("%s, %v", op.State, err)
	}
	other := newRunner(t, db, elsewhere)
	start(t, other)
	if op := wait(t, other, left.ID); op.State != store.OperationDone {
		t.Errorf("%s: %s", op.State, op.Note)
	}
}
