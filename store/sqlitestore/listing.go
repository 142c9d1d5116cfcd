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

// scanner is a row that can be read.
type scanner interface{ Scan(dest ...any) error }

// listing pages through a tenant's entries of a table, newest first.
type listing[T any] struct {
	op      string
	columns string // SELECT … FROM … JOIN scopes s … WHERE
	owner   string // the columns of the tenant, the time and the id
	at, id  string
	where   where // what else selects
	scan    func(tenant string, row scanner) (T, error)
	place   func(*T) (time.Time, string)
}

func (l *listing[T]) page(ctx context.Context, db *DB, tenant string, sc *store.Scope, limit int, cursor string) (entries []T, next string, err error) {
	if err := db.enter(ctx); err != nil {
		return nil, "", err
	}
	defer db.leave()
	n, c, err := pageArgs(tenant, sc, limit, cursor)
	if err != nil {
		return nil, "", err
	}
	w := &l.where
	w.and(l.owner+" = ?", tenant)
	w.ofScope(sc)
	if c != nil {
		w.and("("+l.at+", "+l.id+") < (?, ?)", c.At, c.ID)
	}
	entries = []T{}
	query := l.columns + w.text() + " ORDER BY " + l.at + " DESC, " + l.id + " DESC LIMIT ?"
	err = db.rows(ctx, l.op, query, append(w.args, n), func(rows *sql.Rows) error {
		e, err := l.scan(tenant, rows)
		entries = append(entries, e)
		return err
	})
	if len(entries) == n {
		entries = entries[:n-1]
		at, id := l.place(&entries[n-2])
		next = timeCursor{micros(at), id}.String()
	}
	return entries, next, err
}

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
	return db.reading(func(r *sql.DB) error {
		rows, err := r.QueryContext(ctx, query, args...)
		if err != nil {
			return wrap(op, err)
		}
		return each(op, rows, f)
	})
}

// rows is DB.rows within a write.
func (t *tx) rows(op, query string, args []any, f func(*sql.Rows) error) error {
	s, err := t.stmt(query) //nolint:sqlclosecheck // the writer keeps it and closes it
	if err != nil {
		return wrap(op, err)
	}
	rows, err := s.QueryContext(t.ctx, args...)
	if err != nil {
		return wrap(op, err)
	}
	return each(op, rows, f)
}

func each(op string, rows *sql.Rows, f func(*sql.Rows) error) (err error) {
	defer func() { err = errors.Join(err, wrap(op, rows.Close())) }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return wrap(op, err)
		}
	}
	return wrap(op, rows.Err())
}
