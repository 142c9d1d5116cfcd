package evoke

import (
	"errors"
	"fmt"

	"evoke/store"
	"evoke/store/lifecycle"
)

// repeats sees to the lines of one write whose items are there already: those that an undo took back are brought back.
type repeats struct {
	imp   *importer
	sc    store.Scope
	seen  map[string]bool
	items []store.Item
	lines map[string]int
}

// broughtBack is what brings items back.
type broughtBack struct {
	store.Change
	embed []string
	count int
}

func (imp *importer) repeats(sc store.Scope) *repeats {
	return &repeats{imp: imp, sc: sc, seen: map[string]bool{}, lines: map[string]int{}}
}

// same counts a line whose item is there.
func (u *repeats) same(line int, old, now *store.Item) {
	imp := u.imp
	again := u.seen[old.ID]
	u.seen[old.ID] = true
	switch p := &old.Provenance; {
	case again || old == now:
		imp.res.Same++
	case imp.resumed && p.Import == imp.id: // written by the attempt that broke off, and not counted
		imp.res.Imported++
	case !old.RetractedAt.IsZero() && p.EndedBy != "" && now.RetractedAt.IsZero():
		u.items, u.lines[old.ID] = append(u.items, *old), line
	default:
		imp.res.Same++
	}
}

// change is what brings back the items. One that somebody else brought back is the same; one whose subject has another value
// by now fails.
func (u *repeats) change() (back broughtBack, err error) {
	if len(u.items) == 0 {
		return back, nil
	}
	items := make([]store.Item, len(u.items))
	lines := map[string]int{}
	for i := range u.items {
		if items[i], err = u.last(&u.items[i]); err != nil {
			return back, fmt.Errorf("import: %w", err)
		}
		lines[items[i].ID] = u.lines[u.items[i].ID]
	}
	var left map[string]error
	back.Change, back.embed, left, err = u.imp.m.undoer().Reopen(u.imp.ctx, u.sc, u.imp.id, items)
	if err != nil {
		return back, fmt.Errorf("import: %w", err)
	}
	for i := range back.Put {
		if p := &back.Put[i].Provenance; p.By == u.imp.id {
			p.Import = u.imp.id
		}
	}
	for id, line := range lines {
		switch why := left[id]; {
		case why == nil:
			back.count++
		case errors.Is(why, lifecycle.ErrStands):
			u.imp.res.Same++
		default:
			u.imp.fail(line, why)
		}
	}
	return back, nil
}

// last is the version in which an item held last: an import may have been undone, made again and undone again.
func (u *repeats) last(it *store.Item) (store.Item, error) {
	last := *it
	seen := map[string]bool{it.ID: true}
	for id := it.SupersededBy; id != "" && !seen[id]; {
		seen[id] = true
		items, err := u.imp.m.store.Get(u.imp.ctx, u.sc, []string{id})
		if err != nil {
			return last, fmt.Errorf("versions: %w", err)
		}
		if len(items) == 0 {
			break // erased
		}
		if id = items[0].SupersededBy; sameImport(&items[0], it) {
			last = items[0]
		}
	}
	return last, nil
}
