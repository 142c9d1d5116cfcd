package evoke

import (
	"context"
	"fmt"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// UndoRequest takes a batch of writes to one memory back, or those of one operation to every memory.
type UndoRequest struct {
	Who
	Batch      lifecycle.Batch
	Everywhere bool // in every memory of the tenant, of which Who names none: for a batch that names its operation
	DryRun     bool // tell what would change, and change nothing
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
	if r.Everywhere && (r.Batch.Operation == "" || r.User != "" || r.Agent != "") {
		return UndoResult{}, store.Invalid("everywhere", "left out, or asked with an operation and without a user and an agent", "")
	}
	sc, err := m.memory(r.Who)
	if err != nil {
		return UndoResult{}, err
	}
	a := lifecycle.UndoArgs{Scope: sc, Batch: r.Batch, Everywhere: r.Everywhere}
	if r.DryRun {
		res, err := m.undoPreview(ctx, a)
		return UndoResult{Preview: &res}, err
	}
	if a.Batch.To.IsZero() {
		if a.Batch.To, err = m.upToNow(ctx, a); err != nil { // what comes while it runs is not of the batch
			return UndoResult{}, err
		}
		if !a.Batch.From.IsZero() && !a.Batch.To.IsZero() && !a.Batch.From.Before(a.Batch.To) {
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

// upToNow is the end of a batch that has none: now, or after all that is on record already where the clock went back since.
// It stays without one, zero, where an import gave something a time behind which there is none.
func (m *Memory) upToNow(ctx context.Context, a lifecycle.UndoArgs) (time.Time, error) {
	to := m.now()
	after := func(sc store.Scope) error {
		page, err := m.store.List(ctx, sc, store.ListQuery{View: store.View{All: true}, Order: store.Newest, Limit: 1})
		if err != nil {
			return fmt.Errorf("undo: %w", err)
		}
		for i := range page.Items {
			to = store.Later(to, page.Items[i].RecordedAt.Add(time.Microsecond).UTC())
		}
		return nil
	}
	var err error
	if a.Everywhere {
		err = m.eachMemory(ctx, after)
	} else {
		err = after(a.Scope)
	}
	if !store.Writable(to) {
		to = time.Time{}
	}
	return to, err
}

// undoPreview tells what an undo would do.
func (m *Memory) undoPreview(ctx context.Context, a lifecycle.UndoArgs) (lifecycle.UndoResult, error) {
	if !a.Everywhere {
		return m.undoer().Preview(ctx, a)
	}
	all := lifecycle.UndoResult{DryRun: true}
	err := m.eachMemory(ctx, func(sc store.Scope) error {
		a.Scope = sc
		res, err := m.undoer().Preview(ctx, a)
		all.Add(res)
		return err
	})
	all.Sum()
	return all, err
}

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
	var a lifecycle.UndoArgs
	if err := p.Args(&a); err != nil {
		return nil, err
	}
	memories := []store.Scope{a.Scope}
	if a.Everywhere {
		var err error
		if memories, err = m.store.Scopes(ctx, m.tenant); err != nil {
			return nil, fmt.Errorf("undo: read memories: %w", err)
		}
	}
	res, err := m.undoer().Work(ctx, p, a, memories)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	return res, nil
}
