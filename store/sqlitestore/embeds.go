package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"evoke/store"
)

// enterEmbed notes that an item waits for its vectors. One that waits already keeps its place and gets a new
// generation, so that vectors made from its older text do not end the wait.
func (t *tx) enterEmbed(scope int64, id string) error {
	generation, err := t.newGeneration()
	if err != nil {
		return err
	}
	return wrap("note pending vector", t.exec(`INSERT INTO embeds (scope, id, generation, not_before) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (scope, id) DO UPDATE SET generation = ?3, not_before = ?4`, scope, id, generation, noTime))
}

// PendingEmbeds returns up to n entries, oldest first, without those set aside until later than now.
func (db *DB) PendingEmbeds(ctx context.Context, now time.Time, n int) (refs []store.EmbedRef, err error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	if n <= 0 {
		return nil, nil
	}
	err = db.reading(func(r *sql.DB) (err error) {
		rows, err := r.QueryContext(ctx, `SELECT s.tenant, s.user, s.agent, e.id, e.generation FROM embeds e JOIN scopes s ON s.n = e.scope
WHERE e.not_before <= ? ORDER BY e.n LIMIT ?`, micros(now), n)
		if err != nil {
			return wrap("read pending vectors", err)
		}
		defer func() { err = errors.Join(err, wrap("read pending vectors", rows.Close())) }()
		for rows.Next() {
			var e store.EmbedRef
			if err := rows.Scan(&e.Scope.Tenant, &e.Scope.User, &e.Scope.Agent, &e.ID, &e.Generation); err != nil {
				return wrap("read pending vector", err)
			}
			refs = append(refs, e)
		}
		return wrap("read pending vectors", rows.Err())
	})
	return refs, err
}

// Embedded removes entries, save those that were entered again since.
func (db *DB) Embedded(ctx context.Context, refs []store.EmbedRef) error {
	return db.eachRef(ctx, refs, func(t *tx, scope int64, e *store.EmbedRef) error {
		return wrap("end pending vector", t.exec("DELETE FROM embeds WHERE scope = ?1 AND id = ?2 AND (?3 = 0 OR generation <= ?3)",
			scope, e.ID, e.Generation))
	})
}

// Postpone sets entries aside until the given time, save those that were entered again since.
func (db *DB) Postpone(ctx context.Context, refs []store.EmbedRef, until time.Time) error {
	return db.eachRef(ctx, refs, func(t *tx, scope int64, e *store.EmbedRef) error {
		return wrap("postpone pending vector", t.exec("UPDATE embeds SET not_before = ?4 WHERE scope = ?1 AND id = ?2 AND (?3 = 0 OR generation <= ?3)",
			scope, e.ID, e.Generation, micros(until)))
	})
}

func (db *DB) eachRef(ctx context.Context, refs []store.EmbedRef, f func(*tx, int64, *store.EmbedRef) error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	for i := range refs {
		if err := refs[i].Scope.Validate(); err != nil {
			return err
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return db.w.do(ctx, func(t *tx) error {
		for i := range refs {
			scope, err := t.scope(refs[i].Scope)
			if err != nil {
				return err
			}
			if err := f(t, scope, &refs[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// CountEmbeds counts all entries of a scope.
func (db *DB) CountEmbeds(ctx context.Context, sc store.Scope) (n int, err error) {
	err = db.readScoped(ctx, sc, "count pending vectors", func(q *sql.DB, scope int64) error {
		return q.QueryRowContext(ctx, "SELECT count(*) FROM embeds WHERE scope = ?", scope).Scan(&n)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}
