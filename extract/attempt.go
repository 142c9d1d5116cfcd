package extract

import (
	"context"
	"errors"
	"fmt"
	"time"

	"evoke/store"
)

// attempt is one run of a job.
type attempt struct {
	*Worker
	job    store.Job
	lease  *lease
	state  store.ThreadState // of the thread when the run began
	upTo   int               // position up to which it saw the thread; 0: nothing
	fails  int               // failed attempts of the batch at hand
	search search
}

// process runs one job to its end, or gives it back for another attempt. done tells that it reached a terminal state.
func (w *Worker) process(jobs context.Context, j store.Job) (upTo int, done bool) {
	ctx, l, release := w.hold(jobs, j)
	a := &attempt{Worker: w, job: j, lease: l, fails: j.Attempts}
	spanned, end := w.opts.Span(ctx, SpanJob)
	err := a.run(spanned)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	end(err)
	release()
	if err == nil {
		w.outages.forget(j)
		return a.upTo, true
	}
	if a.erased(jobs, err) {
		return a.upTo, true
	}
	if errors.Is(err, errLeaseLost) {
		w.opts.Logger.WarnContext(jobs, "a job was taken by another run", "attempt", a.fails+1)
		return 0, false
	}
	// The job may have failed because its time is up; telling so must not fail for the same reason.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(jobs), w.opts.Lease/3)
	defer cancel()
	return a.giveUp(ctx, err)
}

// erased tells whether a run failed because the thread that it saw was erased meanwhile, and the job with it.
func (a *attempt) erased(ctx context.Context, err error) bool {
	if a.upTo == 0 || !errors.Is(err, errLeaseLost) && !errors.Is(err, store.ErrConflict) {
		return false
	}
	st, err := a.ledger.Thread(ctx, a.job.Scope, a.job.Thread)
	return err == nil && st.Next == 0
}

// giveUp ends a failed attempt: another one follows, or the thread's events are dead.
func (a *attempt) giveUp(ctx context.Context, err error) (upTo int, done bool) {
	reason, v := reasonOf(err), a.judge(a.job, err)
	a.opts.Logger.WarnContext(ctx, "extraction failed", "attempt", a.fails+1, "error", reason, "gives_up", v.last)
	stage := Stage{Tenant: a.job.Scope.Tenant, Stage: StageRetry, Attempts: a.fails, Extractor: a.tenant(a.job.Scope.Tenant).Extractor.Name(), Err: reason}
	switch {
	case v.last && a.upTo > 0:
		if err = a.bury(ctx, a.upTo, reason, false, false); err == nil {
			a.outages.forget(a.job)
			return a.upTo, true
		}
	case v.blamed:
		err = a.ledger.Retry(ctx, a.job, v.at, reason)
	default:
		spent := errors.Is(err, store.ErrBudget)
		if err = a.ledger.Defer(ctx, a.job, v.at, reason); err == nil && spent {
			a.progress.putOff(a.job, store.ErrBudget)
		}
	}
	if err != nil { // the lease will end and the job run again
		a.opts.Logger.ErrorContext(ctx, "job left to its lease", "error", err)
		return 0, false
	}
	a.opts.Observe(stage)
	return 0, false
}

// bury ends events as dead. When the turns up to upTo are to be skipped, because they would fail again, the thread goes on
// behind them; more tells that this run does.
func (a *attempt) bury(ctx context.Context, upTo int, reason string, skip, more bool) error {
	unlock, err := a.opts.Locks.LockContext(ctx, a.job.Scope)
	if err != nil {
		return err
	}
	defer unlock()
	name := a.tenant(a.job.Scope.Tenant).Extractor.Name()
	fin := &store.Finish{Job: a.job, UpTo: upTo, State: store.EventDead, Note: reason, At: a.now(), Extractor: name, Partial: more}
	wr := store.Write{Scope: a.job.Scope, Finish: fin}
	if skip {
		st, err := a.ledger.Thread(ctx, a.job.Scope, a.job.Thread)
		if err != nil {
			return fmt.Errorf("read thread: %w", err)
		}
		st.Cursor = max(st.Cursor, upTo)
		wr.Thread = &st
	}
	if err := a.lease.commit(ctx, a.Worker, wr); err != nil {
		return err
	}
	a.opts.Observe(Stage{Tenant: a.job.Scope.Tenant, Stage: StageDead, Attempts: a.fails, Extractor: name, State: store.EventDead, Err: reason})
	return nil
}

func (w *Worker) commit(ctx context.Context, wr store.Write) error {
	wr.ID = w.opts.NewID()
	if err := store.Commit(ctx, w.store, w.ledger, wr); err != nil {
		return fmt.Errorf("commit extraction: %w", err)
	}
	if wr.Finish != nil {
		w.opts.Done(wr.Finish.Facts, wr.Finish.State)
	}
	return nil
}

func (w *Worker) now() time.Time { return w.opts.Clock().UTC().Truncate(time.Microsecond) }

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
	for _, k := range [...]error{ErrUnreadable, ErrRefused, ErrService, ErrPaced, store.ErrBudget, store.ErrUnavailable, store.ErrConflict, store.ErrInvalid, store.ErrCorrupt,
		store.ErrTenant, store.ErrNotFound, store.ErrClosed, errTimeUp, errStopping, context.DeadlineExceeded, context.Canceled, errPanic} {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return "internal error"
}
