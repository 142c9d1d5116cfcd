package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"evoke/store"
)

func (t *tx) quarantine(scope int64, tenant string, qs []store.Quarantined) error {
	for i := range qs {
		q := &qs[i]
		n, err := t.execN(`INSERT INTO quarantine (tenant, id, scope, event, thread, turn, extractor, reason, operation, at, key, edited)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			tenant, q.ID, scope, q.Event, q.Thread, q.Turn, q.Extractor, q.Reason, nonNil(q.Operation), micros(q.At), q.Key, q.Edited)
		if err != nil {
			return wrap("quarantine operation", err)
		}
		if n == 0 {
			return fmt.Errorf("%w: the id of the quarantined operation is taken", store.ErrConflict)
		}
	}
	return nil
}

// dropResting removes the quarantined operations that rest on an item.
func (t *tx) dropResting(scope int64, id string) error {
	n, err := t.execN("DELETE FROM quarantine WHERE scope = ? AND turn = ?", scope, id)
	t.w.erased = t.w.erased || n > 0
	return wrap("drop quarantined operations", err)
}

const quarantineColumns = `SELECT q.id, s.user, s.agent, q.event, q.thread, q.turn, q.extractor, q.reason, q.operation, q.at, q.key, q.edited,
CASE q.key WHEN '' THEN 1 ELSE (SELECT count(*) FROM quarantine o WHERE o.scope = q.scope AND o.key = q.key AND o.key <> '') END
FROM quarantine q JOIN scopes s ON s.n = q.scope WHERE `

func scanQuarantined(tenant string, rows scanner) (store.Quarantined, error) {
	q := store.Quarantined{Scope: store.Scope{Tenant: tenant}}
	var at int64
	err := rows.Scan(&q.ID, &q.Scope.User, &q.Scope.Agent, &q.Event, &q.Thread, &q.Turn, &q.Extractor, &q.Reason, &q.Operation, &at, &q.Key, &q.Edited, &q.Times)
	q.At = fromMicros(at)
	return q, err
}

// ListQuarantined pages through a tenant's quarantined operations, newest first.
func (db *DB) ListQuarantined(ctx context.Context, tenant string, q store.QuarantineQuery) (page store.QuarantinePage, err error) {
	l := listing[store.Quarantined]{
		op: "read quarantine", columns: quarantineColumns, owner: "q.tenant", at: "q.at", id: "q.id", scan: scanQuarantined,
		place: func(e *store.Quarantined) (time.Time, string) { return e.At, e.ID },
	}
	w := &l.where
	w.and("(q.key = '' OR NOT EXISTS (SELECT 1 FROM quarantine o WHERE o.scope = q.scope AND o.key = q.key AND o.key <> '' AND (o.at, o.id) < (q.at, q.id)))")
	for column, v := range map[string]string{
		"q.thread": q.Thread, "q.extractor": q.Extractor, "q.reason": q.Reason,
		"CASE WHEN json_valid(CAST(q.operation AS TEXT)) THEN json_extract(CAST(q.operation AS TEXT), '$.Category') END": string(q.Category),
	} {
		if v != "" {
			w.and(column+" = ?", v)
		}
	}
	if !q.Before.IsZero() {
		w.and("q.at < ?", micros(q.Before))
	}
	page.Entries, page.Next, err = l.page(ctx, db, tenant, q.Scope, q.Limit, q.Cursor)
	return page, err
}

// GetQuarantined returns one quarantined operation of the tenant.
func (db *DB) GetQuarantined(ctx context.Context, tenant, id string) (q store.Quarantined, err error) {
	if err := db.enter(ctx); err != nil {
		return q, err
	}
	defer db.leave()
	if tenant == "" {
		return q, fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	err = db.reading(func(r *sql.DB) error {
		q, err = scanQuarantined(tenant, r.QueryRowContext(ctx, quarantineColumns+"q.tenant = ? AND q.id = ?", tenant, id))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return store.Quarantined{}, fmt.Errorf("%w: no such quarantined operation", store.ErrNotFound)
	}
	return q, wrap("read quarantine", err)
}

// EditQuarantined puts another operation and key in the place of an entry's and of the others of its key.
func (db *DB) EditQuarantined(ctx context.Context, tenant string, q store.Quarantined) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if tenant == "" {
		return fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	return db.w.do(ctx, func(t *tx) error {
		n, err := t.execN("UPDATE quarantine SET operation = ?, key = ?, edited = 1 WHERE "+ofOneKey, nonNil(q.Operation), q.Key, tenant, q.ID)
		if err == nil && n == 0 {
			return fmt.Errorf("%w: no such quarantined operation", store.ErrNotFound)
		}
		t.w.erased = true // of the words that were there
		return wrap("edit quarantined operation", err)
	})
}

// ofOneKey selects an entry of a tenant and the others of its key.
const ofOneKey = `(tenant, id) IN (SELECT o.tenant, o.id FROM quarantine q
JOIN quarantine o ON o.tenant = q.tenant AND (o.id = q.id OR o.scope = q.scope AND o.key = q.key AND q.key <> '') WHERE q.tenant = ? AND q.id = ?)`

// DropQuarantined removes quarantined operations of the tenant, with the others of their keys, and returns how many of those
// named there were.
func (db *DB) DropQuarantined(ctx context.Context, tenant string, ids []string) (total int, err error) {
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
		total = 0
		for _, id := range ids {
			n, err := t.execN("DELETE FROM quarantine WHERE "+ofOneKey, tenant, id)
			if err != nil {
				return wrap("drop quarantined operations", err)
			}
			total += min(n, 1)
		}
		t.w.erased = t.w.erased || total > 0
		return nil
	})
	if err != nil {
		return 0, err
	}
	return total, nil
}

func checkDay(name, day string) error {
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return store.Invalid(name, "a date like 2026-11-30", "")
	}
	return nil
}

// AddUsage adds to the tenant's numbers of a day.
func (db *DB) AddUsage(ctx context.Context, tenant string, u store.Usage) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if tenant == "" {
		return fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	if err := checkDay("day", u.Day); err != nil {
		return err
	}
	if min(u.Calls, u.PromptTokens, u.CompletionTokens) < 0 {
		return store.Invalid("usage", "zero or more", "")
	}
	return db.w.do(ctx, func(t *tx) error {
		return wrap("add usage", t.exec(`INSERT INTO usage (tenant, day, calls, prompt_tokens, completion_tokens) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, prompt_tokens = prompt_tokens + excluded.prompt_tokens,
completion_tokens = completion_tokens + excluded.completion_tokens`, tenant, u.Day, u.Calls, u.PromptTokens, u.CompletionTokens))
	})
}

// Usage returns the days from fromDay to toDay, both included, that have any, oldest first.
func (db *DB) Usage(ctx context.Context, tenant, fromDay, toDay string) (us []store.Usage, err error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	if tenant == "" {
		return nil, fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	if err := errors.Join(checkDay("first day", fromDay), checkDay("last day", toDay)); err != nil {
		return nil, err
	}
	err = db.rows(ctx, "read usage", `SELECT day, calls, prompt_tokens, completion_tokens FROM usage
WHERE tenant = ? AND day BETWEEN ? AND ? ORDER BY day`, []any{tenant, fromDay, toDay}, func(rows *sql.Rows) error {
		var u store.Usage
		err := rows.Scan(&u.Day, &u.Calls, &u.PromptTokens, &u.CompletionTokens)
		us = append(us, u)
		return err //nolint:wrapcheck // db.rows names the operation
	})
	return us, err
}
