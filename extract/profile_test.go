package extract

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"evoke/store"
)

func section(name, content string, turns ...string) Section {
	return Section{Name: name, Content: content, Turns: turns}
}

func turnSet(ids ...string) map[string]store.Item {
	m := map[string]store.Item{}
	for _, id := range ids {
		m[id] = store.Item{ID: id}
	}
	return m
}

func counter() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("new%d", n) }
}

var profileNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// apply puts the changes over the items by id.
func applyChanges(items []store.Item, cs ...store.Change) []store.Item {
	byID := map[string]store.Item{}
	for _, it := range items {
		byID[it.ID] = it
	}
	for _, c := range cs {
		for _, it := range c.Put {
			byID[it.ID] = it
		}
		for _, id := range c.Delete {
			delete(byID, id)
		}
	}
	var out []store.Item
	for _, it := range byID {
		out = append(out, it)
	}
	slices.SortFunc(out, func(a, b store.Item) int { return cmpStrings(a.ID, b.ID) })
	return out
}

func cmpStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestProfileChangesWritesASection(t *testing.T) {
	got := profileChanges(nil, []Section{section("work", " A nurse at night. ", "t1", "t2")}, turnSet("t1", "t2"), counter(), profileNow, "llm/1")
	want := []store.Change{{Put: []store.Item{{
		ID: "new1", Kind: store.Semantic, Content: "A nurse at night.", Importance: 0.5, Confidence: 1, ValidFrom: profileNow, RecordedAt: profileNow,
		Provenance: store.Provenance{Origin: "profile", Extractor: "llm/1", Turns: []string{"t1", "t2"}, Subject: "profile:work"},
		ContentKey: "profile:work", Metadata: store.Metadata{"version": store.Number(1)},
	}}}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(store.Value{})); d != "" {
		t.Error(d)
	}
}

func TestProfileChangesVersions(t *testing.T) {
	first := profileChanges(nil, []Section{section("work", "A nurse.", "t1"), section("personal", "Has a cat.", "t1")}, turnSet("t1"), counter(), profileNow, "llm/1")
	items := applyChanges(nil, first...)
	later := profileNow.Add(time.Hour)
	second := profileChanges(items, []Section{section("work", "A baker.", "t2")}, turnSet("t2"), func() string { return "second" }, later, "llm/2")
	if len(second) != 1 || len(second[0].Put) != 2 {
		t.Fatalf("%+v, want one change of two items", second)
	}
	old, next := second[0].Put[0], second[0].Put[1]
	if old.SupersededBy != "second" || !old.ValidTo.Equal(later) || next.Supersedes != old.ID || next.Closed() || next.ProfileVersion() != 2 {
		t.Errorf("not linked: %+v and %+v", old, next)
	}
	if !slices.Equal(next.Provenance.Turns, []string{"t1", "t2"}) {
		t.Errorf("the new text rests on %v, want the old one's sources, too", next.Provenance.Turns)
	}
}

func TestProfileChangesSameText(t *testing.T) {
	items := applyChanges(nil, profileChanges(nil, []Section{section("work", "A nurse.", "t1")}, turnSet("t1"), counter(), profileNow, "llm/1")...)
	again := profileChanges(items, []Section{section("work", "A nurse.", "t2")}, turnSet("t2"), counter(), profileNow, "llm/1")
	if len(again) != 1 || len(again[0].Put) != 1 || again[0].Put[0].ID != items[0].ID || !slices.Equal(again[0].Put[0].Provenance.Turns, []string{"t1", "t2"}) {
		t.Errorf("%+v, want the standing version with one more source", again)
	}
	if more := profileChanges(applyChanges(items, again...), []Section{section("work", "A nurse.", "t2")}, turnSet("t2"), counter(), profileNow, "llm/1"); more != nil {
		t.Errorf("said once more of the same turn: %+v, want no change", more)
	}
}

func TestProfileChangesLeavesOut(t *testing.T) {
	for name, s := range map[string]Section{
		"an unknown name": section("hobbies", "Sails.", "t1"), "an empty text": section("work", " \n", "t1"),
		"a forgotten source": section("work", "A nurse.", "gone"), "no source": section("work", "A nurse."),
	} {
		if got := profileChanges(nil, []Section{s}, turnSet("t1"), counter(), profileNow, "llm/1"); got != nil {
			t.Errorf("%s: %+v, want nothing", name, got)
		}
	}
	twice := profileChanges(nil, []Section{section("work", "A nurse.", "t1"), section("work", "A baker.", "t1", "gone"), section("work", "")}, turnSet("t1"), counter(), profileNow, "llm/1")
	if len(twice) != 1 || len(twice[0].Put) != 1 || twice[0].Put[0].Content != "A baker." || !slices.Equal(twice[0].Put[0].Provenance.Turns, []string{"t1"}) {
		t.Errorf("%+v, want the later text and the turn that is there", twice)
	}
}

func TestForgetSources(t *testing.T) {
	var items []store.Item
	ids := counter()
	write := func(at time.Duration, s ...Section) {
		items = applyChanges(items, profileChanges(items, s, turnSet("t1", "t2", "t3"), ids, profileNow.Add(at), "llm/1")...)
	}
	write(0, section("work", "A nurse.", "t1"), section("personal", "Has a cat.", "t2"))
	write(time.Hour, section("work", "A nurse and a baker.", "t2"))
	c := ForgetSources(items, map[string]bool{"t1": true})
	left := applyChanges(items, c)
	if len(left) != 2 {
		t.Fatalf("%d versions left, want the closed one gone: %+v", len(left), left)
	}
	work := standing(left, "work")
	if work == nil || !work.ProfileStale() || !slices.Equal(work.Provenance.Turns, []string{"t2"}) || standing(left, "personal").ProfileStale() {
		t.Errorf("%+v, want it marked and without the forgotten source", work)
	}
	again := profileChanges(left, []Section{section("work", "A nurse and a baker.", "t3")}, turnSet("t3"), ids, profileNow.Add(2*time.Hour), "llm/1")
	if next := standing(applyChanges(left, again...), "work"); next == nil || next.ProfileStale() || !slices.Equal(next.Provenance.Turns, []string{"t3"}) {
		t.Errorf("%+v, want a version of the new turn alone", next)
	}
	if left = applyChanges(left, ForgetSources(left, map[string]bool{"t2": true})); len(left) != 0 {
		t.Errorf("all sources are forgotten, and %+v is left", left)
	}
}

// TestProfileChangesHolds: whatever sections come and turns go, each section has at most one current version, versions are
// linked both ways, and none names a turn that was forgotten.
func TestProfileChangesHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var items []store.Item
		ids := counter()
		all := []string{"a", "b", "c", "d"}
		gone := map[string]bool{}
		for step := range rapid.IntRange(1, 8).Draw(rt, "steps") {
			at := profileNow.Add(time.Duration(step) * time.Minute)
			if rapid.IntRange(0, 3).Draw(rt, "what") == 0 {
				gone[rapid.SampledFrom(all).Draw(rt, "forget")] = true
				items = applyChanges(items, ForgetSources(items, gone))
			}
			there := turnSet(slices.DeleteFunc(slices.Clone(all), func(id string) bool { return gone[id] })...)
			s := section(rapid.SampledFrom(append(Sections(), "other")).Draw(rt, "name"), rapid.SampledFrom([]string{"x", "y", " "}).Draw(rt, "text"),
				rapid.SliceOfN(rapid.SampledFrom(all), 0, 3).Draw(rt, "turns")...)
			items = applyChanges(items, profileChanges(items, []Section{s}, there, ids, at, "llm/1")...)
		}
		current := map[string]int{}
		for _, it := range items {
			if !it.Closed() {
				current[it.ContentKey]++
			}
			if len(it.Provenance.Turns) == 0 || slices.ContainsFunc(it.Provenance.Turns, func(id string) bool { return gone[id] }) {
				rt.Fatalf("%s rests on %v, forgotten are %v", it.ID, it.Provenance.Turns, gone)
			}
			if it.Closed() != (it.SupersededBy != "") {
				rt.Fatalf("%+v is closed without a successor", it)
			}
		}
		for key, n := range current {
			if n > 1 {
				rt.Fatalf("%d current versions of %s", n, key)
			}
		}
	})
}
