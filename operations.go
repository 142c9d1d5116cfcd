package evoke

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"evoke/store"
	"evoke/store/lifecycle"
)

// tenantWork does an operation of one kind for the tenant of the Memory given; see lifecycle.Work.
type tenantWork func(m *Memory, ctx context.Context, p *lifecycle.Progress) (result any, err error)

// work is the table of the kinds of long work.
func (e *engine) work() map[string]tenantWork {
	return map[string]tenantWork{
		"erase":         (*Memory).eraseWork,
		consolidateKind: (*Memory).consolidateWork,
		purgeKind:       (*Memory).purgeWork,
		retainKind:      (*Memory).retainWork,
		restoreKind:     (*Memory).restoreWork,
		undoKind:        (*Memory).undoWork,
		importKind:      (*Memory).importWork,
		reembedKind:     (*Memory).reembedWork,
	}
}

// startOperations starts what runs long work, and takes up what the process before this one left unfinished.
func (e *engine) startOperations(ctx context.Context, log *slog.Logger) error {
	kinds := map[string]lifecycle.Work{}
	for kind, do := range e.work() {
		if kind == reembedKind && e.embedder == nil {
			continue // it waits for an engine that has one
		}
		kinds[kind] = func(ctx context.Context, p *lifecycle.Progress) (any, error) {
			op := p.Operation()
			m := &Memory{engine: e, tenant: op.Tenant}
			return do(m, WithActor(ctx, Actor{Name: op.By, Request: op.ID}), p)
		}
	}
	runner, err := lifecycle.NewRunner(e.ledger, kinds, &lifecycle.RunnerOptions{Clock: e.clock, NewID: newID, Logger: log})
	if err != nil {
		return err
	}
	if err := runner.Start(ctx); err != nil {
		return err
	}
	e.runner = runner
	e.closers = append(e.closers, func() error { runner.Stop(); return nil })
	return nil
}

// endedBy tells whether an attempt that came to err ended the operation, rather than that it goes on: after an outage, or at
// the next start.
func endedBy(ctx context.Context, p *lifecycle.Progress, err error) bool {
	if ctx.Err() != nil {
		return errors.Is(context.Cause(ctx), lifecycle.ErrCanceled)
	}
	return !p.Pauses(err)
}

// OperationsRequest selects a page of the tenant's operations, newest first.
type OperationsRequest struct {
	Kind   string               // "" for all
	State  store.OperationState // "" for all
	Limit  int                  // 1–1000; 0 means 100
	Cursor string
}

// OperationsResult is one page of operations.
type OperationsResult struct {
	Operations []store.Operation `json:"operations"`
	Next       string            `json:"next,omitempty"` // cursor of the next page; "" on the last
}

// Operations lists the tenant's long work: what waits, runs and has ended.
func (m *Memory) Operations(ctx context.Context, r OperationsRequest) (OperationsResult, error) {
	states := []store.OperationState{"", store.OperationQueued, store.OperationRunning, store.OperationDone, store.OperationFailed, store.OperationCanceled}
	if !slices.Contains(states, r.State) {
		return OperationsResult{}, store.Invalid("state", "queued, running, done, failed or canceled", "")
	}
	page, err := m.ledger.ListOperations(ctx, m.tenant, store.OperationQuery{Kind: r.Kind, State: r.State, Limit: r.Limit, Cursor: r.Cursor})
	if err != nil {
		return OperationsResult{}, fmt.Errorf("list operations: %w", err)
	}
	if page.Operations == nil {
		page.Operations = []store.Operation{}
	}
	return OperationsResult{Operations: page.Operations, Next: page.Next}, nil
}

// Operation returns one of the tenant's operations as it stands, or ErrNotFound.
func (m *Memory) Operation(ctx context.Context, id string) (store.Operation, error) {
	if err := store.ValidateName("id", id); err != nil {
		return store.Operation{}, err
	}
	op, err := m.ledger.Operation(ctx, m.tenant, id)
	if err != nil {
		return store.Operation{}, fmt.Errorf("operation: %w", err)
	}
	return op, nil
}

// CancelOperation asks an operation to end at its next step; what was done until then stays done. One that has ended stays
// as it is.
func (m *Memory) CancelOperation(ctx context.Context, id string) (store.Operation, error) {
	return m.steer(ctx, "cancel", id, m.runner.Cancel)
}

// RetryOperation runs a failed or canceled operation again, from where it ended. Any other is ErrConflict.
func (m *Memory) RetryOperation(ctx context.Context, id string) (store.Operation, error) {
	return m.steer(ctx, "retry", id, m.runner.Retry)
}

func (m *Memory) steer(ctx context.Context, verb, id string, do func(ctx context.Context, tenant, id string) (store.Operation, error)) (store.Operation, error) {
	if err := store.ValidateName("id", id); err != nil {
		return store.Operation{}, err
	}
	op, err := do(ctx, m.tenant, id)
	if err != nil {
		err = fmt.Errorf("operation: %w", err)
	}
	m.audit(ctx, store.Audit{Verb: verb + " operation", IDs: []string{id}, Error: classOf(err)})
	return op, err
}

// WaitOperation returns an operation once it has ended, or as it stands with the context's error.
func (m *Memory) WaitOperation(ctx context.Context, id string) (store.Operation, error) {
	if err := store.ValidateName("id", id); err != nil {
		return store.Operation{}, err
	}
	return m.runner.Wait(ctx, m.tenant, id)
}

// submit makes long work durable and has it run soon. args are ids, filters and counts, never content.
func (m *Memory) submit(ctx context.Context, kind string, args any) (store.Operation, error) {
	op, err := m.runner.Submit(ctx, m.tenant, kind, actorOf(ctx).Name, args)
	if err != nil {
		return op, fmt.Errorf("%s: %w", kind, err)
	}
	return op, nil
}
