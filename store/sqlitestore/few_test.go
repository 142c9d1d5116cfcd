package sqlitestore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"evoke/store"
)

// A filter that selects few items finds the same, however the search comes at them.
func TestFewAreFoundWithoutLookingAtAll(t *testing.T) {
	db, err := OpenMemory(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sc := store.Scope{Tenant: "acme", User: "alice"}
	now := time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
	var items []store.Item
	for i := range 60 {
		it := store.Item{ID: fmt.Sprint("i", i), Kind: store.Episodic, Content: fmt.Sprint("text ", i), Importance: 0.5, Confidence: 1, RecordedAt: now, ContentKey: fmt.Sprint("k", i)}
		it.Turn = store.Turn{Thread: "t", Session: fmt.Sprint("s", i%3), Position: i / 3, Role: "user"}
		if i%7 == 0 {
			it.Kind, it.Turn, it.Category = store.Semantic, store.Turn{}, store.Categories()[i%len(store.Categories())]
		}
		items = append(items, it)
	}
	p := store.Item{ID: "p", Kind: store.Semantic, Content: "Works.", Confidence: 1, RecordedAt: now, ContentKey: store.ProfileKey("work")}
	items = append(items, p)
	if err := db.Apply(t.Context(), sc, store.Change{Put: items}); err != nil {
		t.Fatal(err)
	}
	changed := items[7] // one that becomes a correction later, with the same text
	changed.Category = store.Correction
	items[7] = changed
	gone := items[14].ID
	items = slices.Delete(items, 14, 15)
	if err := db.Apply(t.Context(), sc, store.Change{Put: []store.Item{changed}, Delete: []string{gone}}); err != nil {
		t.Fatal(err)
	}
	at := func(s string, from, to int) store.Filter {
		return store.Filter{Sessions: []string{s}, Positions: store.PositionRange{From: from, To: to}}
	}
	for name, f := range map[string]store.Filter{
		"categories":       {Categories: []store.Category{store.Correction, store.Behavior}},
		"one category":     {Categories: []store.Category{store.Behavior}, Kinds: []store.Kind{store.Semantic}},
		"other categories": {Categories: []store.Category{store.Correction, store.Goal}},
		"profile":          {ContentKeys: store.ProfileKeys()},
		"other keys":       {ContentKeys: []string{"k3", store.ProfileKey("work")}},
		"places":           {Any: []store.Filter{at("s1", 2, 3), at("s2", 4, 6)}, Kinds: []store.Kind{store.Episodic}},
		"open places":      {Any: []store.Filter{at("s1", 2, 0)}},
		"places and more":  {Any: []store.Filter{at("s1", 2, 3), {IDs: []string{"i5"}}}},
		"ids":              {IDs: []string{"i1", "i2", "nobody"}, Roles: []string{"user"}},
	} {
		view := store.View{Now: now, Profile: true}
		found, err := db.Search(t.Context(), sc, store.Query{Filter: f, View: view, Important: 1000})
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, r := range found.Records {
			got = append(got, r.Item.ID)
		}
		for i := range items {
			if view.Sees(&items[i]) && f.Match(&items[i]) {
				want = append(want, items[i].ID)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
