package extract

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"evoke/store"
)

// standIn stores what the interim extractor makes of the thread's turns from a place on, once for each of them.
func (a *attempt) standIn(ctx context.Context, refs []turnRef, fresh int) {
	for fresh < len(refs) {
		p := a.part(refs, fresh)
		fresh = p.end
		if p.Interim == nil || a.state.Interim >= p.upTo {
			continue
		}
		if err := a.interim(ctx, p); err != nil {
			a.opts.Logger.WarnContext(ctx, "interim extraction failed", "error", reasonOf(err))
			return
		}
	}
}

// interim stores what the interim extractor makes of a part's turns that it has not seen. It adds and replaces; what it
// would confirm or take back is left to the extractor that is away. The events stay pending and the cursor where it is.
func (a *attempt) interim(ctx context.Context, p *part) error {
	ctx, cancel := context.WithTimeout(ctx, a.opts.Limit)
	defer cancel()
	b, err := a.batch(ctx, p, max(p.first, a.state.Interim))
	if err != nil {
		return err
	}
	f := &finding{}
	if len(b.Turns) > 0 {
		if f, err = a.report(ctx, p.Interim, b, StageInterim); err != nil {
			return err
		}
	}
	f.Operations = slices.DeleteFunc(f.Operations, func(op Operation) bool { return op.Action != Add && op.Action != Supersede })
	unlock, err := a.opts.Locks.LockContext(ctx, b.Scope)
	if err != nil {
		return err
	}
	defer unlock()
	if err := store.ReplayScope(ctx, a.store, a.ledger, b.Scope); err != nil {
		return fmt.Errorf("conclude interim extraction: %w", err)
	}
	st, err := a.ledger.Thread(ctx, b.Scope, a.job.Thread)
	if err != nil {
		return fmt.Errorf("read thread: %w", err)
	}
	if st.Interim >= p.upTo || st.Cursor >= p.upTo || st.Next == 0 { // or the thread was erased
		return nil
	}
	if f.Operations, err = a.unerased(ctx, b.Scope, f.Operations); err != nil {
		return err
	}
	put, embed, err := a.interimItems(ctx, p, b, f)
	if err != nil {
		return err
	}
	st.Interim = p.upTo
	if err := a.lease.commit(ctx, a.Worker, store.Write{Scope: b.Scope, Change: store.Change{Put: put}, Embed: embed, Thread: &st}); err != nil {
		return err
	}
	a.state.Interim = p.upTo
	if len(embed) > 0 {
		a.opts.Wake()
	}
	return nil
}

// interimItems are the items that the interim extractor's operations add, and those that they replace.
func (a *attempt) interimItems(ctx context.Context, p *part, b *Batch, f *finding) (put []store.Item, embed []string, err error) {
	turns, err := a.remaining(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	current, err := a.facts(ctx, b.Scope, b.Thread, f.Operations, turns, nil)
	if err != nil {
		return nil, nil, err
	}
	known, interim := map[string]bool{}, 0
	for i := range current {
		known[current[i].ID] = true
		if current[i].Provenance.Interim {
			interim++
		}
	}
	rec := a.reconciler(p, b, f)
	rec.opts.MaxFacts, rec.opts.CategoryCaps = len(current)+len(f.Operations), nil // nothing is evicted for what may not last
	out := rec.reconcile(current, turns, f.Operations)
	if interim+len(out.embed) > p.Reconcile.MaxFacts {
		return nil, nil, nil
	}
	added := map[string]bool{}
	for i := range out.put {
		added[out.put[i].ID] = !known[out.put[i].ID]
	}
	for _, it := range out.put {
		switch {
		case out.redated[it.ID]: // of somebody else's
		case added[it.ID]:
			it.Provenance.Interim = true
		case !added[it.SupersededBy]: // confirmed: that is left to the other's result
			continue
		}
		put = append(put, it)
	}
	return put, out.embed, nil
}

// leftovers are what an interim extractor made of turns: its items, and those that they replaced, as they stood before.
type leftovers struct {
	items, replaced []store.Item
	passed          map[string]bool // ids of its items in whose place somebody else put another since
	taken           map[string]bool // ids of its items whose statement was found again
}

// leftovers finds what the interim extractor made of a batch.
func (a *attempt) leftovers(ctx context.Context, b *Batch) (left leftovers, err error) {
	all, err := a.versions(ctx, b.Scope)
	if err != nil {
		return left, err
	}
	left.passed, left.taken = map[string]bool{}, map[string]bool{}
	own := map[string]bool{}
	for i := range all {
		if isInterimOf(&all[i], b.Turns) {
			left.items = append(left.items, all[i])
			own[all[i].ID] = true
		}
	}
	for i := range left.items {
		if next := left.items[i].SupersededBy; next != "" && !own[next] {
			left.passed[left.items[i].ID] = true
		}
	}
	for _, it := range all {
		if next := it.SupersededBy; !own[it.ID] && own[next] && !left.passed[next] {
			reopen(&it)
			left.replaced = append(left.replaced, it)
		}
	}
	return left, nil
}

// versions lists all versions of a scope's distilled facts.
func (a *attempt) versions(ctx context.Context, sc store.Scope) ([]store.Item, error) {
	q := store.ListQuery{
		Filter: store.Filter{Kinds: []store.Kind{store.Semantic, store.Procedural}, Distilled: true},
		View:   store.View{All: true}, Order: store.ByID, Limit: 1000,
	}
	var all []store.Item
	for it, err := range store.Items(ctx, a.store, sc, q) {
		if err != nil {
			return nil, fmt.Errorf("list interim facts: %w", err)
		}
		all = append(all, *it)
	}
	return all, nil
}

// isInterimOf reports whether an item was made by an interim extractor of one of the turns, and still stands for it.
func isInterimOf(it *store.Item, turns []store.Item) bool {
	return it.Provenance.Interim && it.RetractedAt.IsZero() &&
		slices.ContainsFunc(turns, func(t store.Item) bool { return slices.Contains(it.Provenance.Turns, t.ID) })
}

// withoutInterim leaves out what an interim extractor made of turns: who reads them now finds it himself.
func withoutInterim(facts, turns []store.Item) []store.Item {
	return slices.DeleteFunc(slices.Clone(facts), func(it store.Item) bool { return isInterimOf(&it, turns) })
}

// reopen takes back that an item was replaced.
func reopen(it *store.Item) {
	if it.RetractedAt.Equal(it.ClosedAt) { // see Item.Close
		it.RetractedAt = time.Time{}
	}
	it.ValidTo, it.ClosedAt, it.SupersededBy = time.Time{}, time.Time{}, ""
}

// without is the current items as they would be without the interim extractor's.
func (l *leftovers) without(current []store.Item) []store.Item {
	other := map[string]bool{}
	for i := range l.items {
		other[l.items[i].ID] = true
	}
	for i := range l.replaced {
		other[l.replaced[i].ID] = true // current may hold it as it is, closed
	}
	out := slices.DeleteFunc(slices.Clone(current), func(it store.Item) bool { return other[it.ID] })
	for _, it := range l.replaced {
		if it.RetractedAt.IsZero() {
			out = append(out, it)
		}
	}
	return out
}

// unsettled are the operations that are still to be reconciled: a statement in whose place somebody put another since, a
// user who edited it for example, stays there.
func (l *leftovers) unsettled(ops []Operation) (left []Operation) {
	for i := range ops {
		op := &ops[i]
		if op.Action == Add || op.Action == Supersede {
			if it := l.find(op.form(), true); it != nil {
				l.taken[it.ID] = true
				continue
			}
		}
		left = append(left, *op)
	}
	return left
}

// find returns one of the items that makes a statement and is not taken, or nil.
func (l *leftovers) find(f Form, passed bool) *store.Item {
	for i := range l.items {
		it := &l.items[i]
		if was := NewForm(StatementOf(it)); l.passed[it.ID] == passed && !l.taken[it.ID] && f.Same(&was) != Different {
			return it
		}
	}
	return nil
}

// settle ends the interim: an item whose statement was found again stays, under its id, and is interim no more; the others
// are retracted, and what they replaced holds again, unless it was replaced anew.
func (l *leftovers) settle(out *outcome, extractor string, now time.Time) {
	out.facts += len(l.taken)
	ids := map[string]string{} // of new items → the interim item that each is
	touched := map[string]bool{}
	for i := range out.put {
		it := &out.put[i]
		touched[it.ID] = true
		if !it.RecordedAt.Equal(now) || out.redated[it.ID] {
			continue
		}
		if old := l.find(NewForm(StatementOf(it)), false); old != nil {
			l.taken[old.ID], ids[it.ID] = true, old.ID
			touched[old.ID] = true
			it.RecordedAt, it.Uses, it.LastUsed = old.RecordedAt, old.Uses, old.LastUsed
		}
	}
	rename(out, ids)
	for _, it := range l.items {
		switch {
		case touched[it.ID]:
			continue
		case l.taken[it.ID]:
			it.Provenance.Interim, it.Provenance.Extractor = false, extractor
			it.Provenance.Origin, _, _ = strings.Cut(extractor, "/")
		default:
			it.RetractedAt = now
		}
		out.put = append(out.put, it)
	}
	for _, it := range l.replaced {
		if !touched[it.ID] {
			out.put = append(out.put, it)
		}
	}
}

// rename gives items other ids.
func rename(out *outcome, ids map[string]string) {
	of := func(id string) string {
		if other, ok := ids[id]; ok {
			return other
		}
		return id
	}
	for i := range out.put {
		it := &out.put[i]
		it.ID, it.Supersedes, it.SupersededBy = of(it.ID), of(it.Supersedes), of(it.SupersededBy)
	}
	for i, id := range out.embed {
		out.embed[i] = of(id)
	}
}
