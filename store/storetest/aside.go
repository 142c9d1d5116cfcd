package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"evoke/store"
)

// aside tells the stories of what leaves the ordinary views: a source that a summary stands for, an item that was softly
// forgotten and restored, and one that is kept until a time. What views see, searches find, censuses count and statistics
// count alike.
func aside(t *testing.T, s store.Store) {
	hour := func(h int) time.Time { return now.Add(time.Duration(h) * time.Hour) }
	plain, source, sum, gone, brief := item("plain", "tea at noon"), item("source", "tea at one"), item("sum", "tea all day"), item("gone", "tea of old"), item("brief", "tea for now")
	for _, it := range []*store.Item{&plain, &source, &gone, &brief} {
		it.RecordedAt, it.ValidFrom = hour(-10), hour(-10)
	}
	sum.RecordedAt, sum.ValidFrom = hour(-5), hour(-10)
	source.Aside = store.Aside{Summary: "sum", SummarizedAt: hour(-5)}
	gone.Aside = store.Aside{ForgottenAt: hour(-3), PurgeAt: hour(700), ForgottenBy: "forget"}
	brief.ExpiresAt = hour(2)
	all := []store.Item{plain, source, sum, gone, brief}
	put(t, s, alice, all...)

	now0, then := store.Current(now), store.AsOf(hour(-6))
	with := now0
	with.Sources = true
	cases := []struct {
		name string
		view store.View
		want []string
	}{
		{"the present", now0, []string{"brief", "plain", "sum"}},
		{"with sources", with, []string{"brief", "plain", "source", "sum"}},
		{"before the summary", then, []string{"brief", "plain", "source"}},
		{"when the summary was made", store.AsOf(hour(-5)), []string{"brief", "plain", "sum"}},
		{"what we know now of then", store.View{Now: now, ValidAt: hour(-6)}, []string{"brief", "plain", "sum"}},
		{"the last moment of what is kept until then", store.Current(hour(2).Add(-1)), []string{"brief", "plain", "sum"}},
		{"when that time has come", store.Current(hour(2)), []string{"plain", "sum"}},
		{"later, of the past", store.View{Now: hour(3), ValidAt: hour(1)}, []string{"plain", "sum"}},
		{"what we knew before", store.View{Now: hour(3), KnownAt: hour(1)}, []string{"brief", "plain", "sum"}},
		{"what is forgotten", store.View{Forgotten: true}, []string{"gone"}},
		{"every version", store.View{All: true}, []string{"brief", "gone", "plain", "source", "sum"}},
		{"every version that may be read", store.View{All: true, Kept: true}, []string{"brief", "plain", "source", "sum"}},
	}
	for _, c := range cases {
		sees(t, s, c.name, c.view, c.want, 3)
	}

	got, err := s.Get(context.Background(), alice, []string{"source", "gone", "brief"})
	must(t, err)
	if len(got) != 3 || got[0].Aside != source.Aside || got[1].Aside != gone.Aside || !got[2].ExpiresAt.Equal(brief.ExpiresAt) {
		t.Errorf("read back as %+v", got)
	}

	gone.Aside, source.Aside = store.Aside{}, store.Aside{} // restored, and the summary gone
	put(t, s, alice, gone, source)
	sees(t, s, "restored", now0, []string{"brief", "gone", "plain", "source", "sum"}, 5)
	sees(t, s, "restored, of the past", then, []string{"brief", "gone", "plain", "source"}, 5)
	sees(t, s, "nothing is forgotten", store.View{Forgotten: true}, nil, 5)
}

// sees holds every way to read against what a view should see, and the number of items that statistics should count.
func sees(t *testing.T, s store.Store, name string, v store.View, want []string, counted int) {
	t.Helper()
	ctx := context.Background()
	if got := listAll(ctx, t, s, alice, store.ListQuery{View: v, Order: store.ByID}); !slices.Equal(got, want) {
		t.Errorf("%s: listed %v, want %v", name, got, want)
	}
	found, err := s.Search(ctx, alice, store.Query{View: v, Terms: terms("tea"), Lexical: 10, Recent: 10, Important: 10})
	must(t, err)
	if got := sortedIDs(found); !slices.Equal(got, want) {
		t.Errorf("%s: found %v, want %v", name, got, want)
	}
	if found.Stats.Docs != counted || found.Pending != counted {
		t.Errorf("%s: statistics of %d items, %d of them pending, want %d", name, found.Stats.Docs, found.Pending, counted)
	}
	st, err := s.Stats(ctx, alice, v)
	must(t, err)
	c, err := s.Census(ctx, alice.Tenant, store.CensusQuery{View: v})
	must(t, err)
	if total := c.Kinds[store.Episodic] + c.Kinds[store.Semantic] + c.Kinds[store.Procedural]; st.Total != len(want) || total != len(want) {
		t.Errorf("%s: counted %d and %d items, want %d", name, st.Total, total, len(want))
	}
}
