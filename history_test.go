package evoke

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
)

// A memory with one item of every fate between nine and five o'clock.
func fates(t *testing.T) (*Memory, Who, time.Time) {
	t.Helper()
	start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(start)
	m := open(t, &Options{Clock: clock.now})
	w := Who{User: "u"}
	put := func(hour int, thread, text, subject string) string {
		t.Helper()
		clock.set(start.Add(time.Duration(hour) * time.Hour))
		res, err := m.Remember(t.Context(), RememberRequest{Who: Who{User: "u", Thread: thread}, Content: text, Subject: subject, Speaker: "Ann"})
		if err != nil {
			t.Fatal(err)
		}
		return res.Item.ID
	}
	put(0, "a", "Lives in Rome", "home")
	put(0, "a", "Drinks tea", "")
	cup := put(0, "a", "Owns a cup", "")
	put(0, "b", "Owns a red kite", "")
	put(2, "a", "Lives in Oslo", "home")
	put(3, "a", "Lives in Lima", "home")
	put(3, "a", "Rides a bike", "")
	put(4, "c", "Fell from the bike", "")
	clock.set(start.Add(5 * time.Hour))
	end := start.Add(5 * time.Hour)
	if _, err := m.Update(t.Context(), UpdateRequest{Who: w, ID: cup, ValidTo: &end}); err != nil {
		t.Fatal(err)
	}
	clock.set(start.Add(6 * time.Hour))
	undo(t, m, w, lifecycle.Batch{Thread: "b"})
	undo(t, m, w, lifecycle.Batch{Thread: "c"})
	clock.set(start.Add(8 * time.Hour))
	return m, w, start
}

// The difference of two moments is told once an item, on pages of any size; what came and went between them is none.
func TestDiff(t *testing.T) {
	t.Parallel()
	m, w, start := fates(t)
	for _, limit := range []int{0, 1, 3, 1000} {
		got := []string{}
		r := DiffRequest{Who: w, From: start.Add(time.Hour), To: start.Add(7 * time.Hour), Limit: limit}
		for pages := 0; ; pages++ {
			res, err := m.Diff(t.Context(), r)
			if err != nil || limit > 0 && len(res.Differences) > limit || pages > 100 {
				t.Fatal(len(res.Differences), pages, err)
			}
			for _, d := range res.Differences {
				line := d.Did
				for _, it := range []*store.Item{d.Before, d.After} {
					if it != nil {
						line += " | " + it.Content
					}
				}
				got = append(got, line)
			}
			if r.Cursor = res.Next; r.Cursor == "" {
				break
			}
		}
		slices.Sort(got)
		want := []string{"added | Rides a bike", "changed | Lives in Rome | Lives in Lima", "closed | Owns a cup", "retracted | Owns a red kite"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("limit %d: %s", limit, d)
		}
	}
	if res, err := m.Diff(t.Context(), DiffRequest{Who: w, From: start.Add(7 * time.Hour)}); err != nil || len(res.Differences) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	for _, r := range []DiffRequest{{Who: w}, {Who: w, From: start.AddDate(1, 0, 0)}, {Who: w, From: start, Limit: 1001}, {Who: w, From: start, Cursor: "no cursor"}} {
		if _, err := m.Diff(t.Context(), r); classOf(err) != "invalid" {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// The life of an item tells who did what to which version, and when.
func TestChanges(t *testing.T) {
	t.Parallel()
	m, w, start := fates(t)
	page, err := m.List(t.Context(), ListRequest{Who: w, Limit: 1000, All: true})
	if err != nil {
		t.Fatal(err)
	}
	tell := map[string][]string{}
	text := map[string]string{}
	for _, it := range page.Items {
		text[it.ID] = it.Content
	}
	for _, it := range page.Items {
		cs, err := m.Changes(t.Context(), w, it.ID)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, c := range cs {
			if (c.Operation != "") != (c.By == "operation") {
				t.Errorf("%+v", c)
			}
			lines = append(lines, fmt.Sprintf("%v %s %s %s %s by %s", c.At.Sub(start), c.Did, text[c.ID], text[c.With], c.Who, c.By))
		}
		tell[it.Content] = lines
	}
	home := []string{"0s added Lives in Rome  Ann by remember", "2h0m0s replaced Lives in Rome Lives in Oslo Ann by remember", "2h0m0s added Lives in Oslo  Ann by remember",
		"3h0m0s replaced Lives in Oslo Lives in Lima Ann by remember", "3h0m0s added Lives in Lima  Ann by remember"}
	for content, want := range map[string][]string{
		"Lives in Rome": home, "Lives in Lima": home,
		"Owns a red kite": {"0s added Owns a red kite  Ann by remember", "6h0m0s retracted Owns a red kite   by operation"},
		"Owns a cup":      {"0s added Owns a cup  Ann by remember", "5h0m0s ended Owns a cup   by "},
	} {
		if d := cmp.Diff(want, tell[content]); d != "" {
			t.Errorf("%s: %s", content, d)
		}
	}
	if _, err := m.Changes(t.Context(), Who{User: "other"}, page.Items[0].ID); classOf(err) != "not_found" {
		t.Errorf("another's item: %v", err)
	}
}

// Every read shows the same past: recall, the block, the list and the counts.
func TestEveryReadSeesThePast(t *testing.T) {
	t.Parallel()
	m, w, start := fates(t)
	for hour, want := range map[int][]string{
		1: {"Drinks tea", "Lives in Rome", "Owns a cup", "Owns a red kite"},
		2: {"Drinks tea", "Lives in Oslo", "Owns a cup", "Owns a red kite"},
		4: {"Drinks tea", "Fell from the bike", "Lives in Lima", "Owns a cup", "Owns a red kite", "Rides a bike"},
		5: {"Drinks tea", "Fell from the bike", "Lives in Lima", "Owns a red kite", "Rides a bike"},
		7: {"Drinks tea", "Lives in Lima", "Rides a bike"},
	} {
		at := start.Add(time.Duration(hour)*time.Hour + time.Minute)
		if d := cmp.Diff(want, holds(t, m, w, at)); d != "" {
			t.Errorf("list, hour %d: %s", hour, d)
		}
		st, err := m.StatsAt(t.Context(), StatsRequest{Who: w, AsOf: at})
		if err != nil || st.Total != len(want) || st.Semantic != len(want) {
			t.Errorf("stats, hour %d: %+v, %v", hour, st, err)
		}
		none := 0.0
		res, err := m.Recall(t.Context(), RecallRequest{Who: w, Request: recall.Request{Query: "lives owns rides drinks fell", AsOf: at, Limit: 50, MinScore: &none}})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			if !slices.Contains(want, h.Item.Content) {
				t.Errorf("recall, hour %d: %q", hour, h.Item.Content)
			}
		}
		if len(res.Hits) < len(want)-1 {
			t.Errorf("recall, hour %d: %d hits of %d", hour, len(res.Hits), len(want))
		}
		p, err := m.Profile(t.Context(), ProfileRequest{Who: w, AsOf: at})
		if err != nil {
			t.Fatal(err)
		}
		var facts []string
		for _, g := range p.Facts {
			for _, it := range g.Items {
				facts = append(facts, it.Content)
			}
		}
		slices.Sort(facts)
		if d := cmp.Diff(want, facts); d != "" {
			t.Errorf("profile, hour %d: %s", hour, d)
		}
	}
}
