package evoke

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/recall"
	"evoke/store"
)

// written puts a version of a section into a memory, as an extractor's result does.
func written(t *testing.T, m *Memory, sc store.Scope, id, name, content string, at time.Time, old *store.Item, turns ...string) store.Item {
	t.Helper()
	it := store.Item{
		ID: id, Kind: store.Semantic, Content: content, Importance: 0.5, Confidence: 1, ValidFrom: at, RecordedAt: at, ContentKey: store.ProfileKey(name),
		Provenance: store.Provenance{Origin: store.ProfileOrigin, Extractor: "llm/1", Turns: turns, Subject: store.ProfileKey(name)},
	}
	w := m.newWrite(sc)
	if it.FollowProfile(old); old != nil {
		closed := *old
		closed.Close(at, at)
		closed.SupersededBy, it.Supersedes = id, old.ID
		w.Put = append(w.Put, closed)
	}
	w.Put = append(w.Put, it)
	if err := m.commit(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	return it
}

func sectionOf(t *testing.T, res ProfileResult, name string) ProfileSection {
	t.Helper()
	i := slices.IndexFunc(res.Sections, func(s ProfileSection) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("%+v has no section %s", res, name)
	}
	return res.Sections[i]
}

func TestProfileOfSections(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now)
	m := open(t, &Options{Clock: clock.now, Embedder: &bagEmbedder{}})
	who := Who{User: "ann"}
	sc := store.Scope{Tenant: "default", User: "ann"}
	first := written(t, m, sc, "w1", "work", "A nurse.", now, nil, "t1")
	clock.set(now.Add(time.Hour))
	written(t, m, sc, "w2", "work", "A baker.", clock.now(), &first, "t1", "t2")
	res, err := m.Profile(t.Context(), ProfileRequest{Who: who})
	if err != nil || res.Source != "profile" || len(res.Sections) != 6 {
		t.Fatalf("%+v, %v", res, err)
	}
	work := sectionOf(t, res, "work")
	if work.Content != "A baker." || work.Version != 2 || work.ID != "w2" || !work.Updated.Equal(clock.now()) || !slices.Equal(work.Sources, []string{"t1", "t2"}) {
		t.Errorf("%+v", work)
	}
	if s := sectionOf(t, res, "long_term"); s.Content != "" || s.Version != 0 || s.Sources == nil {
		t.Errorf("a section that nobody wrote: %+v", s)
	}
	then, err := m.Profile(t.Context(), ProfileRequest{Who: who, AsOf: now.Add(time.Minute)})
	if s := sectionOf(t, then, "work"); err != nil || s.Content != "A nurse." || s.Version != 1 {
		t.Errorf("as of then: %+v, %v", s, err)
	}
	if versions, err := m.History(t.Context(), who, "w1"); err != nil || len(versions) != 2 {
		t.Errorf("%+v, %v", versions, err)
	}
	other, err := m.Profile(t.Context(), ProfileRequest{Who: Who{User: "bob"}})
	if err != nil || other.Source != "facts" || len(other.Sections) != 0 {
		t.Errorf("another user's: %+v, %v", other, err)
	}
	pair, err := m.Profile(t.Context(), ProfileRequest{Who: Who{User: "ann", Agent: "chef"}})
	if s := sectionOf(t, pair, "work"); err != nil || s.Content != "A baker." {
		t.Errorf("an agent that reads the user's memory: %+v, %v", s, err)
	}
}

func TestProfileStandsApart(t *testing.T) {
	m := open(t, &Options{Embedder: &bagEmbedder{}})
	who := Who{User: "ann"}
	written(t, m, store.Scope{Tenant: "default", User: "ann"}, "w1", "work", "Bakes bread.", m.now(), nil, "t1")
	if _, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: "Bakes bread!"}); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	res, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: "who bakes bread", MinScore: ptr(0.0)}})
	if err != nil || contents(res.Hits) != "Bakes bread!" || res.PendingVectors != 0 {
		t.Errorf("%q, %d pending, %v", contents(res.Hits), res.PendingVectors, err)
	}
	blank, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{}})
	if err != nil || contents(blank.Hits) != "Bakes bread!" {
		t.Errorf("without a query: %q, %v", contents(blank.Hits), err)
	}
	if st, err := m.Stats(t.Context(), who); err != nil || st.Semantic != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestProfileOfFacts(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "ann"}
	for _, f := range []struct {
		category store.Category
		text     string
		weight   float64
	}{{store.Preference, "Likes tea.", 0.4}, {"", "Owns a boat.", 0.9}, {store.Preference, "Hates noise.", 0.8}, {store.Goal, "Wants to sail.", 0.5}} {
		if _, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: f.text, Category: f.category, Importance: &f.weight}); err != nil {
			t.Fatal(err)
		}
	}
	res, err := m.Profile(t.Context(), ProfileRequest{Who: who})
	if err != nil || res.Source != "facts" {
		t.Fatalf("%+v, %v", res, err)
	}
	var got []string
	for _, g := range res.Facts {
		for _, it := range g.Items {
			got = append(got, string(g.Category)+": "+it.Content)
		}
	}
	if want := "preference: Hates noise.|preference: Likes tea.|goal: Wants to sail.|: Owns a boat."; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
	pair := Who{User: "ann", Agent: "chef"}
	if _, err := m.Remember(t.Context(), RememberRequest{Who: pair, Content: "Prefers gas stoves.", Category: store.Preference, Importance: ptr(0.6)}); err != nil {
		t.Fatal(err)
	}
	both, err := m.Profile(t.Context(), ProfileRequest{Who: pair})
	if err != nil || len(both.Facts) != 3 || len(both.Facts[0].Items) != 3 || both.Facts[0].Items[1].Content != "Prefers gas stoves." {
		t.Errorf("of the pair's memory and the user's own: %+v, %v", both, err)
	}
	if none, err := m.Profile(t.Context(), ProfileRequest{Who: Who{User: "nobody"}}); err != nil || none.Source != "facts" || len(none.Facts) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}

func TestProfileUnderNoNamespace(t *testing.T) {
	m := open(t, &Options{Policy: ExpertsPolicy()})
	res, err := m.Profile(t.Context(), ProfileRequest{Who: Who{User: "ann", Agent: "expert"}})
	if err != nil || res.Skipped != "namespace_policy" || res.Sections != nil || res.Facts != nil {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestForgettingASourceTellsTheProfile(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "ann", Thread: "t"}
	in, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("I am a nurse.", "Good.")})
	if err != nil {
		t.Fatal(err)
	}
	sc := store.Scope{Tenant: "default", User: "ann"}
	one, two := in.Turns[0].ID, in.Turns[1].ID
	old := written(t, m, sc, "w1", "work", "A nurse.", m.now(), nil, one)
	written(t, m, sc, "w2", "work", "A nurse, and good.", m.now(), &old, one, two)
	written(t, m, sc, "p1", "personal", "Is well.", m.now(), nil, two)
	forget := func(ids ...string) {
		t.Helper()
		for _, dry := range []bool{true, false} {
			if res, err := m.Forget(t.Context(), ForgetRequest{Who: Who{User: "ann"}, IDs: ids, DryRun: dry}); err != nil || res.Forgotten != len(ids) || res.Sections != 2 {
				t.Fatalf("%+v, %v", res, err)
			}
		}
	}
	forget(one)
	res, err := m.Profile(t.Context(), ProfileRequest{Who: who})
	if s := sectionOf(t, res, "work"); err != nil || !s.Stale || !slices.Equal(s.Sources, []string{two}) {
		t.Errorf("one of two sources is forgotten: %+v, %v", s, err)
	}
	if s := sectionOf(t, res, "personal"); s.Stale || s.Content == "" {
		t.Errorf("rests on nothing forgotten: %+v", s)
	}
	if _, err := m.Get(t.Context(), who, "w1"); err == nil {
		t.Error("an earlier version that rests on the forgotten turn is there")
	}
	forget(two)
	if res, err := m.Profile(t.Context(), ProfileRequest{Who: who}); err != nil || res.Source != "facts" {
		t.Errorf("all sources are forgotten: %+v, %v", res, err)
	}
}

func TestForgettingAllLeavesNoProfile(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "ann"}
	written(t, m, store.Scope{Tenant: "default", User: "ann"}, "w1", "work", "A nurse.", m.now(), nil, "t1")
	if res, err := m.Forget(t.Context(), ForgetRequest{Who: who, All: true}); err != nil || res.Forgotten != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if res, err := m.Profile(t.Context(), ProfileRequest{Who: who}); err != nil || res.Source != "facts" {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestAPersonCorrectsASection(t *testing.T) {
	m := open(t, &Options{Embedder: &bagEmbedder{}})
	who := Who{User: "ann"}
	written(t, m, store.Scope{Tenant: "default", User: "ann"}, "w1", "work", "A nurse.", m.now(), nil, "t1")
	if _, err := m.Update(t.Context(), UpdateRequest{Who: who, ID: "w1", Content: ptr("A doctor.")}); err != nil {
		t.Fatal(err)
	}
	res, err := m.Profile(t.Context(), ProfileRequest{Who: who})
	if s := sectionOf(t, res, "work"); err != nil || s.Content != "A doctor." || s.Version != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	if st, err := m.Stats(t.Context(), who); err != nil || st.Pending.Vectors != 0 || st.Total != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestProfileIsExportedAndImported(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "ann"}
	sc := store.Scope{Tenant: "default", User: "ann"}
	old := written(t, m, sc, "w1", "work", "A nurse.", m.now(), nil, "t1")
	written(t, m, sc, "w2", "work", "A baker.", m.now(), &old, "t1", "t2")
	var out bytes.Buffer
	if n, err := m.Export(t.Context(), who, &out); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	other := open(t, &Options{Embedder: &bagEmbedder{}})
	if res, err := other.Import(t.Context(), Who{}, &out, nil); err != nil || res.Imported != 2 || res.FailedN != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	want, err := m.Profile(t.Context(), ProfileRequest{Who: who})
	if err != nil {
		t.Fatal(err)
	}
	got, err := other.Profile(t.Context(), ProfileRequest{Who: who})
	if w, g := sectionOf(t, want, "work"), sectionOf(t, got, "work"); err != nil || g.Content != w.Content || g.Version != 2 || !slices.Equal(g.Sources, w.Sources) {
		t.Errorf("%+v, %v, want %+v", g, err, w)
	}
	if st, err := other.Stats(t.Context(), who); err != nil || st.Pending.Vectors != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}
