package evoke

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

// A life of two hundred changes of home, job, age and liking, with returns to old values, in each language: the view of
// any past moment is what held then, the present one the last value only, and the history of what holds now lists every
// version of it.
func TestEveryPastMomentOfALife(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]map[string][]string{
		"en": {
			"home": {"The user lives in Rome", "The user lives in Oslo", "The user lives in Lima"}, "job": {"The user is a nurse", "The user is a baker"},
			"age": {"The user is 30 years old", "The user is 31 years old", "The user is 32 years old"}, "likes:tea": {"The user likes tea", "The user does not like tea"},
		},
		"zh": {
			"home": {"用户住在北京", "用户住在上海", "用户住在广州"}, "job": {"用户是护士", "用户是面包师"},
			"age": {"用户今年30岁", "用户今年31岁", "用户今年32岁"}, "likes:茶": {"用户喜欢茶", "用户不喜欢茶"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
			clock := clockAt(start)
			m := open(t, &Options{Clock: clock.now})
			who := Who{User: "u"}
			rnd := rand.New(rand.NewPCG(7, 20261130))
			subjects := slices.Sorted(maps.Keys(of))
			now, versions := map[string]string{}, map[string]int{}
			var then []map[string]string
			for i := 0; i < 200; {
				subject := subjects[rnd.IntN(len(subjects))]
				value := of[subject][rnd.IntN(len(of[subject]))]
				if now[subject] == value {
					continue
				}
				clock.set(start.Add(time.Duration(i) * time.Hour))
				if _, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: value, Subject: subject}); err != nil {
					t.Fatal(err)
				}
				now[subject] = value
				versions[subject]++
				then = append(then, maps.Clone(now))
				i++
			}
			view := func(at time.Time) map[string]string {
				page, err := m.List(t.Context(), ListRequest{Who: who, AsOf: at})
				if err != nil {
					t.Fatal(err)
				}
				holds := map[string]string{}
				for _, it := range page.Items {
					if holds[it.Provenance.Subject] != "" {
						t.Fatalf("two values of %s at %v", it.Provenance.Subject, at)
					}
					holds[it.Provenance.Subject] = it.Content
				}
				return holds
			}
			for i, want := range then {
				if d := cmp.Diff(want, view(start.Add(time.Duration(i)*time.Hour+30*time.Minute))); d != "" {
					t.Fatalf("after change %d: %s", i, d)
				}
			}
			if d := cmp.Diff(now, view(time.Time{})); d != "" {
				t.Error(d)
			}
			page, err := m.List(t.Context(), ListRequest{Who: who, Filter: store.Filter{Kinds: []store.Kind{store.Semantic}}})
			if err != nil || len(page.Items) != len(of) {
				t.Fatalf("%d items, %v", len(page.Items), err)
			}
			for _, it := range page.Items {
				h, err := m.History(t.Context(), who, it.ID)
				if err != nil || len(h) != versions[it.Provenance.Subject] {
					t.Errorf("%s: %d versions in the history, want %d, %v", it.Provenance.Subject, len(h), versions[it.Provenance.Subject], err)
				}
			}
		})
	}
}
