package extract_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"evoke/extract"
	"evoke/store"
)

func TestPauseHoldsTheQueueAndDrainWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &script{do: func(extract.Batch, int) ([]extract.Operation, error) { time.Sleep(20 * time.Second); return nil, nil }}
		g, w := line(t, db, x, extract.WorkerOptions{})
		first := say(t, g, "a", user("one"), assistant("1"))
		time.Sleep(31 * time.Second)
		second := say(t, g, "b", user("two"), assistant("2"))
		brief, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := w.Drain(brief); !errors.Is(err, context.DeadlineExceeded) || !w.Paused() {
			t.Errorf("drain of a run of 20s within 5s: %v", err)
		}
		if err := w.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ev := state(t, db, first); ev.State != store.EventNothing {
			t.Errorf("drained, and the run has not ended: %+v", ev)
		}
		time.Sleep(time.Hour)
		if ev := state(t, db, second); ev.State != store.EventPending || len(x.seen()) != 1 {
			t.Errorf("paused: %+v", ev)
		}
		w.Resume()
		if ev, err := w.Settle(t.Context(), ann.Tenant, second.Event); err != nil || ev.State != store.EventNothing || w.Paused() {
			t.Errorf("resumed: %+v %v", ev, err)
		}
	})
}
