package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"evoke/store"
	"evoke/store/lifecycle"
	"evoke/store/sqlitestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openLedger(t *testing.T, path string) *sqlitestore.DB {
	t.Helper()
	db, err := sqlitestore.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func newRunner(t *testing.T, l store.Operations, kinds map[string]lifecycle.Work) *lifecycle.Runner {
	t.Helper()
	var n atomic.Int64
	r, err := lifecycle.NewRunner(l, kinds, &lifecycle.RunnerOptions{NewID: func() string { return fmt.Sprint("op", n.Add(1), "-", time.Now().UnixNano()) }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func start(t *testing.T, r *lifecycle.Runner) {
	t.Helper()
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
}

func submit(t *testing.T, r *lifecycle.Runner, kind string, args any) store.Operation {
	t.Helper()
	op, err := r.Submit(t.Context(), "acme", kind, "key", args)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func wait(t *testing.T, r *lifecycle.Runner, id string) store.Operation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	op, err := r.Wait(ctx, "acme", id)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func TestRunner(t *testing.T) {
	db := openLedger(t, filepath.Join(t.TempDir(), "m.db"))
	defer db.Close()
	r := newRunner(t, db, map[string]lifecycle.Work{
		"count": func(ctx context.Context, p *lifecycle.Progress) (any, error) {
			var to int
			if err := p.Args(&to); err != nil {
				return nil, err
			}
			for i := range to {
				if err := p.Save(ctx, i, i+1, to); err != nil {
					return nil, err
				}
			}
			return map[string]int{"counted": to}, nil
		},
		"fail":  func(context.Context, *lifecycle.Progress) (any, error) { return nil, errors.New("no luck") },
		"panic": func(context.Context, *lifecycle.Progress) (any, error) { panic("secret content") },
	})
	early := submit(t, r, "count", 3) // before the start
	start(t, r)
	for _, tt := range []struct {
		op    store.Operation
		state store.OperationState
		done  int
		note  string
	}{
		{early, store.OperationDone, 3, ""},
		{submit(t, r, "count", 5), store.OperationDone, 5, ""},
		{submit(t, r, "fail", nil), store.OperationFailed, 0, "no luck"},
		{submit(t, r, "panic", nil), store.OperationFailed, 0, "the operation panicked"},
		{submit(t, r, "count", "three"), store.OperationFailed, 0, ""},
	} {
		op := wait(t, r, tt.op.ID)
		if op.State != tt.state || op.Done != tt.done || tt.note != "" && op.Note != tt.note {
			t.Errorf("%s: %s, %d done, %q; want %s, %d, %q", tt.op.Kind, op.State, op.Done, op.Note, tt.state, tt.done, tt.note)
		}
	}
	if _, err := r.Submit(t.Context(), "acme", "nonsense", "", nil); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("an unknown kind: %v", err)
	}
}

// A stop cuts work off between two steps; another runner goes on from the checkpoint.
func TestRunnerGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.db")
	db := openLedger(t, path)
	reached := make(chan struct{})
	var steps []int
	kinds := func(halt bool) map[string]lifecycle.Work {
		return map[string]lifecycle.Work{"walk": func(ctx context.Context, p *lifecycle.Progress) (any, error) {
			next := 0
			if _, err := p.Checkpoint(&next); err != nil {
				return nil, err
			}
			for ; next < 4; next++ {
				if halt && next == 2 {
					close(reached)
					<-ctx.Done()
					return nil, ctx.Err()
				}
				steps = append(steps, next)
				if err := p.Save(ctx, next+1, next+1, 4); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}}
	}
	r := newRunner(t, db, kinds(true))
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	op := submit(t, r, "walk", nil)
	<-reached
	r.Stop()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openLedger(t, path)
	defer db.Close()
	r = newRunner(t, db, kinds(false))
	start(t, r)
	if op = wait(t, r, op.ID); op.State != store.OperationDone || fmt.Sprint(steps) != "[0 1 2 3]" {
		t.Errorf("state %s after steps %v", op.State, steps)
	}
}

func TestRunnerCancelAndRetry(t *testing.T) {
	db := openLedger(t, filepath.Join(t.TempDir(), "m.db"))
	defer db.Close()
	began, canceledOnce := make(chan struct{}, 1), false
	r := newRunner(t, db, map[string]lifecycle.Work{"hang": func(ctx context.Context, _ *lifecycle.Progress) (any, error) {
		if canceledOnce {
			return nil, nil
		}
		canceledOnce = true
		began <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	start(t, r)
	op := submit(t, r, "hang", nil)
	waiting := submit(t, r, "hang", nil) // canceled before its turn comes
	<-began
	for _, id := range []string{waiting.ID, op.ID, op.ID} {
		if _, err := r.Cancel(t.Context(), "acme", id); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{op.ID, waiting.ID} {
		if got := wait(t, r, id); got.State != store.OperationCanceled {
			t.Errorf("state %s (%s), want canceled", got.State, got.Note)
		}
	}
	if _, err := r.Cancel(t.Context(), "other", op.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another tenant's: %v", err)
	}
	if _, err := r.Retry(t.Context(), "acme", op.ID); err != nil {
		t.Fatal(err)
	}
	if got := wait(t, r, op.ID); got.State != store.OperationDone {
		t.Errorf("after the retry %s (%s)", got.State, got.Note)
	}
	if _, err := r.Retry(t.Context(), "acme", op.ID); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a retry of what is done: %v", err)
	}
}
