package qdrantstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/qdrant/go-client/qdrant"

	"evoke/store"
)

// Census counts a tenant's items. The counts are made one after another: what is written meanwhile may be in some of them.
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
	view := append(viewConditions(q.View), qdrant.NewMatchKeyword(fieldTenant, tenant))
	with := func(cs ...*qdrant.Condition) *qdrant.Filter {
		return &qdrant.Filter{Must: append(slices.Clone(view), cs...)}
	}
	total, err := db.countOf(ctx, with())
	if err != nil {
		return c, err
	}
	kinds, err := db.facet(ctx, fieldKind, with())
	if err != nil {
		return c, err
	}
	for _, h := range kinds {
		c.Kinds[store.Kind(h.GetValue().GetStringValue())] += int(h.GetCount())
	}
	categories, err := db.facet(ctx, fieldCategory, with())
	if err != nil {
		return c, err
	}
	none := total
	for _, h := range categories {
		if name := h.GetValue().GetStringValue(); name != "" {
			c.Categories[store.Category(name)] += int(h.GetCount())
			none -= int(h.GetCount())
		}
	}
	if none > 0 {
		c.Categories[""] = none
	}
	for i, at := range q.Since {
		if c.Since[i], err = db.countOf(ctx, with(after(fieldRecordedAt, at.Add(-time.Microsecond)))); err != nil {
			return c, err
		}
	}
	if c.Users, err = db.users(ctx, tenant, q.Users, with()); err != nil {
		return c, err
	}
	if c.Bytes, err = db.sum(ctx, fieldSize, with()); err != nil || sp.dim == 0 {
		return c, err
	}
	rows, err := db.sum(ctx, fieldChunks, with(qdrant.NewHasVector(denseVector)))
	c.Bytes += rows * int64(sp.dim) * 4
	return c, err
}

// users counts the items of those users that have the most.
func (db *DB) users(ctx context.Context, tenant string, most int, f *qdrant.Filter) ([]store.UserCount, error) {
	if most == 0 {
		return nil, nil
	}
	hits, err := db.facet(ctx, fieldScope, f)
	if err != nil {
		return nil, err
	}
	byName := map[string]int{}
	for _, h := range hits {
		sc, err := parseScope(h.GetValue().GetStringValue())
		if err != nil {
			return nil, err
		}
		if sc.User != "" && sc.Tenant == tenant {
			byName[sc.User] += int(h.GetCount())
		}
	}
	var users []store.UserCount
	for name, n := range byName {
		users = append(users, store.UserCount{User: name, Items: n})
	}
	slices.SortFunc(users, func(a, b store.UserCount) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), strings.Compare(a.User, b.User))
	})
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
