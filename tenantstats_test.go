package evoke

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

func TestTenantStatsCountOverAllMemories(t *testing.T) {
	clock := clockAt(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	m := open(t, &Options{Clock: clock.now})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []RememberRequest{
		{Who: Who{User: "ann"}, Content: "tea", Category: store.Preference},
		{Who: Who{User: "ann", Agent: "helper"}, Content: "coffee", Category: store.Preference},
		{Who: Who{User: "bob"}, Content: "ask first", Kind: store.Procedural},
	} {
		_, err := m.Remember(t.Context(), r)
		must(err)
	}
	if _, err := m.Import(t.Context(), Who{User: "bob"}, strings.NewReader(
		`{"text":"old","type":"episodic","recorded_at":"2026-02-20T00:00:00Z"}`+"\n"+`{"text":"older","category":"goal","recorded_at":"2020-01-01T00:00:00Z"}`), nil); err != nil {
		t.Fatal(err)
	}
	list, err := m.List(t.Context(), ListRequest{Who: Who{User: "ann"}})
	must(err)
	changed := "green tea"
	_, err = m.Update(t.Context(), UpdateRequest{Who: Who{User: "ann"}, ID: list.Items[0].ID, Content: &changed})
	must(err)
	other, err := m.ForTenant("other")
	must(err)
	_, err = other.Remember(t.Context(), RememberRequest{Content: "theirs"})
	must(err)

	got, err := m.TenantStats(t.Context(), TenantStatsRequest{})
	must(err)
	want := TenantStats{
		Memories: 3, Total: 5, Versions: 6, Bytes: int64(len("tea" + "coffee" + "ask first" + "old" + "older" + changed)), Embedder: "none", Note: got.Note,
		Kinds: map[store.Kind]int{store.Episodic: 1, store.Semantic: 3, store.Procedural: 1},
		Ages:  []AgeCount{{1, 3}, {7, 0}, {30, 1}, {90, 0}, {365, 0}, {0, 1}}, Events: got.Events,
		Days:       []UsageDay{},
		Users:      []store.UserCount{{User: "bob", Items: 3}, {User: "ann", Items: 2}},
		Categories: map[store.Category]int{store.Preference: 2, store.Knowledge: 0, store.Context: 0, store.Behavior: 0, store.Goal: 1, store.Correction: 0},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got.Events) == 0 {
		t.Error(diff)
	}
}

// The figures are those of a plain count over every version of every memory, whatever state the items are in.
func TestTenantStatsAreAPlainCount(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := open(t, &Options{Clock: clockAt(now).now, Embedder: &bagEmbedder{}})
	put := func(who Who, n int) {
		sc, err := m.memory(who)
		if err != nil {
			t.Fatal(err)
		}
		var items []store.Item
		for i := range n {
			it := store.Item{ID: fmt.Sprintf("%s%s-%03d", who.User, who.Agent, i), Kind: store.Kinds()[i%3], Content: strings.Repeat("茶 tea ", i%5+1), Importance: 0.5,
				Confidence: 1, RecordedAt: now.AddDate(0, 0, -i*7), ValidFrom: now.AddDate(0, 0, -i*7)}
			if i%2 == 0 {
				it.Category = store.Categories()[i%6]
			}
			switch i % 11 { // the others hold
			case 1:
				it.ValidTo, it.ClosedAt = now.AddDate(0, 0, -1), now
			case 2:
				it.RetractedAt = now
			case 3:
				it.Aside = store.Aside{ForgottenAt: now, PurgeAt: now.AddDate(0, 1, 0)}
			case 4:
				it.Aside = store.Aside{Summary: "sum", SummarizedAt: now}
			case 5:
				it.ExpiresAt = now.AddDate(0, 0, i%2*4-2)
			case 6:
				it.ValidTo, it.Provenance.Durability = now.AddDate(1, 0, 0), store.TaskDurability
			case 7:
				it.ContentKey = store.ProfileKeys()[0]
			case 8:
				it.ValidTo = now.AddDate(0, 1, 0)
			}
			items = append(items, it)
		}
		if err := m.store.Apply(t.Context(), sc, store.Change{Put: items}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: "embedded"}); err != nil {
			t.Fatal(err)
		}
	}
	put(Who{User: "ann"}, 60)
	put(Who{User: "ann", Agent: "helper"}, 20)
	put(Who{User: "bob"}, 40)
	settle(t, m)

	want := TenantStats{Kinds: map[store.Kind]int{}, Categories: map[store.Category]int{}, Ages: []AgeCount{{1, 0}, {7, 0}, {30, 0}, {90, 0}, {365, 0}, {0, 0}}}
	for _, c := range store.Categories() {
		want.Categories[c] = 0
	}
	users := map[string]int{}
	scopes, err := m.store.Scopes(t.Context(), m.tenant)
	if err != nil {
		t.Fatal(err)
	}
	want.Memories = len(scopes)
	for _, sc := range scopes {
		page, err := m.store.List(t.Context(), sc, store.ListQuery{View: store.View{All: true}, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Items {
			it := &page.Items[i]
			want.Versions++
			want.Bytes += int64(len(it.Content))
			if it.Content == "embedded" {
				want.Bytes += 64 // numbers of a byte each, once
			}
			if !store.Current(now).Sees(it) {
				continue
			}
			want.Total++
			want.Kinds[it.Kind]++
			if it.Category != "" {
				want.Categories[it.Category]++
			}
			users[sc.User]++
			for j := range want.Ages {
				if d := want.Ages[j].Days; d == 0 || !it.RecordedAt.Before(now.AddDate(0, 0, -d)) {
					want.Ages[j].Items++
					break
				}
			}
		}
	}
	want.Users = []store.UserCount{{User: "ann", Items: users["ann"]}, {User: "bob", Items: users["bob"]}}
	got, err := m.TenantStats(t.Context(), TenantStatsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	got.Usage, got.Days, got.Cost, got.Embedder, got.Note, got.Events = UsageSum{}, nil, 0, "", "", nil
	if diff := cmp.Diff(want, got); diff != "" || want.Total == want.Versions {
		t.Errorf("(-a plain count +the statistics):\n%s", diff)
	}
}

// What the language models cost in the last 30 days stands in the statistics, in total and by day, at the prices of the settings.
func TestTenantStatsTellWhatTheModelsCost(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	budget := func(_ context.Context, tenant string) (Budget, error) {
		if tenant == "free" {
			return Budget{Day: "2026-03-31"}, nil
		}
		return Budget{Day: "2026-03-31", PriceIn: 2, PriceOut: 10}, nil // of a million tokens
	}
	m := open(t, &Options{Clock: clockAt(now).now, Budget: budget})
	free, err := m.ForTenant("free")
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{m.tenant, "free"} {
		for _, u := range []store.Usage{
			{Day: "2026-03-01", Calls: 7, PromptTokens: 7_000_000, CompletionTokens: 7_000_000}, // of the 31st day before
			{Day: "2026-03-02", Calls: 2, PromptTokens: 500_000, CompletionTokens: 100_000},
			{Day: "2026-03-31", Calls: 1, PromptTokens: 250_000, CompletionTokens: 0},
		} {
			if err := m.ledger.AddUsage(t.Context(), tenant, u); err != nil {
				t.Fatal(err)
			}
		}
	}
	for of, prices := range map[*Memory][3]float64{m: {2.5, 2, 0.5}, free: {}} {
		got, err := of.TenantStats(t.Context(), TenantStatsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		want := []UsageDay{{"2026-03-02", UsageSum{2, 500_000, 100_000}, prices[1]}, {"2026-03-31", UsageSum{1, 250_000, 0}, prices[2]}}
		if diff := cmp.Diff(want, got.Days); diff != "" || got.Cost != prices[0] || got.Usage != (UsageSum{3, 750_000, 100_000}) {
			t.Errorf("tenant %s: cost %v of %+v, want %v; days (-want +got):\n%s", of.tenant, got.Cost, got.Usage, prices[0], diff)
		}
	}
}
