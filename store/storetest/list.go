package storetest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"evoke/store"
)

// sorted is what a listing must give.
func sorted(items []store.Item, o store.Order, keep func(*store.Item) bool) []string {
	var list []store.Item
	for i := range items {
		if keep(&items[i]) {
			list = append(list, items[i])
		}
	}
	slices.SortFunc(list, func(a, b store.Item) int {
		c := 0
		switch o {
		case store.Newest:
			c = b.RecordedAt.Compare(a.RecordedAt)
		case store.Oldest:
			c = a.RecordedAt.Compare(b.RecordedAt)
		case store.NewestEvent: // the zero time is before all others
			c = b.ValidFrom.Compare(a.ValidFrom)
		case store.MostImportant:
			c = cmp.Compare(b.Importance, a.Importance)
		case store.ByID:
		}
		return cmp.Or(c, strings.Compare(a.ID, b.ID))
	})
	return ids(list)
}

var orders = []store.Order{store.Newest, store.Oldest, store.NewestEvent, store.ByID, store.MostImportant}

// listAll follows the cursors to the end.
func listAll(ctx context.Context, t *testing.T, s store.Store, sc store.Scope, q store.ListQuery) []string {
	t.Helper()
	var got []string
	for range 10000 {
		page, err := s.List(ctx, sc, q)
		must(t, err)
		if q.Limit > 0 && len(page.Items) > q.Limit {
			t.Fatalf("a page of %d, limit %d", len(page.Items), q.Limit)
		}
		got = append(got, ids(page.Items)...)
		if page.Next == "" {
			return got
		}
		q.Cursor = page.Next
	}
	t.Fatal("the listing does not end")
	return nil
}

func listOrders(t *testing.T, s store.Store) {
	items := corpus(4, 60)
	put(t, s, alice, items...)
	for _, o := range orders {
		q := store.ListQuery{View: store.Current(now), Order: o}
		want := sorted(items, o, q.View.Sees)
		if got := listAll(t.Context(), t, s, alice, q); !slices.Equal(got, want) {
			t.Errorf("order %d: %v, want %v", o, got, want)
		}
	}
}

func listPages(t *testing.T, s store.Store) {
	items := corpus(5, 53)
	put(t, s, alice, items...)
	f := store.Filter{Metadata: []store.Condition{{Key: "colour", In: []store.Value{store.String("red"), store.String("green")}}}}
	for _, o := range orders {
		want := sorted(items, o, f.Match)
		for _, limit := range []int{1, 2, 7, len(want), len(want) + 1} {
			got := listAll(t.Context(), t, s, alice, store.ListQuery{Filter: f, View: store.View{All: true}, Order: o, Limit: limit})
			if !slices.Equal(got, want) {
				t.Errorf("order %d by pages of %d: %v, want %v", o, limit, got, want)
			}
		}
	}
}

func listLimits(t *testing.T, s store.Store) {
	ctx := context.Background()
	put(t, s, alice, corpus(6, 130)...)
	all := store.View{All: true}
	page, err := s.List(ctx, alice, store.ListQuery{View: all})
	must(t, err)
	if len(page.Items) != 100 || page.Next == "" {
		t.Errorf("the default page has %d items, want 100 and a next one", len(page.Items))
	}
	for _, limit := range []int{-1, 10001} {
		_, err := s.List(ctx, alice, store.ListQuery{View: all, Limit: limit})
		wantErr(t, "limit", err, store.ErrInvalid)
	}
	for name, q := range map[string]store.ListQuery{
		"garbage":       {View: all, Cursor: "no cursor!"},
		"another order": {View: all, Order: store.ByID, Cursor: page.Next},
		"unknown order": {View: all, Order: 99},
	} {
		_, err := s.List(ctx, alice, q)
		wantErr(t, name, err, store.ErrInvalid)
	}
}

// listMoving: items that come and go between pages neither repeat nor hide those that stay.
func listMoving(t *testing.T, s store.Store) {
	ctx := context.Background()
	items := corpus(7, 30)
	put(t, s, alice, items...)
	q := store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: 10}
	first, err := s.List(ctx, alice, q)
	must(t, err)
	put(t, s, alice, item("a", "before the cursor"), item("z", "behind it"))
	must(t, s.Apply(ctx, alice, store.Change{Delete: []string{first.Items[9].ID, items[15].ID}}))
	q.Cursor = first.Next
	got := listAll(t.Context(), t, s, alice, q)
	want := append(append(ids(items[10:15]), ids(items[16:])...), "z")
	if !slices.Equal(got, want) {
		t.Errorf("after the cursor: %v, want %v", got, want)
	}
}
