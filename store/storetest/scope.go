package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"evoke/store"
)

// lookalikes are scopes whose names run into each other when they are joined carelessly.
var lookalikes = []store.Scope{
	{Tenant: "a", User: "b"}, {Tenant: "a", Agent: "b"}, {Tenant: "a", User: "b", Agent: "b"}, {Tenant: "ab", User: "b"},
	{Tenant: "a:b", User: "c"}, {Tenant: "a", User: "b:c"}, {Tenant: "a", User: "b", Agent: "c"}, {Tenant: "a/b", User: "c"}, {Tenant: "a", User: "b/c"},
	{Tenant: "a|b", User: "c"}, {Tenant: "1:a1:b", User: "0:"}, {Tenant: "a", User: "%"}, {Tenant: "a", User: "_"}, {Tenant: "a", User: "*"},
	{Tenant: "a", User: "B"}, {Tenant: "A", User: "b"}, {Tenant: "a", User: "é"}, {Tenant: "a", User: "e\u0301"}, {Tenant: "a", User: "b "},
	{Tenant: "a", User: "' OR 1=1 --"}, {Tenant: "a", User: strings.Repeat("x", 256)}, {Tenant: "a", User: strings.Repeat("x", 255)},
}

// isolation: the same ids, sessions and words in many scopes never meet.
func isolation(t *testing.T, s store.Store) {
	ctx := context.Background()
	must(t, s.SetModel(ctx, testModel, testDim))
	r := rand.New(rand.NewPCG(40, 40))
	type world struct {
		items []store.Item
		es    []store.Embedding
	}
	worlds := make([]world, len(lookalikes))
	for i, sc := range lookalikes {
		w := &worlds[i]
		w.items = []store.Item{
			turn("same", "s", 1, fmt.Sprintf("secret number%d tea", i)),
			turn("before", "s", 0, fmt.Sprintf("previous number%d", i)),
			item(fmt.Sprintf("own%d", i), "tea and nothing else"),
		}
		for j := range w.items {
			w.es = append(w.es, randomEmbedding(r, &w.items[j]))
		}
		put(t, s, sc, w.items...)
		must(t, s.SetEmbeddings(ctx, sc, w.es))
	}
	check := func(i int) {
		q := store.Query{View: store.Current(now), Vector: unit(r, testDim), Terms: terms("secret tea number1 number2 previous"), Dense: 100, Lexical: 100, Recent: 100, Important: 100}
		c, err := s.Search(ctx, lookalikes[i], q)
		must(t, err)
		newReference(worlds[i].items, worlds[i].es).check(t, q, c)
		if t.Failed() {
			t.Fatalf("in scope %+v", lookalikes[i])
		}
		all := listAll(ctx, t, s, lookalikes[i], store.ListQuery{View: store.View{All: true}, Order: store.ByID})
		if want := sorted(worlds[i].items, store.ByID, store.View{All: true}.Sees); !slices.Equal(all, want) {
			t.Fatalf("scope %+v holds %v, want %v", lookalikes[i], all, want)
		}
		st, err := s.Stats(ctx, lookalikes[i], store.View{All: true})
		must(t, err)
		if st.Total != len(worlds[i].items) {
			t.Fatalf("scope %+v counts %d items", lookalikes[i], st.Total)
		}
		got, err := s.Get(ctx, lookalikes[i], []string{"same", fmt.Sprintf("own%d", (i+1)%len(worlds))})
		must(t, err)
		if len(got) != 1 || got[0].Content != worlds[i].items[0].Content {
			t.Fatalf("scope %+v gives %v", lookalikes[i], got)
		}
	}
	for i := range worlds {
		check(i)
	}
	// A deletion in one scope is one in no other.
	must(t, s.Apply(ctx, lookalikes[0], store.Change{Delete: []string{"same", "before", "own0", "own1"}}))
	worlds[0] = world{}
	for i := 1; i < len(worlds); i++ {
		check(i)
	}
	got, err := s.Get(ctx, lookalikes[0], []string{"same", "before", "own0"})
	must(t, err)
	if len(got) != 0 {
		t.Errorf("deleted items are there: %v", ids(got))
	}
}

// isolationOfStatistics: what another user or tenant stores moves no statistic, score or rank.
func isolationOfStatistics(t *testing.T, s store.Store) {
	ctx := context.Background()
	items := corpus(41, 40)
	put(t, s, alice, items...)
	q := store.Query{View: store.Current(now), Terms: terms("tea Berlin garden 绿茶"), Lexical: 20}
	before, err := s.Search(ctx, alice, q)
	must(t, err)
	for i, sc := range []store.Scope{bob, {Tenant: "acme", User: "alice", Agent: "x"}, {Tenant: "other", User: "alice"}} {
		put(t, s, sc, corpus(uint64(42+i), 200)...)
	}
	after, err := s.Search(ctx, alice, q)
	must(t, err)
	ref := newReference(items, nil)
	ref.check(t, q, before)
	ref.check(t, q, after)
	for i := range before.Records {
		if before.Records[i].Item.ID != after.Records[i].Item.ID && len(before.Records) != len(after.Records) {
			t.Fatal("another scope's items changed what is found")
		}
	}
}

func scopes(t *testing.T, s store.Store) {
	ctx := context.Background()
	var want []store.Scope
	for _, sc := range lookalikes {
		put(t, s, sc, item("x", "text"))
		if sc.Tenant == "a" {
			want = append(want, sc)
		}
	}
	slices.SortFunc(want, func(x, y store.Scope) int { return strings.Compare(x.Key(), y.Key()) })
	got, err := s.Scopes(ctx, "a")
	must(t, err)
	if !slices.Equal(got, want) {
		t.Errorf("scopes %v, want %v", got, want)
	}
	must(t, s.Apply(ctx, want[0], store.Change{Delete: []string{"x"}}))
	got, err = s.Scopes(ctx, "a")
	must(t, err)
	if !slices.Equal(got, want[1:]) {
		t.Errorf("an emptied scope is still listed: %v", got)
	}
	got, err = s.Scopes(ctx, "nobody")
	must(t, err)
	if len(got) != 0 {
		t.Errorf("an unknown tenant has scopes %v", got)
	}
	_, err = s.Scopes(ctx, "")
	wantErr(t, "no tenant", err, store.ErrTenant)
}

// scopeRefused: no call passes without a scope that validates.
func scopeRefused(t *testing.T, s store.Store) {
	ctx := context.Background()
	for _, c := range []struct {
		sc   store.Scope
		want error
	}{
		{store.Scope{}, store.ErrTenant},
		{store.Scope{User: "u"}, store.ErrTenant},
		{store.Scope{Tenant: "t"}, store.ErrInvalid},
		{store.Scope{Tenant: "t", User: "a\nb"}, store.ErrInvalid},
		{store.Scope{Tenant: "t", User: "\xff"}, store.ErrInvalid},
		{store.Scope{Tenant: "t", User: strings.Repeat("u", 257)}, store.ErrInvalid},
	} {
		_, err := s.Get(ctx, c.sc, []string{"a"})
		wantErr(t, "Get", err, c.want)
		_, err = s.List(ctx, c.sc, store.ListQuery{})
		wantErr(t, "List", err, c.want)
		_, err = s.Stats(ctx, c.sc, store.Current(now))
		wantErr(t, "Stats", err, c.want)
		_, err = s.Search(ctx, c.sc, store.Query{Recent: 1})
		wantErr(t, "Search", err, c.want)
		wantErr(t, "Apply", s.Apply(ctx, c.sc, store.Change{Put: []store.Item{item("a", "b")}}), c.want)
		wantErr(t, "SetEmbeddings", s.SetEmbeddings(ctx, c.sc, []store.Embedding{{ID: "a"}}), c.want)
	}
}
