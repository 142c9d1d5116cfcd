package storetest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"evoke/store"
)

var byValue = cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(store.Value.Equal)}

// full is an item with every field set.
func full(id string) store.Item {
	it := turn(id, "session, with: delimiters/|", 3, "I moved to 柏林 in May.\nIt is \"nice\" 🙂; DROP TABLE items; --")
	it.Category = ""
	it.Metadata = store.Metadata{"s": store.String("x'y"), "n": store.Number(0.1), "big": store.Number(1e300), "b": store.Bool(false),
		"l": store.List("a", "b"), "empty": store.List(), "键": store.String("值")}
	it.Importance, it.Confidence, it.Uses = 1.0/3, 0.7, 12
	it.LastUsed = now.Add(-time.Minute)
	it.ValidFrom = now.Add(-123456789 * time.Microsecond)
	it.ValidTo = now.Add(time.Hour)
	it.RecordedAt = now.Add(-time.Microsecond)
	it.ClosedAt = now
	it.RetractedAt = now.Add(2 * time.Hour)
	it.Provenance = store.Provenance{Origin: "llm", Extractor: "x/1", Turns: []string{"a", "b"}, Quote: "moved"}
	it.ContentKey = store.ContentKey(it.Kind, it.Content)
	it.Supersedes, it.SupersededBy = "old", "new"
	return it
}

func putGet(t *testing.T, s store.Store) {
	ctx := context.Background()
	a, b, ancient := full("a"), item("b", "plain"), item("c", "ancient")
	b.Kind = store.Procedural
	b.Outcomes = store.Outcomes{Succeeded: 3, Failed: 1, Last: store.Failed, LastAt: now.Add(-time.Second)}
	b.ValidFrom = time.Time{}
	ancient.ValidFrom = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
	ancient.ValidTo = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	put(t, s, alice, a, b, ancient)
	got, err := s.Get(ctx, alice, []string{"c", "missing", "a", "b", "a"})
	must(t, err)
	if diff := cmp.Diff([]store.Item{ancient, a, b}, got, byValue); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	got, err = s.Get(ctx, alice, nil)
	must(t, err)
	if len(got) != 0 {
		t.Errorf("no ids gave %d items", len(got))
	}
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprint("none", i)
	}
	got, err = s.Get(ctx, alice, append(many, "b"))
	must(t, err)
	if len(got) != 1 || got[0].ID != "b" {
		t.Errorf("one of 3001 ids exists, got %v", ids(got))
	}
}

func replace(t *testing.T, s store.Store) {
	ctx := context.Background()
	put(t, s, alice, full("a"))
	plain := item("a", "other words entirely")
	put(t, s, alice, plain)
	got, err := s.Get(ctx, alice, []string{"a"})
	must(t, err)
	if diff := cmp.Diff([]store.Item{plain}, got, byValue); diff != "" {
		t.Errorf("a put replaces the whole item (-want +got):\n%s", diff)
	}
	first, last := item("a", "first"), item("a", "last")
	put(t, s, alice, first, last)
	got, err = s.Get(ctx, alice, []string{"a"})
	must(t, err)
	if len(got) != 1 || got[0].Content != "last" {
		t.Errorf("of two puts of one id the last counts, got %+v", got)
	}
}

func deleteTotal(t *testing.T, s store.Store) {
	ctx := context.Background()
	items := corpus(1, 30)
	es := embeddings(1, items)
	fill(t, s, alice, items, es)
	search := store.Query{View: store.View{All: true}, Vector: es[0].Own[0], Terms: terms("tea Berlin 绿茶"), Dense: 50, Lexical: 50, Recent: 50, Important: 50}
	_, err := s.Search(ctx, alice, search)
	must(t, err)
	gone := map[string]bool{}
	c := store.Change{Delete: []string{"missing"}}
	for _, e := range es[:10] {
		c.Delete = append(c.Delete, e.ID)
		gone[e.ID] = true
	}
	for range 2 { // a deletion that is repeated changes nothing
		must(t, s.Apply(ctx, alice, c))
	}
	var left []store.Item
	for _, it := range items {
		if !gone[it.ID] {
			left = append(left, it)
		}
	}
	got, err := s.Get(ctx, alice, c.Delete)
	must(t, err)
	if len(got) != 0 {
		t.Errorf("deleted items are still there: %v", ids(got))
	}
	found, err := s.Search(ctx, alice, search)
	must(t, err)
	newReference(left, es[10:]).check(t, search, found)
	// The same ids again do not find their old vectors.
	put(t, s, alice, items...)
	found, err = s.Search(ctx, alice, search)
	must(t, err)
	newReference(items, es[10:]).check(t, search, found)
	must(t, s.Apply(ctx, alice, store.Change{Put: []store.Item{item("both", "put and deleted")}, Delete: []string{"both"}}))
	got, err = s.Get(ctx, alice, []string{"both"})
	must(t, err)
	if len(got) != 0 {
		t.Error("an id that is put and deleted in one change is gone")
	}
}

func refusedItems(t *testing.T, s store.Store) {
	ctx := context.Background()
	for name, spoil := range map[string]func(*store.Item){
		"no id":          func(it *store.Item) { it.ID = "" },
		"long id":        func(it *store.Item) { it.ID = strings.Repeat("x", 257) },
		"control in id":  func(it *store.Item) { it.ID = "a\x00b" },
		"kind":           func(it *store.Item) { it.Kind = "mythical" },
		"category":       func(it *store.Item) { it.Category = "gossip" },
		"blank content":  func(it *store.Item) { it.Content = " \n\t" },
		"huge content":   func(it *store.Item) { it.Content = strings.Repeat("x", 1<<20+1) },
		"importance":     func(it *store.Item) { it.Importance = 1.01 },
		"NaN":            func(it *store.Item) { it.Confidence = math.NaN() },
		"uses":           func(it *store.Item) { it.Uses = -1 },
		"outcomes":       func(it *store.Item) { it.Kind, it.Outcomes.Failed = store.Procedural, -1 },
		"outcomes' kind": func(it *store.Item) { it.Outcomes.Failed = 1 },
		"last outcome":   func(it *store.Item) { it.Kind, it.Outcomes.Last = store.Procedural, "maybe" },
		"position":       func(it *store.Item) { it.Turn.Position = -1 },
		"reversed times": func(it *store.Item) { it.ValidTo = it.ValidFrom.Add(-time.Second) },
		"far future":     func(it *store.Item) { it.ValidFrom = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"reserved key":   func(it *store.Item) { it.Metadata = store.Metadata{"evoke_x": store.Bool(true)} },
		"infinite":       func(it *store.Item) { it.Metadata = store.Metadata{"x": store.Number(math.Inf(1))} },
	} {
		bad := item("bad", "text")
		spoil(&bad)
		wantErr(t, name, s.Apply(ctx, alice, store.Change{Put: []store.Item{item("good", "text"), bad}}), store.ErrInvalid)
	}
	page, err := s.List(ctx, alice, store.ListQuery{View: store.View{All: true}})
	must(t, err)
	if len(page.Items) != 0 {
		t.Errorf("a refused change left %v", ids(page.Items))
	}
}

func oddTexts(t *testing.T, s store.Store) {
	ctx := context.Background()
	for i, c := range []struct{ in, want string }{
		{"a\xffb", "a\uFFFDb"},
		{"nul\x00l", "null"},
		{"\xed\xa0\x80", "\uFFFD"},
		{"  edges \n", "edges"},
		{strings.Repeat("x", 1<<20), strings.Repeat("x", 1<<20)},
		{strings.Repeat("多字", 5000), strings.Repeat("多字", 5000)},
		{"?", "?"},
		{"%s %d {} ' \" \\ ` ; --", "%s %d {} ' \" \\ ` ; --"},
	} {
		id := fmt.Sprintf("odd %d '\"%%/\\:|", i)
		put(t, s, alice, item(id, c.in))
		got, err := s.Get(ctx, alice, []string{id})
		must(t, err)
		if len(got) != 1 || got[0].Content != c.want {
			t.Errorf("text %d came back as %.40q", i, fmt.Sprint(got))
		}
	}
	found, err := s.Search(ctx, alice, store.Query{View: store.Current(now), Terms: terms("多字"), Lexical: 5, Recent: 100})
	must(t, err)
	if len(found.Records) != 8 {
		t.Errorf("%d of 8 odd texts found", len(found.Records))
	}
}

func idempotent(t *testing.T, s store.Store) {
	ctx := context.Background()
	items := corpus(2, 20)
	es := embeddings(2, items)
	fill(t, s, alice, items, es)
	c := store.Change{Put: items[:15], Delete: []string{items[15].ID, items[16].ID}}
	for range 3 {
		must(t, s.Apply(ctx, alice, c))
		must(t, s.SetEmbeddings(ctx, alice, es))
	}
	left := append(append([]store.Item(nil), items[:15]...), items[17:]...)
	var kept []store.Embedding
	for _, e := range es {
		if e.ID != items[15].ID && e.ID != items[16].ID {
			kept = append(kept, e)
		}
	}
	q := store.Query{View: store.View{All: true}, Vector: es[0].Own[0], Terms: terms("tea train river"), Dense: 50, Lexical: 50, Recent: 50, Important: 50}
	found, err := s.Search(ctx, alice, q)
	must(t, err)
	newReference(left, kept).check(t, q, found)
	st, err := s.Stats(ctx, alice, store.View{All: true})
	must(t, err)
	if st.Total != len(left) || st.Embedded != len(kept) {
		t.Errorf("%d items, %d embedded; want %d, %d", st.Total, st.Embedded, len(left), len(kept))
	}
}

func largeChange(t *testing.T, s store.Store) {
	ctx := context.Background()
	n := 1500
	if testing.Short() {
		n = 400
	}
	items := corpus(3, n)
	put(t, s, alice, items[:2]...)
	q := store.Query{View: store.Current(now), Terms: terms("garden music 写代码"), Lexical: 100, Recent: 100, Important: 100}
	_, err := s.Search(ctx, alice, q) // an index that is in memory has to follow
	must(t, err)
	put(t, s, alice, items...)
	found, err := s.Search(ctx, alice, q)
	must(t, err)
	newReference(items, nil).check(t, q, found)
}
