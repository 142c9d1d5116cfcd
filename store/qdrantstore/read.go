package qdrantstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/qdrant/go-client/qdrant"

	"evoke/store"
)

// Get returns the items that exist, in the order of ids.
func (db *DB) Get(ctx context.Context, sc store.Scope, ids []string) ([]store.Item, error) {
	if err := db.enterScope(ctx, sc); err != nil {
		return nil, err
	}
	defer db.leave()
	found := make(map[string]store.Item, len(ids))
	err := db.retrieve(ctx, pointIDs(sc, ids), qdrant.NewWithPayloadInclude(fieldScope, fieldItem), func(p *qdrant.RetrievedPoint) error {
		if p.GetPayload()[fieldScope].GetStringValue() != sc.Key() {
			return nil
		}
		it, err := itemOf(p.GetPayload())
		if err != nil {
			return err
		}
		found[it.ID] = it
		return nil
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

// count counts points of a scope, exactly.
func (db *DB) count(ctx context.Context, sc store.Scope, conds ...*qdrant.Condition) (int, error) {
	n, err := call(ctx, db, "count items", func(ctx context.Context) (uint64, error) {
		return db.client.Count(ctx, &qdrant.CountPoints{CollectionName: db.set.Collection, Filter: within(sc, conds...), Exact: qdrant.PtrOf(true)})
	})
	return int(n), err
}

// maxFacets bounds the distinct values that are counted.
const maxFacets = 1 << 20

func (db *DB) facet(ctx context.Context, field string, f *qdrant.Filter) ([]*qdrant.FacetHit, error) {
	return call(ctx, db, "count values", func(ctx context.Context) ([]*qdrant.FacetHit, error) {
		return db.client.Facet(ctx, &qdrant.FacetCounts{CollectionName: db.set.Collection, Key: field, Filter: f,
			Limit: qdrant.PtrOf(uint64(maxFacets)), Exact: qdrant.PtrOf(true)})
	})
}

// sum adds up an integer field: each value as often as the server counted it.
func (db *DB) sum(ctx context.Context, field string, f *qdrant.Filter) (int64, error) {
	hits, err := db.facet(ctx, field, f)
	total := int64(0)
	for _, h := range hits {
		total += h.GetValue().GetIntegerValue() * int64(h.GetCount())
	}
	return total, err
}

// width is how many small requests one method has under way at a time.
const width = 8

// Stats counts the scope's items in the view. Bytes are those of contents and of vectors as the server holds them.
func (db *DB) Stats(ctx context.Context, sc store.Scope, v store.View) (store.Stats, error) {
	var st store.Stats
	if err := db.enterScope(ctx, sc); err != nil {
		return st, err
	}
	defer db.leave()
	sp, err := db.vectorSpace(ctx)
	if err != nil {
		return st, err
	}
	view := viewConditions(v)
	with := func(c *qdrant.Condition) []*qdrant.Condition { return append(slices.Clone(view), c) }
	kind := func(n *int, k store.Kind) func() error {
		return func() (err error) {
			*n, err = db.count(ctx, sc, with(qdrant.NewMatchKeyword(fieldKind, string(k)))...)
			return err
		}
	}
	var content, rows int64
	tasks := []func() error{
		kind(&st.Episodic, store.Episodic), kind(&st.Semantic, store.Semantic), kind(&st.Procedural, store.Procedural),
		func() (err error) {
			content, err = db.sum(ctx, fieldSize, within(sc, view...))
			return err
		},
	}
	if sp.dim > 0 {
		embedded := with(qdrant.NewHasVector(denseVector))
		tasks = append(tasks, func() (err error) {
			st.Embedded, err = db.count(ctx, sc, embedded...)
			return err
		}, func() (err error) {
			rows, err = db.sum(ctx, fieldChunks, within(sc, embedded...))
			return err
		})
	}
	if err := each(len(tasks), width, func(i int) error { return tasks[i]() }); err != nil {
		return store.Stats{}, err
	}
	st.Total = st.Episodic + st.Semantic + st.Procedural
	st.Bytes = content + rows*int64(sp.dim)*4
	return st, nil
}

// Scopes lists the scopes of a tenant that hold items, ordered by Key; a million at most.
func (db *DB) Scopes(ctx context.Context, tenant string) ([]store.Scope, error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	if tenant == "" {
		return nil, fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	if err := store.ValidateName("tenant", tenant); err != nil {
		return nil, err
	}
	found, err := db.scopesOf(ctx, tenant, &qdrant.Filter{Must: []*qdrant.Condition{qdrant.NewMatchKeyword(fieldTenant, tenant)}})
	if err != nil {
		return nil, err
	}
	var out []store.Scope
	for sc := range found {
		out = append(out, sc)
	}
	slices.SortFunc(out, func(a, b store.Scope) int { return strings.Compare(a.Key(), b.Key()) })
	return out, nil
}

// scopesOf counts the items that the filter selects by scope, of the tenant's scopes.
func (db *DB) scopesOf(ctx context.Context, tenant string, f *qdrant.Filter) (map[store.Scope]int, error) {
	hits, err := db.facet(ctx, fieldScope, f)
	if err != nil {
		return nil, err
	}
	scopes := map[store.Scope]int{}
	for _, h := range hits {
		sc, err := parseScope(h.GetValue().GetStringValue())
		if err != nil {
			return nil, err
		}
		if h.GetCount() > 0 && sc.Tenant == tenant {
			scopes[sc] += int(h.GetCount())
		}
	}
	return scopes, nil
}
