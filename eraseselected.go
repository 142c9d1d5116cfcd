package evoke

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"evoke/store"
)

// EraseCount tells how much an erasure would select.
type EraseCount struct {
	Memories int `json:"memories"` // that hold something of it
	// Items are those selected, every version of them; what was distilled from nothing else goes beside them.
	Items int `json:"items"`
}

// CountErasable counts what Erase would select now, and removes nothing. A legal hold that would stop the erasure is an error
// here, too.
func (m *Memory) CountErasable(ctx context.Context, r EraseRequest) (EraseCount, error) {
	if err := r.validate(); err != nil {
		return EraseCount{}, err
	}
	x := &eraser{Memory: m, r: r}
	var n EraseCount
	err := m.eachMemoryOf(ctx, r, "", func(sc store.Scope) error {
		if err := x.free(ctx, sc); err != nil {
			return err
		}
		items := 0
		for page, err := range x.selected(ctx, sc) {
			if err != nil {
				return err
			}
			items += len(page)
		}
		if n.Items += items; items > 0 {
			n.Memories++
		}
		return nil
	})
	if err != nil {
		return EraseCount{}, fmt.Errorf("erase: %w", err)
	}
	return n, nil
}

// query selects what is to go from a memory.
func (x *eraser) query() store.ListQuery {
	q := store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: erasePart}
	if x.r.Filter != nil {
		q.Filter = *x.r.Filter
	}
	q.Filter = narrow(q.Filter, x.r.Thread)
	return q
}

// selected are the items that are to go from a memory, page by page, as query and goes have it; an error is the last that it
// gives. A page may be empty.
func (x *eraser) selected(ctx context.Context, sc store.Scope) iter.Seq2[[]store.Item, error] {
	return func(yield func([]store.Item, error) bool) {
		for q := x.query(); ; {
			page, err := x.store.List(ctx, sc, q)
			if err != nil {
				yield(nil, fmt.Errorf("read what is to go: %w", err))
				return
			}
			items, err := x.goes(ctx, sc, page.Items)
			if q.Cursor = page.Next; !yield(items, err) || err != nil || q.Cursor == "" {
				return
			}
		}
	}
}

// next reads the first items that are to go.
func (x *eraser) next(ctx context.Context, sc store.Scope) ([]store.Item, error) {
	for items, err := range x.selected(ctx, sc) {
		if err != nil || len(items) > 0 {
			return items, err
		}
	}
	return nil, nil
}

// goes leaves out what was taken from other threads, too, when one goes.
func (x *eraser) goes(ctx context.Context, sc store.Scope, items []store.Item) ([]store.Item, error) {
	if x.r.Thread == "" || x.r.Filter != nil || len(items) == 0 {
		return items, nil
	}
	stays, err := x.elsewhere(ctx, sc, x.r.Thread, items)
	return slices.DeleteFunc(items, func(it store.Item) bool { return stays[it.ID] }), err
}

// checkErasable refuses an erasure of which a legal hold covers something, before anything is removed. A hold that is placed
// later stops it at its next step.
func (m *Memory) checkErasable(ctx context.Context, r *EraseRequest) error {
	holds, err := m.Holds(ctx)
	if err != nil || len(holds) == 0 {
		return err
	}
	x := &eraser{Memory: m, r: *r}
	return m.eachMemoryOf(ctx, *r, "", func(sc store.Scope) error { return x.free(ctx, sc) })
}

// free refuses the whole erasure while a legal hold keeps something of it, also of what goes with what it selects.
func (x *eraser) free(ctx context.Context, sc store.Scope) error {
	h, err := x.holding(ctx, sc)
	if err != nil || len(h.holds) == 0 {
		return err
	}
	for i := range h.holds {
		q := x.query()
		q.Filter, q.Limit = narrow(q.Filter, h.holds[i].Thread), 1
		page, err := x.store.List(ctx, sc, q)
		if err != nil {
			return fmt.Errorf("read what is held: %w", err)
		}
		if len(page.Items) > 0 {
			return h.holds[i].stops()
		}
	}
	if x.r.whole() || !h.ofThreads() {
		return nil
	}
	var items []store.Item
	for page, err := range x.selected(ctx, sc) {
		if err != nil {
			return err
		}
		for _, it := range page {
			it.Content, it.Metadata = "", nil // the texts of a whole memory are not wanted at once
			items = append(items, it)
		}
	}
	if len(items) == 0 {
		return nil
	}
	plan, err := x.planRemoval(ctx, sc, items, x.how())
	if err != nil {
		return err
	}
	return h.check(ctx, plan.gone)
}
