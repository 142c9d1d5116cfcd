package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"evoke/store"
)

// Progress is what a running operation knows of itself. It is for one goroutine.
type Progress struct {
	op     store.Operation
	runner *Runner
	saved  atomic.Int64 // when it was saved last, by the machine's clock, in nanoseconds
	steps  int          // that were saved in this attempt
	last   bool         // no attempt follows when this one comes upon an outage
}

// Operation is the operation as it stands.
func (p *Progress) Operation() store.Operation { return p.op }

// Args decodes what the operation was asked with.
func (p *Progress) Args(into any) error {
	if err := json.Unmarshal(p.op.Args, into); err != nil {
		return fmt.Errorf("%w: the operation's arguments cannot be read", store.ErrInvalid)
	}
	return nil
}

// Checkpoint decodes what was saved last; false when nothing was.
func (p *Progress) Checkpoint(into any) (bool, error) {
	if len(p.op.Checkpoint) == 0 {
		return false, nil
	}
	if err := json.Unmarshal(p.op.Checkpoint, into); err != nil {
		return false, fmt.Errorf("%w: the operation's checkpoint cannot be read", store.ErrInvalid)
	}
	return true, nil
}

// Save makes a step durable: the checkpoint to go on from, and how many units are done of how many (0: not known). It returns
// ErrCanceled when somebody canceled the operation.
func (p *Progress) Save(ctx context.Context, checkpoint any, done, total int) error {
	b, err := json.Marshal(checkpoint)
	if err != nil {
		return fmt.Errorf("encode checkpoint: %w", err)
	}
	p.op.Checkpoint, p.op.Done, p.op.Total = b, done, total
	if err := p.save(ctx); err != nil {
		return err
	}
	p.steps++
	return nil
}

// Reached tells how many units are done of how many, without a write of its own: the next one, at the latest that of the
// operation's end, has it.
func (p *Progress) Reached(done, total int) { p.op.Done, p.op.Total = done, total }

// Reduce is Save that also leaves of the operation's arguments only what is given: for work whose arguments name what it
// erased.
func (p *Progress) Reduce(ctx context.Context, args, checkpoint any) error {
	b, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("encode arguments: %w", err)
	}
	p.op.Args = b
	return p.Save(ctx, checkpoint, p.op.Done, p.op.Total)
}

// save stores the operation. The mark of a cancellation is the one field that others write meanwhile.
func (p *Progress) save(ctx context.Context) error {
	p.saved.Store(time.Now().UnixNano())
	for {
		if p.op.Cancel && !p.op.State.Ended() {
			return ErrCanceled
		}
		p.op.UpdatedAt = p.runner.now()
		v, err := p.runner.ledger.SaveOperation(ctx, p.op)
		if err == nil {
			p.op.Version = v
			return nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return fmt.Errorf("save operation: %w", err)
		}
		now, err := p.runner.ledger.Operation(ctx, p.op.Tenant, p.op.ID)
		if err != nil {
			return fmt.Errorf("read operation: %w", err)
		}
		if now.State.Ended() {
			return fmt.Errorf("%w: the operation has ended", store.ErrConflict)
		}
		p.op.Version, p.op.Cancel = now.Version, now.Cancel
	}
}

// end sets the terminal state that an attempt came to.
func (p *Progress) end(result any, err error) {
	p.op.State, p.op.DoneAt = store.OperationDone, p.runner.now()
	if err == nil && result != nil {
		p.op.Result, err = json.Marshal(result)
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrCanceled):
		p.op.State, p.op.Note = store.OperationCanceled, "canceled"
	default:
		p.op.State, p.op.Note = store.OperationFailed, err.Error()
	}
}
