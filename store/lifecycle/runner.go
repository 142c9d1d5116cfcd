package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"evoke/store"
)

// Work does an operation of one kind. It is called again, with the checkpoint that was saved last, after a crash or a stop, so
// that every step has to bear being made twice. An error fails the operation; one that wraps ErrCanceled ends it as canceled, and
// after one that wraps store.ErrUnavailable it is called again: see Progress.Pauses.
// When its context ends it returns the context's error and goes on at the next start.
type Work func(ctx context.Context, p *Progress) (result any, err error)

// ErrCanceled is what Progress.Save returns once somebody canceled the operation.
var ErrCanceled = errors.New("the operation was canceled")

// ErrLater is what work returns that waits for something: others get their turn, then it is called again.
var ErrLater = errors.New("the operation goes on later")

// RunnerOptions configure a Runner. Zero fields have the documented defaults.
type RunnerOptions struct {
	Workers int                      // operations at once; 1–64, default 1
	Clock   func() time.Time         // default time.Now
	NewID   func() string            // required
	Logger  *slog.Logger             // default: none
	Done    func(op store.Operation) // called when one ended; default: nobody
	Stall   time.Duration            // how long work may go without a Save, or an outage last, before it fails; default 1 h, at least 10 ms
	Pause   time.Duration            // first pause after store.ErrUnavailable, doubled up to a minute; default 1 s
}

// Runner runs operations one after another in the background and finishes after a restart what a crash cut off.
type Runner struct {
	ledger store.Operations
	kinds  map[string]Work
	opts   RunnerOptions

	mu      sync.Mutex
	wake    chan struct{}
	waiting []store.Operation
	running map[string]context.CancelCauseFunc // by tenant and id
	outages map[string]outage                  // by tenant and id
	changed chan struct{}                      // closed and made anew at every end of an operation
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// NewRunner returns a runner of the kinds of work given. Nothing runs before Start.
func NewRunner(l store.Operations, kinds map[string]Work, opts *RunnerOptions) (*Runner, error) {
	o := RunnerOptions{}
	if opts != nil {
		o = *opts
	}
	if o.NewID == nil {
		return nil, store.Invalid("new id", "given", "")
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	if o.Workers < 1 || o.Workers > 64 {
		return nil, store.Invalid("workers", "between 1 and 64", fmt.Sprint(o.Workers))
	}
	if o.Stall == 0 {
		o.Stall = time.Hour
	}
	if o.Stall < 10*time.Millisecond {
		return nil, store.Invalid("stall", "at least 10 ms", o.Stall.String())
	}
	if o.Pause == 0 {
		o.Pause = time.Second
	}
	if o.Pause < 0 {
		return nil, store.Invalid("pause", "positive", o.Pause.String())
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Runner{ledger: l, kinds: kinds, opts: o, wake: make(chan struct{}, o.Workers), running: map[string]context.CancelCauseFunc{}, outages: map[string]outage{}, changed: make(chan struct{})}, nil
}

// Start takes up what has not ended and begins to work, until Stop.
func (r *Runner) Start(ctx context.Context) error {
	open, err := r.ledger.Unfinished(ctx)
	if err != nil {
		return fmt.Errorf("read operations: %w", err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil {
		stop()
		return fmt.Errorf("%w: the runner was started before", store.ErrConflict)
	}
	r.stop = stop
	// What another process knows how to do is left to it.
	open = slices.DeleteFunc(open, func(op store.Operation) bool { return r.kinds[op.Kind] == nil })
	r.waiting = append(open, r.waiting...)
	for range r.opts.Workers {
		r.done.Go(func() { r.work(ctx) })
	}
	return nil
}

// Stop ends the work in hand, which goes on at the next start, and waits for it.
func (r *Runner) Stop() {
	r.mu.Lock()
	stop := r.stop
	r.mu.Unlock()
	if stop != nil {
		stop()
	}
	r.done.Wait()
}

// Submit makes an operation durable and has it run soon. args are ids, filters and counts, never content.
func (r *Runner) Submit(ctx context.Context, tenant, kind, by string, args any) (store.Operation, error) {
	if r.kinds[kind] == nil {
		return store.Operation{}, store.Invalid("kind", "one of the kinds of operations", kind)
	}
	b, err := json.Marshal(args)
	if err != nil {
		return store.Operation{}, fmt.Errorf("encode arguments: %w", err)
	}
	now := r.now()
	op := store.Operation{ID: r.opts.NewID(), Tenant: tenant, Kind: kind, By: by, State: store.OperationQueued, Args: b, CreatedAt: now, UpdatedAt: now}
	r.mu.Lock()
	defer r.mu.Unlock() // so that Start does not find it a second time
	if op.Version, err = r.ledger.SaveOperation(ctx, op); err != nil {
		return store.Operation{}, fmt.Errorf("save operation: %w", err)
	}
	r.waiting = append(r.waiting, op)
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return op, nil
}

// Cancel asks an operation to end at its next step. One that has ended stays as it is.
func (r *Runner) Cancel(ctx context.Context, tenant, id string) (store.Operation, error) {
	for {
		op, err := r.ledger.Operation(ctx, tenant, id)
		if err != nil || op.State.Ended() || op.Cancel {
			return op, wrapped("read operation", err)
		}
		op.Cancel, op.UpdatedAt = true, r.now()
		v, err := r.ledger.SaveOperation(ctx, op)
		if errors.Is(err, store.ErrConflict) {
			continue // it made a step meanwhile
		}
		if err != nil {
			return op, fmt.Errorf("cancel operation: %w", err)
		}
		op.Version = v
		r.mu.Lock()
		if cancel := r.running[tenant+"\x00"+id]; cancel != nil {
			cancel(ErrCanceled)
		}
		r.mu.Unlock()
		return op, nil
	}
}

// Retry runs a failed or canceled operation again, from its checkpoint on.
func (r *Runner) Retry(ctx context.Context, tenant, id string) (store.Operation, error) {
	op, err := r.ledger.Operation(ctx, tenant, id)
	if err != nil {
		return op, fmt.Errorf("read operation: %w", err)
	}
	if op.State != store.OperationFailed && op.State != store.OperationCanceled {
		return op, fmt.Errorf("%w: only a failed or canceled operation is run again; this one is %s", store.ErrConflict, op.State)
	}
	op.State, op.Cancel, op.Note, op.DoneAt, op.UpdatedAt = store.OperationQueued, false, "", time.Time{}, r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if op.Version, err = r.ledger.SaveOperation(ctx, op); err != nil {
		return op, fmt.Errorf("save operation: %w", err)
	}
	r.waiting = append(r.waiting, op)
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return op, nil
}

// Wait returns the operation once it has ended.
func (r *Runner) Wait(ctx context.Context, tenant, id string) (store.Operation, error) {
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		op, err := r.ledger.Operation(ctx, tenant, id)
		if err != nil || op.State.Ended() {
			return op, wrapped("read operation", err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return op, fmt.Errorf("wait for operation: %w", ctx.Err())
		}
	}
}

func (r *Runner) now() time.Time { return r.opts.Clock().UTC().Truncate(time.Microsecond) }

func wrapped(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func (r *Runner) work(ctx context.Context) {
	for ctx.Err() == nil {
		r.mu.Lock()
		var op *store.Operation
		if len(r.waiting) > 0 {
			op, r.waiting = &r.waiting[0], r.waiting[1:]
		}
		r.mu.Unlock()
		if op == nil {
			select {
			case <-r.wake:
			case <-ctx.Done():
			}
			continue
		}
		r.run(ctx, *op)
	}
}

// run makes one attempt. The operation as stored rules: it may have been canceled while it waited.
func (r *Runner) run(life context.Context, queued store.Operation) {
	log := r.opts.Logger.With("operation", queued.ID, "kind", queued.Kind)
	ctx, cancel := context.WithCancelCause(life)
	defer cancel(nil)
	key := queued.Tenant + "\x00" + queued.ID
	r.mu.Lock()
	r.running[key] = cancel
	r.mu.Unlock()
	again := func() {} // once this attempt is over
	defer func() {
		r.mu.Lock()
		delete(r.running, key)
		close(r.changed)
		r.changed = make(chan struct{})
		r.mu.Unlock()
		again()
	}()
	p := &Progress{op: queued, runner: r}
	r.begins(key, p)
	op, err := r.ledger.Operation(life, queued.Tenant, queued.ID) // a cancellation is read too, and ends it below
	if err != nil {
		if life.Err() == nil && p.Pauses(err) {
			again = func() { r.later(life, p, false, err) }
			return
		}
		log.ErrorContext(ctx, "an operation cannot be read", "error", err)
		return
	}
	p.op = op
	p.op.State, p.op.Note = store.OperationRunning, ""
	var result any
	if err = p.save(ctx); err == nil {
		var hangs bool
		if result, hangs, err = r.watch(ctx, cancel, p); hangs {
			r.abandon(context.WithoutCancel(ctx), log, op)
			return
		}
	}
	switch {
	case errors.Is(err, ErrLater) && ctx.Err() == nil:
		r.mu.Lock()
		r.waiting = append(r.waiting, p.op)
		r.mu.Unlock()
		r.ends(key)
		return
	case ctx.Err() == nil && p.Pauses(err):
		again = func() { r.later(life, p, p.op.Done > op.Done, err) }
		return
	case ctx.Err() == nil || err == nil:
	case errors.Is(context.Cause(ctx), ErrCanceled):
		err = ErrCanceled
	case errors.Is(context.Cause(ctx), errStalled):
		err = r.stalled()
	default:
		return // stopped: it goes on at the next start
	}
	p.end(result, err)
	if err := p.save(context.WithoutCancel(ctx)); err != nil {
		if life.Err() == nil && p.Pauses(err) { // the work is done once more from its last step on, as after a crash
			p.op.State, p.op.DoneAt, p.op.Result = store.OperationRunning, time.Time{}, nil
			again = func() { r.later(life, p, false, err) }
			return
		}
		log.ErrorContext(ctx, "the end of an operation cannot be saved; it is run again at the next start", "error", err)
		return
	}
	r.ends(key)
	log.InfoContext(ctx, "operation ended", "state", p.op.State, "done", p.op.Done, "took", r.now().Sub(op.CreatedAt))
	if r.opts.Done != nil {
		r.opts.Done(p.op)
	}
}

// errStalled is why work is ended that makes no progress.
var errStalled = errors.New("the operation made no progress")

func (r *Runner) stalled() error {
	return fmt.Errorf("%w for %s (run it again: it goes on from where it was)", errStalled, r.opts.Stall)
}

// watch makes an attempt and ends it when it saves nothing for too long, so that what is wedged does not keep others
// waiting. hangs tells that it does not even heed the end of its context; it is left to itself then.
func (r *Runner) watch(ctx context.Context, cancel context.CancelCauseFunc, p *Progress) (result any, hangs bool, err error) {
	type end struct {
		result any
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		result, err := r.attempt(ctx, p)
		ended <- end{result, err}
	}()
	t := time.NewTicker(r.opts.Stall / 4)
	defer t.Stop()
	for {
		select {
		case e := <-ended:
			return e.result, false, e.err
		case <-t.C:
		}
		if time.Since(time.Unix(0, p.saved.Load())) < r.opts.Stall {
			continue
		}
		cancel(errStalled)
		select {
		case e := <-ended:
			return e.result, false, e.err
		case <-time.After(min(r.opts.Stall, time.Minute)):
			return nil, true, errStalled
		}
	}
}

// abandon ends an operation whose work hangs: what that may still save is refused.
func (r *Runner) abandon(ctx context.Context, log *slog.Logger, op store.Operation) {
	now, err := r.ledger.Operation(ctx, op.Tenant, op.ID)
	if err == nil && !now.State.Ended() {
		now.State, now.Note, now.DoneAt, now.UpdatedAt = store.OperationFailed, r.stalled().Error(), r.now(), r.now()
		_, err = r.ledger.SaveOperation(ctx, now)
	}
	log.ErrorContext(ctx, "an operation hangs and is left to itself", "error", err)
}

var errPanic = errors.New("the operation panicked")

// attempt keeps a panic of the work from taking the process down. Its value may quote content and is not kept.
func (r *Runner) attempt(ctx context.Context, p *Progress) (result any, err error) {
	defer func() {
		if recover() != nil {
			result, err = nil, errPanic
		}
	}()
	work := r.kinds[p.op.Kind]
	if work == nil {
		return nil, store.Invalid("kind", "one of the kinds of operations", p.op.Kind)
	}
	return work(ctx, p)
}
