package extract

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"evoke/store"
)

// conclude reconciles what was found in a part with what is stored, and commits it, under the scope's lock.
func (a *attempt) conclude(ctx context.Context, p *part, b *Batch, f *finding) error {
	near := a.neighbours(ctx, b.Scope, f.Operations) // before the lock: others need not wait for vectors
	unlock, err := a.opts.Locks.LockContext(ctx, b.Scope)
	if err != nil {
		return err
	}
	defer unlock()
	wr, err := a.changes(ctx, p, b, f, near)
	if err != nil {
		return err
	}
	began := a.opts.Clock()
	ctx, end := a.opts.Span(ctx, StageStore)
	err = a.lease.commit(ctx, a.Worker, wr)
	end(err)
	if err != nil {
		return err
	}
	a.opts.Observe(Stage{
		Tenant: b.Scope.Tenant, Stage: StageStore, Took: a.opts.Clock().Sub(began), Attempts: a.fails, Extractor: f.extractor, State: wr.Finish.State,
	})
	if len(wr.Embed) > 0 {
		a.opts.Wake()
	}
	return nil
}

// changes is what a part's findings change, with the end of its events.
func (a *attempt) changes(ctx context.Context, p *part, b *Batch, f *finding, near map[string][]string) (wr store.Write, err error) {
	began := a.opts.Clock()
	ctx, end := a.opts.Span(ctx, StageReconcile)
	defer func() { end(err) }()
	if err := store.ReplayScope(ctx, a.store, a.ledger, b.Scope); err != nil { // facts of a write that failed are current, too
		return wr, fmt.Errorf("conclude extraction: %w", err)
	}
	st, err := a.ledger.Thread(ctx, b.Scope, a.job.Thread) // turns may have come meanwhile
	if err != nil {
		return wr, fmt.Errorf("read thread: %w", err)
	}
	turns, err := a.remaining(ctx, b)
	if err != nil {
		return wr, err
	}
	if f.Operations, err = a.unerased(ctx, b.Scope, f.Operations); err != nil {
		return wr, err
	}
	out, err := a.reconcile(ctx, p, b, f, &st, turns, near)
	if err != nil {
		return wr, err
	}
	var sections store.Change
	if !p.Review.heldBack(&out) {
		if sections, err = a.sections(ctx, b, f, turns); err != nil {
			return wr, err
		}
	}
	waits, err := a.quarantine(ctx, f, turns, out)
	if err != nil {
		return wr, err
	}
	a.opts.Observe(Stage{
		Tenant: b.Scope.Tenant, Stage: StageReconcile, Took: a.opts.Clock().Sub(began), Attempts: a.fails, Extractor: f.extractor,
		Operations: countOperations(f.Operations), Rejected: out.reasons(),
	})
	fin := &store.Finish{Job: a.job, UpTo: p.upTo, Facts: out.facts, At: a.now(), Extractor: f.extractor, Partial: p.more}
	fin.State, fin.Note = out.state(len(waits)), f.note
	if fin.State != store.EventStored && fin.Note == "" {
		fin.Note = out.note(len(waits))
	}
	st.Cursor = max(st.Cursor, p.upTo)
	return store.Write{
		Scope: b.Scope, Change: store.Change{Put: append(out.put, sections.Put...), Delete: sections.Delete}, Embed: out.embed,
		Thread: &st, Finish: fin, Quarantine: waits,
	}, nil
}

// reconcile brings operations together with the current items. What an interim extractor made of the same turns is taken
// back first, see settle.
func (a *attempt) reconcile(ctx context.Context, p *part, b *Batch, f *finding, st *store.ThreadState, turns map[string]store.Item,
	near map[string][]string,
) (outcome, error) {
	current, err := a.facts(ctx, b.Scope, b.Thread, f.Operations, turns, near)
	if err != nil {
		return outcome{}, err
	}
	var left leftovers
	ops := f.Operations
	if st.Interim > st.Cursor {
		if left, err = a.leftovers(ctx, b); err != nil {
			return outcome{}, err
		}
		current, ops = left.without(current), left.unsettled(ops)
	}
	rec := a.reconciler(p, b, f)
	rec.near = near
	out := rec.reconcile(current, turns, ops)
	left.settle(&out, f.extractor, rec.now)
	return out, nil
}

func (a *attempt) reconciler(p *part, b *Batch, f *finding) *reconciler {
	r := &reconciler{opts: p.Reconcile, review: p.Review, extractor: f.extractor, thread: b.Thread, newID: a.opts.NewID, now: a.now()}
	if n := len(b.Turns); n > 0 {
		r.last = b.Turns[n-1].ValidFrom
	}
	return r
}

// remaining returns the turns of a batch by id, but for those that were forgotten while the extractor ran: a fact must not
// bring back what they said.
func (a *attempt) remaining(ctx context.Context, b *Batch) (map[string]store.Item, error) {
	turns := map[string]store.Item{}
	for _, its := range [...][]store.Item{b.Before, b.Turns} {
		for _, it := range its {
			turns[it.ID] = it
		}
	}
	items, err := a.store.Get(ctx, b.Scope, slices.Collect(maps.Keys(turns)))
	if err != nil {
		return nil, fmt.Errorf("read turns again: %w", err)
	}
	left := make(map[string]store.Item, len(items))
	for _, it := range store.Remembered(items) {
		left[it.ID] = turns[it.ID]
	}
	return left, nil
}

// nameEvents fills in the events that brought the turns.
func (a *attempt) nameEvents(ctx context.Context, qs []store.Quarantined, turns map[string]store.Item) error {
	q := store.EventQuery{Scope: &a.job.Scope, Thread: a.job.Thread, Limit: 100}
	for left := len(qs); left > 0; {
		page, err := a.ledger.ListEvents(ctx, a.job.Scope.Tenant, q)
		if err != nil {
			return fmt.Errorf("list events: %w", err)
		}
		for i := range page.Events {
			e := &page.Events[i]
			for n := range qs {
				turn := turns[qs[n].Turn]
				if at := turn.Turn.Position; qs[n].Event == "" && at >= e.From && at < e.UpTo {
					qs[n].Event = e.ID
					left--
				}
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break // the event of an old turn may be pruned
		}
	}
	return nil
}

// state is what the events came to.
func (o *outcome) state(quarantined int) store.EventState {
	switch {
	case o.facts > 0:
		return store.EventStored
	case quarantined > 0:
		return store.EventQuarantined
	}
	return store.EventNothing
}

func (o *outcome) reasons() map[string]int {
	n := make(map[string]int, len(o.rejected))
	for r, c := range o.rejected {
		n[string(r)] = c
	}
	return n
}
