package evoke

import (
	"context"
	"fmt"
	"slices"

	"evoke/store"
	"evoke/store/lifecycle"
)

const restoreKind = "restore"

// restoringBatch are the arguments of the restoration of a batch.
type restoringBatch struct {
	Batch string `json:"batch"`
}

// Restored is the result of an operation of the kind "restore".
type Restored struct {
	Memories int `json:"memories"` // that something came back in
	Items    int `json:"items"`
}

// restored is its checkpoint. What came back is not found again, so that a step made twice brings nothing back twice; one
// that a crash cut off before it was counted is counted by what it was to bring back.
type restored struct {
	Restored
	Scope string   `json:"scope,omitempty"` // key of the memory that Next is of
	Next  []string `json:"next,omitempty"`
}

// RestoreBatch starts an operation of the kind "restore": all that one soft forgetting or one retention took out of sight
// comes back, in every memory of the tenant, as Restore brings it back. The result is a Restored.
func (m *Memory) RestoreBatch(ctx context.Context, batch string) (op store.Operation, err error) {
	defer func() { m.audit(ctx, deed("start restore", Who{}, err, nil, batch, op.ID)) }()
	if batch == "" {
		return store.Operation{}, store.Invalid("batch", "given: the id of a soft forgetting or of a retention", "")
	}
	if err := store.ValidateName("batch", batch); err != nil {
		return store.Operation{}, err
	}
	return m.submit(ctx, restoreKind, restoringBatch{batch})
}

func (m *Memory) restoreWork(ctx context.Context, p *lifecycle.Progress) (_ any, err error) {
	var args restoringBatch
	if err := p.Args(&args); err != nil {
		return nil, err
	}
	var at restored
	if _, err := p.Checkpoint(&at); err != nil {
		return nil, err
	}
	defer func() {
		if endedBy(ctx, p, err) {
			m.audit(ctx, deed(restoreKind, Who{}, err, map[string]int{"memories": at.Memories, "items": at.Items}, args.Batch, p.Operation().ID))
		}
	}()
	err = m.eachMemory(ctx, func(sc store.Scope) error {
		var before []string
		for more := true; more; before = at.Next {
			if more, err = m.restoreStep(ctx, sc, args.Batch, &at, p); err != nil {
				return err
			}
			if more && slices.Equal(before, at.Next) {
				return fmt.Errorf("%w: the store still lists as forgotten what came back", store.ErrCorrupt)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return at.Restored, nil
}

// restoreStep brings some of a batch back in one memory, and tells whether there may be more.
func (m *Memory) restoreStep(ctx context.Context, sc store.Scope, batch string, at *restored, p *lifecycle.Progress) (more bool, err error) {
	unlock, err := m.hold(ctx, sc)
	if err != nil {
		return false, err
	}
	defer unlock()
	items, err := m.restorable(ctx, sc, &RestoreRequest{Batch: batch})
	if err != nil || len(items) == 0 {
		return false, err
	}
	items = items[:min(len(items), asidePart)]
	planned := make(map[string]bool, len(at.Next))
	if at.Scope == sc.Key() {
		for _, id := range at.Next {
			planned[id] = true
		}
	}
	next := restored{Restored: at.Restored, Scope: sc.Key()}
	for i := range items {
		next.Next = append(next.Next, items[i].ID)
		if !planned[items[i].ID] { // else it was counted before a crash
			next.Items++
		}
	}
	if at.Scope != next.Scope {
		next.Memories++
	}
	if err := p.Save(ctx, next, next.Items, 0); err != nil {
		return false, err
	}
	*at = next
	a := aside{m: m, sc: sc, at: m.now()}
	_, _, err = a.change(ctx, items, show)
	return true, err
}
