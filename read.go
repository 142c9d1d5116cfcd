package evoke

import (
	"context"
	"fmt"
	"slices"
	"time"

	"evoke/store"
)

// memory resolves whose memory a call is about. It fails with ErrInvalid under a namespace of none, for calls that
// have no other way to say that there is no memory.
func (m *Memory) memory(w Who) (store.Scope, error) {
	at, err := m.place(w)
	if err != nil {
		return store.Scope{}, err
	}
	if !at.ok {
		return store.Scope{}, store.Invalid("agent", "an agent with a memory (the namespace policy gives this one none)", "")
	}
	return at.write, nil
}

// Get returns one item, in whatever version state, or ErrNotFound, which says so of one that is softly forgotten.
func (m *Memory) Get(ctx context.Context, w Who, id string) (store.Item, error) {
	at, err := m.place(w)
	if err != nil {
		return store.Item{}, err
	}
	if err := store.ValidateName("id", id); err != nil {
		return store.Item{}, err
	}
	if at.ok && id != "" {
		for _, sc := range at.read {
			items, err := m.store.Get(ctx, sc, []string{id})
			if err != nil {
				return store.Item{}, fmt.Errorf("get: %w", err)
			}
			if len(items) == 1 {
				if err := inSight(&items[0]); err != nil {
					return store.Item{}, err
				}
				return items[0], nil
			}
		}
	}
	return store.Item{}, noItem()
}

// noItem is the error of an id that the memory that was asked does not have.
func noItem() error {
	return fmt.Errorf("item: %w in this memory; user and agent say whose it is", store.ErrNotFound)
}

// List pages through a memory's items, newest first unless another order is asked for. A thread in Who narrows the
// listing to it.
func (m *Memory) List(ctx context.Context, r ListRequest) (store.Page, error) {
	sc, err := m.memory(r.Who)
	if err != nil {
		return store.Page{}, err
	}
	if r.Limit < 0 || r.Limit > 1000 {
		return store.Page{}, store.Invalid("limit", "from 1 to 1000", fmt.Sprint(r.Limit))
	}
	if err := r.Filter.Validate(); err != nil {
		return store.Page{}, err
	}
	f, v := narrow(r.Filter, r.Thread), m.viewAt(r.AsOf, r.Known)
	v.All, v.Kept = r.All, r.All
	v.Sources = r.Sources
	if v.Threads = f.NamedThreads(); r.Task != "" {
		if err := store.ValidateName("task", r.Task); err != nil {
			return store.Page{}, err
		}
		v.Threads = append(v.Threads, r.Task)
	}
	page, err := m.store.List(ctx, sc, store.ListQuery{
		Filter: f, View: v, Order: r.Order, Limit: r.Limit, Cursor: r.Cursor,
	})
	if err != nil {
		return store.Page{}, fmt.Errorf("list: %w", err)
	}
	return page, nil
}

// Recent returns the items recorded last, newest first. limit is 1–1000; 0 means 10.
func (m *Memory) Recent(ctx context.Context, w Who, limit int) ([]store.Item, error) {
	if limit == 0 {
		limit = 10
	}
	page, err := m.List(ctx, ListRequest{Who: w, Limit: limit})
	return page.Items, err
}

// History returns every version of an item, oldest first, following the version links both ways from the given one.
func (m *Memory) History(ctx context.Context, w Who, id string) ([]store.Item, error) {
	it, err := m.Get(ctx, w, id)
	if err != nil {
		return nil, err
	}
	versions := []store.Item{it}
	seen := map[string]bool{it.ID: true}
	follow := func(link func(store.Item) string, at func([]store.Item) store.Item, add func(store.Item)) error {
		for {
			next := link(at(versions))
			if next == "" || seen[next] {
				return nil
			}
			seen[next] = true
			v, err := m.Get(ctx, w, next)
			if err != nil {
				return ignoreNotFound(err) // an erased version leaves a gap
			}
			add(v)
		}
	}
	first := func(v []store.Item) store.Item { return v[0] }
	last := func(v []store.Item) store.Item { return v[len(v)-1] }
	if err := follow(func(i store.Item) string { return i.Supersedes }, first, func(i store.Item) {
		versions = slices.Insert(versions, 0, i)
	}); err != nil {
		return nil, err
	}
	if err := follow(func(i store.Item) string { return i.SupersededBy }, last, func(i store.Item) {
		versions = append(versions, i)
	}); err != nil {
		return nil, err
	}
	return versions, nil
}

// Stats counts the items of a memory in the current view.
func (m *Memory) Stats(ctx context.Context, w Who) (Stats, error) {
	return m.StatsAt(ctx, StatsRequest{Who: w})
}

// StatsAt counts what was true at a time by what was known at a time. What is pending is of now.
func (m *Memory) StatsAt(ctx context.Context, r StatsRequest) (Stats, error) {
	sc, err := m.memory(r.Who)
	if err != nil {
		return Stats{}, err
	}
	st, err := m.store.Stats(ctx, sc, m.viewAt(r.AsOf, r.Known))
	if err != nil {
		return Stats{}, fmt.Errorf("stats: %w", err)
	}
	vectors, err := m.ledger.CountEmbeds(ctx, sc)
	if err != nil {
		return Stats{}, fmt.Errorf("stats: %w", err)
	}
	threads, err := m.ledger.WaitingThreads(ctx, sc)
	if err != nil {
		return Stats{}, fmt.Errorf("stats: %w", err)
	}
	return Stats{
		Total: st.Total, Episodic: st.Episodic, Semantic: st.Semantic, Procedural: st.Procedural, Bytes: st.Bytes,
		Pending: Pending{Vectors: vectors, Threads: threads}, Embedder: m.embedderID(), Note: m.noDense(),
	}, nil
}

// viewAt is the view of what was true at one moment by what was known at another; zero ones as in store.At.
func (m *Memory) viewAt(asOf, known time.Time) store.View { return store.At(m.clock(), asOf, known) }

// narrow joins a filter with a thread.
func narrow(f store.Filter, thread string) store.Filter {
	if thread == "" {
		return f
	}
	return store.Filter{Threads: []string{thread}, All: []store.Filter{f}}
}
