package evoke

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"evoke/store"
)

// EventsRequest selects a page of the tenant's events, newest first. Without a user and an agent it is of all memories.
type EventsRequest struct {
	Who
	State  store.EventState // "" for all
	Limit  int              // 1–1000; 0 means 100
	Cursor string
}

// EventInfo is an event and whose it is.
type EventInfo struct {
	store.Event
	User  string `json:"user,omitempty"`
	Agent string `json:"agent,omitempty"`
}

// EventsResult is one page of events. Counts are of the whole tenant, by state, zeros included.
type EventsResult struct {
	Events []EventInfo              `json:"events"`
	Next   string                   `json:"next,omitempty"` // cursor of the next page; "" on the last
	Counts map[store.EventState]int `json:"counts"`
}

// RetryResult counts the events that get another try and names those that do not: there is no such event, or it is not
// dead.
type RetryResult struct {
	Revived int      `json:"revived"`
	Skipped []string `json:"skipped,omitempty"`
}

// Events lists what became of ingested batches.
func (m *Memory) Events(ctx context.Context, r EventsRequest) (EventsResult, error) {
	q := store.EventQuery{State: r.State, Thread: r.Thread, Limit: r.Limit, Cursor: r.Cursor}
	known := []store.EventState{"", store.EventPending, store.EventStored, store.EventNothing, store.EventDead, store.EventQuarantined}
	if !slices.Contains(known, r.State) {
		return EventsResult{}, store.Invalid("state", "pending, stored, nothing, dead or quarantined", "")
	}
	var err error
	if q.Scope, err = m.partOf(r.Who); err != nil {
		return EventsResult{}, err
	}
	page, err := m.ledger.ListEvents(ctx, m.tenant, q)
	if err != nil {
		return EventsResult{}, fmt.Errorf("list events: %w", err)
	}
	res := EventsResult{Events: make([]EventInfo, len(page.Events)), Next: page.Next}
	for i, e := range page.Events {
		res.Events[i] = EventInfo{Event: e, User: e.Scope.User, Agent: e.Scope.Agent}
	}
	if res.Counts, err = m.ledger.CountEvents(ctx, m.tenant); err != nil {
		return EventsResult{}, fmt.Errorf("count events: %w", err)
	}
	return res, nil
}

// partOf is the memory that a listing is narrowed to, nil for all of the tenant.
func (m *Memory) partOf(w Who) (*store.Scope, error) {
	if w.User == "" && w.Agent == "" {
		return nil, nil
	}
	sc, err := m.memory(w)
	return &sc, err
}

// RetryEvents gives dead events another try, now: their turns are extracted again. Facts that a later extraction of the
// same conversation stored are confirmed, not stored twice.
func (m *Memory) RetryEvents(ctx context.Context, ids []string) (res RetryResult, err error) {
	defer func() { m.audit(ctx, deed("retry events", Who{}, err, map[string]int{"revived": res.Revived}, ids...)) }()
	if err := checkIDs(ids); err != nil {
		return RetryResult{}, err
	}
	for _, id := range ids {
		n, err := m.retryEvent(ctx, id)
		if err != nil {
			return res, fmt.Errorf("retry event: %w", err)
		}
		if res.Revived += n; n == 0 {
			res.Skipped = append(res.Skipped, id)
		}
	}
	if res.Revived > 0 {
		m.worker.Wake()
	}
	return res, nil
}

func (m *Memory) retryEvent(ctx context.Context, id string) (int, error) {
	switch e, err := m.ledger.Event(ctx, m.tenant, id); {
	case errors.Is(err, store.ErrNotFound):
		return 0, nil
	case err != nil:
		return 0, err
	default:
		unlock, err := m.locks.LockContext(ctx, e.Scope)
		if err != nil {
			return 0, err
		}
		defer unlock()
		return m.ledger.ReviveEvents(ctx, m.tenant, []string{id}, m.now())
	}
}
