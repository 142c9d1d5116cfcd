package extract_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"evoke/extract"
	"evoke/extract/rules"
	"evoke/store"
)

func TestFlushDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		db := open(t)
		g, w := line(t, db, rules.New(nil), extract.WorkerOptions{})
		begin := time.Now()
		if n, err := w.Flush(ctx, ann, ""); n != 0 || err != nil {
			t.Errorf("empty: %d %v", n, err)
		}
		for i := range 6 {
			say(t, g, fmt.Sprint("th", i), user(fmt.Sprintf("I have %d cats.", i+2)), assistant("ok"))
		}
		if n, err := w.Flush(ctx, ann, "th0"); n != 1 || err != nil {
			t.Errorf("one thread: %d %v", n, err)
		}
		if n := len(factsOf(t, db)); n != 1 {
			t.Errorf("%d facts", n)
		}
		if n, err := w.Flush(ctx, ann, ""); n != 5 || err != nil {
			t.Errorf("all threads: %d %v", n, err)
		}
		if n, err := w.Flush(ctx, ann, "th0"); n != 0 || err != nil {
			t.Errorf("nothing waits: %d %v", n, err)
		}
		if got := factsOf(t, db); len(got) != 1 { // one number of cats holds at a time
			t.Errorf("%d facts", len(got))
		}
		if all := list(t, db, ann, store.View{All: true}, store.Semantic); len(all) != 6 {
			t.Errorf("%d versions", len(all))
		}
		if d := time.Since(begin); d > 2*time.Second {
			t.Errorf("took %v", d)
		}
	})
}

func TestFlushWaitsForARunThatBeganBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &script{do: func(extract.Batch, int) ([]extract.Operation, error) { time.Sleep(10 * time.Second); return nil, nil }}
		g, w := line(t, db, x, extract.WorkerOptions{})
		say(t, g, "th", user("one"), assistant("1"))
		time.Sleep(32 * time.Second)
		r := say(t, g, "th", user("two"), assistant("2"))
		if _, err := w.Flush(context.Background(), ann, "th"); err != nil {
			t.Fatal(err)
		}
		if ev := state(t, db, r); ev.State == store.EventPending {
			t.Errorf("%+v", ev)
		}
	})
}

func TestFlushAndSettleEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &script{do: func(extract.Batch, int) ([]extract.Operation, error) { return nil, store.ErrUnavailable }}
		g, w := line(t, db, x, extract.WorkerOptions{})
		r := say(t, g, "th", user("one"), assistant("1"))
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if n, err := w.Flush(ctx, ann, "th"); n != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d %v", n, err)
		}
		brief, cancelBrief := context.WithTimeout(context.Background(), time.Second)
		defer cancelBrief()
		if ev, err := w.Settle(brief, ann.Tenant, r.Event); ev.State != store.EventPending || err == nil {
			t.Errorf("%+v %v", ev, err)
		}
		if _, err := w.Settle(context.Background(), ann.Tenant, "no-such"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if _, err := w.Settle(context.Background(), "other", r.Event); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another tenant: %v", err)
		}
		if _, err := w.Flush(context.Background(), store.Scope{}, ""); !errors.Is(err, store.ErrTenant) {
			t.Errorf("%v", err)
		}
	})
}
