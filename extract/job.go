package extract

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"evoke/extract/message"
	"evoke/store"
)

// A batch holds at most this many turns and bytes of text, so that a thread of any length is extracted within bounded
// memory; a longer one is extracted in several batches, committed as one write.
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
}

// extract runs a job. It returns the position up to which it saw the thread, also when it fails; 0 when it saw nothing.
func (w *Worker) extract(ctx context.Context, j store.Job) (int, error) {
	st, err := w.thread(ctx, j)
	if err != nil {
		return 0, err
	}
	refs, err := w.waiting(ctx, j, st)
	if err != nil {
		return st.Next, err
	}
	fresh := slices.IndexFunc(refs, func(r turnRef) bool { return r.position >= st.Cursor })
	if fresh < 0 || !hasRoles(refs[fresh:]) {
		note := notePair
		if fresh < 0 {
			note = noteNoTurn
		}
		fin := &store.Finish{Job: j, UpTo: st.Next, State: store.EventNothing, Note: note, At: w.now()}
		return st.Next, w.commit(ctx, store.Write{Scope: j.Scope, Finish: fin})
	}
	ops, turns, err := w.operations(ctx, j, refs, fresh)
	if err != nil {
		return st.Next, err
	}
	return st.Next, w.conclude(ctx, j, st.Next, ops, turns)
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
	q := store.ListQuery{
		Filter: store.Filter{Kinds: []store.Kind{store.Episodic}, Threads: []string{j.Thread}},
		View:   store.Current(w.now()), Order: store.Newest, Limit: 100,
	}
	for {
		page, err := w.store.List(ctx, j.Scope, q)
		if err != nil {
			return nil, fmt.Errorf("list turns: %w", err)
		}
		for i := range page.Items {
			it := &page.Items[i]
			if it.Turn.IsTurn() && it.Turn.Position >= from && it.Turn.Position < st.Next {
				refs = append(refs, turnRef{it.ID, it.Turn.Position, len(it.Content), it.Turn.Role})
			}
		}
		if page.Next == "" || len(refs) >= st.Next-from {
			break
		}
		q.Cursor = page.Next
	}
	slices.SortFunc(refs, func(a, b turnRef) int { return a.position - b.position })
	return refs, nil
}

func hasRoles(refs []turnRef) bool {
	has := func(role message.Role) bool {
		return slices.ContainsFunc(refs, func(r turnRef) bool { return r.role == string(role) })
	}
	return has(message.User) && has(message.Assistant)
}

// operations runs the extractor over the turns from fresh on, batch by batch. It also returns the turns that the
// operations rest on.
func (w *Worker) operations(ctx context.Context, j store.Job, refs []turnRef, fresh int) ([]Operation, map[string]store.Item, error) {
	known, err := w.facts(ctx, j.Scope, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	var ops []Operation
	turns := map[string]store.Item{}
	for fresh < len(refs) {
		end := batchEnd(refs, fresh, w.tenant(j.Scope.Tenant).Extractor)
		items, err := w.load(ctx, j.Scope, refs[max(0, fresh-batchAhead):end])
		if err != nil {
			return nil, nil, err
		}
		cut := slices.IndexFunc(items, func(it store.Item) bool { return it.Turn.Position >= refs[fresh].position })
		if cut >= 0 {
			b := Batch{Scope: j.Scope, Thread: j.Thread, Turns: items[cut:], Before: items[:cut], Known: known, Now: w.now()}
			got, err := w.runExtractor(ctx, b)
			if err != nil {
				return nil, nil, err
			}
			got = reinforced(b, got)
			for _, op := range got {
				if i := slices.IndexFunc(items, func(it store.Item) bool { return it.ID == op.Turn }); i >= 0 {
					turns[op.Turn] = items[i]
				}
			}
			ops = append(ops, got...)
		}
		fresh = end
	}
	return ops, turns, nil
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

// load reads turns in the order of their positions. Those that were deleted meanwhile are left out.
func (w *Worker) load(ctx context.Context, sc store.Scope, refs []turnRef) ([]store.Item, error) {
	ids := make([]string, len(refs))
	for i, r := range refs {
		ids[i] = r.id
	}
	items, err := w.store.Get(ctx, sc, ids)
	if err != nil {
		return nil, fmt.Errorf("read turns: %w", err)
	}
	slices.SortFunc(items, func(a, b store.Item) int { return a.Turn.Position - b.Turn.Position })
	return items, nil
}

var errPanic = errors.New("the extractor panicked")

// runExtractor tells failures that may pass from those that will not, and keeps a panic from taking the process down.
func (w *Worker) runExtractor(ctx context.Context, b Batch) (ops []Operation, err error) {
	defer func() {
		if recover() != nil { // its value may quote the conversation
			ops, err = nil, &permanentError{errPanic}
		}
	}()
	ops, err = w.tenant(b.Scope.Tenant).Extractor.Extract(ctx, b)
	switch {
	case err == nil:
		w.outages.answered(b.Scope.Tenant)
		return ops, nil
	case ctx.Err() != nil, errors.Is(err, ErrService), errors.Is(err, store.ErrUnavailable), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil, &awayError{fmt.Errorf("extract: %w", err)}
	}
	return nil, &permanentError{fmt.Errorf("extract: %w", err)}
}

// conclude reconciles and commits under the scope's lock.
func (w *Worker) conclude(ctx context.Context, j store.Job, upTo int, ops []Operation, turns map[string]store.Item) error {
	near := w.neighbours(ctx, j.Scope, ops) // before the lock: others need not wait for vectors
	unlock, err := w.opts.Locks.LockContext(ctx, j.Scope)
	if err != nil {
		return err
	}
	defer unlock()
	if err := store.ReplayScope(ctx, w.store, w.ledger, j.Scope); err != nil { // facts of a write that failed are current, too
		return fmt.Errorf("conclude extraction: %w", err)
	}
	if turns, err = w.remaining(ctx, j.Scope, turns); err != nil {
		return err
	}
	st, err := w.ledger.Thread(ctx, j.Scope, j.Thread) // turns may have come meanwhile
	if err != nil {
		return fmt.Errorf("read thread: %w", err)
	}
	current, err := w.facts(ctx, j.Scope, ops, near)
	if err != nil {
		return err
	}
	own := w.tenant(j.Scope.Tenant)
	rec := reconciler{opts: own.Reconcile, extractor: own.Extractor.Name(), thread: j.Thread, newID: w.opts.NewID, now: w.now(), near: near}
	out := rec.reconcile(current, turns, ops)
	fin := &store.Finish{Job: j, UpTo: upTo, State: store.EventStored, Facts: out.facts, At: rec.now}
	if out.facts == 0 {
		fin.State, fin.Note = store.EventNothing, out.note()
	}
	st.Cursor = max(st.Cursor, upTo)
	err = w.commit(ctx, store.Write{Scope: j.Scope, Change: store.Change{Put: out.put}, Embed: out.embed, Thread: &st, Finish: fin})
	if err == nil && len(out.embed) > 0 {
		w.opts.Wake()
	}
	return err
}

// remaining leaves out the turns that were forgotten while the extractor ran: a fact must not bring back what they said.
func (w *Worker) remaining(ctx context.Context, sc store.Scope, turns map[string]store.Item) (map[string]store.Item, error) {
	items, err := w.store.Get(ctx, sc, slices.Collect(maps.Keys(turns)))
	if err != nil {
		return nil, fmt.Errorf("read turns again: %w", err)
	}
	left := make(map[string]store.Item, len(items))
	for _, it := range items {
		left[it.ID] = turns[it.ID]
	}
	return left, nil
}

// bury ends a job's events as dead. After a permanent failure the thread goes on behind the turns that caused it.
func (w *Worker) bury(ctx context.Context, j store.Job, upTo int, reason string, permanent bool) error {
	unlock, err := w.opts.Locks.LockContext(ctx, j.Scope)
	if err != nil {
		return err
	}
	defer unlock()
	wr := store.Write{Scope: j.Scope, Finish: &store.Finish{Job: j, UpTo: upTo, State: store.EventDead, Note: reason, At: w.now()}}
	if permanent {
		st, err := w.ledger.Thread(ctx, j.Scope, j.Thread)
		if err != nil {
			return fmt.Errorf("read thread: %w", err)
		}
		st.Cursor = max(st.Cursor, upTo)
		wr.Thread = &st
	}
	return w.commit(ctx, wr)
}

func (w *Worker) commit(ctx context.Context, wr store.Write) error {
	wr.ID = w.opts.NewID()
	if err := store.Commit(ctx, w.store, w.ledger, wr); err != nil {
		return fmt.Errorf("commit extraction: %w", err)
	}
	if wr.Finish != nil {
		w.opts.Done(wr.Finish.Facts, wr.Finish.State)
	}
	return nil
}

func (w *Worker) now() time.Time { return w.opts.Clock().UTC().Truncate(time.Microsecond) }
