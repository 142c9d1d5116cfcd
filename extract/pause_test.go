package extract_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"evoke/extract"
	"evoke/extract/message"
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

// One tenant's pause holds its own jobs alone, and its drain waits for these alone.
func TestPauseOfATenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &script{do: func(extract.Batch, int) ([]extract.Operation, error) { time.Sleep(20 * time.Second); return nil, nil }}
		g, w := line(t, db, x, extract.WorkerOptions{})
		ben := store.Scope{Tenant: "other", User: "ben"}
		told := func(sc store.Scope, thread string) *extract.Result {
			t.Helper()
			r, err := g.Ingest(t.Context(), sc, thread, []message.Message{user("one"), assistant("1")}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		where := func(sc store.Scope, r *extract.Result) store.EventState {
			t.Helper()
			ev, err := db.Event(t.Context(), sc.Tenant, r.Event)
			if err != nil {
				t.Fatal(err)
			}
			return ev.State
		}
		running := told(ann, "a")
		time.Sleep(31 * time.Second)
		brief, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := w.DrainTenant(brief, ben.Tenant); err != nil {
			t.Errorf("nothing of it runs: %v", err)
		}
		if w.TenantPaused(ann.Tenant) || !w.TenantPaused(ben.Tenant) {
			t.Error("the wrong tenant is paused")
		}
		w.ResumeTenant(ben.Tenant)
		if err := w.DrainTenant(t.Context(), ann.Tenant); err != nil || where(ann, running) != store.EventNothing {
			t.Errorf("%v, %s", err, where(ann, running))
		}
		waits, goes := told(ann, "b"), told(ben, "b")
		time.Sleep(time.Hour)
		if a, b := where(ann, waits), where(ben, goes); a != store.EventPending || b != store.EventNothing {
			t.Errorf("of the paused tenant %s, of the other %s", a, b)
		}
		w.ResumeTenant(ann.Tenant)
		if ev, err := w.Settle(t.Context(), ann.Tenant, waits.Event); err != nil || ev.State != store.EventNothing {
			t.Errorf("resumed: %+v %v", ev, err)
		}
	})
}

// Who flushes while the queue is being paused is told, and does not wait for a resume that may never come.
func TestPauseEndsAFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &script{do: func(extract.Batch, int) ([]extract.Operation, error) { time.Sleep(20 * time.Second); return nil, nil }}
		g, w := line(t, db, x, extract.WorkerOptions{Concurrency: 1})
		for _, thread := range []string{"a", "b", "c"} {
			say(t, g, thread, user("one"), assistant("1"))
		}
		begin, ended := time.Now(), make(chan error)
		go func() {
			_, err := w.Flush(t.Context(), ann, "")
			ended <- err
		}()
		time.Sleep(5 * time.Second)
		w.PauseTenant(ann.Tenant)
		if err := <-ended; !errors.Is(err, store.ErrConflict) || time.Since(begin) > 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if n := len(x.seen()); n != 1 {
			t.Errorf("%d runs", n)
		}
		w.ResumeTenant(ann.Tenant)
		if _, err := w.Flush(t.Context(), ann, ""); err != nil || len(x.seen()) != 3 {
			t.Errorf("resumed: %v, %d runs", err, len(x.seen()))
		}
	})
}

// Nor does it wait for tomorrow's budget.
func TestASpentBudgetEndsAFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		left := 1
		x := &script{do: func(extract.Batch, int) ([]extract.Operation, error) {
			if left--; left < 0 {
				return nil, store.ErrBudget
			}
			return nil, nil
		}}
		g, w := line(t, db, x, extract.WorkerOptions{Concurrency: 1})
		for _, thread := range []string{"a", "b", "c"} {
			say(t, g, thread, user("one"), assistant("1"))
		}
		begin := time.Now()
		if n, err := w.Flush(t.Context(), ann, ""); n != 3 || !errors.Is(err, store.ErrBudget) || time.Since(begin) > time.Minute {
			t.Errorf("%d %v after %v", n, err, time.Since(begin))
		}
		left = 2
		if n, err := w.Flush(t.Context(), ann, ""); n != 2 || err != nil {
			t.Errorf("with a budget: %d %v", n, err)
		}
	})
}
