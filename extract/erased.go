package extract

import (
	"context"
	"fmt"
	"slices"
	"time"

	"evoke/extract/message"
	"evoke/store"
)

// NoteErased is the note of what comes back by replay after it was erased.
const NoteErased = "erased"

// erased answers a call whose idempotency key is that of one whose turns were erased: nothing is stored. nil: it is not.
func (g *Ingester) erased(ctx context.Context, sc store.Scope, thread string, msgs []message.Message, key string) (*Result, error) {
	if g.opts.ErasedKey == nil {
		return nil, nil //nolint:nilnil // no erasure is not an error
	}
	gone, err := g.opts.ErasedKey(ctx, sc, key)
	if err != nil || !gone {
		return nil, err
	}
	res := erasedResult(thread, nil)
	for i := range msgs {
		res.Dropped = append(res.Dropped, Dropped{Index: i, Reason: DropErased})
	}
	return res, nil
}

// erasedResult answers a call of which nothing is left. There is no event of it: that would name the thread again.
func erasedResult(thread string, dropped []Dropped) *Result {
	return &Result{State: store.EventNothing, Note: NoteErased, Thread: thread, Turns: []TurnRef{}, Dropped: dropped, Replayed: true}
}

// unerased leaves out the turns that were erased.
func (g *Ingester) unerased(ctx context.Context, sc store.Scope, thread string, turns []Turn, call *Call, now time.Time) ([]Turn, []Dropped, error) {
	known := func(t Turn) bool { return t.Message.ID != "" || !t.Message.Time.IsZero() }
	if g.opts.Erased == nil || !slices.ContainsFunc(turns, known) {
		return turns, nil, nil
	}
	items := make([]store.Item, len(turns))
	for i, t := range turns {
		items[i] = g.item(t, thread, 0, call, now)
		if err := items[i].Prepare(store.Limits{}); err != nil {
			return nil, nil, fmt.Errorf("messages[%d]: %w", t.Index, err)
		}
	}
	gone, err := g.opts.Erased(ctx, sc, items)
	if err != nil {
		return nil, nil, fmt.Errorf("look for what was erased: %w", err)
	}
	var left []Turn
	var dropped []Dropped
	for i, t := range turns {
		if gone[i] && known(t) {
			dropped = append(dropped, Dropped{Index: t.Index, Reason: DropErased})
		} else {
			left = append(left, t)
		}
	}
	return left, dropped, nil
}

// unerased leaves out the operations that would store again what was distilled from the same turn and erased.
func (a *attempt) unerased(ctx context.Context, sc store.Scope, ops []Operation) ([]Operation, error) {
	if a.opts.Erased == nil || len(ops) == 0 {
		return ops, nil
	}
	gone, err := a.opts.Erased(ctx, sc, ops)
	if err != nil {
		return nil, fmt.Errorf("look for what was erased: %w", err)
	}
	var left []Operation
	for i := range ops {
		if !gone[i] {
			left = append(left, ops[i])
		}
	}
	return left, nil
}
