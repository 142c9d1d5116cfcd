package extract

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"evoke/store"
)

// awayError is a failure of the extractor that may pass.
type awayError struct{ err error }

func (e *awayError) Error() string { return e.err.Error() }
func (e *awayError) Unwrap() error { return e.err }

// isOutage reports whether the extractor's service is away.
func isOutage(err error) bool {
	var away *awayError
	return errors.As(err, &away) && !errors.Is(err, ErrPaced)
}

// retryAfter is an error that tells how long its service asks to be left alone; 0: it does not say.
type retryAfter interface{ RetryAfter() time.Duration }

// longestWait bounds the pause that a service may ask for.
const longestWait = time.Hour

// waitAsked is how long a failed service asks to be left alone.
func waitAsked(err error) time.Duration {
	var asks retryAfter
	if errors.As(err, &asks) {
		return min(asks.RetryAfter(), longestWait)
	}
	return 0
}

// judgement is what becomes of a job after a failed attempt.
type judgement struct {
	at     time.Time // of the next attempt
	last   bool      // there is none
	blamed bool      // the attempt counts as one of the job's
}

// judge tells what becomes of a job. What is away, be it the extractor's service or the store, is no fault of the job's.
func (w *Worker) judge(j store.Job, err error) judgement {
	now := w.opts.Clock().UTC()
	var denied *errAway
	var away *awayError
	switch {
	case errors.Is(err, store.ErrBudget):
		return judgement{at: nextDay(now)}
	case errors.Is(err, errStopping):
		return judgement{at: now}
	case errors.As(err, &denied):
		at := now.Add(w.backoff(0))
		if denied.until.After(at) {
			at = denied.until
		}
		return judgement{at: at}
	case errors.Is(err, ErrPaced):
		return judgement{at: now.Add(max(waitAsked(err), shortest))}
	case errors.As(err, &away):
		strikes, failures := w.outages.strike(j)
		if errors.Is(err, ErrService) {
			return judgement{at: now.Add(max(w.opts.RetryMax, waitAsked(err)))}
		}
		pause := w.backoff(max(failures, w.breakers.failures(j.Scope.Tenant)) - 1)
		return judgement{at: now.Add(max(pause, waitAsked(err))), last: strikes >= w.opts.MaxAttempts}
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return judgement{at: now.Add(w.backoff(w.outages.stumble(j) - 1))}
	}
	return judgement{at: now.Add(w.backoff(j.Attempts)), last: j.Attempts+1 >= w.opts.MaxAttempts, blamed: true}
}

// nextDay is when budgets are new: the next day (UTC), and at random a little later, so that not all come at once.
func nextDay(now time.Time) time.Time {
	return now.Truncate(24 * time.Hour).Add(24*time.Hour + rand.N(time.Minute)) //nolint:gosec // jitter, not a secret
}

// outages tells a service that is away for a whole tenant from a thread that it cannot do: only failures of a thread
// between which the tenant's extractor answered for another count. It is kept in memory; a restart counts anew.
type outages struct {
	mu      sync.Mutex
	answers map[string]int // by tenant
	threads map[threadKey]strikes
}

// strikes are a thread's failures in a row, those of them that count, and the tenant's answers at the last of these.
type strikes struct{ failures, n, answers int }

func (o *outages) answered(tenant string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.answers == nil {
		o.answers = map[string]int{}
	}
	o.answers[tenant]++
}

// strike notes a failure of the extractor and returns how many of the thread count, and how many there were in a row.
func (o *outages) strike(j store.Job) (n, failures int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := threadKey{j.Scope, j.Thread}
	s, now := o.threads[k], o.answers[j.Scope.Tenant]
	if s.answers < now {
		s.n, s.answers = s.n+1, now
	}
	s.failures++
	o.set(k, s)
	return s.n, s.failures
}

// stumble notes a failure that says nothing about the thread and returns how many there were in a row.
func (o *outages) stumble(j store.Job) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := threadKey{j.Scope, j.Thread}
	s := o.threads[k]
	s.failures++
	o.set(k, s)
	return s.failures
}

func (o *outages) set(k threadKey, s strikes) {
	if o.threads == nil {
		o.threads = map[threadKey]strikes{}
	}
	o.threads[k] = s
}

func (o *outages) forget(j store.Job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.threads, threadKey{j.Scope, j.Thread})
}
