package extract

import (
	"context"
	"errors"
	"sync"
	"time"

	"evoke/store"
)

// Why a run of a job is cancelled.
var (
	errLeaseLost = errors.New("the lease on the job was lost")
	errTimeUp    = errors.New("the extraction took too long")
	errStopping  = errors.New("the worker is being stopped")
)

// lease keeps a job while it runs.
type lease struct {
	mu    sync.Mutex // held while the ledger is told of the job, so that a heartbeat never meets its end
	ended bool
}

// hold extends a job's lease until release is called. When it is lost, the context ends with errLeaseLost.
func (w *Worker) hold(ctx context.Context, j store.Job) (_ context.Context, l *lease, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	l = &lease{}
	var beat sync.WaitGroup
	beat.Go(func() {
		t := time.NewTicker(w.opts.Lease / 3)
		defer t.Stop()
		until := w.opts.Clock().Add(w.opts.Lease)
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			next, err := l.extend(ctx, w, j)
			switch {
			case err == nil:
				until = next
			case errors.Is(err, store.ErrConflict) || !w.opts.Clock().Before(until):
				cancel(errLeaseLost)
				return
			}
		}
	})
	return ctx, l, func() { cancel(nil); beat.Wait() }
}

func (l *lease) extend(ctx context.Context, w *Worker, j store.Job) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := w.opts.Clock().Add(w.opts.Lease)
	if l.ended {
		return until, nil
	}
	return until, w.ledger.Extend(ctx, j, until.UTC())
}

// commit makes a write of the job. One that ends it ends the heartbeats.
func (l *lease) commit(ctx context.Context, w *Worker, wr store.Write) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := w.commit(ctx, wr); err != nil {
		return err
	}
	l.ended = l.ended || wr.Finish != nil && !wr.Finish.Partial
	return nil
}
