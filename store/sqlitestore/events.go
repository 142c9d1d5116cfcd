package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"evoke/store"
)

func (t *tx) event(scope int64, tenant string, e *store.Event) error {
	state := e.State
	if state == "" {
		state = store.EventPending
	}
	n, err := t.execN(`INSERT INTO events (tenant, id, scope, thread, up_to, state, facts, note, created_at, done_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		tenant, e.ID, scope, e.Thread, e.UpTo, string(state), e.Facts, e.Note, micros(e.CreatedAt), micros(e.DoneAt))
	if err != nil {
		return wrap("store event", err)
	}
	if n == 0 {
		return fmt.Errorf("%w: the event's id is taken", store.ErrConflict)
	}
	return nil
}

// Event returns one event of the tenant.
func (db *DB) Event(ctx context.Context, tenant, id string) (store.Event, error) {
	if err := db.enter(ctx); err != nil {
		return store.Event{}, err
	}
	defer db.leave()
	if tenant == "" {
		return store.Event{}, fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	e := store.Event{ID: id, Scope: store.Scope{Tenant: tenant}}
	var state string
	var created, done int64
	err := db.reading(func(r *sql.DB) error {
		return r.QueryRowContext(ctx, `SELECT s.user, s.agent, e.thread, e.up_to, e.state, e.facts, e.note, e.created_at, e.done_at
FROM events e JOIN scopes s ON s.n = e.scope WHERE e.tenant = ? AND e.id = ?`, tenant, id).
			Scan(&e.Scope.User, &e.Scope.Agent, &e.Thread, &e.UpTo, &state, &e.Facts, &e.Note, &created, &done)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return store.Event{}, fmt.Errorf("%w: no such event", store.ErrNotFound)
	}
	if err != nil {
		return store.Event{}, wrap("read event", err)
	}
	e.State, e.CreatedAt, e.DoneAt = store.EventState(state), fromMicros(created), fromMicros(done)
	return e, nil
}

// CountEvents counts a tenant's events by state, zeros included.
func (db *DB) CountEvents(ctx context.Context, tenant string) (map[store.EventState]int, error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	if tenant == "" {
		return nil, fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	counts := map[store.EventState]int{store.EventPending: 0, store.EventStored: 0, store.EventNothing: 0, store.EventDead: 0}
	err := db.reading(func(r *sql.DB) (err error) {
		rows, err := r.QueryContext(ctx, "SELECT state, count(*) FROM events WHERE tenant = ? GROUP BY state", tenant)
		if err != nil {
			return wrap("count events", err)
		}
		defer func() { err = errors.Join(err, wrap("count events", rows.Close())) }()
		for rows.Next() {
			var state string
			var n int
			if err := rows.Scan(&state, &n); err != nil {
				return wrap("count events", err)
			}
			counts[store.EventState(state)] = n
		}
		return wrap("count events", rows.Err())
	})
	return counts, err
}
