package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"evoke/store"
)

// arm sets a thread's trailing debounce. While a run holds the thread, its arming starts a new window.
func (t *tx) arm(scope int64, a *store.Arming) error {
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
	return wrap("arm job", t.exec(`INSERT INTO jobs (scope, thread, generation, first_at, due_at, not_before, attempts, note, lease, leased, lease_until)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, '', '', 0, ?7)
ON CONFLICT DO UPDATE SET generation = ?3, first_at = ?4, due_at = ?5`, scope, a.Thread, generation, first, due, notBefore, noTime))
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
	if generation == f.Job.Generation {
		err = t.exec("DELETE FROM jobs WHERE scope = ? AND thread = ?", scope, f.Job.Thread)
	} else {
		err = t.exec(`UPDATE jobs SET lease = '', leased = 0, lease_until = ?, attempts = 0, note = '', not_before = ?
WHERE scope = ? AND thread = ?`, noTime, noTime, scope, f.Job.Thread)
	}
	if err != nil {
		return wrap("end job", err)
	}
	return wrap("end events", t.exec(`UPDATE events SET state = ?, facts = ?, note = ?, extractor = ?, done_at = ?
WHERE scope = ? AND thread = ? AND up_to <= ? AND state = 'pending'`,
		string(f.State), f.Facts, f.Note, f.Extractor, micros(f.At), scope, f.Job.Thread, f.UpTo))
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

// Claim leases up to n due jobs. Tenants take turns; of one tenant the oldest due comes first.
func (db *DB) Claim(ctx context.Context, now time.Time, lease time.Duration, n int) (jobs []store.Job, err error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	if lease <= 0 {
		return nil, store.Invalid("lease", "longer than zero", lease.String())
	}
	if n <= 0 {
		return nil, nil
	}
	err = db.w.do(ctx, func(t *tx) error {
		jobs, err = t.claim(micros(now), micros(now.Add(lease)), n)
		return err
	})
	return jobs, err
}

func (t *tx) claim(now, until int64, n int) ([]store.Job, error) {
	keys, jobs, err := t.dueJobs(now, n)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		id, err := uuid.NewRandom()
		if err != nil {
			return nil, fmt.Errorf("name lease: %w", err)
		}
		jobs[i].Lease = id.String()
		err = t.exec("UPDATE jobs SET lease = ?, leased = generation, lease_until = ? WHERE scope = ? AND thread = ?",
			jobs[i].Lease, until, keys[i], jobs[i].Thread)
		if err != nil {
			return nil, wrap("lease job", err)
		}
		if err := t.serve(jobs[i].Scope.Tenant); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// serve notes that a tenant had its turn.
func (t *tx) serve(tenant string) error {
	turn, err := t.newGeneration()
	if err != nil {
		return err
	}
	return wrap("note turn", t.exec("INSERT INTO served (tenant, last) VALUES (?, ?) ON CONFLICT DO UPDATE SET last = excluded.last", tenant, turn))
}

// dueQuery takes the first job of every tenant, then the second of every tenant and so on; who was served longest ago
// comes first.
const dueQuery = `SELECT d.scope, d.tenant, d.user, d.agent, d.thread, d.generation, d.first_at, d.due_at, d.attempts FROM (
    SELECT j.scope, s.tenant, s.user, s.agent, j.thread, j.generation, j.first_at, j.due_at, j.attempts,
           row_number() OVER (PARTITION BY s.tenant ORDER BY j.due_at, j.scope, j.thread) AS nth
    FROM jobs j JOIN scopes s ON s.n = j.scope WHERE j.due_at <= ?1 AND (j.lease = '' OR j.lease_until <= ?1)) d
LEFT JOIN served v ON v.tenant = d.tenant
ORDER BY d.nth, coalesce(v.last, 0), d.due_at, d.scope, d.thread LIMIT ?2`

func (t *tx) dueJobs(now int64, n int) (keys []int64, jobs []store.Job, err error) {
	s, err := t.stmt(dueQuery) //nolint:sqlclosecheck // the writer keeps it and closes it
	if err != nil {
		return nil, nil, wrap("read jobs", err)
	}
	rows, err := s.QueryContext(t.ctx, now, n)
	if err != nil {
		return nil, nil, wrap("read jobs", err)
	}
	defer func() { err = errors.Join(err, wrap("read jobs", rows.Close())) }()
	for rows.Next() {
		var j store.Job
		var key, first, due int64
		if err := rows.Scan(&key, &j.Scope.Tenant, &j.Scope.User, &j.Scope.Agent, &j.Thread, &j.Generation, &first, &due, &j.Attempts); err != nil {
			return nil, nil, wrap("read job", err)
		}
		j.FirstAt, j.DueAt = fromMicros(first), fromMicros(due)
		keys, jobs = append(keys, key), append(jobs, j)
	}
	return keys, jobs, wrap("read jobs", rows.Err())
}

// Retry gives a job back, due at the given time. Armings meanwhile do not bring it forward; Flush does.
func (db *DB) Retry(ctx context.Context, j store.Job, at time.Time, reason string) error {
	return db.holding(ctx, &j, func(t *tx, scope int64) error {
		us := micros(at)
		return wrap("give job back", t.exec(`UPDATE jobs SET lease = '', leased = 0, lease_until = ?, due_at = ?, not_before = ?,
attempts = attempts + 1, note = ? WHERE scope = ? AND thread = ?`, noTime, us, us, reason, scope, j.Thread))
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
FROM (SELECT j.due_at, j.lease <> '' AND j.lease_until > ?1 AS held FROM jobs j JOIN scopes s ON s.n = j.scope WHERE ?2 = '' OR s.tenant = ?2)`,
			micros(now), tenant).Scan(&st.Waiting, &st.Due, &st.Leased, &oldest)
	})
	if oldest.Valid {
		st.Oldest = fromMicros(oldest.Int64)
	}
	return st, wrap("read jobs", err)
}

// NextDue returns when the earliest job can be claimed; a leased one can be when its lease ends.
func (db *DB) NextDue(ctx context.Context) (at time.Time, ok bool, err error) {
	if err := db.enter(ctx); err != nil {
		return at, false, err
	}
	defer db.leave()
	var us sql.NullInt64
	err = db.reading(func(r *sql.DB) error {
		return r.QueryRowContext(ctx, "SELECT min(CASE lease WHEN '' THEN due_at ELSE max(due_at, lease_until) END) FROM jobs").Scan(&us)
	})
	if err != nil || !us.Valid {
		return at, false, wrap("read jobs", err)
	}
	return fromMicros(us.Int64), true, nil
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
