package recall

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"evoke/recall/tokens"
	"evoke/store"
)

func genFilter(t *rapid.T) store.Filter {
	var f store.Filter
	if rapid.Bool().Draw(t, "by kind") {
		f.Kinds = rapid.SliceOfN(rapid.SampledFrom(store.Kinds()), 1, 2).Draw(t, "kinds")
	}
	if rapid.Bool().Draw(t, "by speaker") {
		f.Speakers = rapid.SliceOfN(rapid.SampledFrom([]string{"Ada", "Bo", "user"}), 1, 2).Draw(t, "speakers")
	}
	if rapid.Bool().Draw(t, "by session") {
		f.Sessions = []string{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session")}
	}
	if rapid.Bool().Draw(t, "by time") {
		f.Valid = store.TimeRange{From: now.AddDate(0, 0, -20)}
	}
	return f
}

// found are the ids of hits and of what was left out as a duplicate of one.
func found(res *Response) []string {
	var out []string
	for _, h := range res.Hits {
		out = append(out, h.Item.ID)
	}
	for _, d := range res.Duplicates {
		out = append(out, d.ID)
	}
	return out
}

// A filter more never adds an item, and whatever comes is selected by it.
func TestAFilterNeverAddsItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := genItems.Draw(t, "items")
		zero := 0.0
		req := Request{Query: rapid.OneOf(genText, rapid.Just("")).Draw(t, "query"), Limit: 100, MinScore: &zero}
		f := build(items, func(int) bool { return true })
		all := found(answer(t, f, req))
		req.Filter = genFilter(t)
		some := answer(t, f, req)
		for _, id := range found(some) {
			if !slices.Contains(all, id) {
				t.Fatalf("%s comes with the filter only", id)
			}
		}
		selected := 0
		for i := range items {
			if req.Filter.Match(&items[i]) && store.Current(now).Sees(&items[i]) {
				selected++
			}
		}
		for _, h := range some.Hits {
			if !req.Filter.Match(&h.Item) {
				t.Fatalf("%s is not selected", h.Item.ID)
			}
		}
		if n := len(found(some)); n != selected {
			t.Fatalf("%d found of %d selected", n, selected)
		}
		if (len(some.Hits) == 0) != (some.Empty != "") {
			t.Fatalf("%d hits, empty: %q", len(some.Hits), some.Empty)
		}
	})
}

// A higher limit loses no hit, and a lower minimum neither.
func TestMoreRoomLosesNoHit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := genItems.Draw(t, "items")
		f := build(items, func(int) bool { return true })
		query := genText.Draw(t, "query")
		low, high := rapid.Float64Range(0, 0.3).Draw(t, "min"), rapid.Float64Range(0.3, 0.6).Draw(t, "higher")
		k := rapid.IntRange(1, 8).Draw(t, "k")
		few := answer(t, f, Request{Query: query, Limit: k, MinScore: &high})
		for name, more := range map[string]*Response{
			"limit": answer(t, f, Request{Query: query, Limit: k + rapid.IntRange(1, 5).Draw(t, "more"), MinScore: &high}),
			"min":   answer(t, f, Request{Query: query, Limit: 100, MinScore: &low}),
		} {
			for _, h := range few.Hits {
				if !slices.Contains(found(more), h.Item.ID) {
					t.Fatalf("%s: %s is lost", name, h.Item.ID)
				}
			}
		}
	})
}

// A block of any items, filter, shape and budget keeps to its budget by the library's own count, holds what the filter
// selects, names each item once, and none of it is both in the block and left out.
func TestBlocksHoldWhatWasAsked(t *testing.T) {
	count, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		items := genItems.Draw(t, "items")
		for i := range items {
			if items[i].Kind != store.Episodic {
				items[i].Category = rapid.SampledFrom(store.Categories()).Draw(t, "category")
			}
		}
		e, err := New(build(items, func(int) bool { return true }), nil, &Options{Clock: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		req := BlockRequest{
			Request:   Request{Query: rapid.OneOf(genText, rapid.Just("")).Draw(t, "query"), Filter: genFilter(t)},
			MaxTokens: rapid.IntRange(0, 600).Draw(t, "budget"), Shape: rapid.SampledFrom([]Shape{"", Lines, Briefing, Full}).Draw(t, "shape"),
		}
		b, err := e.Context(context.Background(), []store.Scope{alice}, req)
		if err != nil {
			t.Fatal(err)
		}
		if n := count.Count(b.Text); n > req.MaxTokens || n != b.Tokens {
			t.Fatalf("%d tokens (said: %d) in a budget of %d", n, b.Tokens, req.MaxTokens)
		}
		seen := map[string]bool{}
		for i, entry := range b.Entries {
			at := slices.IndexFunc(items, func(it store.Item) bool { return it.ID == entry.ID })
			if at < 0 || !req.Filter.Match(&items[at]) || seen[entry.ID] || b.Items[i] != entry.ID {
				t.Fatalf("%+v", entry)
			}
			seen[entry.ID] = true
		}
		for _, l := range b.LeftOut {
			if seen[l.ID] {
				t.Fatalf("%s is in the block and left out", l.ID)
			}
		}
	})
}
