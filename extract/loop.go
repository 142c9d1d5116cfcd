package extract

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"evoke/store"
)

// run is the loop; it owns the goroutines of the jobs.
func (w *Worker) run(loop context.Context) {
	defer close(w.ended)
	jobs, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
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
		cancel(errStopping)
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
	began := w.opts.Clock()
	of, probe := w.claimable(began)
	of = w.pauses.without(of)
	claimed, err := w.take(loop, free, of)
	if err != nil {
		return 0, fmt.Errorf("claim: %w", err)
	}
	if len(claimed) > 0 {
		w.opts.Observe(Stage{Stage: StageClaim, Took: w.opts.Clock().Sub(began), Attempts: len(claimed)})
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
	due, waiting, err := w.ledger.NextDue(loop, of)
	if err != nil {
		return 0, fmt.Errorf("next due: %w", err)
	}
	pause := w.opts.Lease // looks again then: a lease may have expired
	now := w.opts.Clock()
	if waiting {
		pause = min(pause, max(due.Sub(now), shortest))
	}
	if !probe.IsZero() {
		pause = min(pause, max(probe.Sub(now), shortest))
	}
	return pause, nil
}

// claimable tells whose jobs may be claimed now, and when that changes. Of a tenant whose extractor's service is away it is
// none; with an interim extractor it is those whose turns that one has not seen.
func (w *Worker) claimable(now time.Time) (of store.Tenants, next time.Time) {
	away, next := w.breakers.away(now)
	for name, b := range away {
		switch own := w.tenant(name); {
		case !sameExtractor(own.Extractor, b.extractor): // another one by now
		case own.Interim == nil || b.paced:
			of.Except = append(of.Except, name)
		default:
			of.Fresh = append(of.Fresh, name)
		}
	}
	return of, next
}

// take claims jobs and counts them as running, as one step to whoever counts what waits and what runs.
func (w *Worker) take(ctx context.Context, n int, of store.Tenants) ([]store.Job, error) {
	w.claiming.Lock()
	defer w.claiming.Unlock()
	if w.Paused() {
		return nil, nil
	}
	claimed, err := w.ledger.Claim(ctx, w.opts.Clock().UTC(), w.opts.Lease, n, w.pauses.without(of)) // one may have come since
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
