package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"evoke/store"
)

// timeCursor is where a page of entries that are sorted by time, newest first, ended.
type timeCursor struct {
	At int64  `json:"at"`
	ID string `json:"id"`
}

func (c timeCursor) String() string {
	b, err := json.Marshal(c)
	if err != nil {
		return "" // a number and a string always encode
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// pageArgs checks what selects a page. limit is one more than asked for, to see whether another page follows.
func pageArgs(tenant string, sc *store.Scope, limit int, cursor string) (n int, _ *timeCursor, err error) {
	if tenant == "" {
		return 0, nil, fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	if sc != nil {
		if err := sc.Validate(); err != nil {
			return 0, nil, err
		}
		if sc.Tenant != tenant {
			return 0, nil, fmt.Errorf("%w: the memory is another tenant's", store.ErrTenant)
		}
	}
	if limit == 0 {
		limit = 100
	}
	if limit < 0 || limit > 1000 {
		return 0, nil, store.Invalid("limit", "between 1 and 1000", fmt.Sprint(limit))
	}
	if cursor == "" {
		return limit + 1, nil, nil
	}
	var c timeCursor
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil {
		return 0, nil, store.Invalid("cursor", "one that the previous page of this listing gave", "")
	}
	return limit + 1, &c, nil
}

// ofScope narrows a listing to one scope.
func (w *where) ofScope(sc *store.Scope) {
	if sc != nil {
		w.and("s.user = ?", sc.User)
		w.and("s.agent = ?", sc.Agent)
	}
}

// rows runs a query and calls f for each of its rows.
func (db *DB) rows(ctx context.Context, op, query string, args []any, f func(*sql.Rows) error) error {
	return db.reading(func(r *sql.DB) (err error) {
		rows, err := r.QueryContext(ctx, query, args...)
		if err != nil {
			return wrap(op, err)
		}
		defer func() { err = errors.Join(err, wrap(op, rows.Close())) }()
		for rows.Next() {
			if err := f(rows); err != nil {
				return wrap(op, err)
			}
		}
		return wrap(op, rows.Err())
	})
}

func (t *tx) quarantine(scope int64, tenant string, qs []store.Quarantined) error {
	for i := range qs {
		q := &qs[i]
		n, err := t.execN(`INSERT INTO quarantine (tenant, id, scope, event, thread, turn, extractor, reason, operation, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			tenant, q.ID, scope, q.Event, q.Thread, q.Turn, q.Extractor, q.Reason, nonNil(q.Operation), micros(q.At))
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

const quarantineColumns = `SELECT q.id, s.user, s.agent, q.event, q.thread, q.turn, q.extractor, q.reason, q.operation, q.at
FROM quarantine q JOIN scopes s ON s.n = q.scope WHERE `

func scanQuarantined(tenant string, rows interface{ Scan(...any) error }) (store.Quarantined, error) {
	q := store.Quarantined{Scope: store.Scope{Tenant: tenant}}
	var at int64
	err := rows.Scan(&q.ID, &q.Scope.User, &q.Scope.Agent, &q.Event, &q.Thread, &q.Turn, &q.Extractor, &q.Reason, &q.Operation, &at)
	q.At = fromMicros(at)
	return q, err
}

// ListQuarantined pages through a tenant's quarantined operations, newest first.
func (db *DB) ListQuarantined(ctx context.Context, tenant string, q store.QuarantineQuery) (page store.QuarantinePage, err error) {
	if err := db.enter(ctx); err != nil {
		return page, err
	}
	defer db.leave()
	n, c, err := pageArgs(tenant, q.Scope, q.Limit, q.Cursor)
	if err != nil {
		return page, err
	}
	var w where
	w.and("q.tenant = ?", tenant)
	w.ofScope(q.Scope)
	if c != nil {
		w.and("(q.at, q.id) < (?, ?)", c.At, c.ID)
	}
	page.Entries = []store.Quarantined{}
	err = db.rows(ctx, "read quarantine", quarantineColumns+w.text()+" ORDER BY q.at DESC, q.id DESC LIMIT ?", append(w.args, n), func(rows *sql.Rows) error {
		e, err := scanQuarantined(tenant, rows)
		page.Entries = append(page.Entries, e)
		return err
	})
	if len(page.Entries) == n {
		page.Entries = page.Entries[:n-1]
		last := &page.Entries[n-2]
		page.Next = timeCursor{micros(last.At), last.ID}.String()
	}
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

// DropQuarantined removes quarantined operations of the tenant and returns how many there were.
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
			n, err := t.execN("DELETE FROM quarantine WHERE tenant = ? AND id = ?", tenant, id)
			if err != nil {
				return wrap("drop quarantined operations", err)
			}
			total += n
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
