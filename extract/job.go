package extract

import (
	"context"
	"fmt"
	"slices"

	"evoke/extract/message"
	"evoke/store"
)

// A batch holds at most this many turns and bytes of text, so that a thread of any length is extracted within bounded
// memory; a longer one is extracted in several batches, each committed for itself.
const (
	batchTurns = 256
	batchBytes = 4 << 20
	batchAhead = 4  // earlier turns given for context
	turnBytes  = 80 // what a Sizer counts for each turn besides its text
)

// turnRef is what the first look at a thread keeps of a turn.
type turnRef struct {
	id       string
	position int
	bytes    int
	role     string
	empty    bool // it says nothing that could be remembered
}

// run extracts what waits in the job's thread, batch by batch.
func (a *attempt) run(ctx context.Context) (err error) {
	if a.state, err = a.thread(ctx, a.job); err != nil {
		return err
	}
	a.upTo = a.state.Next
	refs, err := a.waiting(ctx, a.job, a.state)
	if err != nil {
		return err
	}
	fresh := slices.IndexFunc(refs, func(r turnRef) bool { return r.position >= a.state.Cursor })
	note := noteNoTurn
	if fresh >= 0 {
		note = lacking(refs[fresh:])
	}
	if note != "" {
		fin := &store.Finish{Job: a.job, UpTo: a.upTo, State: store.EventNothing, Note: note, At: a.now()}
		return a.lease.commit(ctx, a.Worker, store.Write{Scope: a.job.Scope, Finish: fin})
	}
	for fresh < len(refs) {
		p := a.part(refs, fresh)
		err := a.extract(ctx, p)
		if isPermanent(err) {
			if a.failed(ctx, p, refs) {
				continue
			}
			a.opts.Logger.WarnContext(ctx, "extraction failed for good", "attempt", a.fails+1, "error", reasonOf(err))
			err = a.bury(ctx, p.upTo, reasonOf(err), true, p.more)
		}
		if isOutage(err) && p.Interim != nil && ctx.Err() == nil {
			a.standIn(ctx, refs, fresh)
		}
		if err != nil {
			return err
		}
		fresh, a.fails = p.end, 0
		a.passed(ctx, refs, fresh)
	}
	return nil
}

// part is what of a thread is extracted at once: with what the tenant has now, and by it.
type part struct {
	Tenant
	refs       []turnRef // earlier ones for context, then the new ones
	fresh, end int       // where among the refs of the thread it begins and ends
	first      int       // position of the first new turn
	upTo       int       // position up to which the thread is extracted with it
	more       bool      // others follow
}

func (a *attempt) part(refs []turnRef, fresh int) *part {
	p := &part{Tenant: a.tenant(a.job.Scope.Tenant), fresh: fresh, first: refs[fresh].position, upTo: a.state.Next}
	if p.end = batchEnd(refs, fresh, p.Extractor); a.search.limit > 0 {
		p.end = min(p.end, a.search.limit)
	}
	p.refs = refs[max(0, fresh-batchAhead):p.end]
	if p.more = p.end < len(refs); p.more {
		p.upTo = refs[p.end].position
	}
	return p
}

// extract runs the extractor over a part and commits what comes of it.
func (a *attempt) extract(ctx context.Context, p *part) error {
	b, err := a.batch(ctx, p, p.first)
	if err != nil {
		return err
	}
	if len(b.Turns) == 0 { // every one may have been deleted meanwhile
		return a.conclude(ctx, p, b, &finding{})
	}
	f, err := a.distil(ctx, p, b)
	if err != nil {
		return err
	}
	f.Operations = reinforced(*b, f.Operations)
	return a.conclude(ctx, p, b, f)
}

// batch reads what an extractor is given of a part: the turns from a position on as new ones, and what is known already.
func (a *attempt) batch(ctx context.Context, p *part, first int) (*Batch, error) {
	turns, err := a.load(ctx, a.job.Scope, p.refs)
	if err != nil {
		return nil, err
	}
	turns = p.masked(turns)
	b := &Batch{Scope: a.job.Scope, Thread: a.job.Thread, Before: turns, Now: a.now()}
	if i := slices.IndexFunc(turns, func(it store.Item) bool { return it.Turn.Position >= first }); i >= 0 {
		b.Before, b.Turns = turns[:i], turns[i:]
	}
	if len(b.Turns) == 0 {
		return b, nil
	}
	if err := a.prepare(ctx, b); err != nil {
		return b, err
	}
	b.Known, b.Profile = p.masked(b.Known), p.masked(b.Profile)
	return b, nil
}

func (t *Tenant) masked(items []store.Item) []store.Item { return Masked(items, t.Mask) }

// Masked are items as a model may see them: with mask, nil for none, gone over what they say.
func Masked(items []store.Item, mask func(string) string) []store.Item {
	if mask == nil {
		return items
	}
	items = slices.Clone(items)
	for i := range items {
		it := &items[i]
		it.Content, it.Turn.Speaker, it.Provenance.Quote = mask(it.Content), mask(it.Turn.Speaker), mask(it.Provenance.Quote)
	}
	return items
}

// prepare adds what is known already.
func (a *attempt) prepare(ctx context.Context, b *Batch) error {
	facts, err := a.facts(ctx, b.Scope, b.Thread, nil, nil, nil)
	if err != nil {
		return err
	}
	b.Known = related(withoutInterim(facts, b.Turns), b.Turns)
	sections, err := a.profile(ctx, b.Scope)
	if err != nil {
		return err
	}
	b.Profile = slices.DeleteFunc(sections, func(it store.Item) bool { return it.ProfileStale() })
	return nil
}

// thread reads where a thread stands when all that it counts is among the items: turns are recorded first, and applied
// after that, by a write that is still under way or by the replay of one that failed.
func (w *Worker) thread(ctx context.Context, j store.Job) (store.ThreadState, error) {
	unlock, err := w.opts.Locks.LockContext(ctx, j.Scope)
	if err != nil {
		return store.ThreadState{}, err
	}
	defer unlock()
	if err := store.ReplayScope(ctx, w.store, w.ledger, j.Scope); err != nil {
		return store.ThreadState{}, fmt.Errorf("read thread: %w", err)
	}
	st, err := w.ledger.Thread(ctx, j.Scope, j.Thread)
	if err != nil {
		return st, fmt.Errorf("read thread: %w", err)
	}
	return st, nil
}

// waiting lists the turns from a few before the cursor on, in order, without their text.
func (w *Worker) waiting(ctx context.Context, j store.Job, st store.ThreadState) ([]turnRef, error) {
	from := max(0, st.Cursor-batchAhead)
	var refs []turnRef
	view := store.Current(w.now())
	view.Sources = true // a turn that a summary stands for was said all the same
	q := store.ListQuery{
		Filter: store.Filter{
			Kinds: []store.Kind{store.Episodic}, Sessions: []string{j.Thread}, Positions: store.PositionRange{From: from, To: st.Next},
		},
		View: view, Order: store.ByID, Limit: 1000,
	}
	for st.Next > from {
		page, err := w.store.List(ctx, j.Scope, q)
		if err != nil {
			return nil, fmt.Errorf("list turns: %w", err)
		}
		for i := range page.Items {
			it := &page.Items[i]
			if it.Turn.Role != string(message.Tool) { // what a tool answered is kept to be recalled; nobody said it
				refs = append(refs, turnRef{it.ID, it.Turn.Position, len(it.Content), it.Turn.Role, saysNothing(it.Content)})
			}
		}
		if page.Next == "" {
			break
		}
		q.Cursor = page.Next
	}
	slices.SortFunc(refs, func(a, b turnRef) int { return a.position - b.position })
	return refs, nil
}

// lacking says what turns lack for an extraction, or "": one of a user that says something, and one of an assistant.
func lacking(refs []turnRef) string {
	has := func(f func(turnRef) bool) bool { return slices.ContainsFunc(refs, f) }
	user := func(r turnRef) bool { return r.role == string(message.User) }
	switch {
	case !has(user), !has(func(r turnRef) bool { return r.role == string(message.Assistant) }):
		return notePair
	case !has(func(r turnRef) bool { return user(r) && !r.empty }):
		return noteEmpty
	}
	return ""
}

// batchEnd is where the batch that begins at from ends: within what x takes in one call, if it says so.
func batchEnd(refs []turnRef, from int, x Extractor) int {
	most, each := batchBytes, 0
	if s, ok := x.(Sizer); ok {
		most, each = min(most, s.BatchBytes()), turnBytes
	}
	bytes := 0
	for i := from; i < len(refs); i++ {
		bytes += refs[i].bytes + each
		if i-from == batchTurns || i > from && bytes > most {
			return i
		}
	}
	return len(refs)
}

// load reads turns in the order of their positions. Those that were forgotten meanwhile are left out.
func (w *Worker) load(ctx context.Context, sc store.Scope, refs []turnRef) ([]store.Item, error) {
	ids := make([]string, len(refs))
	for i, r := range refs {
		ids[i] = r.id
	}
	items, err := w.store.Get(ctx, sc, ids)
	if err != nil {
		return nil, fmt.Errorf("read turns: %w", err)
	}
	items = store.Remembered(items)
	slices.SortFunc(items, func(a, b store.Item) int { return a.Turn.Position - b.Turn.Position })
	return items, nil
}
