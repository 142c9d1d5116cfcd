package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"evoke/store"
)

// What is counted is answered from the indexes items_census and vectors_by_item alone, without a look at texts and vectors.
const (
	// ofKind is an expression of the index items_census, which has it in these very words.
	ofKind   = "kind || ' ' || category"
	ofTenant = "i.scope IN (SELECT n FROM scopes WHERE tenant = ?)"

	allQuery = "SELECT count(*), coalesce(sum(n), 0), coalesce(sum(bytes), 0) FROM (SELECT count(*) AS n, sum(octet_length(content)) AS bytes FROM items i WHERE " +
		ofTenant + " GROUP BY i.scope)"
	vectorsQuery = "SELECT count(*), coalesce(sum(v.seq = 0), 0) FROM items i CROSS JOIN vectors v ON v.item = i.n WHERE "
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
	err := db.reading(func(r *sql.DB) error {
		err := r.QueryRowContext(ctx, allQuery, tenant).Scan(&c.Scopes, &c.Versions, &c.Bytes)
		if err != nil {
			return wrap("census", err)
		}
		var w where
		w.and(ofTenant, tenant)
		_, bytes, err := countVectors(ctx, r, &w)
		c.Bytes += bytes
		return err
	})
	if err != nil {
		return c, err
	}
	query, args := censusQuery(tenant, &q)
	err = db.rows(ctx, "census", query, args, func(rows *sql.Rows) error { return countRow(rows, &c) })
	return c, err
}

// censusQuery counts what the view sees: rows of no user with a kind and a category, their items and how many of those are
// young, and rows of those users that have the most.
func censusQuery(tenant string, q *store.CensusQuery) (query string, args []any) {
	var w where
	young, sums := "", ""
	for i, at := range q.Since {
		young += fmt.Sprintf(", sum(recorded_at >= ?) AS s%d", i)
		sums += fmt.Sprintf(", sum(s%d)", i)
		w.args = append(w.args, micros(at)) // they stand before the conditions
	}
	w.and(ofTenant, tenant)
	w.view(q.View)
	query = "WITH g AS MATERIALIZED (SELECT i.scope AS scope, " + ofKind + " AS what, count(*) AS n" + young + " FROM items i WHERE " + w.text() +
		" GROUP BY i.scope, " + ofKind + ") SELECT '', what, sum(n)" + sums + " FROM g GROUP BY what"
	if q.Users > 0 {
		query += " UNION ALL SELECT * FROM (SELECT s.user, '', sum(g.n) AS most" + strings.Repeat(", 0", len(q.Since)) +
			" FROM g JOIN scopes s ON s.n = g.scope WHERE s.user <> '' GROUP BY s.user ORDER BY most DESC, s.user LIMIT ?)"
		w.args = append(w.args, q.Users)
	}
	return query, w.args
}

// countRow adds a row of a censusQuery.
func countRow(rows *sql.Rows, c *store.Census) error {
	var user, what string
	var n int
	since := make([]int, len(c.Since))
	into := []any{&user, &what, &n}
	for i := range since {
		into = append(into, &since[i])
	}
	if err := rows.Scan(into...); err != nil {
		return err //nolint:wrapcheck // db.rows names the operation
	}
	if user != "" {
		c.Users = append(c.Users, store.UserCount{User: user, Items: n})
		slices.SortFunc(c.Users, store.UserCount.Compare)
		return nil
	}
	kind, category, _ := strings.Cut(what, " ")
	c.Kinds[store.Kind(kind)] += n
	c.Categories[store.Category(category)] += n
	for i, m := range since {
		c.Since[i] += m
	}
	return nil
}

// countVectors counts the selected items that have vectors, and the bytes of those: all rows of a file are of one length.
func countVectors(ctx context.Context, r *sql.DB, w *where) (items int, bytes int64, err error) {
	var rows, dim int64
	if err := r.QueryRowContext(ctx, vectorsQuery+w.text(), w.args...).Scan(&rows, &items); err != nil {
		return 0, 0, wrap("count vectors", err)
	}
	if rows == 0 {
		return 0, 0, nil
	}
	if err := r.QueryRowContext(ctx, "SELECT dim FROM space").Scan(&dim); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, 0, wrap("count vectors", err)
	}
	return items, rows * dim, nil
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
