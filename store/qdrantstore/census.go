package qdrantstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"evoke/store"
)

// Census counts a tenant's items. The counts are made beside each other: what is written meanwhile may be in some of them.
func (db *DB) Census(ctx context.Context, tenant string, q store.CensusQuery) (store.Census, error) {
	c := store.Census{Kinds: map[store.Kind]int{}, Categories: map[store.Category]int{}, Since: make([]int, len(q.Since))}
	if err := db.enter(ctx); err != nil {
		return c, err
	}
	defer db.leave()
	if err := q.Validate(tenant); err != nil {
		return c, fmt.Errorf("census: %w", err)
	}
	sp, err := db.vectorSpace(ctx)
	if err != nil {
		return c, err
	}
	all := []*qdrant.Condition{qdrant.NewMatchKeyword(fieldTenant, tenant)}
	view := append(viewConditions(q.View), all...)
	with := func(base []*qdrant.Condition, cs ...*qdrant.Condition) *qdrant.Filter {
		return &qdrant.Filter{Must: append(slices.Clone(base), cs...)}
	}
	var total int
	var content, rows int64
	tasks := []func() error{
		func() (err error) { total, err = db.countOf(ctx, with(view)); return err },
		func() error {
			return db.values(ctx, fieldKind, with(view), func(name string, n int) { c.Kinds[store.Kind(name)] += n })
		},
		func() error {
			return db.values(ctx, fieldCategory, with(view), func(name string, n int) { c.Categories[store.Category(name)] += n })
		},
		func() (err error) { c.Users, err = db.users(ctx, tenant, q.Users, with(view)); return err },
		func() (err error) { c.Versions, err = db.countOf(ctx, with(all)); return err },
		func() (err error) { content, err = db.sum(ctx, fieldSize, with(all)); return err },
		func() (err error) { c.Scopes, err = db.countScopes(ctx, tenant, with(all)); return err },
	}
	for i, at := range q.Since {
		tasks = append(tasks, func() (err error) {
			c.Since[i], err = db.countOf(ctx, with(view, after(fieldRecordedAt, at.Add(-time.Microsecond))))
			return err
		})
	}
	if sp.dim > 0 {
		tasks = append(tasks, func() (err error) {
			rows, err = db.sum(ctx, fieldChunks, with(all, qdrant.NewHasVector(denseVector)))
			return err
		})
	}
	if err := each(len(tasks), width, func(i int) error { return tasks[i]() }); err != nil {
		return c, err
	}
	delete(c.Categories, "")
	for _, n := range c.Categories {
		total -= n
	}
	if total > 0 {
		c.Categories[""] = total
	}
	c.Bytes = content + rows*int64(sp.dim)*4
	return c, nil
}

// values hands over the values of a field of text, each with the number of items that have it.
func (db *DB) values(ctx context.Context, field string, f *qdrant.Filter, add func(value string, n int)) error {
	hits, err := db.facet(ctx, field, f)
	for _, h := range hits {
		add(h.GetValue().GetStringValue(), int(h.GetCount()))
	}
	return err
}

// countScopes counts the tenant's scopes that hold items.
func (db *DB) countScopes(ctx context.Context, tenant string, f *qdrant.Filter) (n int, err error) {
	scopes, err := db.scopesOf(ctx, tenant, f)
	return len(scopes), err
}

// users counts the items of those users that have the most.
func (db *DB) users(ctx context.Context, tenant string, most int, f *qdrant.Filter) ([]store.UserCount, error) {
	if most == 0 {
		return nil, nil
	}
	scopes, err := db.scopesOf(ctx, tenant, f)
	if err != nil {
		return nil, err
	}
	byName := map[string]int{}
	for sc, n := range scopes {
		if sc.User != "" {
			byName[sc.User] += n
		}
	}
	var users []store.UserCount
	for name, n := range byName {
		users = append(users, store.UserCount{User: name, Items: n})
	}
	slices.SortFunc(users, store.UserCount.Compare)
	return users[:min(most, len(users))], nil
}

// Tenants lists the tenants that hold items, by name; a million at most.
func (db *DB) Tenants(ctx context.Context) ([]string, error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	hits, err := db.facet(ctx, fieldTenant, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, h := range hits {
		if h.GetCount() > 0 {
			names = append(names, h.GetValue().GetStringValue())
		}
	}
	slices.Sort(names)
	return names, nil
}

func (db *DB) countOf(ctx context.Context, f *qdrant.Filter) (int, error) {
	n, err := call(ctx, db, "count items", func(ctx context.Context) (uint64, error) {
		return db.client.Count(ctx, &qdrant.CountPoints{CollectionName: db.set.Collection, Filter: f, Exact: qdrant.PtrOf(true)})
	})
	return int(n), err
}
