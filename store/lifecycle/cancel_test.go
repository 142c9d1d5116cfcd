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

// watched is a ledger that has something happen before the nth call of its user.
type watched struct {
	store.Operations
	calls, nth atomic.Int64
	happens    func()
}

func (w *watched) call() {
	if w.calls.Add(1) == w.nth.Load() {
		w.happens()
	}
}

func (w *watched) Operation(ctx context.Context, tenant, id string) (store.Operation, error) {
	w.call()
	if err := ctx.Err(); err != nil {
		return store.Operation{}, err
	}
	return w.Operations.Operation(ctx, tenant, id)
}

func (w *watched) SaveOperation(ctx context.Context, op store.Operation) (int64, error) {
	w.call()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return w.Operations.SaveOperation(ctx, op)
}

// ended is how an operation ended, read past the ledger that the runner has.
func ended(t *testing.T, l store.Operations, id string) (op store.Operation) {
	t.Helper()
	for range 2000 {
		var err error
		if op, err = l.Operation(t.Context(), "acme", id); err != nil {
			t.Fatal(err)
		}
		if op.State.Ended() {
			return op
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("it does not end: %s, asked to end: %t", op.State, op.Cancel)
	return op
}

// A cancellation that falls between any two calls of the ledger ends the operation, which can then be run again.
func TestCanceledAtEveryMoment(t *testing.T) {
	const calls = 6 // the attempt reads, begins, saves three steps and ends; of a canceled one some are made twice
	for nth := int64(2); nth <= calls+1; nth++ {
		db := openLedger(t, filepath.Join(t.TempDir(), "m.db"))
		var runs atomic.Int64
		l := &watched{Operations: db}
		l.nth.Store(nth)
		r := pausing(t, l, 0, map[string]lifecycle.Work{"counts": func(ctx context.Context, p *lifecycle.Progress) (any, error) {
			runs.Add(1)
			for i := range 3 {
				if err := p.Save(ctx, i, i+1, 3); err != nil {
					return nil, err
				}
			}
			return 3, nil
		}})
		l.happens = func() { // after submit, so r is there
			if _, err := r.Cancel(t.Context(), "acme", "op1"); err != nil {
				t.Error(err)
			}
		}
		op := submit(t, r, "counts", nil)
		got := ended(t, db, op.ID)
		want := store.OperationCanceled
		if nth == calls+1 { // the work was done when it was asked to end
			want = store.OperationDone
		}
		if got.State != want {
			t.Errorf("canceled before call %d: %s (%s)", nth, got.State, got.Note)
		}
		if want == store.OperationCanceled {
			if _, err := r.Retry(t.Context(), "acme", op.ID); err != nil {
				t.Fatal(err)
			}
			if got = ended(t, db, op.ID); got.State != store.OperationDone || got.Done != 3 {
				t.Errorf("canceled before call %d, then run again: %s (%s), %d done", nth, got.State, got.Note, got.Done)
			}
		}
		r.Stop()
		_ = db.Close()
	}
}
