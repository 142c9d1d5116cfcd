package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

// census compares what is counted over a tenant's scopes with a count by hand, in several views.
func census(t *testing.T, s store.Store) {
	ctx := context.Background()
	items := corpus(11, 120)
	put(t, s, alice, items[:70]...)
	put(t, s, store.Scope{Tenant: alice.Tenant, User: "somebody", Agent: "else"}, items[70:]...)
	put(t, s, store.Scope{Tenant: alice.Tenant + "x", User: alice.User}, corpus(12, 30)...)
	since := []time.Time{now, now.Add(-5 * time.Hour), now.Add(-20*time.Hour - time.Microsecond), {}}
	for name, v := range map[string]store.View{"all": {All: true}, "now": store.Current(now), "before": store.AsOf(now.Add(-12 * time.Hour))} {
		want := store.Census{Kinds: map[store.Kind]int{}, Categories: map[store.Category]int{}, Since: make([]int, len(since)), Scopes: 2, Versions: len(items)}
		for i := range items {
			it := &items[i]
			want.Bytes += int64(len(it.Content))
			if !v.Sees(it) {
				continue
			}
			want.Kinds[it.Kind]++
			want.Categories[it.Category]++
			for j, at := range since {
				if !it.RecordedAt.Before(at) {
					want.Since[j]++
				}
			}
		}
		byUser := map[string]int{}
		for i := range items {
			if v.Sees(&items[i]) {
				byUser[[]string{alice.User, "somebody"}[min(i/70, 1)]]++
			}
		}
		want.Users = []store.UserCount{{User: alice.User, Items: byUser[alice.User]}, {User: "somebody", Items: byUser["somebody"]}}
		want.Users = slices.DeleteFunc(want.Users, func(u store.UserCount) bool { return u.Items == 0 })
		slices.SortFunc(want.Users, store.UserCount.Compare)
		got, err := s.Census(ctx, alice.Tenant, store.CensusQuery{View: v, Since: since, Users: 5})
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	one, err := s.Census(ctx, alice.Tenant, store.CensusQuery{View: store.View{All: true}, Users: 1})
	must(t, err)
	if diff := cmp.Diff([]store.UserCount{{User: alice.User, Items: 70}}, one.Users); diff != "" {
		t.Errorf("the one user with the most: %s", diff)
	}
	tenants, err := s.Tenants(ctx)
	must(t, err)
	if diff := cmp.Diff([]string{alice.Tenant, alice.Tenant + "x"}, tenants); diff != "" {
		t.Errorf("tenants: %s", diff)
	}
	got, err := s.Census(ctx, "nobody", store.CensusQuery{View: store.View{All: true}, Since: since[:1]})
	must(t, err)
	if diff := cmp.Diff(store.Census{Kinds: map[store.Kind]int{}, Categories: map[store.Category]int{}, Since: []int{0}}, got); diff != "" {
		t.Errorf("a tenant without items: %s", diff)
	}
	if _, err := s.Census(ctx, "", store.CensusQuery{}); !errors.Is(err, store.ErrTenant) {
		t.Errorf("without a tenant: %v", err)
	}
	if _, err := s.Census(ctx, "a", store.CensusQuery{Since: make([]time.Time, 17)}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("too many moments: %v", err)
	}
	if _, err := s.Census(ctx, "a", store.CensusQuery{Users: 101}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("too many users: %v", err)
	}
}
