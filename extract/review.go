package extract

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"evoke/store"
)

// reviewed begins the extractor's name, and so gives the origin, in the provenance of what a person approved.
const reviewed = "review/"

// Approve stores an operation that waits in quarantine, as a person vouches for it: neither quote, threshold nor modality
// hold it back any more. It goes through the same reconciliation as what is extracted, under the scope's lock, and the
// entry goes with it. The items it added, confirmed or closed come back. It fails with store.ErrNotFound when the tenant
// has no such entry, as after a first approval, and with store.ErrInvalid when nothing can be made of the operation: the
// turn it rests on is gone, or it is no whole operation.
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
	grounded := op.Quote != "" && strings.Contains(turn.Content, op.Quote)
	if !grounded {
		op.Quote = turn.Content // for the reconciliation alone: no span of the turn says it
	}
	ops, turns := []Operation{op}, map[string]store.Item{turn.ID: turn}
	current, err := w.facts(ctx, q.Scope, q.Thread, ops, turns, near)
	if err != nil {
		return outcome{}, err
	}
	rec := reconciler{
		opts: w.tenant(q.Scope.Tenant).Reconcile, extractor: reviewed + q.Extractor, thread: q.Thread, newID: w.opts.NewID, now: w.now(), near: near, vouched: true,
	}
	out := rec.reconcile(current, turns, ops)
	if len(out.rejected) > 0 {
		return outcome{}, store.Invalid("id", "of an operation that can be stored (reject it)", out.note())
	}
	for i := range out.put {
		if !grounded && slices.Contains(out.embed, out.put[i].ID) {
			out.put[i].Provenance.Quote = ""
		}
	}
	return out, nil
}
