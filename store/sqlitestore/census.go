package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"evoke/store"
)

// Census counts a tenant's items.
func (db *DB) Census(ctx context.Context, tenant string, q store.CensusQuery) (store.Census, error) {
	c := store.Census{Kinds: map[store.Kind]int{}, Categories: map[store.Category]int{}, Since: make([]int, len(q.Since))}
	if err := db.enter(ctx); err != nil {
		return c, err
	}
	defer db.leave()
	if err := q.Validate(tenant); err != nil {
		return c, fmt.Errorf("census: %w", err)
	}
	var w where
	for _, at := range q.Since {
		w.args = append(w.args, micros(at)) // they stand before the conditions
	}
	w.and("i.scope IN (SELECT n FROM scopes WHERE tenant = ?)", tenant)
	w.view(q.View)
	query := "SELECT i.kind, i.category, count(*), total(octet_length(i.content)), total(x.bytes)" + strings.Repeat(", sum(recorded_at >= ?)", len(q.Since)) +
		` FROM items i LEFT JOIN (SELECT item, sum(octet_length(row)) AS bytes FROM vectors GROUP BY item) x ON x.item = i.n
WHERE ` + w.text() + " GROUP BY i.kind, i.category"
	err := db.reading(func(r *sql.DB) (err error) {
		if c.Users, err = censusUsers(ctx, r, tenant, q); err != nil {
			return err
		}
		rows, err := r.QueryContext(ctx, query, w.args...)
		if err != nil {
			return wrap("census", err)
		}
		defer func() { err = errors.Join(err, wrap("census", rows.Close())) }()
		for rows.Next() {
			var kind, category string
			var n int
			var text, vectors float64
			since := make([]int, len(q.Since))
			into := []any{&kind, &category, &n, &text, &vectors}
			for i := range since {
				into = append(into, &since[i])
			}
			if err := rows.Scan(into...); err != nil {
				return wrap("census", err)
			}
			c.Kinds[store.Kind(kind)] += n
			c.Categories[store.Category(category)] += n
			c.Bytes += int64(text) + int64(vectors)
			for i, m := range since {
				c.Since[i] += m
			}
		}
		return wrap("census", rows.Err())
	})
	return c, err
}

// censusUsers counts the items of those users that have the most.
func censusUsers(ctx context.Context, r *sql.DB, tenant string, q store.CensusQuery) (users []store.UserCount, err error) {
	if q.Users == 0 {
		return nil, nil
	}
	var w where
	w.and("s.tenant = ? AND s.user <> ''", tenant)
	w.view(q.View)
	rows, err := r.QueryContext(ctx, `SELECT s.user, count(*) FROM scopes s CROSS JOIN items i ON i.scope = s.n
WHERE `+w.text()+` GROUP BY s.user ORDER BY 2 DESC, 1 LIMIT ?`, append(w.args, q.Users)...)
	if err != nil {
		return nil, wrap("census", err)
	}
	defer func() { err = errors.Join(err, wrap("census", rows.Close())) }()
	for rows.Next() {
		var u store.UserCount
		if err := rows.Scan(&u.User, &u.Items); err != nil {
			return nil, wrap("census", err)
		}
		users = append(users, u)
	}
	return users, wrap("census", rows.Err())
}

// Tenants lists the tenants that hold items.
func (db *DB) Tenants(ctx context.Context) (names []string, err error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	err = db.reading(func(r *sql.DB) (err error) {
		rows, err := r.QueryContext(ctx, `SELECT DISTINCT tenant FROM scopes s WHERE EXISTS (SELECT 1 FROM items WHERE scope = s.n) ORDER BY tenant`)
		if err != nil {
			return wrap("list tenants", err)
		}
		defer func() { err = errors.Join(err, wrap("list tenants", rows.Close())) }()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return wrap("list tenants", err)
			}
			names = append(names, name)
		}
		return wrap("list tenants", rows.Err())
	})
	return names, err
}
