package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"evoke/store"
)

// Claim leases up to n due jobs. Tenants take turns; of one tenant the oldest due comes first.
func (db *DB) Claim(ctx context.Context, now time.Time, lease time.Duration, n int, of store.Tenants) (jobs []store.Job, err error) {
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
	whose, err := selectTenants(of)
	if err != nil {
		return nil, err
	}
	err = db.w.do(ctx, func(t *tx) error {
		jobs, err = t.claim(micros(now), micros(now.Add(lease)), n, whose)
		return err
	})
	return jobs, err
}

// whose are the arguments of a query over the jobs of some tenants.
type whose struct{ except, fresh string }

func selectTenants(of store.Tenants) (w whose, err error) {
	except, err := json.Marshal(append([]string{}, of.Except...))
	if err != nil {
		return w, fmt.Errorf("encode tenants: %w", err)
	}
	fresh, err := json.Marshal(append([]string{}, of.Fresh...))
	if err != nil {
		return w, fmt.Errorf("encode tenants: %w", err)
	}
	return whose{string(except), string(fresh)}, nil
}

// The parts of the queries below. Their first argument is the tenant, or the tenants left out, their second those of whom only what is new is wanted. Tenants are found by leaps over the index, so
// that a long queue of one of them costs nothing.
const (
	tenantsOfJobs = `WITH RECURSIVE t (tenant) AS (SELECT min(tenant) FROM jobs
UNION ALL SELECT (SELECT min(j.tenant) FROM jobs j WHERE j.tenant > t.tenant) FROM t WHERE t.tenant IS NOT NULL) `
	selectedTenants = "t.tenant IS NOT NULL AND t.tenant NOT IN (SELECT value FROM json_each(?1))"
	freshOrAny      = "(j.tried <> j.generation OR j.tenant NOT IN (SELECT value FROM json_each(?2)))"
	dueAndFree      = "j.due_at <= ?3 AND (j.lease = '' OR j.lease_until <= ?3) AND " + freshOrAny

	// dueTenantsQuery lists the tenants with a due job; who was served longest ago comes first.
	dueTenantsQuery = tenantsOfJobs + `SELECT d.tenant FROM (
    SELECT t.tenant, (SELECT j.due_at FROM jobs j WHERE j.tenant = t.tenant AND ` + dueAndFree + ` ORDER BY j.due_at LIMIT 1) AS due
    FROM t WHERE ` + selectedTenants + `) d
LEFT JOIN served v ON v.tenant = d.tenant WHERE d.due IS NOT NULL ORDER BY coalesce(v.last, 0), d.due, d.tenant LIMIT ?4`

	dueJobsQuery = `SELECT j.scope, j.tenant, s.user, s.agent, j.thread, j.generation, j.first_at, j.due_at, j.attempts
FROM jobs j JOIN scopes s ON s.n = j.scope
WHERE j.tenant = ?1 AND ` + dueAndFree + ` ORDER BY j.due_at, j.scope, j.thread LIMIT ?4`

	nextDueQuery = tenantsOfJobs + `SELECT min(due) FROM (
    SELECT (SELECT j.due_at FROM jobs j WHERE j.tenant = t.tenant AND j.lease = '' AND ` + freshOrAny + ` ORDER BY j.due_at LIMIT 1) AS due
    FROM t WHERE ` + selectedTenants + `
    UNION ALL SELECT max(t.due_at, t.lease_until) FROM jobs t WHERE t.lease <> '' AND ` + selectedTenants + ")"
)

// dueJob is a job and the number of its scope.
type dueJob struct {
	scope int64
	store.Job
}

func (t *tx) claim(now, until int64, n int, of whose) ([]store.Job, error) {
	due, err := t.due(now, n, of)
	if err != nil {
		return nil, err
	}
	jobs := make([]store.Job, 0, len(due))
	for _, j := range due {
		id, err := uuid.NewRandom()
		if err != nil {
			return nil, fmt.Errorf("name lease: %w", err)
		}
		j.Lease = id.String()
		err = t.exec("UPDATE jobs SET lease = ?, leased = generation, lease_until = ? WHERE scope = ? AND thread = ?", j.Lease, until, j.scope, j.Thread)
		if err != nil {
			return nil, wrap("lease job", err)
		}
		if err := t.serve(j.Scope.Tenant); err != nil {
			return nil, err
		}
		jobs = append(jobs, j.Job)
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

// due takes the first job of every tenant, then the second of every tenant and so on.
func (t *tx) due(now int64, n int, of whose) ([]dueJob, error) {
	var tenants []string
	err := t.rows("read tenants", dueTenantsQuery, []any{of.except, of.fresh, now, n}, func(rows *sql.Rows) error {
		var tenant string
		err := rows.Scan(&tenant)
		tenants = append(tenants, tenant)
		return err //nolint:wrapcheck // rows names the operation
	})
	if err != nil {
		return nil, err
	}
	queues := make([][]dueJob, len(tenants))
	for i, tenant := range tenants {
		if queues[i], err = t.dueJobs(tenant, now, n, of); err != nil {
			return nil, err
		}
	}
	var out []dueJob
	for nth := range n {
		for _, q := range queues {
			if nth < len(q) && len(out) < n {
				out = append(out, q[nth])
			}
		}
	}
	return out, nil
}

func (t *tx) dueJobs(tenant string, now int64, n int, of whose) (jobs []dueJob, err error) {
	err = t.rows("read jobs", dueJobsQuery, []any{tenant, of.fresh, now, n}, func(rows *sql.Rows) error {
		var j dueJob
		var first, due int64
		err := rows.Scan(&j.scope, &j.Scope.Tenant, &j.Scope.User, &j.Scope.Agent, &j.Thread, &j.Generation, &first, &due, &j.Attempts)
		j.FirstAt, j.DueAt = fromMicros(first), fromMicros(due)
		jobs = append(jobs, j)
		return err //nolint:wrapcheck // rows names the operation
	})
	return jobs, err
}

// NextDue returns when the earliest job can be claimed; a leased one can be when its lease ends.
func (db *DB) NextDue(ctx context.Context, of store.Tenants) (at time.Time, ok bool, err error) {
	if err := db.enter(ctx); err != nil {
		return at, false, err
	}
	defer db.leave()
	w, err := selectTenants(of)
	if err != nil {
		return at, false, err
	}
	var us sql.NullInt64
	err = db.reading(func(r *sql.DB) error {
		return r.QueryRowContext(ctx, nextDueQuery, w.except, w.fresh).Scan(&us)
	})
	if err != nil || !us.Valid {
		return at, false, wrap("read jobs", err)
	}
	return fromMicros(us.Int64), true, nil
}
