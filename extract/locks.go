package extract

import (
	"context"
	"sync"
	"sync/atomic"

	"evoke/store"
)

// Locks hold one lock a scope. A write that depends on what it read (positions of a thread, the current facts) holds
// the lock from the read to the commit, so every writer of one store must share one Locks. It takes memory only for
// scopes in use. The zero value is ready; a Locks must not be copied.
type Locks struct {
	mu   sync.Mutex
	held map[store.Scope]*scopeLock
}

type scopeLock struct {
	slot  chan struct{} // holds a token while locked
	refs  int           // holders, waiters and watchers
	turns atomic.Uint64 // how often LockContext got it since somebody watches
}

// Watch counts, until stop is called, how often LockContext gets the scope's lock. Whoever read while nobody held it, and
// later holds it as the next one to get it, knows that what he read still stands.
func (l *Locks) Watch(sc store.Scope) (turns func() uint64, stop func()) {
	s := l.ref(sc)
	var once sync.Once
	return s.turns.Load, func() { once.Do(func() { l.unref(sc, s) }) }
}

// Lock waits for the scope's lock and returns what gives it back. Giving it back twice is harmless. It is for those who
// change nothing that a Watch is about: vectors.
func (l *Locks) Lock(sc store.Scope) (unlock func()) {
	s := l.ref(sc)
	s.slot <- struct{}{}
	return l.unlocker(sc, s)
}

// LockContext is Lock that gives up with the context's error.
func (l *Locks) LockContext(ctx context.Context, sc store.Scope) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := l.ref(sc)
	select {
	case s.slot <- struct{}{}:
		s.turns.Add(1)
		return l.unlocker(sc, s), nil
	case <-ctx.Done():
		l.unref(sc, s)
		return nil, ctx.Err()
	}
}

func (l *Locks) ref(sc store.Scope) *scopeLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[store.Scope]*scopeLock{}
	}
	s := l.held[sc]
	if s == nil {
		s = &scopeLock{slot: make(chan struct{}, 1)}
		l.held[sc] = s
	}
	s.refs++
	return s
}

func (l *Locks) unref(sc store.Scope, s *scopeLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.refs--; s.refs == 0 {
		delete(l.held, sc)
	}
}

func (l *Locks) unlocker(sc store.Scope, s *scopeLock) func() {
	var once sync.Once
	return func() {
		once.Do(func() {
			<-s.slot
			l.unref(sc, s)
		})
	}
}
