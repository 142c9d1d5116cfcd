package local

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestGateBoundsAndOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		g := newGate(1)
		if err := g.enter(ctx, passages, nil); err != nil {
			t.Fatal(err)
		}
		var order []class
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, c := range []class{passages, queries, passages, queries} {
			wg.Go(func() {
				if err := g.enter(ctx, c, nil); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, c)
				mu.Unlock()
				g.leave(c)
			})
			synctest.Wait()
		}
		g.leave(passages)
		wg.Wait()
		if len(order) != 4 || order[0] != queries || order[1] != queries {
			t.Errorf("order %v: queries go first", order)
		}
		if g.free != 1 {
			t.Errorf("%d places free, want 1", g.free)
		}
	})
}

func TestGateYieldsToQueriesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		g := newGate(1)
		if err := g.enter(ctx, passages, nil); err != nil {
			t.Fatal(err)
		}
		var asked atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := g.enter(ctx, queries, nil); err != nil {
				t.Error(err)
			}
			asked.Store(true)
			g.leave(queries)
		})
		synctest.Wait()
		if err := g.yield(ctx, new(time.Duration)); err != nil || !asked.Load() {
			t.Errorf("yield returned before the waiting query had its turn (%v)", err)
		}
		other := make(chan struct{})
		wg.Go(func() {
			if err := g.enter(ctx, passages, nil); err != nil {
				t.Error(err)
			}
			close(other)
			g.leave(passages)
		})
		synctest.Wait()
		if err := g.yield(ctx, new(time.Duration)); err != nil {
			t.Error(err)
		}
		select {
		case <-other:
			t.Error("a run of passages gave way to another")
		default:
		}
		g.leave(passages)
		wg.Wait()
	})
}

func TestGateForgetsThoseWhoGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		if err := g.enter(context.Background(), queries, nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := g.enter(ctx, queries, nil); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		if err := g.enter(ctx, queries, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		g.leave(queries)
		if g.free != 1 || len(g.waiting[queries]) != 0 {
			t.Errorf("%d free, %d waiting", g.free, len(g.waiting[queries]))
		}
	})
}

// While queries come, one of several places is kept for them; some time after the last it is not.
func TestGateKeepsAPlaceForQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		g := newGate(2)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(g.enter(ctx, passages, nil))
		must(g.enter(ctx, passages, nil)) // nobody asks: both are theirs
		g.leave(passages)
		g.leave(passages)
		must(g.enter(ctx, queries, nil))
		g.leave(queries)
		must(g.enter(ctx, passages, nil))
		began := time.Now()
		must(g.enter(ctx, passages, nil))
		if d := time.Since(began); d < keptFree {
			t.Errorf("the second place was taken %v after a query", d)
		}
		g.leave(passages)
		began = time.Now()
		must(g.enter(ctx, queries, nil))
		if time.Since(began) > 0 {
			t.Error("a query waited")
		}
		g.leave(queries)
		g.leave(passages)
		if g.free != 2 || g.asking != 0 {
			t.Errorf("%d free, %d asking", g.free, g.asking)
		}
	})
}

// A run of passages steps back while a query computes, although it has a place of its own, and not for ever.
func TestGateStepsBackForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		g := newGate(2)
		if err := g.enter(ctx, passages, nil); err != nil {
			t.Fatal(err)
		}
		ask := func(d time.Duration) func() {
			if err := g.enter(ctx, queries, nil); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				time.Sleep(d)
				g.leave(queries)
			})
			return wg.Wait
		}
		left := patience
		wait := ask(10 * time.Millisecond)
		began := time.Now()
		if err := g.yield(ctx, &left); err != nil || time.Since(began) != 10*time.Millisecond || left != patience-10*time.Millisecond {
			t.Errorf("stepped back for %v, %v left, %v", time.Since(began), left, err)
		}
		wait()
		wait = ask(time.Minute)
		began = time.Now()
		if err := g.yield(ctx, &left); err != nil || time.Since(began) != patience-10*time.Millisecond {
			t.Errorf("stepped back for %v, %v", time.Since(began), err)
		}
		began = time.Now()
		if err := g.yield(ctx, &left); err != nil || time.Since(began) != 0 {
			t.Errorf("no patience is left, and it stepped back for %v", time.Since(began))
		}
		wait()
		g.leave(passages)
		if g.free != 2 || g.asking != 0 {
			t.Errorf("%d free, %d asking", g.free, g.asking)
		}
	})
}
