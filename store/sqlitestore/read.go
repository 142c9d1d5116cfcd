package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"evoke/store"
)

// Get returns the items that exist, in the order of ids.
func (db *DB) Get(ctx context.Context, sc store.Scope, ids []string) ([]store.Item, error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	if err := sc.Validate(); err != nil {
		return nil, err
	}
	scope, ok, err := db.scopeID(ctx, sc)
	if err != nil || !ok || len(ids) == 0 {
		return nil, err
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("encode ids: %w", err)
	}
	found := make(map[string]store.Item, len(ids))
	err = db.reading(func(r *sql.DB) error {
		return eachItem(ctx, r, "SELECT "+itemColumns+" FROM items WHERE scope = ? AND id IN (SELECT value FROM json_each(?))",
			[]any{scope, string(list)}, func(it store.Item) bool {
				found[it.ID] = it
				return true
			})
	})
	if err != nil {
		return nil, err
	}
	items := make([]store.Item, 0, len(found))
	for _, id := range ids {
		if it, ok := found[id]; ok {
			items = append(items, it)
			delete(found, id) // an id asked for twice is answered once
		}
	}
	return items, nil
}

// eachItem calls f for every row of a query for itemColumns until f returns false.
func eachItem(ctx context.Context, r *sql.DB, query string, args []any, f func(store.Item) bool) (err error) {
	rows, err := r.QueryContext(ctx, query, args...)
	if err != nil {
		return wrap("read items", err)
	}
	defer func() { err = errors.Join(err, wrap("read items", rows.Close())) }()
	for rows.Next() {
		var row itemRow
		if err := rows.Scan(row.dest()...); err != nil {
			return wrap("read item", err)
		}
		it, err := row.item()
		if err != nil {
			return err
		}
		if !f(it) {
			return nil
		}
	}
	return wrap("read items", rows.Err())
}

const (
	defaultPage = 100
	maxPage     = 10000
)

// List pages through items. What SQL can tell exactly narrows the rows; store.Filter.Match and store.View.Sees decide.
func (db *DB) List(ctx context.Context, sc store.Scope, q store.ListQuery) (store.Page, error) {
	if err := db.enter(ctx); err != nil {
		return store.Page{}, err
	}
	defer db.leave()
	if err := sc.Validate(); err != nil {
		return store.Page{}, err
	}
	if err := q.Filter.Validate(); err != nil {
		return store.Page{}, err
	}
	if q.Limit < 0 || q.Limit > maxPage {
		return store.Page{}, store.Invalid("limit", fmt.Sprintf("from 1 to %d", maxPage), fmt.Sprint(q.Limit))
	}
	if q.Limit == 0 {
		q.Limit = defaultPage
	}
	c, err := parseCursor(q.Order, q.Cursor)
	if err != nil {
		return store.Page{}, err
	}
	scope, ok, err := db.scopeID(ctx, sc)
	if err != nil || !ok {
		return store.Page{}, err
	}
	var w where
	w.and("scope = ?", scope)
	w.view(q.View)
	w.filter(&q.Filter)
	order := w.page(q.Order, c, &q.Filter)
	var page store.Page
	err = db.reading(func(r *sql.DB) error {
		return eachItem(ctx, r, "SELECT "+itemColumns+" FROM items WHERE "+w.text()+" ORDER BY "+order, w.args, func(it store.Item) bool {
			if !q.View.Sees(&it) || !q.Filter.Match(&it) {
				return true
			}
			if len(page.Items) == q.Limit {
				page.Next = makeCursor(q.Order, &page.Items[q.Limit-1])
				return false
			}
			page.Items = append(page.Items, it)
			return true
		})
	})
	if err != nil {
		return store.Page{}, err
	}
	return page, nil
}

// Stats counts the scope's items in the view.
func (db *DB) Stats(ctx context.Context, sc store.Scope, v store.View) (store.Stats, error) {
	var st store.Stats
	if err := db.enter(ctx); err != nil {
		return st, err
	}
	defer db.leave()
	if err := sc.Validate(); err != nil {
		return st, err
	}
	scope, ok, err := db.scopeID(ctx, sc)
	if err != nil || !ok {
		return st, err
	}
	var w where
	w.and("i.scope = ?", scope)
	w.view(v)
	err = db.reading(func(r *sql.DB) (err error) {
		st.Embedded, st.Bytes, err = countVectors(ctx, r, &w)
		return err
	})
	if err != nil {
		return st, err
	}
	query := "SELECT " + ofKind + ", count(*), sum(octet_length(content)) FROM items i WHERE " + w.text() + " GROUP BY " + ofKind
	err = db.rows(ctx, "count items", query, w.args, func(rows *sql.Rows) error {
		var what string
		var n int
		var bytes int64
		if err := rows.Scan(&what, &n, &bytes); err != nil {
			return err //nolint:wrapcheck // db.rows names the operation
		}
		st.Total += n
		st.Bytes += bytes
		switch kind, _, _ := strings.Cut(what, " "); store.Kind(kind) {
		case store.Episodic:
			st.Episodic += n
		case store.Semantic:
			st.Semantic += n
		case store.Procedural:
			st.Procedural += n
		}
		return nil
	})
	return st, err
}

// Scopes lists the scopes of a tenant that hold items, ordered by Key.
func (db *DB) Scopes(ctx context.Context, tenant string) ([]store.Scope, error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	if tenant == "" {
		return nil, fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	var out []store.Scope
	err := db.reading(func(r *sql.DB) (err error) {
		rows, err := r.QueryContext(ctx, `SELECT user, agent FROM scopes s WHERE tenant = ?
AND EXISTS (SELECT 1 FROM items WHERE scope = s.n)`, tenant)
		if err != nil {
			return wrap("list scopes", err)
		}
		defer func() { err = errors.Join(err, wrap("list scopes", rows.Close())) }()
		for rows.Next() {
			sc := store.Scope{Tenant: tenant}
			if err := rows.Scan(&sc.User, &sc.Agent); err != nil {
				return wrap("list scopes", err)
			}
			out = append(out, sc)
		}
		return wrap("list scopes", rows.Err())
	})
	slices.SortFunc(out, func(a, b store.Scope) int { return strings.Compare(a.Key(), b.Key()) })
	return out, err
}
