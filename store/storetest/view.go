package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"evoke/store"
)

// manyViews are views around every moment that the corpus holds, on and beside whole microseconds.
func manyViews() []store.View {
	vs := []store.View{{All: true}, {All: true, Kept: true}, {Forgotten: true}, {Forgotten: true, All: true, Now: now}}
	every := 47
	if testing.Short() {
		every *= 10
	}
	for h := -1600; h <= 40; h += every {
		for _, ns := range []time.Duration{0, 1, 999, -1} {
			at := now.Add(time.Duration(h)*time.Hour + ns)
			vs = append(vs, store.Current(at), store.AsOf(at), store.View{Now: now, KnownAt: at}, store.View{Now: now, ValidAt: at},
				store.View{Now: now, ValidAt: at, KnownAt: now.Add(-10 * time.Hour)})
			if ns == 0 {
				vs = append(vs, store.View{Now: at, Sources: true}, store.View{Now: now, KnownAt: at, Sources: true})
			}
		}
	}
	for i, v := range vs {
		if i%3 > 0 {
			v.Threads = [][]string{{"t1"}, {"t2", "t1"}}[i%3-1]
			vs = append(vs, v)
		}
	}
	return vs
}

// views: listings and statistics see what View.Sees sees.
func views(t *testing.T, s store.Store) {
	ctx := context.Background()
	items := corpus(10, 120)
	put(t, s, alice, items...)
	for _, v := range manyViews() {
		want := sorted(items, store.ByID, v.Sees)
		if got := listAll(t.Context(), t, s, alice, store.ListQuery{View: v, Order: store.ByID, Limit: 200}); !slices.Equal(got, want) {
			t.Fatalf("view %+v: %v, want %v", v, got, want)
		}
		st, err := s.Stats(ctx, alice, v)
		must(t, err)
		if st.Total != len(want) {
			t.Fatalf("view %+v: %d counted, want %d", v, st.Total, len(want))
		}
	}
}

// asOf tells the story of one fact that was replaced, the replacement becoming known later than it became true.
func asOf(t *testing.T, s store.Store) {
	day := func(d int) time.Time { return time.Date(2026, 3, d, 12, 0, 0, 0, time.UTC) }
	old, next, wrong := item("old", "lives in Paris"), item("new", "lives in Berlin"), item("wrong", "lives in Rome")
	old.RecordedAt, old.ValidFrom, old.ValidTo, old.ClosedAt, old.SupersededBy = day(1), day(1), day(10), day(15), "new"
	next.RecordedAt, next.ValidFrom, next.Supersedes = day(15), day(10), "old"
	wrong.RecordedAt, wrong.ValidFrom, wrong.RetractedAt = day(2), day(2), day(3)
	put(t, s, alice, old, next, wrong)
	for _, c := range []struct {
		name string
		view store.View
		want []string
	}{
		{"the present", store.Current(day(20)), []string{"new"}},
		{"before anything was known", store.AsOf(day(1).Add(-time.Hour)), nil},
		{"with the error", store.AsOf(day(2)), []string{"old", "wrong"}},
		{"after its retraction", store.AsOf(day(4)), []string{"old"}},
		{"moved, but we did not know", store.AsOf(day(12)), []string{"old"}},
		{"once we knew", store.AsOf(day(16)), []string{"new"}},
		{"what we know now of then", store.View{Now: day(20), ValidAt: day(5)}, []string{"old"}},
		{"what we knew then of now", store.View{Now: day(20), KnownAt: day(12)}, []string{"old"}},
		{"everything", store.View{All: true}, []string{"new", "old", "wrong"}},
	} {
		if got := listAll(t.Context(), t, s, alice, store.ListQuery{View: c.view, Order: store.ByID}); !slices.Equal(got, c.want) {
			t.Errorf("%s: listed %v, want %v", c.name, got, c.want)
		}
		found, err := s.Search(context.Background(), alice, store.Query{View: c.view, Terms: terms("who lives where"), Lexical: 10})
		must(t, err)
		if got := sortedIDs(found); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", c.name, got, c.want)
		}
	}
}

// profile: the sections of a profile are seen by views that ask for them alone, and stand in no statistics.
func profile(t *testing.T, s store.Store) {
	ctx := context.Background()
	fact, old, section := item("fact", "drinks tea"), item("old", "tea and coffee"), item("section", "tea every day")
	old.ContentKey, section.ContentKey = store.ProfileKey("personal"), store.ProfileKey("personal")
	old.ValidFrom, old.RecordedAt = now.Add(-time.Hour), now.Add(-time.Hour)
	old.Close(now, now)
	old.SupersededBy, section.Supersedes = "section", "old"
	put(t, s, alice, fact, old, section)
	with := func(v store.View) store.View {
		v.Profile = true
		return v
	}
	keys := store.Filter{ContentKeys: store.ProfileKeys()}
	for _, c := range []struct {
		name   string
		view   store.View
		filter store.Filter
		want   []string
	}{
		{"facts", store.Current(now), store.Filter{}, []string{"fact"}},
		{"facts of then", store.AsOf(now.Add(-time.Minute)), store.Filter{}, nil},
		{"not asked for", store.Current(now), keys, nil},
		{"everything there is now", with(store.Current(now)), store.Filter{}, []string{"fact", "section"}},
		{"the profile", with(store.Current(now)), keys, []string{"section"}},
		{"the profile of then", with(store.AsOf(now.Add(-time.Minute))), keys, []string{"old"}},
		{"every version", store.View{All: true}, keys, []string{"old", "section"}},
	} {
		q := store.ListQuery{View: c.view, Filter: c.filter, Order: store.ByID}
		if got := listAll(t.Context(), t, s, alice, q); !slices.Equal(got, c.want) {
			t.Errorf("%s: listed %v, want %v", c.name, got, c.want)
		}
		found, err := s.Search(ctx, alice, store.Query{View: c.view, Filter: c.filter, Terms: terms("tea"), Lexical: 10, Recent: 10, Important: 10})
		must(t, err)
		if got := sortedIDs(found); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", c.name, got, c.want)
		}
		if found.Stats.Docs != 1 || found.Pending != 1 {
			t.Errorf("%s: statistics of %d items, %d of them pending, want the fact alone", c.name, found.Stats.Docs, found.Pending)
		}
		st, err := s.Stats(ctx, alice, c.view)
		must(t, err)
		if all := listAll(t.Context(), t, s, alice, store.ListQuery{View: c.view, Order: store.ByID}); st.Total != len(all) {
			t.Errorf("%s: counted %d items, listed %d", c.name, st.Total, len(all))
		}
	}
}

// tasks: what holds for one task only is seen in calls that name its thread, as long as it holds, and by those that ask for
// every version.
func tasks(t *testing.T, s store.Store) {
	ctx := context.Background()
	fact, mine, other, past, endless := item("fact", "tea daily"), item("mine", "tea now"), item("other", "tea there"), item("past", "tea then"), item("endless", "tea always")
	for it, thread := range map[*store.Item]string{&fact: "t1", &mine: "t1", &other: "t2", &past: "t1", &endless: "t3"} {
		it.Turn.Thread = thread
	}
	for _, it := range []*store.Item{&mine, &other, &past, &endless} {
		it.Provenance.Durability = store.TaskDurability
	}
	mine.Provenance.Quote = `"durability":"agent"`
	fact.Provenance.Quote = `"durability":"task"` // text that looks like it
	fact.ValidTo, fact.ClosedAt = now.Add(time.Hour), now
	for _, it := range []*store.Item{&mine, &other, &past} {
		it.ValidFrom, it.RecordedAt = now.Add(-2*time.Hour), now.Add(-2*time.Hour)
		it.ValidTo, it.ClosedAt = now.Add(time.Hour), it.RecordedAt
	}
	past.ValidTo = now.Add(-time.Hour)
	put(t, s, alice, fact, mine, other, past, endless)
	in := func(v store.View, threads ...string) store.View {
		v.Threads = threads
		return v
	}
	for _, c := range []struct {
		name string
		view store.View
		want []string
	}{
		{"no thread", store.Current(now), []string{"endless", "fact"}},
		{"its thread", in(store.Current(now), "t1"), []string{"endless", "fact", "mine"}},
		{"another thread", in(store.Current(now), "t2"), []string{"endless", "fact", "other"}},
		{"both", in(store.Current(now), "t2", "t1"), []string{"endless", "fact", "mine", "other"}},
		{"a thread without tasks", in(store.Current(now), "\xff", ""), []string{"endless", "fact"}},
		{"when the task was at hand", in(store.AsOf(now.Add(-90*time.Minute)), "t1"), []string{"mine", "past"}},
		{"then, without a thread", store.AsOf(now.Add(-90 * time.Minute)), nil},
		{"when it is over", in(store.Current(now.Add(2*time.Hour)), "t1", "t2"), []string{"endless"}},
		{"every version", store.View{All: true}, []string{"endless", "fact", "mine", "other", "past"}},
	} {
		if got := listAll(t.Context(), t, s, alice, store.ListQuery{View: c.view, Order: store.ByID}); !slices.Equal(got, c.want) {
			t.Errorf("%s: listed %v, want %v", c.name, got, c.want)
		}
		found, err := s.Search(ctx, alice, store.Query{View: c.view, Terms: terms("tea"), Lexical: 10, Recent: 10, Important: 10})
		must(t, err)
		if got := sortedIDs(found); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", c.name, got, c.want)
		}
		st, err := s.Stats(ctx, alice, c.view)
		must(t, err)
		if st.Total != len(c.want) {
			t.Errorf("%s: counted %d items, want %d", c.name, st.Total, len(c.want))
		}
	}
}

func sortedIDs(c *store.Candidates) []string {
	var got []string
	for i := range c.Records {
		got = append(got, c.Records[i].Item.ID)
	}
	slices.Sort(got)
	return got
}

func stats(t *testing.T, s store.Store) {
	ctx := context.Background()
	st, err := s.Stats(ctx, alice, store.Current(now))
	must(t, err)
	if st != (store.Stats{}) {
		t.Errorf("an unwritten scope counts %+v", st)
	}
	items := corpus(11, 40)
	es := embeddings(11, items)
	fill(t, s, alice, items, es)
	st, err = s.Stats(ctx, alice, store.View{All: true})
	must(t, err)
	kinds := map[store.Kind]int{}
	var content int64
	for _, it := range items {
		kinds[it.Kind]++
		content += int64(len(it.Content))
	}
	if st.Total != 40 || st.Episodic != kinds[store.Episodic] || st.Semantic != kinds[store.Semantic] || st.Procedural != kinds[store.Procedural] || st.Embedded != len(es) {
		t.Errorf("%+v, want 40 items of kinds %v, %d embedded", st, kinds, len(es))
	}
	if least := content + int64(len(es)*testDim); st.Bytes < least {
		t.Errorf("%d bytes, want at least %d", st.Bytes, least)
	}
}
