package local

import (
	"context"
	"sync"
)

// gate lets a bounded number of runs compute at a time. Queries go before
// passages, and a run of passages steps back for a waiting query between two
// layers, so that a query waits a few milliseconds for a bulk load at most.
type gate struct {
	mu      sync.Mutex
	free    int
	waiting [2][]chan struct{} // by class, oldest first
}

// class orders those who wait.
type class int

const (
	queries class = iota
	passages
)

func newGate(n int) *gate { return &gate{free: n} }

// enter waits for a place. If it returns an error, there is none to leave.
func (g *gate) enter(ctx context.Context, c class) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	if g.free > 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	g.waiting[c] = append(g.waiting[c], turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		if !g.withdraw(c, turn) {
			g.leave() // the place came at the same moment: pass it on
		}
		return ctx.Err()
	}
}

// withdraw takes a waiter out of the queue; false if its turn had come.
func (g *gate) withdraw(c class, turn chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, w := range g.waiting[c] {
		if w == turn {
			g.waiting[c] = append(g.waiting[c][:i], g.waiting[c][i+1:]...)
			return true
		}
	}
	return false
}

// leave gives the place to the next who waits.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.waiting {
		if len(g.waiting[c]) > 0 {
			close(g.waiting[c][0])
			g.waiting[c] = g.waiting[c][1:]
			return
		}
	}
	g.free++
}

// yield gives way to waiting queries and comes back after them. It returns an
// error when ctx ends; the place is lost then.
func (g *gate) yield(ctx context.Context) error {
	g.mu.Lock()
	wanted := len(g.waiting[queries]) > 0
	g.mu.Unlock()
	if !wanted {
		return nil
	}
	g.leave()
	return g.enter(ctx, passages)
}
