package extract

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"evoke/store"
)

// WorkerOptions adapt a Worker. The zero value of a field means its default.
type WorkerOptions struct {
	Locks       *Locks // shared with every other writer of the store; default: its own
	Concurrency int    // threads extracted at once; default 4, 1–64
	// Lease is how long a job stays held after its worker died; while that lives it is extended. Default 1 min, at least 1 s.
	Lease       time.Duration
	Limit       time.Duration // how long the extraction of one batch may take; default 10 min, at least 1 s
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
	// Span is told when an extraction (SpanJob) or one of its steps begins and returns what is told when it ends; default: none.
	Span func(ctx context.Context, stage string) (_ context.Context, end func(error))
	// Neighbours returns current items of a scope that mean nearly what a text says; nil: items are compared by their words
	// alone.
	Neighbours func(ctx context.Context, sc store.Scope, text string) ([]store.Item, error)
	// Erased tells which operations would store again what was distilled from the same turn before and erased; nil: none.
	Erased func(ctx context.Context, sc store.Scope, ops []Operation) ([]bool, error)
	// Held tells by their ids which items may not go, be they one too many; nil: all may.
	Held   func(ctx context.Context, sc store.Scope, items []store.Item) (map[string]bool, error)
	Logger *slog.Logger // default: none
}

func (o *WorkerOptions) withDefaults() (WorkerOptions, error) {
	var c WorkerOptions
	if o != nil {
		c = *o
	}
	setDefault(&c.Concurrency, 4)
	setDefault(&c.Lease, time.Minute)
	setDefault(&c.Limit, 10*time.Minute)
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
	if c.Span == nil {
		c.Span = func(ctx context.Context, _ string) (context.Context, func(error)) { return ctx, func(error) {} }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case c.Concurrency < 1 || c.Concurrency > 64:
		return c, store.Invalid("concurrency", "from 1 to 64", fmt.Sprint(c.Concurrency))
	case c.Lease < time.Second:
		return c, store.Invalid("lease", "at least 1s", c.Lease.String())
	case c.Limit < time.Second:
		return c, store.Invalid("limit", "at least 1s", c.Limit.String())
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

// Worker extracts the conversations that went quiet: it claims their jobs from the ledger, runs the extractor over one
// batch after another and commits what came of each, the thread's cursor and the end of its events as one write. Several
// threads run at once, never two jobs of one thread.
//
// An extractor that is away is asked again after growing pauses, once for all of its tenant's threads (see breakers); what
// the tenant's Interim makes of their turns stands in until it answers. That buries nothing: only a thread that fails
// while others of its tenant are answered dies after MaxAttempts, its turns stay to be extracted with its next ones. Any
// other failure of the extractor is permanent: the events of the batch are dead at once and its turns are passed over, so
// that they cannot poison later ones. What fails in the store counts as a failed attempt, unless the store is away.
//
// A worker that dies holding a job loses it when the lease ends, and the job runs again from the last batch that was
// committed. What was not committed left no trace.
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
	pauses  pauses
	ended   chan struct{} // closed when the loop and all jobs have ended

	claiming sync.Mutex // held while jobs pass from the ledger's queue to progress
	progress progress
	outages  outages
	breakers breakers
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
