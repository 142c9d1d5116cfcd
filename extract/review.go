package extract

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"evoke/store"
)

// reviewed begins the extractor's name, and so gives the origin, in the provenance of what a person approved.
const reviewed = "review/"

// Approve stores an operation that waits in quarantine, as a person vouches for it: neither quote, threshold nor modality
// hold it back any more. It goes through the same reconciliation as what is extracted, under the scope's lock, and the
// entry goes with it. The items it added, confirmed or closed come back. It fails with store.ErrNotFound when the tenant
// has no such entry, as after a first approval, with store.ErrInvalid when nothing can be made of the operation: the
// turn it rests on is gone, or it is no whole operation; and with store.ErrConflict when what it was about changed since:
// its turn was taken back, what it would change holds no longer, or its subject was given another value later.
func (w *Worker) Approve(ctx context.Context, tenant, id string) ([]store.Item, error) {
	q, err := w.ledger.GetQuarantined(ctx, tenant, id)
	if err != nil {
		return nil, fmt.Errorf("approve: %w", err)
	}
	op, err := vouched(&q, *w.tenant(tenant).Reconcile.Threshold)
	if err != nil {
		return nil, err
	}
	near := w.neighbours(ctx, q.Scope, []Operation{op})
	unlock, err := w.opts.Locks.LockContext(ctx, q.Scope)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := w.ledger.GetQuarantined(ctx, tenant, id); err != nil { // another may have decided meanwhile
		return nil, fmt.Errorf("approve: %w", err)
	}
	if err := store.ReplayScope(ctx, w.store, w.ledger, q.Scope); err != nil {
		return nil, fmt.Errorf("approve: %w", err)
	}
	out, err := w.review(ctx, &q, op, near)
	if err != nil {
		return nil, err
	}
	if len(out.put) > 0 {
		if err := w.commit(ctx, store.Write{Scope: q.Scope, Change: store.Change{Put: out.put}, Embed: out.embed}); err != nil {
			return nil, err
		}
	}
	// A crash before this leaves an entry that another approval finds confirmed already: nothing is stored twice.
	if _, err := w.ledger.DropQuarantined(ctx, tenant, []string{id}); err != nil {
		return nil, fmt.Errorf("approve: %w", err)
	}
	if len(out.embed) > 0 {
		w.opts.Wake()
	}
	return out.put, nil
}

// vouched is a quarantined operation without what kept it out.
func vouched(q *store.Quarantined, threshold float64) (Operation, error) {
	var op Operation
	if err := json.Unmarshal(q.Operation, &op); err != nil {
		return op, fmt.Errorf("%w: a quarantined operation", store.ErrCorrupt)
	}
	op.Turn, op.Modality = q.Turn, Asserted
	if store.InUnit("", op.Confidence) != nil || op.Confidence < threshold {
		op.Confidence = threshold
	}
	if store.InUnit("", op.Importance) != nil {
		op.Importance = 0.5
	}
	if op.Kind == "" {
		op.Kind = store.Semantic
	}
	if op.Category.Validate() != nil {
		op.Category = ""
	}
	return op, nil
}

// review reconciles one approved operation. The scope is locked.
func (w *Worker) review(ctx context.Context, q *store.Quarantined, op Operation, near map[string][]string) (outcome, error) {
	items, err := w.store.Get(ctx, q.Scope, []string{q.Turn})
	if err != nil {
		return outcome{}, fmt.Errorf("approve: %w", err)
	}
	if items = store.Remembered(items); len(items) == 0 {
		return outcome{}, store.Invalid("id", "of an operation whose turn is still there (reject it)", "")
	}
	turn := items[0]
	if op.Target, err = w.stillThere(ctx, q, &op, &turn); err != nil {
		return outcome{}, err
	}
	grounded := op.Quote != "" && strings.Contains(turn.Content, op.Quote)
	if !grounded {
		op.Quote = turn.Content // for the reconciliation alone: no span of the turn says it
	}
	ops, turns := []Operation{op}, map[string]store.Item{turn.ID: turn}
	current, err := w.facts(ctx, q.Scope, q.Thread, ops, turns, near)
	if err != nil {
		return outcome{}, err
	}
	if err := w.uncontested(&op, current, &turn); err != nil {
		return outcome{}, err
	}
	rec := reconciler{
		opts: w.tenant(q.Scope.Tenant).Reconcile, extractor: reviewed + q.Extractor, thread: q.Thread, newID: w.opts.NewID, now: w.now(), near: near, vouched: true,
	}
	out := rec.reconcile(current, turns, ops)
	if len(out.rejected) > 0 {
		return outcome{}, store.Invalid("id", "of an operation that can be stored (reject it)", out.note(0))
	}
	for i := range out.put {
		if p := &out.put[i].Provenance; slices.Contains(out.embed, out.put[i].ID) && !out.redated[out.put[i].ID] {
			if p.Edited = q.Edited; !grounded {
				p.Quote = ""
			}
		}
	}
	return out, nil
}

func stale(why string) error { return fmt.Errorf("%w: %s (reject it)", store.ErrConflict, why) }

// said is when a proposal's turn was said.
func (w *Worker) said(turn *store.Item) time.Time { return saidNow(turn.ValidFrom, w.now()) }

// stillThere finds what a proposal changes now: another version may stand in the place of its target.
func (w *Worker) stillThere(ctx context.Context, q *store.Quarantined, op *Operation, turn *store.Item) (target string, err error) {
	if !turn.RetractedAt.IsZero() {
		return "", stale("the turn it rests on was taken back since")
	}
	var at *store.Item
	for n, id := 0, op.Target; id != "" && n < mostVersions; n++ {
		next, err := one(ctx, w.store, q.Scope, id)
		if err != nil {
			return "", fmt.Errorf("approve: %w", err)
		}
		if next == nil {
			break
		}
		at, id = next, next.SupersededBy
	}
	switch {
	case op.Target == "":
		return "", nil
	case at == nil && !isReview(q.Reason):
		return op.Target, nil // the extractor named what never was; see reconcile
	case at == nil:
		return "", stale("what it would change was forgotten since")
	case !holds(at):
		return "", stale("what it would change holds no longer")
	case at.ID != op.Target && w.said(turn).Before(saidOf(at)):
		return "", stale("what it would change was said anew since")
	}
	return at.ID, nil
}

// uncontested refuses a proposal whose subject got another value that was said later.
func (w *Worker) uncontested(op *Operation, current []store.Item, turn *store.Item) error {
	if !op.Exclusive || op.Subject == "" {
		return nil
	}
	form := op.form()
	for i := range current {
		it := &current[i]
		if holds(it) && keyOfItem(it) == op.key() && it.ID != op.Target && w.said(turn).Before(saidOf(it)) {
			if other := NewForm(StatementOf(it)); form.Same(&other) == Different {
				return stale("its subject was given another value since")
			}
		}
	}
	return nil
}
