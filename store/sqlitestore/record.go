package sqlitestore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"evoke/store"
)

// Record makes a write durable: the change of items is kept as an intent until Applied, all else takes effect at once.
func (db *DB) Record(ctx context.Context, w store.Write) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := checkWrite(&w); err != nil {
		return err
	}
	change := ""
	if len(w.Put)+len(w.Delete) > 0 {
		b, err := json.Marshal(w.Change)
		if err != nil {
			return fmt.Errorf("encode change: %w", err)
		}
		change = string(b)
	}
	return db.w.do(ctx, func(t *tx) error {
		scope, made, err := t.record(&w)
		if err != nil || made || change == "" {
			return err
		}
		t.w.erased = t.w.erased || len(w.Delete) > 0
		for _, id := range w.Delete {
			if err := t.exec("DELETE FROM embeds WHERE scope = ? AND id = ?", scope, id); err != nil {
				return wrap("drop pending vector", err)
			}
			if err := t.dropResting(scope, id); err != nil {
				return err
			}
		}
		return wrap("keep intent", t.exec("INSERT INTO intents (id, scope, change) VALUES (?, ?, ?)", w.ID, scope, change))
	})
}

func checkWrite(w *store.Write) error {
	if w.ID == "" {
		return store.Invalid("write id", "given", "")
	}
	if err := w.Scope.Validate(); err != nil {
		return err
	}
	if w.Arm != nil && (w.Arm.Quiet < 0 || w.Arm.MaxWait < 0) {
		return store.Invalid("debounce", "of zero or more seconds", "")
	}
	if w.Event != nil && w.Event.ID == "" {
		return store.Invalid("event id", "given", "")
	}
	for i := range w.Quarantine {
		if q := &w.Quarantine[i]; q.ID == "" || q.Turn == "" {
			return store.Invalid("quarantined operation", "one with an id and the turn it rests on", "")
		}
	}
	if w.Reply != nil && w.Reply.Key == "" {
		return store.Invalid("idempotency key", "given", "")
	}
	return nil
}

// record writes everything of a write but its items. made is true when it had been made before.
func (t *tx) record(w *store.Write) (scope int64, made bool, err error) {
	n, err := t.execN("INSERT INTO writes (id, at) VALUES (?, ?) ON CONFLICT DO NOTHING", w.ID, micros(time.Now()))
	if err != nil {
		return 0, false, wrap("note write", err)
	}
	if n == 0 {
		return 0, true, nil
	}
	if scope, err = t.scope(w.Scope); err != nil {
		return 0, false, err
	}
	if w.Reply != nil {
		if made, err = t.reply(scope, w.Reply); err != nil || made {
			return scope, made, err
		}
	}
	if w.Thread != nil {
		err := t.exec(`INSERT INTO threads (scope, thread, next, cursor, interim) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET next = excluded.next, cursor = excluded.cursor, interim = excluded.interim`,
			scope, w.Thread.Thread, w.Thread.Next, w.Thread.Cursor, w.Thread.Interim)
		if err != nil {
			return 0, false, wrap("set thread", err)
		}
	}
	if w.Arm != nil {
		if err := t.arm(scope, w.Scope.Tenant, w.Arm); err != nil {
			return 0, false, err
		}
	}
	if w.Event != nil {
		if err := t.event(scope, w.Scope.Tenant, w.Event); err != nil {
			return 0, false, err
		}
	}
	for _, id := range w.Embed {
		if err := t.enterEmbed(scope, id); err != nil {
			return 0, false, err
		}
	}
	if err := t.quarantine(scope, w.Scope.Tenant, w.Quarantine); err != nil {
		return 0, false, err
	}
	if w.Finish != nil {
		if err := t.finish(w.Finish); err != nil {
			return 0, false, err
		}
	}
	return scope, false, nil
}

// reply remembers an answer. made is true when the very same answer is there: the write was made under another id.
func (t *tx) reply(scope int64, r *store.Reply) (made bool, err error) {
	var hash string
	var body []byte
	err = t.get("SELECT body_hash, body FROM replies WHERE scope = ? AND key = ?", []any{scope, r.Key}, &hash, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		at := r.At
		return false, wrap("remember reply", t.exec("INSERT INTO replies (scope, key, body_hash, body, at) VALUES (?, ?, ?, ?, ?)",
			scope, r.Key, r.BodyHash, nonNil(r.Body), micros(at)))
	case err != nil:
		return false, wrap("read reply", err)
	case hash == r.BodyHash && bytes.Equal(body, r.Body):
		return true, nil
	}
	return false, fmt.Errorf("%w: the idempotency key was used before: read the reply it holds, or use another key", store.ErrConflict)
}

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Applied drops the intent.
func (db *DB) Applied(ctx context.Context, id string) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	return db.w.do(ctx, func(t *tx) error { return wrap("drop intent", t.exec("DELETE FROM intents WHERE id = ?", id)) })
}

// Unapplied returns the intents that remain, oldest first: their id, scope and change.
func (db *DB) Unapplied(ctx context.Context) (ws []store.Write, err error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	err = db.reading(func(r *sql.DB) (err error) {
		rows, err := r.QueryContext(ctx, "SELECT i.id, s.tenant, s.user, s.agent, i.change FROM intents i JOIN scopes s ON s.n = i.scope ORDER BY i.n")
		if err != nil {
			return wrap("read intents", err)
		}
		defer func() { err = errors.Join(err, wrap("read intents", rows.Close())) }()
		for rows.Next() {
			var w store.Write
			var change []byte
			if err := rows.Scan(&w.ID, &w.Scope.Tenant, &w.Scope.User, &w.Scope.Agent, &change); err != nil {
				return wrap("read intent", err)
			}
			if err := json.Unmarshal(change, &w.Change); err != nil {
				return fmt.Errorf("%w: a recorded change: %w", store.ErrCorrupt, err)
			}
			ws = append(ws, w)
		}
		return wrap("read intents", rows.Err())
	})
	return ws, err
}

// Reply returns what was answered under an idempotency key.
func (db *DB) Reply(ctx context.Context, sc store.Scope, key string) (store.Reply, error) {
	r := store.Reply{Key: key}
	var at int64
	err := db.readScoped(ctx, sc, "read reply", func(q *sql.DB, scope int64) error {
		return q.QueryRowContext(ctx, "SELECT body_hash, body, at FROM replies WHERE scope = ? AND key = ?", scope, key).Scan(&r.BodyHash, &r.Body, &at)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return store.Reply{}, fmt.Errorf("%w: no reply under this idempotency key", store.ErrNotFound)
	}
	r.At = fromMicros(at)
	return r, err
}

// readScoped reads within a scope; a scope that was never written to is sql.ErrNoRows.
func (db *DB) readScoped(ctx context.Context, sc store.Scope, op string, f func(*sql.DB, int64) error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := sc.Validate(); err != nil {
		return err
	}
	scope, ok, err := db.scopeID(ctx, sc)
	if err != nil {
		return err
	}
	if !ok {
		return sql.ErrNoRows
	}
	return wrap(op, db.reading(func(r *sql.DB) error { return f(r, scope) }))
}

// Thread returns where a thread stands, zeros for one never seen.
func (db *DB) Thread(ctx context.Context, sc store.Scope, thread string) (store.ThreadState, error) {
	st := store.ThreadState{Thread: thread}
	err := db.readScoped(ctx, sc, "read thread", func(q *sql.DB, scope int64) error {
		return q.QueryRowContext(ctx, "SELECT next, cursor, interim FROM threads WHERE scope = ? AND thread = ?", scope, thread).Scan(&st.Next, &st.Cursor, &st.Interim)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return st, nil
	}
	return st, err
}

// newGeneration is a number greater than any before.
func (t *tx) newGeneration() (g int64, err error) {
	err = t.get("UPDATE generations SET last = last + 1 RETURNING last", nil, &g)
	return g, wrap("count generations", err)
}
