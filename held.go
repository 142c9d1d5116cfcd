package evoke

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"evoke/store"
)

// holding tells which items of a memory legal holds keep: what they cover, and what that rests on. A fact, a summary or a
// section that lost one of its sources would no longer be what is held.
type holding struct {
	m       *Memory
	sc      store.Scope
	holds   []LegalHold
	sources map[string]*store.Item // looked up by id; nil: there is none
	under   map[string]*LegalHold  // what the items that holds of threads cover rest on, by id; nil: not yet looked for
}

// holding finds the legal holds that cover something of a memory.
func (m *Memory) holding(ctx context.Context, sc store.Scope) (*holding, error) {
	holds, err := m.Holds(ctx)
	if err != nil {
		return nil, err
	}
	holds = slices.DeleteFunc(holds, func(h LegalHold) bool { return !h.in(sc) })
	return &holding{m: m, sc: sc, holds: holds, sources: map[string]*store.Item{}}, nil
}

// ofThreads reports whether there are holds of threads: whether they cover an item takes a look at what it was taken from.
func (h *holding) ofThreads() bool {
	return slices.ContainsFunc(h.holds, func(l LegalHold) bool { return l.Thread != "" })
}

// by is a hold that covers an item, nil when there is none.
func (h *holding) by(ctx context.Context, it *store.Item) (*LegalHold, error) {
	held, err := h.of(ctx, []store.Item{*it})
	return held[it.ID], err
}

// of are the holds that cover items, by the items' ids. Items may lack their texts.
func (h *holding) of(ctx context.Context, items []store.Item) (map[string]*LegalHold, error) {
	held := map[string]*LegalHold{}
	if len(h.holds) == 0 {
		return held, nil
	}
	if err := h.beneath(ctx); err != nil {
		return nil, err
	}
	if err := h.look(ctx, items); err != nil {
		return nil, err
	}
	for i := range items {
		it := &items[i]
		if l := cmp.Or(h.covers(it), h.under[it.ID]); l != nil {
			held[it.ID] = l
		}
	}
	return held, nil
}

// covers is a hold that covers an item that was looked at, nil for none.
func (h *holding) covers(it *store.Item) *LegalHold {
	threads := map[string]bool{}
	h.threads(it, threads, map[string]bool{})
	for k := range h.holds {
		if l := &h.holds[k]; l.Thread == "" || threads[l.Thread] {
			return l
		}
	}
	return nil
}

// beneath finds what the items that holds of threads cover rest on. Holds of everything cover that anyway.
func (h *holding) beneath(ctx context.Context) error {
	if h.under != nil || !h.ofThreads() {
		return nil
	}
	under := map[string]*LegalHold{}
	q := store.ListQuery{Filter: store.Filter{Distilled: true}, View: store.View{All: true}, Order: store.ByID, Limit: pageItems}
	for {
		page, err := h.m.store.List(ctx, h.sc, q)
		if err != nil {
			return fmt.Errorf("read what is held: %w", err)
		}
		if err := h.look(ctx, page.Items); err != nil {
			return err
		}
		for i := range page.Items {
			if l := h.covers(&page.Items[i]); l != nil {
				h.mark(&page.Items[i], l, under)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			h.under = under
			return nil
		}
	}
}

// mark puts down what an item rests on, and what that rests on in its turn.
func (h *holding) mark(it *store.Item, l *LegalHold, under map[string]*LegalHold) {
	if it == nil {
		return
	}
	for _, id := range it.Provenance.Turns {
		if under[id] == nil {
			under[id] = l
			h.mark(h.sources[id], l, under)
		}
	}
}

// look reads what items were taken from, and what that was taken from in its turn.
func (h *holding) look(ctx context.Context, items []store.Item) error {
	for h.ofThreads() && len(items) > 0 {
		wanted := map[string]bool{}
		for i := range items {
			for _, id := range items[i].Provenance.Turns {
				if _, known := h.sources[id]; !known {
					wanted[id] = true
				}
			}
		}
		items = nil
		for ids := range slices.Chunk(slices.Sorted(maps.Keys(wanted)), maxIDs) {
			found, err := h.m.store.Get(ctx, h.sc, ids)
			if err != nil {
				return fmt.Errorf("read what is held: %w", err)
			}
			for _, id := range ids {
				h.sources[id] = nil
			}
			for i := range found {
				it := found[i]
				h.sources[it.ID] = &store.Item{ID: it.ID, Turn: it.Turn, Provenance: it.Provenance}
			}
			items = append(items, found...)
		}
	}
	return nil
}

// threads collects those that an item was said in or taken from.
func (h *holding) threads(it *store.Item, into, seen map[string]bool) {
	if it == nil || seen[it.ID] {
		return
	}
	seen[it.ID] = true
	into[it.Turn.Thread] = true
	for _, id := range it.Provenance.Turns {
		h.threads(h.sources[id], into, seen)
	}
}

// heldOf tells which items of a memory legal holds keep. The scope is locked.
func (e *engine) heldOf(ctx context.Context, sc store.Scope, items []store.Item) (map[string]bool, error) {
	h, err := (&Memory{engine: e, tenant: sc.Tenant}).holding(ctx, sc)
	if err != nil {
		return nil, err
	}
	by, err := h.of(ctx, items)
	held := make(map[string]bool, len(by))
	for id := range by {
		held[id] = true
	}
	return held, err
}

// check refuses to remove items of which a hold covers one.
func (h *holding) check(ctx context.Context, items []store.Item) error {
	held, err := h.of(ctx, items)
	if err != nil {
		return err
	}
	for i := range items {
		if l := held[items[i].ID]; l != nil {
			return l.stops()
		}
	}
	return nil
}

// checkHeld refuses to remove items that a legal hold covers.
func (m *Memory) checkHeld(ctx context.Context, sc store.Scope, items []store.Item) error {
	h, err := m.holding(ctx, sc)
	if err != nil {
		return err
	}
	return h.check(ctx, items)
}

// spare leaves out of a removal what holds keep and what that rests on.
func (m *Memory) spare(ctx context.Context, sc store.Scope, items []store.Item, how removing) ([]store.Item, error) {
	h, err := m.holding(ctx, sc)
	if err != nil || len(h.holds) == 0 {
		return items, err
	}
	for len(items) > 0 {
		plan, err := m.planRemoval(ctx, sc, items, how)
		if err != nil {
			return nil, err
		}
		held, err := h.of(ctx, plan.gone)
		if err != nil {
			return nil, err
		}
		if len(held) == 0 {
			break
		}
		keep := withWhatItRestsOn(held, plan.gone)
		left := slices.DeleteFunc(slices.Clone(items), func(it store.Item) bool { return keep[it.ID] })
		if len(left) == len(items) {
			left = nil // what leads to it is not among them: nothing goes
		}
		items = left
	}
	return items, nil
}

// withWhatItRestsOn are the ids of what is held and of what that rests on, or was merged into, be it held or not, and so on:
// as far as what would go names it.
func withWhatItRestsOn(held map[string]*LegalHold, gone []store.Item) map[string]bool {
	keep := make(map[string]bool, len(held))
	for id := range held {
		keep[id] = true
	}
	for more := true; more; {
		more = false
		for i := range gone {
			it := &gone[i]
			if !keep[it.ID] {
				continue
			}
			for _, id := range append(slices.Clone(it.Provenance.Turns), it.SupersededBy) {
				if id != "" && !keep[id] {
					keep[id], more = true, true
				}
			}
		}
	}
	return keep
}
