package evoke

import (
	"context"
	"fmt"
	"time"

	"evoke/store"
)

// OutcomeRequest reports how it went to do what a procedural item says.
type OutcomeRequest struct {
	Who
	ID      string
	Outcome store.Outcome // succeeded or failed
	At      time.Time     // zero: now; what is still to come counts as now
	// IdempotencyKey makes a retry safe: the same key with the same report counts once. At most 256 bytes; "" for none.
	IdempotencyKey string
}

// Outcome counts one outcome of a procedural item, an instruction or a workflow, and returns the item with the counts.
// Reports that come at once are all counted. Of several versions only the current one takes any (ErrConflict).
func (m *Memory) Outcome(ctx context.Context, r OutcomeRequest) (_ store.Item, err error) {
	defer func() {
		ids := []string{r.ID}
		if err != nil {
			ids = m.onRecord(ctx, r.Who, ids...)
		}
		m.audit(ctx, deed("outcome", r.Who, err, nil, ids...))
	}()
	if err := r.Outcome.Validate(); err != nil {
		return store.Item{}, err
	}
	if r.At.Before(time.Time{}) {
		return store.Item{}, store.Invalid("at", "in the years 1 to 9999", "")
	}
	at, err := m.place(r.Who)
	if err != nil {
		return store.Item{}, err
	}
	sc, err := m.holder(ctx, at, r.ID)
	if err != nil {
		return store.Item{}, err
	}
	key := r.IdempotencyKey
	r.IdempotencyKey = ""
	res, err := m.idempotent(ctx, sc, key, bodyHash(r), func(w *store.Write) (RememberResult, error) {
		items, err := m.store.Get(ctx, sc, []string{r.ID})
		if err != nil {
			return RememberResult{}, fmt.Errorf("outcome: %w", err)
		}
		if len(items) == 0 {
			return RememberResult{}, noItem()
		}
		it := items[0]
		if err := inSight(&it); err != nil {
			return RememberResult{}, err
		}
		switch {
		case it.Kind != store.Procedural:
			return RememberResult{}, store.Invalid("id", "of a procedural item (for others there is feedback)", string(it.Kind))
		case it.SupersededBy != "" || !it.RetractedAt.IsZero():
			return RememberResult{}, fmt.Errorf("item: %w: only the current version takes outcomes (its history names it)", store.ErrConflict)
		}
		now := m.now()
		if r.At.IsZero() || r.At.After(now) {
			r.At = now
		}
		it.Outcomes.Count(r.Outcome, r.At)
		if err := it.Prepare(m.limits); err != nil {
			return RememberResult{}, err
		}
		w.Put = []store.Item{it}
		return RememberResult{Item: it}, nil
	})
	return res.Item, err
}

// holder is the memory, of those that a call reads, that holds an item, or ErrNotFound.
func (m *Memory) holder(ctx context.Context, at place, id string) (store.Scope, error) {
	if err := store.ValidateName("id", id); err != nil {
		return store.Scope{}, err
	}
	if at.ok && id != "" {
		for _, sc := range at.read {
			items, err := m.store.Get(ctx, sc, []string{id})
			if err != nil {
				return store.Scope{}, fmt.Errorf("find item: %w", err)
			}
			if len(items) == 1 {
				return sc, nil
			}
		}
	}
	return store.Scope{}, noItem()
}
