package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"evoke/store"
)

func (t *tx) event(scope int64, tenant string, e *store.Event) error {
	state := e.State
	if state == "" {
		state = store.EventPending
	}
	n, err := t.execN(`INSERT INTO events (tenant, id, scope, thread, first, up_to, state, facts, note, extractor, created_at, done_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		tenant, e.ID, scope, e.Thread, e.From, e.UpTo, string(state), e.Facts, e.Note, e.Extractor, micros(e.CreatedAt), micros(e.DoneAt))
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
	var e store.Event
	err := db.reading(func(r *sql.DB) (err error) {
		e, err = scanEvent(tenant, r.QueryRowContext(ctx, eventColumns+"e.tenant = ? AND e.id = ?", tenant, id))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return store.Event{}, fmt.Errorf("%w: no such event", store.ErrNotFound)
	}
	if err != nil {
		return store.Event{}, wrap("read event", err)
	}
	return e, nil
}

const eventColumns = `SELECT e.id, s.user, s.agent, e.thread, e.first, e.up_to, e.state, e.facts, e.note, e.extractor, e.created_at, e.done_at
FROM events e JOIN scopes s ON s.n = e.scope WHERE `

func scanEvent(tenant string, row scanner) (store.Event, error) {
	e := store.Event{Scope: store.Scope{Tenant: tenant}}
	var state string
	var created, done int64
	err := row.Scan(&e.ID, &e.Scope.User, &e.Scope.Agent, &e.Thread, &e.From, &e.UpTo, &state, &e.Facts, &e.Note, &e.Extractor, &created, &done)
	e.State, e.CreatedAt, e.DoneAt = store.EventState(state), fromMicros(created), fromMicros(done)
	return e, err
}

// ListEvents pages through a tenant's events, newest first.
func (db *DB) ListEvents(ctx context.Context, tenant string, q store.EventQuery) (page store.EventPage, err error) {
	l := listing[store.Event]{
		op: "read events", columns: eventColumns, owner: "e.tenant", at: "e.created_at", id: "e.id", scan: scanEvent,
		place: func(e *store.Event) (time.Time, string) { return e.CreatedAt, e.ID },
	}
	if q.State != "" {
		l.where.and("e.state = ?", string(q.State))
	}
	if q.Thread != "" {
		l.where.and("e.thread = ?", q.Thread)
	}
	page.Events, page.Next, err = l.page(ctx, db, tenant, q.Scope, q.Limit, q.Cursor)
	return page, err
}

// ReviveEvents makes dead events pending again and their threads due now, from the events' first turns on.
func (db *DB) ReviveEvents(ctx context.Context, tenant string, ids []string, now time.Time) (revived int, err error) {
	if err := db.enter(ctx); err != nil {
		return 0, err
	}
	defer db.leave()
	if tenant == "" {
		return 0, fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	if len(ids) == 0 {
		return 0, nil
	}
	err = db.w.do(ctx, func(t *tx) error {
		revived = 0
		for _, id := range ids {
			switch err := t.revive(tenant, id, micros(now)); {
			case errors.Is(err, sql.ErrNoRows):
			case err != nil:
				return wrap("revive event", err)
			default:
				revived++
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return revived, nil
}

// revive gives sql.ErrNoRows when there is no such dead event. A run that holds the thread began behind the event's
// turns, or before it: its lease is taken, so that its end neither ends the event nor moves the thread on.
func (t *tx) revive(tenant, id string, now int64) error {
	var scope, first int64
	var thread string
	err := t.get(`UPDATE events SET state = 'pending', facts = 0, note = '', extractor = '', done_at = ?
WHERE tenant = ? AND id = ? AND state = 'dead' RETURNING scope, thread, first`, []any{noTime, tenant, id}, &scope, &thread, &first)
	if err != nil {
		return err
	}
	if err := t.exec("UPDATE threads SET cursor = min(cursor, ?) WHERE scope = ? AND thread = ?", first, scope, thread); err != nil {
		return err
	}
	generation, err := t.newGeneration()
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO jobs (scope, thread, generation, first_at, due_at, not_before, attempts, note, lease, leased, lease_until, tenant)
VALUES (?1, ?2, ?3, ?4, ?4, ?5, 0, '', '', 0, ?5, ?6)
ON CONFLICT DO UPDATE SET generation = ?3, first_at = min(first_at, ?4), due_at = min(due_at, ?4), not_before = ?5, attempts = 0, note = '',
lease = '', leased = 0, lease_until = ?5`, scope, thread, generation, now, noTime, tenant)
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
	counts := map[store.EventState]int{store.EventPending: 0, store.EventStored: 0, store.EventNothing: 0, store.EventDead: 0,
		store.EventQuarantined: 0}
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
