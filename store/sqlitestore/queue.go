package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"evoke/store"
)

// arm sets a thread's trailing debounce. While a run holds the thread, its arming starts a new window.
func (t *tx) arm(scope int64, tenant string, a *store.Arming) error {
	generation, err := t.newGeneration()
	if err != nil {
		return err
	}
	now := micros(a.Now)
	first, notBefore := now, noTime
	var oldFirst, oldBefore, oldGeneration, leased int64
	var lease string
	err = t.get("SELECT first_at, not_before, generation, leased, lease FROM jobs WHERE scope = ? AND thread = ?", []any{scope, a.Thread},
		&oldFirst, &oldBefore, &oldGeneration, &leased, &lease)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return wrap("read job", err)
	}
	if err == nil {
		notBefore = oldBefore
		if lease == "" || oldGeneration != leased {
			first = min(first, oldFirst) // the window is open
		}
	}
	due := max(min(now+a.Quiet.Microseconds(), first+a.MaxWait.Microseconds()), notBefore)
	return wrap("arm job", t.exec(`INSERT INTO jobs (scope, thread, generation, first_at, due_at, not_before, attempts, note, lease, leased, lease_until, tenant)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, '', '', 0, ?7, ?8)
ON CONFLICT DO UPDATE SET generation = ?3, first_at = ?4, due_at = ?5`, scope, a.Thread, generation, first, due, notBefore, noTime, tenant))
}

// finish ends a job: its row goes, unless a newer arming waits in it, and the thread's events reach their state.
func (t *tx) finish(f *store.Finish) error {
	scope, err := t.scope(f.Job.Scope)
	if err != nil {
		return err
	}
	generation, err := t.held(scope, &f.Job)
	if err != nil {
		return err
	}
	switch {
	case f.Partial:
		err = t.exec("UPDATE jobs SET attempts = 0, note = '' WHERE scope = ? AND thread = ?", scope, f.Job.Thread)
	case generation == f.Job.Generation:
		err = t.exec("DELETE FROM jobs WHERE scope = ? AND thread = ?", scope, f.Job.Thread)
	default:
		err = t.exec(`UPDATE jobs SET lease = '', leased = 0, lease_until = ?, attempts = 0, note = '', not_before = ?
WHERE scope = ? AND thread = ?`, noTime, noTime, scope, f.Job.Thread)
	}
	if err != nil {
		return wrap("end job", err)
	}
	return t.endEvents(scope, f)
}

// endEvents brings a thread's events up to f.UpTo to their state. One that reaches beyond, of a job that goes on, is told
// what came of its first part; it is dead with it.
func (t *tx) endEvents(scope int64, f *store.Finish) error {
	most := "up_to <= ?3"
	switch {
	case f.Partial && f.State == store.EventDead:
		most = "first < ?3"
	case f.Partial:
		err := t.exec("UPDATE events SET facts = facts + ?4 WHERE scope = ?1 AND thread = ?2 AND first < ?3 AND up_to > ?3 AND state = 'pending'",
			scope, f.Job.Thread, f.UpTo, f.Facts)
		if err != nil {
			return wrap("note facts", err)
		}
	}
	const kept = "?4 IN ('nothing', 'quarantined') AND facts > 0"
	return wrap("end events", t.exec(`UPDATE events SET facts = facts + ?5, extractor = ?7, done_at = ?8,
note = CASE WHEN `+kept+` THEN '' ELSE ?6 END,
state = CASE WHEN `+kept+` THEN 'stored'
    WHEN ?4 = 'nothing' AND EXISTS (SELECT 1 FROM quarantine q WHERE q.tenant = events.tenant AND q.event = events.id) THEN 'quarantined'
    ELSE ?4 END
WHERE scope = ?1 AND thread = ?2 AND `+most+` AND state = 'pending'`,
		scope, f.Job.Thread, f.UpTo, string(f.State), f.Facts, f.Note, f.Extractor, micros(f.At)))
}

// held returns the generation in a job's row, or store.ErrConflict when the caller's lease is not the one that counts:
// it expired and another took the job, or the job was ended.
func (t *tx) held(scope int64, j *store.Job) (generation int64, err error) {
	var lease string
	err = t.get("SELECT generation, lease FROM jobs WHERE scope = ? AND thread = ?", []any{scope, j.Thread}, &generation, &lease)
	if errors.Is(err, sql.ErrNoRows) || err == nil && lease != j.Lease {
		return 0, fmt.Errorf("%w: the lease on the job is lost: leave its result to who holds it", store.ErrConflict)
	}
	return generation, wrap("read job", err)
}

// Retry gives a job back, due at the given time. Armings meanwhile do not bring it forward; Flush does.
func (db *DB) Retry(ctx context.Context, j store.Job, at time.Time, reason string) error {
	return db.giveBack(ctx, &j, at, reason, 1)
}

// Defer is Retry without a failed attempt.
func (db *DB) Defer(ctx context.Context, j store.Job, at time.Time, reason string) error {
	return db.giveBack(ctx, &j, at, reason, 0)
}

func (db *DB) giveBack(ctx context.Context, j *store.Job, at time.Time, reason string, failed int) error {
	return db.holding(ctx, j, func(t *tx, scope int64) error {
		us := micros(at)
		return wrap("give job back", t.exec(`UPDATE jobs SET tried = leased, lease = '', leased = 0, lease_until = ?, due_at = ?, not_before = ?,
attempts = attempts + ?, note = ? WHERE scope = ? AND thread = ?`, noTime, us, us, failed, reason, scope, j.Thread))
	})
}

// holding runs f within a write, if the job's lease still holds.
func (db *DB) holding(ctx context.Context, j *store.Job, f func(t *tx, scope int64) error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := j.Scope.Validate(); err != nil {
		return err
	}
	return db.w.do(ctx, func(t *tx) error {
		scope, err := t.scope(j.Scope)
		if err != nil {
			return err
		}
		if _, err := t.held(scope, j); err != nil {
			return err
		}
		return f(t, scope)
	})
}

// Extend moves the end of a lease that is held.
func (db *DB) Extend(ctx context.Context, j store.Job, until time.Time) error {
	return db.holding(ctx, &j, func(t *tx, scope int64) error {
		return wrap("extend lease", t.exec("UPDATE jobs SET lease_until = ? WHERE scope = ? AND thread = ?", micros(until), scope, j.Thread))
	})
}

// QueueStats tells how the queue stands, of all tenants when tenant is "".
func (db *DB) QueueStats(ctx context.Context, tenant string, now time.Time) (st store.QueueStats, err error) {
	if err := db.enter(ctx); err != nil {
		return st, err
	}
	defer db.leave()
	var oldest sql.NullInt64
	err = db.reading(func(r *sql.DB) error {
		return r.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE held = 0), count(*) FILTER (WHERE held = 0 AND due_at <= ?1),
count(*) FILTER (WHERE held = 1), min(due_at) FILTER (WHERE held = 0 AND due_at <= ?1)
FROM (SELECT due_at, lease <> '' AND lease_until > ?1 AS held FROM jobs WHERE ?2 = '' OR tenant = ?2)`,
			micros(now), tenant).Scan(&st.Waiting, &st.Due, &st.Leased, &oldest)
	})
	if oldest.Valid {
		st.Oldest = fromMicros(oldest.Int64)
	}
	return st, wrap("read jobs", err)
}

// Release makes jobs due now that were put off.
func (db *DB) Release(ctx context.Context, tenant string, except []string, now time.Time) (n int, err error) {
	if err := db.enter(ctx); err != nil {
		return 0, err
	}
	defer db.leave()
	if err := store.ValidateName("tenant", tenant); err != nil {
		return 0, err
	}
	list, err := json.Marshal(append([]string{}, except...))
	if err != nil {
		return 0, fmt.Errorf("encode tenants: %w", err)
	}
	err = db.w.do(ctx, func(t *tx) error {
		n, err = t.execN(`UPDATE jobs SET due_at = ?1, not_before = ?2 WHERE not_before > ?1 AND (lease = '' OR leased <> generation OR lease_until <= ?1)
AND (tenant = ?3 OR ?3 = '' AND tenant NOT IN (SELECT value FROM json_each(?4)))`, micros(now), noTime, tenant, string(list))
		return wrap("release jobs", err)
	})
	return n, err
}

// Flush makes waiting jobs due now: one thread's, or all of the scope when thread is "".
func (db *DB) Flush(ctx context.Context, sc store.Scope, thread string, now time.Time) (n int, err error) {
	if err := db.enter(ctx); err != nil {
		return 0, err
	}
	defer db.leave()
	if err := sc.Validate(); err != nil {
		return 0, err
	}
	err = db.w.do(ctx, func(t *tx) error {
		scope, err := t.scope(sc)
		if err != nil {
			return err
		}
		n, err = t.execN(`UPDATE jobs SET due_at = min(due_at, ?1), not_before = ?2
WHERE scope = ?3 AND (?4 = '' OR thread = ?4) AND (lease = '' OR leased <> generation OR lease_until <= ?1)`, micros(now), noTime, scope, thread)
		return wrap("flush jobs", err)
	})
	return n, err
}

// WaitingThreads counts a scope's threads that wait for extraction or are in it.
func (db *DB) WaitingThreads(ctx context.Context, sc store.Scope) (n int, err error) {
	err = db.readScoped(ctx, sc, "count jobs", func(q *sql.DB, scope int64) error {
		return q.QueryRowContext(ctx, "SELECT count(*) FROM jobs WHERE scope = ?", scope).Scan(&n)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}
