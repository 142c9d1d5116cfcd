package extract

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"evoke/store"
)

// WorkerOptions adapt a Worker. The zero value of a field means its default.
type WorkerOptions struct {
	Locks       *Locks        // shared with every other writer of the store; default: its own
	Concurrency int           // threads extracted at once; default 4, 1–64
	Lease       time.Duration // how long a job is held; an extraction gets nine tenths of it; default 1 min, at least 1 s
	MaxAttempts int           // failed attempts until an event is dead; default 8, 1–100
	// RetryMin and RetryMax bound the pause after a failed attempt, which doubles from attempt to attempt and is
	// shortened at random by up to a half; defaults 1 s and 5 min.
	RetryMin, RetryMax time.Duration
	Grace              time.Duration // how long Stop lets running extractions finish before it cancels them; default 10 s
	Reconcile          ReconcileOptions
	Tenant             func(tenant string) Tenant              // what a tenant has of its own; default: nothing
	Clock              func() time.Time                        // default time.Now
	NewID              func() string                           // default UUID version 7
	Wake               func()                                  // called after facts were stored, whose vectors are to be computed
	Done               func(facts int, state store.EventState) // called after an extraction ended, with what its events came to
	Observe            func(Stage)                             // called after each stage, from several goroutines; must not block
	// Neighbours returns current items of a scope that mean nearly what a text says; nil: items are compared by their words
	// alone.
	Neighbours func(ctx context.Context, sc store.Scope, text string) ([]store.Item, error)
	Logger     *slog.Logger // default: none
}

func (o *WorkerOptions) withDefaults() (WorkerOptions, error) {
	var c WorkerOptions
	if o != nil {
		c = *o
	}
	setDefault(&c.Concurrency, 4)
	setDefault(&c.Lease, time.Minute)
	setDefault(&c.MaxAttempts, 8)
	setDefault(&c.RetryMin, time.Second)
	setDefault(&c.RetryMax, max(5*time.Minute, c.RetryMin))
	setDefault(&c.Grace, 10*time.Second)
	if c.Locks == nil {
		c.Locks = new(Locks)
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.NewID == nil {
		c.NewID = newID
	}
	if c.Wake == nil {
		c.Wake = func() {}
	}
	if c.Done == nil {
		c.Done = func(int, store.EventState) {}
	}
	if c.Observe == nil {
		c.Observe = func(Stage) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case c.Concurrency < 1 || c.Concurrency > 64:
		return c, store.Invalid("concurrency", "from 1 to 64", fmt.Sprint(c.Concurrency))
	case c.Lease < time.Second:
		return c, store.Invalid("lease", "at least 1s", c.Lease.String())
	case c.MaxAttempts < 1 || c.MaxAttempts > 100:
		return c, store.Invalid("max_attempts", "from 1 to 100", fmt.Sprint(c.MaxAttempts))
	case c.RetryMin < 0 || c.RetryMax < c.RetryMin:
		return c, store.Invalid("retry_max", "at least retry_min, and both positive", c.RetryMax.String())
	case c.Grace < 0:
		return c, store.Invalid("grace", "positive", c.Grace.String())
	}
	var err error
	c.Reconcile, err = c.Reconcile.withDefaults()
	return c, err
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// Worker extracts the conversations that went quiet: it claims their jobs from the ledger, runs the extractor and
// commits what came of it, the thread's cursor and the end of its events as one write. Several threads run at once,
// never two jobs of one thread.
//
// An extractor that is unavailable is tried again, up to MaxAttempts; then the events are dead and the turns stay to be
// extracted with the thread's next ones. Only attempts between which it did another thread of the tenant count, so that
// an outage buries nothing; as long as its service needs an operator (ErrService) none counts. Any other failure of the extractor is permanent: the events are dead at once
// and their turns are passed over, so that they cannot poison later ones. A worker that dies holding a job loses it when
// the lease expires, and the job runs again; what it stored by then is recognised by its turn and not stored twice.
type Worker struct {
	store     store.Store
	ledger    store.Ledger
	extractor Extractor
	opts      WorkerOptions
	wake      chan struct{}

	mu      sync.Mutex
	stop    context.CancelFunc // of the loop; nil before Start
	stopped bool
	paused  atomic.Bool
	ended   chan struct{} // closed when the loop and all jobs have ended

	claiming sync.Mutex // held while jobs pass from the ledger's queue to progress
	progress progress
	outages  outages
}

// NewWorker checks the options. Nothing runs before Start.
func NewWorker(s store.Store, l store.Ledger, x Extractor, opts *WorkerOptions) (*Worker, error) {
	if s == nil || l == nil || x == nil {
		return nil, store.Invalid("worker", "given a store, a ledger and an extractor", "nil")
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Worker{store: s, ledger: l, extractor: x, opts: o, wake: make(chan struct{}, 1)}, nil
}

// Start begins to work and returns. A second call does nothing; after Stop it fails with store.ErrClosed.
func (w *Worker) Start() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return fmt.Errorf("%w: the worker was stopped", store.ErrClosed)
	}
	if w.stop != nil {
		return nil
	}
	loop, stop := context.WithCancel(context.Background())
	w.stop, w.ended = stop, make(chan struct{})
	go w.run(loop)
	return nil
}

// Stop claims no more jobs, lets running extractions finish within Grace, cancels those that do not, and returns when
// all have ended. Calling it twice, or without Start, is harmless.
func (w *Worker) Stop() {
	w.mu.Lock()
	w.stopped = true
	stop, ended := w.stop, w.ended
	w.mu.Unlock()
	if stop == nil {
		return
	}
	stop()
	<-ended
}

// Wake makes the worker look at the queue now, for example after a thread was armed.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run is the loop; it owns the goroutines of the jobs.
func (w *Worker) run(loop context.Context) {
	defer close(w.ended)
	jobs, cancel := context.WithCancel(context.Background())
	defer cancel()
	var running sync.WaitGroup
	slots := make(chan struct{}, w.opts.Concurrency)
	failures := 0
	for loop.Err() == nil {
		pause, err := w.claim(loop, jobs, slots, &running)
		switch {
		case err != nil && loop.Err() == nil:
			pause = w.backoff(failures)
			failures++
			w.opts.Logger.WarnContext(loop, "extraction queue cannot be read", "error", err, "again_in", pause)
		case err == nil:
			failures = 0
		}
		w.sleep(loop, pause)
	}
	quiet := make(chan struct{})
	go func() { running.Wait(); close(quiet) }()
	grace := time.NewTimer(w.opts.Grace)
	defer grace.Stop()
	select {
	case <-quiet:
	case <-grace.C:
		cancel()
		<-quiet
	}
}

func (w *Worker) sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-w.wake:
	case <-t.C:
	}
}

// shortest is the pause when the queue says that a job is due and yet gives none, for example because it is leased.
const shortest = 100 * time.Millisecond

// claim starts the due jobs for which there is a free slot and returns how long nothing more will be due.
func (w *Worker) claim(loop, jobs context.Context, slots chan struct{}, running *sync.WaitGroup) (time.Duration, error) {
	free := cap(slots) - len(slots)
	if free == 0 {
		return w.opts.Lease, nil // a job that ends wakes the loop
	}
	claimed, err := w.take(loop, free)
	if err != nil {
		return 0, fmt.Errorf("claim: %w", err)
	}
	for _, j := range claimed {
		slots <- struct{}{}
		running.Go(func() {
			upTo, done := w.process(jobs, j)
			<-slots
			w.progress.end(j, upTo, done)
			w.Wake()
		})
	}
	if len(claimed) == free || w.Paused() {
		return w.opts.Lease, nil
	}
	due, waiting, err := w.ledger.NextDue(loop, store.Tenants{})
	if err != nil {
		return 0, fmt.Errorf("next due: %w", err)
	}
	if !waiting {
		return w.opts.Lease, nil // looks again then: a lease may have expired
	}
	return min(max(due.Sub(w.opts.Clock()), shortest), w.opts.Lease), nil
}

// take claims jobs and counts them as running, as one step to whoever counts what waits and what runs.
func (w *Worker) take(ctx context.Context, n int) ([]store.Job, error) {
	w.claiming.Lock()
	defer w.claiming.Unlock()
	if w.Paused() {
		return nil, nil
	}
	claimed, err := w.ledger.Claim(ctx, w.opts.Clock().UTC(), w.opts.Lease, n, store.Tenants{})
	for _, j := range claimed {
		w.progress.begin(j)
	}
	return claimed, err
}

// backoff is the pause after a number of earlier failures.
func (w *Worker) backoff(failures int) time.Duration {
	d := w.opts.RetryMin
	for range min(failures, 40) {
		if d >= w.opts.RetryMax/2 {
			d = w.opts.RetryMax
			break
		}
		d *= 2
	}
	if d < 2 {
		return d
	}
	return d - time.Duration(rand.Int64N(int64(d)/2)) //nolint:gosec // jitter, not a secret
}

// process runs one job to its end, or gives it back for another attempt. done tells that it reached a terminal state.
func (w *Worker) process(ctx context.Context, j store.Job) (upTo int, done bool) {
	ctx, cancel := context.WithTimeout(ctx, w.opts.Lease*9/10)
	defer cancel()
	upTo, err := w.extract(ctx, j)
	if err == nil {
		w.outages.forget(j)
		return upTo, true
	}
	permanent := isPermanent(err)
	reason := reasonOf(err)
	pause, last := w.judge(j, err)
	w.opts.Logger.WarnContext(ctx, "extraction failed", "attempt", j.Attempts+1, "permanent", permanent, "error", reason)
	// The job may have failed because its time is up; telling so must not fail for the same reason.
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), w.opts.Lease/10)
	defer cancel()
	if upTo > 0 && (permanent || last) {
		if err = w.bury(ctx, j, upTo, reason, permanent); err == nil {
			w.outages.forget(j)
			return upTo, true
		}
	} else {
		err = w.ledger.Retry(ctx, j, w.opts.Clock().UTC().Add(pause), reason)
	}
	if err != nil { // the lease will expire and the job run again
		w.opts.Logger.ErrorContext(ctx, "job left to its lease", "error", err)
	}
	return 0, false
}

// permanentError is a failure of the extractor that another attempt would not mend.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

func isPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}

// reasonOf tells the kind of a failure without the text around it, which may quote a conversation.
func reasonOf(err error) string {
	for _, k := range [...]error{ErrUnreadable, ErrRefused, ErrService, store.ErrUnavailable, store.ErrConflict, store.ErrInvalid, store.ErrBudget, store.ErrCorrupt, store.ErrTenant,
		store.ErrNotFound, store.ErrClosed, context.DeadlineExceeded, context.Canceled, errPanic} {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return "internal error"
}
