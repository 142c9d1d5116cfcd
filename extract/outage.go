package extract

import (
	"errors"
	"sync"
	"time"

	"evoke/store"
)

// awayError is a failure of the extractor that may pass.
type awayError struct{ err error }

func (e *awayError) Error() string { return e.err.Error() }
func (e *awayError) Unwrap() error { return e.err }

// retryAfter is an error that tells how long its service asks to be left alone; 0: it does not say.
type retryAfter interface{ RetryAfter() time.Duration }

// longestWait bounds the pause that a service may ask for.
const longestWait = time.Hour

// judge tells how long to wait after a failed attempt, and whether it was the last one.
func (w *Worker) judge(j store.Job, err error) (pause time.Duration, last bool) {
	pause, last = w.backoff(j.Attempts), j.Attempts+1 >= w.opts.MaxAttempts
	var away *awayError
	if !errors.As(err, &away) {
		return pause, last
	}
	switch {
	case errors.Is(err, ErrService):
		pause, last = w.opts.RetryMax, false
	case errors.Is(err, store.ErrUnavailable):
		last = w.outages.strike(j) >= w.opts.MaxAttempts
	}
	var asks retryAfter
	if errors.As(err, &asks) {
		pause = max(pause, min(asks.RetryAfter(), longestWait))
	}
	return pause, last
}

// outages tells a service that is away for a whole tenant from a thread that it cannot do: only failures of a thread
// between which the tenant's extractor answered for another count. It is kept in memory; a restart counts anew.
type outages struct {
	mu      sync.Mutex
	answers map[string]int // by tenant
	threads map[thread]strikes
}

type thread struct {
	scope store.Scope
	name  string
}

// strikes are a thread's failures that count, and the tenant's answers at the last of them.
type strikes struct{ n, answers int }

func (o *outages) answered(tenant string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.answers == nil {
		o.answers = map[string]int{}
	}
	o.answers[tenant]++
}

// strike notes a failure and returns how many of the thread count.
func (o *outages) strike(j store.Job) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.threads == nil {
		o.threads = map[thread]strikes{}
	}
	k := thread{j.Scope, j.Thread}
	s, now := o.threads[k], o.answers[j.Scope.Tenant]
	if s.answers < now {
		s.n, s.answers = s.n+1, now
	}
	o.threads[k] = s
	return s.n
}

func (o *outages) forget(j store.Job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.threads, thread{j.Scope, j.Thread})
}
