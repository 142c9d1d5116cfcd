package local

import (
	"context"
	"sync"
	"time"
)

// gate lets a bounded number of runs compute at a time. Queries go before
// passages: a run of passages steps back between two layers while a query
// computes or waits, and of several places one is kept free of passages as long
// as queries come, so that a query neither waits nor shares the machine for
// longer than a layer takes.
type gate struct {
	mu      sync.Mutex
	places  int
	free    int
	asking  int       // queries that compute
	asked   time.Time // when the last query came
	waiting [2][]chan struct{}
}

// class orders those who wait.
type class int

const (
	queries class = iota
	passages
)

const (
	// keptFree is how long after a query a place is kept for the next.
	keptFree = time.Second
	// patience is how long in all a run of passages steps back for queries that
	// do not need its place, so that passages go on however many queries come.
	patience = 250 * time.Millisecond
)

func newGate(n int) *gate { return &gate{places: n, free: n} }

// admits reports whether one of a class may enter now. One that is patient
// waits for queries to end. mu is held.
func (g *gate) admits(c class, patient bool) bool {
	switch {
	case g.free == 0:
		return false
	case c == queries:
		return true
	case patient && g.asking > 0:
		return false
	}
	computing := g.places - g.free - g.asking
	return g.places == 1 || computing < g.places-1 || time.Since(g.asked) >= keptFree
}

// take gives a place away. mu is held.
func (g *gate) take(c class) {
	g.free--
	if c == queries {
		g.asking++
	}
}

// enter waits for a place. Passages wait for queries to end, too, for as long
// as left says, which is counted down. If it returns an error, there is no place
// to leave.
func (g *gate) enter(ctx context.Context, c class, left *time.Duration) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		began := time.Now()
		g.mu.Lock()
		if c == queries {
			g.asked = began
		}
		if g.admits(c, left != nil && *left > 0) {
			g.take(c)
			g.mu.Unlock()
			return nil
		}
		turn := make(chan struct{})
		g.waiting[c] = append(g.waiting[c], turn)
		g.mu.Unlock()
		in, err := g.wait(ctx, c, turn, left)
		if left != nil {
			*left -= time.Since(began)
		}
		if in || err != nil {
			return err
		}
	}
}

// wait waits until the turn comes. It gives up with the context's error, or
// when it is time to look again because patience or the kept place has run out.
func (g *gate) wait(ctx context.Context, c class, turn chan struct{}, left *time.Duration) (in bool, err error) {
	var again <-chan time.Time
	if c == passages {
		d := keptFree
		if left != nil && *left > 0 {
			d = min(d, *left)
		}
		t := time.NewTimer(d)
		defer t.Stop()
		again = t.C
	}
	select {
	case <-turn:
		return true, nil
	case <-ctx.Done():
		if !g.withdraw(c, turn) {
			g.leave(c) // the place came at the same moment: pass it on
		}
		return false, ctx.Err()
	case <-again:
		return !g.withdraw(c, turn), nil
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

// leave gives the place of one of a class to those who wait.
func (g *gate) leave(c class) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	if c == queries {
		g.asking--
	}
	for c := range g.waiting {
		for len(g.waiting[c]) > 0 && g.admits(class(c), true) {
			g.take(class(c))
			close(g.waiting[c][0])
			g.waiting[c] = g.waiting[c][1:]
		}
	}
}

// yield gives way to queries and comes back after them. It returns an error
// when ctx ends; the place is lost then.
func (g *gate) yield(ctx context.Context, left *time.Duration) error {
	g.mu.Lock()
	wanted := len(g.waiting[queries]) > 0 || *left > 0 && g.asking > 0
	g.mu.Unlock()
	if !wanted {
		return nil
	}
	g.leave(passages)
	return g.enter(ctx, passages, left)
}
