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

func noTenant(tenant string) error {
	if tenant == "" {
		return fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	return nil
}

// SaveOperation stores the operation with the next version.
func (db *DB) SaveOperation(ctx context.Context, op store.Operation) (version int64, err error) {
	if err := db.enter(ctx); err != nil {
		return 0, err
	}
	defer db.leave()
	if err := errors.Join(noTenant(op.Tenant), store.ValidateName("id", op.ID), store.ValidateName("kind", op.Kind)); err != nil {
		return 0, err
	}
	err = db.w.do(ctx, func(t *tx) error {
		n, err := t.execN(`INSERT INTO operations (tenant, id, kind, state, by, args, checkpoint, result, done, total, note, cancel, version, created_at, updated_at, done_at)
SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ? WHERE ? = 0 ON CONFLICT DO NOTHING`,
			op.Tenant, op.ID, op.Kind, string(op.State), op.By, nonNil(op.Args), nonNil(op.Checkpoint), nonNil(op.Result), op.Done, op.Total, op.Note,
			op.Cancel, micros(op.CreatedAt), micros(op.UpdatedAt), micros(op.DoneAt), op.Version)
		if err == nil && op.Version != 0 {
			n, err = t.execN(`UPDATE operations SET state = ?, args = ?, checkpoint = ?, result = ?, done = ?, total = ?, note = ?, cancel = ?, version = version + 1,
updated_at = ?, done_at = ? WHERE tenant = ? AND id = ? AND version = ?`,
				string(op.State), nonNil(op.Args), nonNil(op.Checkpoint), nonNil(op.Result), op.Done, op.Total, op.Note, op.Cancel,
				micros(op.UpdatedAt), micros(op.DoneAt), op.Tenant, op.ID, op.Version)
		}
		if err == nil && n == 0 {
			return fmt.Errorf("%w: the operation was changed by another", store.ErrConflict)
		}
		t.w.erased = t.w.erased || op.State.Ended() // its steps may have named what it erased
		return wrap("save operation", err)
	})
	return op.Version + 1, err
}

const operationColumns = `SELECT tenant, id, kind, state, by, args, checkpoint, result, done, total, note, cancel, version, created_at, updated_at, done_at FROM operations `

func scanOperation(row scanner) (op store.Operation, err error) {
	var created, updated, done int64
	var args, checkpoint, result []byte
	err = row.Scan(&op.Tenant, &op.ID, &op.Kind, &op.State, &op.By, &args, &checkpoint, &result, &op.Done, &op.Total, &op.Note, &op.Cancel, &op.Version,
		&created, &updated, &done)
	op.Args, op.Checkpoint, op.Result = rawJSON(args), rawJSON(checkpoint), rawJSON(result)
	op.CreatedAt, op.UpdatedAt, op.DoneAt = fromMicros(created), fromMicros(updated), fromMicros(done)
	return op, err
}

// rawJSON is JSON as it was given: nothing stays nothing.
func rawJSON(b []byte) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return b
}

// Operation returns one of the tenant's operations.
func (db *DB) Operation(ctx context.Context, tenant, id string) (op store.Operation, err error) {
	if err := db.enter(ctx); err != nil {
		return op, err
	}
	defer db.leave()
	if err := noTenant(tenant); err != nil {
		return op, err
	}
	err = db.reading(func(r *sql.DB) error {
		op, err = scanOperation(r.QueryRowContext(ctx, operationColumns+"WHERE tenant = ? AND id = ?", tenant, id))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return store.Operation{}, fmt.Errorf("%w: no such operation", store.ErrNotFound)
	}
	return op, wrap("read operation", err)
}

// ListOperations pages through a tenant's operations, newest first.
func (db *DB) ListOperations(ctx context.Context, tenant string, q store.OperationQuery) (page store.OperationPage, err error) {
	l := listing[store.Operation]{
		op: "read operations", columns: operationColumns + "WHERE ", owner: "tenant", at: "created_at", id: "id",
		scan:  func(_ string, row scanner) (store.Operation, error) { return scanOperation(row) },
		place: func(op *store.Operation) (time.Time, string) { return op.CreatedAt, op.ID },
	}
	if q.Kind != "" {
		l.where.and("kind = ?", q.Kind)
	}
	if q.State != "" {
		l.where.and("state = ?", string(q.State))
	}
	page.Operations, page.Next, err = l.page(ctx, db, tenant, nil, q.Limit, q.Cursor)
	return page, err
}

// Unfinished returns the operations of all tenants that have not ended, oldest first.
func (db *DB) Unfinished(ctx context.Context) (ops []store.Operation, err error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	err = db.rows(ctx, "read operations", operationColumns+"WHERE state IN ('queued', 'running') ORDER BY created_at, id", nil, func(rows *sql.Rows) error {
		op, err := scanOperation(rows)
		ops = append(ops, op)
		return err
	})
	return ops, err
}

// AppendAudit adds an entry.
func (db *DB) AppendAudit(ctx context.Context, a store.Audit) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := errors.Join(noTenant(a.Tenant), store.ValidateName("verb", a.Verb)); err != nil {
		return err
	}
	entry, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode audit entry: %w", err)
	}
	return db.w.do(ctx, func(t *tx) error {
		return wrap("append to the audit log", t.exec("INSERT INTO audit (at, tenant, user, verb, entry) VALUES (?, ?, ?, ?, ?)", micros(a.At), a.Tenant, a.User, a.Verb, entry))
	})
}

// audited is an entry of the audit log with its number, which orders entries of one time.
type audited struct {
	store.Audit
	number string
}

func scanAudited(tenant string, row scanner) (a audited, err error) {
	var entry []byte
	if err = row.Scan(&a.number, &entry); err == nil {
		err = json.Unmarshal(entry, &a.Audit)
	}
	a.Tenant = tenant
	return a, err //nolint:wrapcheck // the listing names the operation
}

// ListAudit pages through a tenant's log, newest first.
func (db *DB) ListAudit(ctx context.Context, tenant string, q store.AuditQuery) (page store.AuditPage, err error) {
	l := listing[audited]{
		op: "read the audit log", columns: "SELECT n, entry FROM audit WHERE ", owner: "tenant", at: "at", id: "n", scan: scanAudited,
		place: func(a *audited) (time.Time, string) { return a.At, a.number },
	}
	if q.Verb != "" {
		l.where.and("verb = ?", q.Verb)
	}
	if q.User != "" {
		l.where.and("user = ?", q.User)
	}
	if !q.From.IsZero() {
		l.where.and("at >= ?", micros(q.From))
	}
	if !q.To.IsZero() {
		l.where.and("at < ?", micros(q.To))
	}
	entries, next, err := l.page(ctx, db, tenant, nil, q.Limit, q.Cursor)
	page = store.AuditPage{Entries: make([]store.Audit, len(entries)), Next: next}
	for i := range entries {
		page.Entries[i] = entries[i].Audit
	}
	return page, err
}

// SaveSetting stores the setting with the next version.
func (db *DB) SaveSetting(ctx context.Context, s store.Setting) (version int64, err error) {
	if err := db.enter(ctx); err != nil {
		return 0, err
	}
	defer db.leave()
	if err := errors.Join(store.ValidateName("kind", s.Kind), store.ValidateName("name", s.Name)); err != nil {
		return 0, err
	}
	err = db.w.do(ctx, func(t *tx) error {
		n, err := t.execN("INSERT INTO settings (kind, tenant, name, value, version, at) SELECT ?, ?, ?, ?, 1, ? WHERE ? = 0 ON CONFLICT DO NOTHING",
			s.Kind, s.Tenant, s.Name, nonNil(s.Value), micros(s.At), s.Version)
		if err == nil && s.Version != 0 {
			n, err = t.execN("UPDATE settings SET value = ?, version = version + 1, at = ? WHERE kind = ? AND tenant = ? AND name = ? AND version = ?",
				nonNil(s.Value), micros(s.At), s.Kind, s.Tenant, s.Name, s.Version)
		}
		if err == nil && n == 0 {
			return fmt.Errorf("%w: the setting was changed by another", store.ErrConflict)
		}
		return wrap("save setting", err)
	})
	return s.Version + 1, err
}

// Settings returns all of a kind, of all tenants when tenant is "*".
func (db *DB) Settings(ctx context.Context, tenant, kind string) (all []store.Setting, err error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	err = db.rows(ctx, "read settings", "SELECT tenant, name, value, version, at FROM settings WHERE kind = ? AND (? = '*' OR tenant = ?) ORDER BY tenant, name",
		[]any{kind, tenant, tenant}, func(rows *sql.Rows) error {
			s := store.Setting{Kind: kind}
			var at int64
			var value []byte
			err := rows.Scan(&s.Tenant, &s.Name, &value, &s.Version, &at)
			s.Value, s.At = rawJSON(value), fromMicros(at)
			all = append(all, s)
			return err //nolint:wrapcheck // db.rows names the operation
		})
	return all, err
}

// DropSetting removes one.
func (db *DB) DropSetting(ctx context.Context, tenant, kind, name string) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	return db.w.do(ctx, func(t *tx) error {
		n, err := t.execN("DELETE FROM settings WHERE kind = ? AND tenant = ? AND name = ?", kind, tenant, name)
		if err == nil && n == 0 {
			return fmt.Errorf("%w: no such setting", store.ErrNotFound)
		}
		t.w.erased = t.w.erased || n > 0
		return wrap("drop setting", err)
	})
}
