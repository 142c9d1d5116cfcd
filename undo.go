package evoke

import (
	"context"
	"fmt"

	"evoke/store"
	"evoke/store/lifecycle"
)

// UndoRequest takes a batch of writes to one memory back.
type UndoRequest struct {
	Who
	Batch  lifecycle.Batch
	DryRun bool // tell what would change, and change nothing
}

// UndoResult is the operation that undoes a batch, whose result is a lifecycle.UndoResult, or what a dry run found.
type UndoResult struct {
	Operation *store.Operation      `json:"operation,omitempty"`
	Preview   *lifecycle.UndoResult `json:"preview,omitempty"`
}

// Undo takes a batch back: what it added is retracted, what it closed or retracted holds again, in new versions, and what
// later writes built on is left alone and named. Views of the past stay as they are. It is an operation (see Operation) and
// itself a batch: undoing that operation makes the batch hold again. Changes of importance, category and the like have no
// versions and stay. Who.Thread is not looked at; Batch.Thread is.
func (m *Memory) Undo(ctx context.Context, r UndoRequest) (UndoResult, error) {
	if err := r.Batch.Validate(); err != nil {
		return UndoResult{}, err
	}
	sc, err := m.memory(r.Who)
	if err != nil {
		return UndoResult{}, err
	}
	a := lifecycle.UndoArgs{Scope: sc, Batch: r.Batch}
	if r.DryRun {
		res, err := m.undoer().Preview(ctx, a)
		return UndoResult{Preview: &res}, err
	}
	if a.Batch.To.IsZero() {
		a.Batch.To = m.now() // what comes while it runs is not of the batch
		if !a.Batch.From.IsZero() && !a.Batch.From.Before(a.Batch.To) {
			return UndoResult{}, store.Invalid("batch", "a range that begins in the past", "")
		}
	}
	op, err := m.submit(ctx, undoKind, a)
	m.audit(ctx, deed(undoKind, r.Who, err, nil, op.ID))
	if err != nil {
		return UndoResult{}, err
	}
	return UndoResult{Operation: &op}, nil
}

const undoKind = "undo"

func (m *Memory) undoer() *lifecycle.Undo {
	return &lifecycle.Undo{
		Store: m.store, Hold: m.hold, Watch: m.locks.Watch, Clock: m.clock,
		Commit: func(ctx context.Context, sc store.Scope, c store.Change, embed []string) error {
			w := m.newWrite(sc)
			w.Change, w.Embed = c, embed
			return m.commit(ctx, w)
		},
	}
}

func (m *Memory) undoWork(ctx context.Context, p *lifecycle.Progress) (any, error) {
	res, err := m.undoer().Work(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	return res, nil
}
