package extract

import (
	"context"
	"time"
)

// Pause makes the worker claim no more jobs. What runs goes on; turns are taken in as ever and wait.
func (w *Worker) Pause() { w.paused.Store(true) }

// Resume ends a Pause.
func (w *Worker) Resume() {
	w.paused.Store(false)
	w.Wake()
}

// Paused reports whether the worker is paused.
func (w *Worker) Paused() bool { return w.paused.Load() }

// Drain pauses the worker and waits until nothing runs any more. The worker stays paused, also when the context ends
// first and its error is returned.
func (w *Worker) Drain(ctx context.Context) error {
	w.Pause()
	for {
		signal := w.progress.next()
		w.claiming.Lock() // a claim under way may still begin jobs
		running := w.progress.count(&watch{})
		w.claiming.Unlock()
		if running == 0 {
			return nil
		}
		if err := waitFor(ctx, signal, time.Second); err != nil {
			return err
		}
	}
}
