package storetest

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"evoke/store"
)

func model(t *testing.T, s store.Store) {
	ctx := context.Background()
	id, err := s.Model(ctx)
	must(t, err)
	if id != "" {
		t.Errorf("a new store has model %q", id)
	}
	put(t, s, alice, item("a", "text"))
	it := item("a", "text")
	e := randomEmbedding(rand.New(rand.NewPCG(1, 1)), &it)
	wantErr(t, "vectors before a model is claimed", s.SetEmbeddings(ctx, alice, []store.Embedding{e}), store.ErrConflict)
	wantErr(t, "no name", s.SetModel(ctx, "", 4), store.ErrInvalid)
	wantErr(t, "no dimension", s.SetModel(ctx, "m", 0), store.ErrInvalid)
	must(t, s.SetModel(ctx, testModel, testDim))
	must(t, s.SetModel(ctx, testModel, testDim))
	wantErr(t, "another model", s.SetModel(ctx, "other", testDim), store.ErrConflict)
	wantErr(t, "another dimension", s.SetModel(ctx, testModel, testDim+1), store.ErrConflict)
	id, err = s.Model(ctx)
	must(t, err)
	if id != testModel {
		t.Errorf("model %q, want %q", id, testModel)
	}
	must(t, s.SetEmbeddings(ctx, alice, []store.Embedding{e}))
	other := e
	other.Model = "other"
	wantErr(t, "vectors of another model", s.SetEmbeddings(ctx, alice, []store.Embedding{e, other}), store.ErrConflict)
}

// modelReplaced: another vector space takes the place of the one that was; items stay, vectors go and come anew.
func modelReplaced(t *testing.T, s store.Store) {
	ctx := context.Background()
	const other, otherDim = "other", testDim + 8
	r := rand.New(rand.NewPCG(9, 9))
	a, b := item("a", "first text"), item("b", "second text")
	put(t, s, alice, a, b)
	put(t, s, bob, a)
	wantErr(t, "no name", s.ReplaceModel(ctx, "", 4), store.ErrInvalid)
	wantErr(t, "no dimension", s.ReplaceModel(ctx, "m", 0), store.ErrInvalid)
	must(t, s.ReplaceModel(ctx, testModel, testDim)) // of a store that has none
	old := randomEmbedding(r, &a)
	must(t, s.SetEmbeddings(ctx, alice, []store.Embedding{old, randomEmbedding(r, &b)}))
	must(t, s.SetEmbeddings(ctx, bob, []store.Embedding{old}))
	must(t, s.ReplaceModel(ctx, testModel, testDim)) // the same: no change
	search := func(sc store.Scope, v []float32) (embedded int) {
		t.Helper()
		c, err := s.Search(ctx, sc, store.Query{View: store.Current(now), Vector: v, Dense: 10, Recent: 10})
		must(t, err)
		for _, rec := range c.Records {
			if rec.Embedded {
				embedded++
			}
		}
		return embedded
	}
	if n := search(alice, unit(r, testDim)); n != 2 {
		t.Fatalf("%d items with vectors before", n)
	}
	must(t, s.ReplaceModel(ctx, other, otherDim))
	id, err := s.Model(ctx)
	must(t, err)
	if id != other {
		t.Errorf("model %q, want %q", id, other)
	}
	for _, sc := range []store.Scope{alice, bob} {
		st, err := s.Stats(ctx, sc, store.Current(now))
		must(t, err)
		if st.Embedded != 0 || st.Total == 0 || search(sc, unit(r, otherDim)) != 0 {
			t.Errorf("after it: %+v", st)
		}
	}
	wantErr(t, "vectors of the model before", s.SetEmbeddings(ctx, alice, []store.Embedding{old}), store.ErrConflict)
	wantErr(t, "the model before", s.SetModel(ctx, testModel, testDim), store.ErrConflict)
	must(t, s.SetModel(ctx, other, otherDim))
	e := store.Embedding{ID: "b", Model: other, TextKey: b.TextKey(), Own: [][]float32{unit(r, otherDim)}}
	must(t, s.SetEmbeddings(ctx, alice, []store.Embedding{e}))
	if n := search(alice, e.Own[0]); n != 1 {
		t.Errorf("%d items with new vectors", n)
	}
}

// embeddingRefused: one bad vector refuses all before anything is written.
func embeddingRefused(t *testing.T, s store.Store) {
	ctx := context.Background()
	must(t, s.SetModel(ctx, testModel, testDim))
	good, bad := item("good", "text one"), item("bad", "text two")
	put(t, s, alice, good, bad)
	r := rand.New(rand.NewPCG(2, 2))
	with := func(change func(*store.Embedding)) store.Embedding {
		e := store.Embedding{ID: "bad", Model: testModel, TextKey: bad.TextKey(), Own: [][]float32{unit(r, testDim)}, Context: unit(r, testDim)}
		change(&e)
		return e
	}
	for name, e := range map[string]store.Embedding{
		"dimension":    with(func(e *store.Embedding) { e.Own[0] = unit(r, testDim-1) }),
		"context":      with(func(e *store.Embedding) { e.Context = unit(r, testDim+1) }),
		"no vector":    with(func(e *store.Embedding) { e.Own = nil }),
		"NaN":          with(func(e *store.Embedding) { e.Own[0][5] = float32(math.NaN()) }),
		"infinity":     with(func(e *store.Embedding) { e.Context[5] = float32(math.Inf(-1)) }),
		"zeros":        with(func(e *store.Embedding) { clear(e.Own[0]) }),
		"second chunk": with(func(e *store.Embedding) { e.Own = append(e.Own, nil) }),
	} {
		wantErr(t, name, s.SetEmbeddings(ctx, alice, []store.Embedding{randomEmbedding(r, &good), e}), store.ErrInvalid)
	}
	st, err := s.Stats(ctx, alice, store.Current(now))
	must(t, err)
	if st.Embedded != 0 {
		t.Errorf("refused vectors were stored for %d items", st.Embedded)
	}
	must(t, s.SetEmbeddings(ctx, alice, nil))
}

// embeddingStale: vectors of another text, of items that are gone and of another scope are passed over.
func embeddingStale(t *testing.T, s store.Store) {
	ctx := context.Background()
	must(t, s.SetModel(ctx, testModel, testDim))
	r := rand.New(rand.NewPCG(3, 3))
	old := item("a", "first text")
	put(t, s, alice, old, item("b", "stays"))
	e := randomEmbedding(r, &old)
	changed := item("a", "second text")
	put(t, s, alice, changed)
	gone := item("gone", "x")
	b := item("b", "stays")
	must(t, s.SetEmbeddings(ctx, alice, []store.Embedding{e, randomEmbedding(r, &gone), randomEmbedding(r, &b)}))
	must(t, s.SetEmbeddings(ctx, bob, []store.Embedding{randomEmbedding(r, &changed)}))
	st, err := s.Stats(ctx, alice, store.Current(now))
	must(t, err)
	if st.Embedded != 1 {
		t.Errorf("%d items embedded, want b alone", st.Embedded)
	}
	must(t, s.SetEmbeddings(ctx, alice, []store.Embedding{randomEmbedding(r, &changed)}))
	st, err = s.Stats(ctx, alice, store.Current(now))
	must(t, err)
	if st.Embedded != 2 {
		t.Errorf("%d items embedded, want 2", st.Embedded)
	}
}

// embeddingKept: a put keeps the vectors when the text is the same, and loses them when it is not.
func embeddingKept(t *testing.T, s store.Store) {
	ctx := context.Background()
	must(t, s.SetModel(ctx, testModel, testDim))
	base := turn("a", "s", 1, "the text")
	for _, c := range []struct {
		name   string
		change func(*store.Item)
		kept   bool
	}{
		{"nothing", func(*store.Item) {}, true},
		{"importance", func(it *store.Item) { it.Importance = 0.9 }, true},
		{"uses", func(it *store.Item) { it.Uses, it.LastUsed = 3, now }, true},
		{"metadata", func(it *store.Item) { it.Metadata = store.Metadata{"x": store.Bool(true)} }, true},
		{"closing", func(it *store.Item) { it.ValidTo, it.ClosedAt, it.SupersededBy = now.Add(time.Hour), now, "b" }, true},
		{"content", func(it *store.Item) { it.Content = "the text!" }, false},
		{"speaker", func(it *store.Item) { it.Turn.Speaker = "Bo" }, false},
		{"day", func(it *store.Item) { it.ValidFrom = it.ValidFrom.AddDate(0, 0, 1) }, false},
	} {
		put(t, s, alice, base)
		e := randomEmbedding(rand.New(rand.NewPCG(4, 4)), &base)
		must(t, s.SetEmbeddings(ctx, alice, []store.Embedding{e}))
		changed := base
		c.change(&changed)
		put(t, s, alice, changed)
		var es []store.Embedding
		if c.kept {
			es = append(es, e)
		}
		q := store.Query{View: store.Current(now), Vector: e.Own[0], Dense: 5, Recent: 5}
		found, err := s.Search(ctx, alice, q)
		must(t, err)
		newReference([]store.Item{changed}, es).check(t, q, found)
		st, err := s.Stats(ctx, alice, store.Current(now))
		must(t, err)
		if (st.Embedded == 1) != c.kept || t.Failed() {
			t.Fatalf("after a change of %s %d items have vectors", c.name, st.Embedded)
		}
	}
}

// concurrent: writers and readers of several scopes at once; every write is there in the end.
func concurrent(t *testing.T, s store.Store) {
	ctx := context.Background()
	must(t, s.SetModel(ctx, testModel, testDim))
	const perScope = 40
	var wg sync.WaitGroup
	errs := make(chan error, 64)
	report := func(err error) {
		if err != nil {
			select {
			case errs <- err:
			default:
			}
		}
	}
	for i, sc := range []store.Scope{alice, bob, {Tenant: "other", User: "alice"}} {
		items := corpus(uint64(50+i), perScope)
		wg.Go(func() {
			for j := range items {
				report(s.Apply(ctx, sc, store.Change{Put: items[j : j+1]}))
				if j%3 == 0 {
					report(s.SetEmbeddings(ctx, sc, []store.Embedding{randomEmbedding(rand.New(rand.NewPCG(6, 6)), &items[j])}))
				}
			}
		})
		for range 2 {
			wg.Go(func() {
				for _, q := range queries(uint64(i), 20) {
					_, err := s.Search(ctx, sc, q)
					report(err)
					_, err = s.List(ctx, sc, store.ListQuery{View: store.View{All: true}})
					report(err)
				}
			})
		}
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	for i, sc := range []store.Scope{alice, bob, {Tenant: "other", User: "alice"}} {
		items := corpus(uint64(50+i), perScope)
		q := store.Query{View: store.View{All: true}, Terms: terms("tea train"), Lexical: 50, Recent: 50, Important: 50}
		c, err := s.Search(ctx, sc, q)
		must(t, err)
		var es []store.Embedding
		for j := range items {
			if j%3 == 0 {
				es = append(es, randomEmbedding(rand.New(rand.NewPCG(6, 6)), &items[j]))
			}
		}
		newReference(items, es).check(t, q, c)
	}
}

func storeCancelled(t *testing.T, s store.Store) {
	put(t, s, alice, item("a", "text"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, err := range storeCalls(ctx, s) {
		wantErr(t, name, err, context.Canceled)
	}
	got, err := s.Get(context.Background(), alice, []string{"late"})
	must(t, err)
	if len(got) != 0 {
		t.Error("a cancelled write was made")
	}
}

func storeClosed(t *testing.T, s store.Store) {
	put(t, s, alice, item("a", "text"))
	must(t, s.Close())
	for name, err := range storeCalls(context.Background(), s) {
		wantErr(t, name, err, store.ErrClosed)
	}
	must(t, s.Close()) // twice is harmless
}

// storeCalls calls every method and returns the errors.
func storeCalls(ctx context.Context, s store.Store) map[string]error {
	errs := map[string]error{}
	_, errs["Get"] = s.Get(ctx, alice, []string{"a"})
	_, errs["List"] = s.List(ctx, alice, store.ListQuery{})
	_, errs["Stats"] = s.Stats(ctx, alice, store.Current(now))
	_, errs["Search"] = s.Search(ctx, alice, store.Query{Recent: 1})
	errs["Apply"] = s.Apply(ctx, alice, store.Change{Put: []store.Item{item("late", "text")}})
	errs["SetEmbeddings"] = s.SetEmbeddings(ctx, alice, []store.Embedding{{ID: "a", Model: testModel}})
	_, errs["Scopes"] = s.Scopes(ctx, "acme")
	_, errs["Model"] = s.Model(ctx)
	errs["SetModel"] = s.SetModel(ctx, testModel, testDim)
	return errs
}
