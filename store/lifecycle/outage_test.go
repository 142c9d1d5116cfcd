package lifecycle_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// away is a ledger that cannot be reached while it is down.
type away struct {
	store.Operations
	down atomic.Bool
}

func (a *away) SaveOperation(ctx context.Context, op store.Operation) (int64, error) {
	if a.down.Load() {
		return 0, fmt.Errorf("ledger: %w", store.ErrUnavailable)
	}
	return a.Operations.SaveOperation(ctx, op)
}

func (a *away) Operation(ctx context.Context, tenant, id string) (store.Operation, error) {
	if a.down.Load() {
		return store.Operation{}, fmt.Errorf("ledger: %w", store.ErrUnavailable)
	}
	return a.Operations.Operation(ctx, tenant, id)
}

func pausing(t *testing.T, l store.Operations, stall time.Duration, kinds map[string]lifecycle.Work) *lifecycle.Runner {
	t.Helper()
	var n atomic.Int64
	r, err := lifecycle.NewRunner(l, kinds, &lifecycle.RunnerOptions{
		NewID: func() string { return fmt.Sprint("op", n.Add(1)) }, Pause: time.Millisecond, Stall: stall,
	})
	if err != nil {
		t.Fatal(err)
	}
	start(t, r)
	return r
}

// Work of any kind that comes upon an outage goes on where it was once that is over; others have their turn meanwhile, the
// operation says what it waits for, and a cancellation cuts the pause short.
func TestAnOutageIsAPause(t *testing.T) {
	db := openLedger(t, filepath.Join(t.TempDir(), "m.db"))
	defer db.Close()
	var down atomic.Bool
	var runs, last atomic.Int64
	down.Store(true)
	r := pausing(t, db, 0, map[string]lifecycle.Work{
		"counts": func(ctx context.Context, p *lifecycle.Progress) (any, error) {
			runs.Add(1)
			at := 0
			if _, err := p.Checkpoint(&at); err != nil {
				return nil, err
			}
			for ; at < 4; at++ {
				if at == 2 && down.Load() {
					return nil, fmt.Errorf("items: %w", store.ErrUnavailable)
				}
				if err := p.Save(ctx, at+1, at+1, 4); err != nil {
					return nil, err
				}
				last.Add(1)
			}
			return at, nil
		},
		"quick": func(context.Context, *lifecycle.Progress) (any, error) { return nil, nil },
	})
	op, canceled := submit(t, r, "counts", nil), submit(t, r, "counts", nil)
	if got := wait(t, r, submit(t, r, "quick", nil).ID); got.State != store.OperationDone {
		t.Errorf("another: %s (%s)", got.State, got.Note)
	}
	for runs.Load() < 6 { // two of them, again and again
		time.Sleep(time.Millisecond)
	}
	if _, err := r.Cancel(t.Context(), "acme", canceled.ID); err != nil {
		t.Fatal(err)
	}
	if got := wait(t, r, canceled.ID); got.State != store.OperationCanceled {
		t.Errorf("canceled meanwhile: %s (%s)", got.State, got.Note)
	}
	told := ""
	for range 2000 { // the note is there between two attempts
		if got, err := r.Retry(t.Context(), "acme", op.ID); err == nil || got.State.Ended() {
			t.Fatalf("%s, %v", got.State, err)
		} else if told = got.Note; told != "" {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !strings.Contains(told, "unavailable") {
		t.Errorf("during the outage it says %q", told)
	}
	down.Store(false)
	if got := wait(t, r, op.ID); got.State != store.OperationDone || got.Note != "" || got.Done != 4 || last.Load() != 2+4 {
		t.Errorf("%s (%s), %d done, %d steps", got.State, got.Note, got.Done, last.Load())
	}
}

// An outage during which no step can be made for too long fails the operation, with its reason; it is run again from there.
func TestAnOutageThatDoesNotEnd(t *testing.T) {
	db := openLedger(t, filepath.Join(t.TempDir(), "m.db"))
	defer db.Close()
	var up atomic.Bool
	var told []bool
	r := pausing(t, db, 30*time.Millisecond, map[string]lifecycle.Work{
		"asks": func(_ context.Context, p *lifecycle.Progress) (any, error) {
			if up.Load() {
				return "there", nil
			}
			told = append(told, p.Pauses(store.ErrUnavailable))
			return nil, fmt.Errorf("items: %w", store.ErrUnavailable)
		},
	})
	op := wait(t, r, submit(t, r, "asks", nil).ID)
	if op.State != store.OperationFailed || !strings.Contains(op.Note, "items: unavailable") {
		t.Errorf("%s (%s)", op.State, op.Note)
	}
	if n := len(told); n < 3 || told[n-1] || !told[n-2] {
		t.Errorf("whether it pauses: %v", told)
	}
	up.Store(true)
	if _, err := r.Retry(t.Context(), "acme", op.ID); err != nil {
		t.Fatal(err)
	}
	if op := wait(t, r, op.ID); op.State != store.OperationDone {
		t.Errorf("%s (%s)", op.State, op.Note)
	}
}

// When the ledger itself is away, at the begin, at a step or at the end, no operation is left lying.
func TestTheLedgerIsAwayForAWhile(t *testing.T) {
	for _, at := range []string{"begin", "step", "end"} {
		db := openLedger(t, filepath.Join(t.TempDir(), "m.db"))
		l := &away{Operations: db}
		begin := make(chan struct{})
		var fell atomic.Bool
		r := pausing(t, l, 0, map[string]lifecycle.Work{
			"gate": func(context.Context, *lifecycle.Progress) (any, error) { <-begin; return nil, nil },
			"falls": func(ctx context.Context, p *lifecycle.Progress) (any, error) {
				if at == "step" && fell.CompareAndSwap(false, true) {
					l.down.Store(true)
				}
				if err := p.Save(ctx, 1, 1, 1); err != nil {
					return nil, err
				}
				if at == "end" && fell.CompareAndSwap(false, true) {
					l.down.Store(true)
				}
				return at, nil
			},
		})
		gate := submit(t, r, "gate", nil)
		op := submit(t, r, "falls", nil)
		l.down.Store(at == "begin")
		close(begin)
		for at != "begin" && !fell.Load() {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
		l.down.Store(false)
		if got := wait(t, r, gate.ID); got.State != store.OperationDone {
			t.Errorf("%s: the one before: %s (%s)", at, got.State, got.Note)
		}
		if got := wait(t, r, op.ID); got.State != store.OperationDone || string(got.Result) != `"`+at+`"` {
			t.Errorf("%s: %s (%s) %s", at, got.State, got.Note, got.Result)
		}
		r.Stop()
		if open, err := db.Unfinished(t.Context()); err != nil || len(open) != 0 {
			t.Errorf("%s: left: %+v, %v", at, open, err)
		}
		db.Close()
	}
}
