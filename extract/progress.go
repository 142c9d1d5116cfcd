package extract

import (
	"context"
	"fmt"
	"sync"
	"time"

	"evoke/store"
)

// progress lets callers wait for jobs of this process. The zero value is ready.
type progress struct {
	mu      sync.Mutex
	running map[threadKey]int
	watches map[*watch]struct{}
	changed chan struct{} // closed and replaced whenever a job ends, in a terminal state or not
}

type threadKey struct {
	scope  store.Scope
	thread string
}

// watch counts the jobs of a scope, or of one of its threads, that ended since it was set.
type watch struct {
	scope  store.Scope // zero for all
	thread string      // "" for all
	ended  int
	upTo   int                 // furthest position that ended
	late   map[threadKey]error // threads that were put off to another day, and why
}

func (k threadKey) in(sc store.Scope, thread string) bool {
	return (sc == store.Scope{} || k.scope == sc) && (thread == "" || thread == k.thread)
}

func (p *progress) begin(j store.Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		p.running = map[threadKey]int{}
	}
	p.running[threadKey{j.Scope, j.Thread}]++
}

func (p *progress) end(j store.Job, upTo int, done bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := threadKey{j.Scope, j.Thread}
	if p.running[k]--; p.running[k] == 0 {
		delete(p.running, k)
	}
	for w := range p.watches {
		if done && k.in(w.scope, w.thread) {
			w.ended++
			w.upTo = max(w.upTo, upTo)
		}
	}
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// putOff tells who waits for a job that it will not run for long.
func (p *progress) putOff(j store.Job, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := threadKey{j.Scope, j.Thread}
	for w := range p.watches {
		if !k.in(w.scope, w.thread) {
			continue
		}
		if w.late == nil {
			w.late = map[threadKey]error{}
		}
		w.late[k] = why
	}
}

// late returns why the last of what is watched was put off, when that is all that is left of n jobs; else nil.
func (p *progress) late(w *watch, n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(w.late) == 0 || w.ended+len(w.late) < n || p.count(w) > 0 {
		return nil
	}
	for _, why := range w.late {
		return why
	}
	return nil
}

// next returns a channel that is closed when another job ends.
func (p *progress) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.changed
}

// set registers a watch and returns how many matching jobs run now.
func (p *progress) set(w *watch) (running int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watches == nil {
		p.watches = map[*watch]struct{}{}
	}
	p.watches[w] = struct{}{}
	return p.count(w)
}

func (p *progress) drop(w *watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watches, w)
}

func (p *progress) read(w *watch) (ended, upTo, running int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return w.ended, w.upTo, p.count(w)
}

// idle reports whether nothing of what is watched runs.
func (p *progress) idle(w *watch) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count(w) == 0
}

func (p *progress) count(w *watch) (n int) {
	for k, c := range p.running {
		if k.in(w.scope, w.thread) {
			n += c
		}
	}
	return n
}

// runs counts the jobs of a tenant that run now, all when tenant is "".
func (p *progress) runs(tenant string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, c := range p.running {
		if tenant == "" || k.scope.Tenant == tenant {
			n += c
		}
	}
	return n
}

// recheck bounds how long a waiter trusts the signals of its own process.
const recheck = 5 * time.Second

// Flush makes the waiting extraction of one thread, or of all threads of the scope when thread is "", due now and waits
// until they ended. It returns how many it made due. Attempts that fail are repeated after their pause while Flush
// waits; it gives up with the context's error, with store.ErrConflict when the tenant is paused and nothing of it runs, and
// with store.ErrBudget when what is left waits for the next day's budget. A service that is away is asked at once, unless it
// asked for time. When it is still away as the context ends, or asked for longer than that, the error is an *AwayError. It
// needs a started worker.
func (w *Worker) Flush(ctx context.Context, sc store.Scope, thread string) (int, error) {
	if err := w.started(); err != nil {
		return 0, err
	}
	if err := sc.Validate(); err != nil {
		return 0, err
	}
	next := 0
	if thread != "" {
		st, err := w.ledger.Thread(ctx, sc, thread)
		if err != nil {
			return 0, fmt.Errorf("flush: %w", err)
		}
		next = st.Next
	}
	watch := &watch{scope: sc, thread: thread}
	defer w.progress.drop(watch)
	running, n, err := w.release(ctx, watch)
	if err != nil {
		return 0, fmt.Errorf("flush: %w", err)
	}
	w.breakers.hurry(sc.Tenant)
	w.Wake()
	for n+running > 0 {
		signal, held := w.progress.next(), w.heldBack(watch)
		done, err := w.flushed(ctx, watch, n, running, next)
		if done || err != nil {
			return n, err
		}
		if err := w.progress.late(watch, n+running); err != nil {
			return n, fmt.Errorf("%w: the rest waits until the next day", err)
		}
		if held {
			return n, fmt.Errorf("%w: extraction was paused meanwhile", store.ErrConflict)
		}
		if away := w.away(sc.Tenant); away != nil && away.outlasts(ctx, w.opts.Clock()) && w.progress.idle(watch) {
			return n, away
		}
		if err := waitFor(ctx, signal, recheck); err != nil {
			if away := w.away(sc.Tenant); away != nil {
				return n, fmt.Errorf("%w: %w", away, err)
			}
			return n, err
		}
	}
	return n, nil
}

// heldBack reports whether nothing of what is watched runs or will, as its tenant is paused.
func (w *Worker) heldBack(watch *watch) bool {
	w.claiming.Lock() // a claim under way may still begin jobs
	defer w.claiming.Unlock()
	_, _, running := w.progress.read(watch)
	return running == 0 && w.TenantPaused(watch.scope.Tenant)
}

// release sets the watch and makes what it watches due: every job is in one of the two counts.
func (w *Worker) release(ctx context.Context, watch *watch) (running, due int, err error) {
	w.claiming.Lock()
	defer w.claiming.Unlock()
	running = w.progress.set(watch)
	due, err = w.ledger.Flush(ctx, watch.scope, watch.thread, w.opts.Clock().UTC())
	return running, due, err
}

// flushed reports whether what Flush made due has ended. A job that ran already when its thread was flushed may have
// begun before the last turns came: then the thread runs twice.
func (w *Worker) flushed(ctx context.Context, watch *watch, n, before, next int) (bool, error) {
	ended, upTo, running := w.progress.read(watch)
	if watch.thread != "" {
		if ended > 0 && (n == 0 || before == 0 || upTo >= next) || ended > 1 {
			return true, nil
		}
		if running > 0 || next == 0 {
			return false, nil
		}
		st, err := w.ledger.Thread(ctx, watch.scope, watch.thread)
		if err != nil {
			return false, fmt.Errorf("flush: %w", err)
		}
		return st.Next == 0, nil // the thread was erased, and what waited with it
	}
	if ended >= n+before {
		return true, nil
	}
	if running > 0 {
		return false, nil
	}
	waiting, err := w.ledger.WaitingThreads(ctx, watch.scope)
	if err != nil {
		return false, fmt.Errorf("flush: %w", err)
	}
	_, _, running = w.progress.read(watch)
	return waiting == 0 && running == 0, nil
}

// Settle waits until an event of the tenant reaches its terminal state and returns it. When the context ends first it
// returns the event as it stands, with the context's error; store.ErrNotFound when there is no such event.
func (w *Worker) Settle(ctx context.Context, tenant, id string) (store.Event, error) {
	for {
		signal := w.progress.next()
		ev, err := w.ledger.Event(ctx, tenant, id)
		if err != nil {
			return ev, fmt.Errorf("settle: %w", err)
		}
		if ev.State != store.EventPending {
			return ev, nil
		}
		if err := waitFor(ctx, signal, recheck); err != nil {
			return ev, err
		}
	}
}

// waitFor waits for a signal, or for the time after which to look again without one.
func waitFor(ctx context.Context, signal <-chan struct{}, most time.Duration) error {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-signal:
	case <-t.C:
	}
	return nil
}

func (w *Worker) started() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.stopped:
		return fmt.Errorf("%w: the worker was stopped", store.ErrClosed)
	case w.stop == nil:
		return fmt.Errorf("%w: the extraction worker was not started", store.ErrUnavailable)
	}
	return nil
}
