package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"evoke/store"
)

// anyFilter draws filters over the values of the corpus, nested up to the given depth.
func anyFilter(depth int) *rapid.Generator[store.Filter] {
	return rapid.Custom(func(t *rapid.T) store.Filter {
		var f store.Filter
		some := func(name string) bool { return rapid.IntRange(0, 6).Draw(t, "use "+name) == 0 }
		if some("ids") {
			for _, n := range rapid.SliceOfN(rapid.IntRange(0, 90), 1, 30).Draw(t, "ids") {
				f.IDs = append(f.IDs, fmt.Sprintf("i%04d", n))
			}
		}
		if some("kinds") {
			f.Kinds = rapid.SliceOfN(rapid.SampledFrom(store.Kinds()), 1, 2).Draw(t, "kinds")
		}
		if some("categories") {
			f.Categories = rapid.SliceOfN(rapid.SampledFrom(append(store.Categories(), "")), 1, 4).Draw(t, "categories")
		}
		if some("threads") {
			f.Threads = rapid.SliceOfN(rapid.SampledFrom(threadNames), 1, 2).Draw(t, "threads")
		}
		if some("sessions") {
			f.Sessions = rapid.SliceOfN(rapid.SampledFrom(append(sessionNames, "none")), 1, 2).Draw(t, "sessions")
		}
		if some("roles") {
			f.Roles = rapid.SliceOfN(rapid.SampledFrom(roles), 1, 2).Draw(t, "roles")
		}
		if some("speakers") {
			f.Speakers = rapid.SliceOfN(rapid.SampledFrom(speakers), 1, 2).Draw(t, "speakers")
		}
		if some("subjects") {
			f.Subjects = rapid.SliceOfN(rapid.SampledFrom(append(subjects, "none", "")), 1, 2).Draw(t, "subjects")
		}
		if some("keys") {
			f.ContentKeys = []string{corpus(8, 1)[0].ContentKey, "none"}
		}
		f.Distilled = some("distilled")
		if some("positions") {
			from := rapid.IntRange(0, 15).Draw(t, "from")
			f.Positions = store.PositionRange{From: from, To: from + rapid.IntRange(1, 10).Draw(t, "width")}
		}
		if some("valid") {
			f.Valid = anyRange(60*24).Draw(t, "valid")
		}
		if some("recorded") {
			f.Recorded = anyRange(40).Draw(t, "recorded")
		}
		if some("expires") {
			f.Expires = anyRange(40).Draw(t, "expires")
		}
		if some("metadata") {
			f.Metadata = rapid.SliceOfN(anyCondition(), 1, 2).Draw(t, "metadata")
		}
		if depth > 0 {
			nested := rapid.SliceOfN(anyFilter(depth-1), 1, 3)
			if some("all") {
				f.All = nested.Draw(t, "all")
			}
			if some("any") {
				f.Any = nested.Draw(t, "any")
			}
			if some("none") {
				f.None = nested.Draw(t, "none")
			}
		}
		return f
	})
}

// anyRange draws ranges over the last hours, with ends on and between the times of the corpus.
func anyRange(hours int) *rapid.Generator[store.TimeRange] {
	return rapid.Custom(func(t *rapid.T) store.TimeRange {
		var r store.TimeRange
		at := now.Add(-time.Duration(rapid.IntRange(1, hours).Draw(t, "hours")) * time.Hour)
		at = at.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, -1, 1500}).Draw(t, "nanoseconds")))
		switch rapid.IntRange(0, 2).Draw(t, "ends") {
		case 0:
			r.From = at
		case 1:
			r.To = at
		default:
			r.From, r.To = at, at.Add(time.Duration(rapid.IntRange(1, hours).Draw(t, "length"))*time.Hour)
		}
		return r
	})
}

func anyCondition() *rapid.Generator[store.Condition] {
	values := []store.Value{store.String("red"), store.String("green"), store.String(""), store.Number(3), store.Number(-1.5), store.Bool(true),
		store.Bool(false), store.List("red"), store.List("red", "green"), store.Number(7)}
	return rapid.Custom(func(t *rapid.T) store.Condition {
		c := store.Condition{Key: rapid.SampledFrom([]string{"colour", "size", "done", "tags", "missing"}).Draw(t, "key")}
		how := rapid.IntRange(1, 7).Draw(t, "tests")
		if how&1 != 0 {
			c.In = rapid.SliceOfN(rapid.SampledFrom(values), 1, 3).Draw(t, "in")
		}
		low := rapid.SampledFrom([]float64{-2, -1.5, 0, 2}).Draw(t, "min")
		if how&2 != 0 {
			c.Min = &low
		}
		if how&4 != 0 {
			high := low + rapid.SampledFrom([]float64{0, 1, 5, 1e7}).Draw(t, "span")
			c.Max = &high
		}
		return c
	})
}

// filters: a listing and every arm select what Filter.Match selects, for any filter.
func filters(t *testing.T, s store.Store) {
	items := corpus(8, 80)
	put(t, s, alice, items...)
	rapid.Check(t, func(rt *rapid.T) {
		f := anyFilter(2).Draw(rt, "filter")
		if err := f.Validate(); err != nil {
			rt.Fatalf("the generator made an invalid filter: %v", err)
		}
		want := sorted(items, store.ByID, f.Match)
		page, err := s.List(context.Background(), alice, store.ListQuery{Filter: f, View: store.View{All: true}, Order: store.ByID, Limit: 1000})
		if err != nil {
			rt.Fatal(err)
		}
		if got := ids(page.Items); !slices.Equal(got, want) {
			rt.Fatalf("list: %v, want %v", got, want)
		}
		c, err := s.Search(context.Background(), alice, store.Query{Filter: f, View: store.View{All: true}, Recent: 1000})
		if err != nil {
			rt.Fatal(err)
		}
		var got []string
		for i := range c.Records {
			got = append(got, c.Records[i].Item.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rt.Fatalf("search: %v, want %v", got, want)
		}
	})
}

func filterRefused(t *testing.T, s store.Store) {
	ctx := context.Background()
	put(t, s, alice, item("a", "text"))
	deep := store.Filter{}
	for range 9 {
		deep = store.Filter{All: []store.Filter{deep}}
	}
	one, two := 1.0, 2.0
	for name, f := range map[string]store.Filter{
		"kind":      {Kinds: []store.Kind{"x"}},
		"category":  {Categories: []store.Category{"x"}},
		"range":     {Valid: store.TimeRange{From: now, To: now}},
		"key":       {Metadata: []store.Condition{{In: []store.Value{store.Bool(true)}}}},
		"condition": {Metadata: []store.Condition{{Key: "x"}}},
		"min > max": {Metadata: []store.Condition{{Key: "x", Min: &two, Max: &one}}},
		"deep":      deep,
	} {
		_, err := s.List(ctx, alice, store.ListQuery{Filter: f})
		wantErr(t, "list: "+name, err, store.ErrInvalid)
		_, err = s.Search(ctx, alice, store.Query{Filter: f, Recent: 1})
		wantErr(t, "search: "+name, err, store.ErrInvalid)
	}
}

func filterIDs(t *testing.T, s store.Store) {
	items := corpus(9, 700)
	put(t, s, alice, items...)
	f := store.Filter{IDs: append(ids(items[:600]), "missing")} // more than a query text should name one by one
	want := ids(items[:600])
	if got := listAll(t.Context(), t, s, alice, store.ListQuery{Filter: f, View: store.View{All: true}, Order: store.ByID, Limit: 250}); !slices.Equal(got, want) {
		t.Errorf("%d items by their ids, want %d", len(got), len(want))
	}
	c, err := s.Search(context.Background(), alice, store.Query{Filter: f, View: store.View{All: true}, Recent: 1000})
	must(t, err)
	if len(c.Records) != 600 {
		t.Errorf("search found %d of 600 ids", len(c.Records))
	}
}
