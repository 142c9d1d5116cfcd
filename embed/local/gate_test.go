package local

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestGateBoundsAndOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		g := newGate(1)
		if err := g.enter(ctx, passages); err != nil {
			t.Fatal(err)
		}
		var order []class
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, c := range []class{passages, queries, passages, queries} {
			wg.Go(func() {
				if err := g.enter(ctx, c); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, c)
				mu.Unlock()
				g.leave()
			})
			synctest.Wait()
		}
		g.leave()
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
		if err := g.enter(ctx, passages); err != nil {
			t.Fatal(err)
		}
		var asked atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := g.enter(ctx, queries); err != nil {
				t.Error(err)
			}
			asked.Store(true)
			g.leave()
		})
		synctest.Wait()
		if err := g.yield(ctx); err != nil || !asked.Load() {
			t.Errorf("yield returned before the waiting query had its turn (%v)", err)
		}
		other := make(chan struct{})
		wg.Go(func() {
			if err := g.enter(ctx, passages); err != nil {
				t.Error(err)
			}
			close(other)
			g.leave()
		})
		synctest.Wait()
		if err := g.yield(ctx); err != nil {
			t.Error(err)
		}
		select {
		case <-other:
			t.Error("a run of passages gave way to another")
		default:
		}
		g.leave()
		wg.Wait()
	})
}

func TestGateForgetsThoseWhoGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		if err := g.enter(context.Background(), queries); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := g.enter(ctx, queries); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		if err := g.enter(ctx, queries); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		g.leave()
		if g.free != 1 || len(g.waiting[queries]) != 0 {
			t.Errorf("%d free, %d waiting", g.free, len(g.waiting[queries]))
		}
	})
}
