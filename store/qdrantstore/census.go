package qdrantstore

import (
	"context"
	"fmt"
	"slices"
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
	if c.Bytes, err = db.sum(ctx, fieldSize, with()); err != nil || sp.dim == 0 {
		return c, err
	}
	rows, err := db.sum(ctx, fieldChunks, with(qdrant.NewHasVector(denseVector)))
	c.Bytes += rows * int64(sp.dim) * 4
	return c, err
}

func (db *DB) countOf(ctx context.Context, f *qdrant.Filter) (int, error) {
	n, err := call(ctx, db, "count items", func(ctx context.Context) (uint64, error) {
		return db.client.Count(ctx, &qdrant.CountPoints{CollectionName: db.set.Collection, Filter: f, Exact: qdrant.PtrOf(true)})
	})
	return int(n), err
}
