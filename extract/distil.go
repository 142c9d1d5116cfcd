package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"evoke/scoring"
	"evoke/store"
)

// noteBudget is the note of events that the interim extractor ended because the tenant's budget was spent.
const noteBudget = "budget spent: rules"

// finding is what an extractor found in a batch.
type finding struct {
	Report
	extractor string // its name; "" when none ran
	note      string // of the events
	reports   bool   // what it refuses itself waits for review
}

// distil runs the tenant's extractor, or the interim one when the budget is spent.
func (a *attempt) distil(ctx context.Context, p *part, b *Batch) (*finding, error) {
	limited, cancel := context.WithTimeoutCause(ctx, a.opts.Limit, errTimeUp)
	defer cancel()
	f, err := a.ask(limited, p, b)
	if p.Interim == nil || !errors.Is(err, store.ErrBudget) {
		return f, err
	}
	if f, err = a.report(ctx, p.Interim, b, StageExtract); err != nil {
		return nil, &permanentError{fmt.Errorf("extract: %w", err)}
	}
	f.note = noteBudget
	return f, nil
}

// ask runs the tenant's extractor, if its service is not known to be away, and tells failures that may pass from those
// that will not.
func (a *attempt) ask(ctx context.Context, p *part, b *Batch) (*finding, error) {
	tenant := b.Scope.Tenant
	probe, err := a.breakers.admit(tenant, p.Extractor, a.opts.Clock())
	if err != nil {
		return nil, &awayError{fmt.Errorf("extract: %w", err)}
	}
	if probe {
		defer a.breakers.release(tenant)
	}
	f, err := a.report(ctx, p.Extractor, b, StageExtract)
	if err == nil {
		a.breakers.answered(tenant)
		a.outages.answered(tenant)
		return f, nil
	}
	err = fmt.Errorf("extract: %w", err)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeUp), cause == nil && errors.Is(err, context.DeadlineExceeded), cause == nil && errors.Is(err, context.Canceled):
		err = fmt.Errorf("%w: %w: %w", store.ErrUnavailable, errTimeUp, err)
	case cause != nil:
		return nil, err // the run ends, whatever the service would have said
	case errors.Is(err, store.ErrBudget):
		return nil, err
	case errors.Is(err, ErrPaced):
		a.breakers.pace(tenant, p.Extractor, a.opts.Clock(), waitAsked(err))
		return nil, err
	case !isAway(err):
		a.breakers.answered(tenant) // what it cannot do says that it is there
		return nil, &permanentError{err}
	}
	pause := func(failures int) time.Duration {
		if errors.Is(err, ErrService) {
			return a.opts.RetryMax
		}
		return a.backoff(failures) / 2 // others of the tenant are asked before this thread is again
	}
	a.breakers.failed(tenant, p.Extractor, probe, a.opts.Clock(), err, waitAsked(err), pause)
	return nil, &awayError{err}
}

var errPanic = errors.New("the extractor panicked")

// report runs an extractor, notes what it took, and keeps a panic from taking the process down.
func (a *attempt) report(ctx context.Context, x Extractor, b *Batch, stage string) (f *finding, err error) {
	f = &finding{extractor: x.Name()}
	began := a.opts.Clock()
	ctx, end := a.opts.Span(ctx, stage)
	func() {
		defer func() {
			if recover() != nil { // its value may quote the conversation
				err = errPanic
			}
		}()
		if r, ok := x.(Reporter); ok {
			f.reports = true
			f.Report, err = r.Report(ctx, *b)
		} else {
			f.Operations, err = x.Extract(ctx, *b)
		}
	}()
	end(err)
	a.addUsage(ctx, b.Scope.Tenant, f.Usage)
	s := Stage{
		Tenant: b.Scope.Tenant, Stage: stage, Took: a.opts.Clock().Sub(began), Attempts: a.fails, Extractor: f.extractor,
		Operations: countOperations(f.Operations), Rejected: countRejected(f.Rejected), Usage: f.Usage,
	}
	if err != nil {
		s.Err = reasonOf(err)
	}
	a.opts.Observe(s)
	return f, err
}

// addUsage enters what a call took, also of one that failed or was cancelled.
func (a *attempt) addUsage(ctx context.Context, tenant string, u Usage) {
	if u == (Usage{}) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.opts.Lease/3)
	defer cancel()
	day := store.Usage{Day: a.now().Format(time.DateOnly), Calls: int64(u.Calls), PromptTokens: int64(u.PromptTokens), CompletionTokens: int64(u.CompletionTokens)}
	if err := a.ledger.AddUsage(ctx, tenant, day); err != nil {
		a.opts.Logger.ErrorContext(ctx, "what a model took is not counted", "calls", u.Calls, "error", err)
	}
}

func countOperations(ops []Operation) map[string]int {
	n := map[string]int{}
	for i := range ops {
		n[string(ops[i].Action)+":"+string(ops[i].Kind)]++
	}
	return n
}

func countRejected(rs []Rejected) map[string]int {
	n := map[string]int{}
	for i := range rs {
		n[rs[i].Reason]++
	}
	return n
}

// mostKnown bounds the known items that an extractor is given.
const mostKnown = 100

// related chooses, of too many known items, those most related to turns: those with the most words in common. One that
// tells where its speaker stands in something (its subject) may be contradicted without a word in common: it gets two more.
func related(known, turns []store.Item) []store.Item {
	if len(known) <= mostKnown {
		return known
	}
	words := map[string]bool{}
	for i := range turns {
		for _, t := range scoring.Tokens(turns[i].Content) {
			words[t] = true
		}
	}
	rank := make(map[string]int, len(known))
	for i := range known {
		it := &known[i]
		if s := it.Provenance.Subject; s != "" && !strings.Contains(s, ":") {
			rank[it.ID] = 2
		}
		seen := map[string]bool{}
		for _, t := range scoring.Tokens(it.Content) {
			if words[t] && !seen[t] {
				seen[t] = true
				rank[it.ID]++
			}
		}
	}
	known = slices.Clone(known)
	slices.SortStableFunc(known, func(a, b store.Item) int {
		if rank[a.ID] != rank[b.ID] {
			return rank[b.ID] - rank[a.ID]
		}
		return b.RecordedAt.Compare(a.RecordedAt)
	})
	return known[:mostKnown]
}
