package lifecycle_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
	"evoke/store/sqlitestore"
)

// Work that makes no progress, be it that it waits or that it does not even heed its context, fails with the reason and
// holds its slot no longer; work that takes long and goes on is left alone.
func TestWedgedWorkHoldsNoSlot(t *testing.T) {
	l := openLedger(t, sqlitestore.Memory)
	defer l.Close()
	release := make(chan struct{})
	defer close(release)
	n := 0
	r, err := lifecycle.NewRunner(l, map[string]lifecycle.Work{
		"waits": func(ctx context.Context, _ *lifecycle.Progress) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
		"hangs": func(context.Context, *lifecycle.Progress) (any, error) { <-release; return nil, nil },
		"slow": func(ctx context.Context, p *lifecycle.Progress) (any, error) {
			for i := range 30 {
				time.Sleep(20 * time.Millisecond)
				if err := p.Save(ctx, i, i, 30); err != nil {
					return nil, err
				}
			}
			return "done", nil
		},
	}, &lifecycle.RunnerOptions{NewID: func() string { n++; return fmt.Sprint(n) }, Stall: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	start(t, r)
	for _, kind := range []string{"waits", "hangs"} {
		submit(t, r, kind, nil)
	}
	if op := wait(t, r, submit(t, r, "slow", nil).ID); op.State != store.OperationDone || op.Done != 29 {
		t.Errorf("what goes on: %+v", op)
	}
	for _, id := range []string{"1", "2"} {
		if op := wait(t, r, id); op.State != store.OperationFailed || !strings.Contains(op.Note, "no progress for 200ms") || op.DoneAt.IsZero() {
			t.Errorf("what is wedged: %+v", op)
		}
	}
}
