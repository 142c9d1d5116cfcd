package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"evoke/store"
)

// outage is how long an operation has come upon store.ErrUnavailable.
type outage struct {
	since time.Time // of the first failure after the last step, by the machine's clock
	tries int
}

// maxPause bounds the pause before an operation is tried again.
const maxPause = time.Minute

// pause is how long an operation rests after its nth failure in a row.
func pause(first time.Duration, n int) time.Duration {
	return min(first<<min(n, 20), max(first, maxPause))
}

// Pauses tells whether an attempt that ended with err is made again after a pause, so that the operation has not ended: when
// the error is store.ErrUnavailable, until no step could be saved for as long as RunnerOptions.Stall.
func (p *Progress) Pauses(err error) bool {
	return errors.Is(err, store.ErrUnavailable) && (!p.last || p.steps > 0)
}

// begins takes down, at the begin of an attempt, whether it is the last that an outage leaves.
func (r *Runner) begins(key string, p *Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, ok := r.outages[key]
	p.last = ok && time.Since(o.since) >= r.opts.Stall
}

// ends forgets an operation's outage.
func (r *Runner) ends(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.outages, key)
}

// later has an operation tried again after a pause, which a cancellation cuts short. Others get their turn meanwhile. ctx
// ends with the runner.
func (r *Runner) later(ctx context.Context, p *Progress, grew bool, err error) {
	key := p.op.Tenant + "\x00" + p.op.ID
	r.mu.Lock()
	o, ok := r.outages[key]
	if !ok || p.steps > 0 {
		o.since = time.Now()
	}
	if grew {
		o.tries = 0
	}
	rest := pause(r.opts.Pause, o.tries)
	o.tries++
	r.outages[key] = o
	resting, cancel := context.WithCancelCause(ctx)
	r.running[key] = cancel
	r.mu.Unlock()
	r.opts.Logger.WarnContext(ctx, "an operation goes on later", "operation", p.op.ID, "kind", p.op.Kind, "in", rest, "try", o.tries, "error", err)
	p.op.Note = fmt.Sprintf("waits and goes on: %v", err)
	if err := p.save(ctx); errors.Is(err, ErrCanceled) {
		cancel(err)
	}
	r.done.Go(func() {
		defer cancel(nil)
		select {
		case <-resting.Done():
		case <-time.After(rest):
		}
		if ctx.Err() != nil {
			return // stopped: it goes on at the next start
		}
		r.mu.Lock()
		r.waiting = append(r.waiting, p.op)
		r.mu.Unlock()
		select {
		case r.wake <- struct{}{}:
		default:
		}
	})
}
