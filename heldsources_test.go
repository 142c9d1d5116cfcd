package evoke

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"evoke/store"
)

// sharing is a memory in which a fact and a section of the profile rest on a turn of a held thread and on one of another.
func sharing(t *testing.T) (*Memory, *testClock, Who, map[string]store.Item) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now.Add(2 * time.Hour))
	m, who := open(t, &Options{Clock: clock.now}), Who{User: "ann"}
	turn := func(id, thread string) store.Item {
		return store.Item{ID: id, Kind: store.Episodic, Content: "Said " + id, ValidFrom: now, RecordedAt: now, Turn: store.Turn{Thread: thread, Session: thread, Role: "user", Speaker: "Ann"}}
	}
	fact := store.Item{
		ID: "fact", Kind: store.Semantic, Content: "A fact of two", ValidFrom: now, RecordedAt: now,
		Provenance: store.Provenance{Origin: "rules", Extractor: "rules/1", Turns: []string{"free", "kept"}, Quote: "Said free"},
	}
	putAll(t, m, who, []store.Item{turn("free", "thA"), turn("kept", "thB"), turn("alone", "thC"), fact})
	sc := store.Scope{Tenant: "default", User: "ann"}
	old := written(t, m, sc, "was", "work", "A nurse.", now, nil, "alone", "kept")
	written(t, m, sc, "is", "work", "A baker.", now.Add(time.Hour), &old, "alone", "kept")
	if _, err := m.AddHold(t.Context(), LegalHold{ID: "case", User: "ann", Thread: "thB", Reason: "claim 17"}); err != nil {
		t.Fatal(err)
	}
	return m, clock, who, stored(t, m, sc)
}

// stored are all items of a memory as they are, the sections of the profile, too.
func stored(t interface{ Fatal(args ...any) }, m *Memory, sc store.Scope) map[string]store.Item {
	got := map[string]store.Item{}
	for it, err := range store.Items(ctxOf(t), m.store, sc, store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: 100}) {
		if err != nil {
			t.Fatal(err)
		}
		got[it.ID] = *it
	}
	return got
}

// What a held fact or section rests on goes no more than the fact itself, whose sources and quotation it is; by whatever verb.
func TestSourcesOfWhatIsHeldStay(t *testing.T) {
	for _, id := range []string{"free", "alone", "is", "was"} {
		for name, do := range map[string]func(*Memory, Who) error{
			"forget": func(m *Memory, who Who) error {
				_, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: []string{id}})
				return err
			},
			"erase": func(m *Memory, who Who) error {
				_, err := m.Erase(t.Context(), EraseRequest{User: who.User, Filter: &store.Filter{IDs: []string{id}}})
				return err
			},
		} {
			m, _, who, want := sharing(t)
			if err := do(m, who); !isHeld(err) {
				t.Errorf("%s %s: %v", name, id, err)
			}
			if got := stored(t, m, store.Scope{Tenant: "default", User: "ann"}); !maps.EqualFunc(got, want, sameItem) {
				t.Errorf("%s %s: left %v of %v", name, id, got, want)
			}
		}
	}
}

func sameItem(a, b store.Item) bool {
	return a.Content == b.Content && slices.Equal(a.Provenance.Turns, b.Provenance.Turns) && a.Provenance.Quote == b.Provenance.Quote && a.ProfileStale() == b.ProfileStale()
}

// A purge and a retention leave what a held item rests on, and count it.
func TestSweepsLeaveSourcesOfWhatIsHeld(t *testing.T) {
	for name, did := range map[string]func(*Memory, *testClock, Who) Swept{
		"purge": func(m *Memory, clock *testClock, who Who) Swept {
			if _, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: []string{"free", "alone"}, Soft: true}); err != nil {
				t.Fatal(err)
			}
			clock.set(clock.now().AddDate(1, 0, 0))
			return swept(t, m, m.Purge)
		},
		"retain": func(m *Memory, clock *testClock, _ Who) Swept {
			clock.set(clock.now().AddDate(1, 0, 0))
			r := RetainRequest{Policy: &RetentionPolicy{Kinds: map[store.Kind]int{store.Episodic: 30}, Hard: true}}
			dry := r
			dry.DryRun = true
			would := swept(t, m, func(ctx context.Context) (store.Operation, error) { return m.Retain(ctx, dry) })
			did := swept(t, m, func(ctx context.Context) (store.Operation, error) { return m.Retain(ctx, r) })
			if would.Items != did.Items || would.Held != did.Held {
				t.Errorf("the dry run told %+v, and it was %+v", would, did)
			}
			return did
		},
	} {
		m, clock, who, want := sharing(t)
		res := did(m, clock, who)
		if held := map[string]int{"purge": 2, "retain": 3}[name]; res.Items != 0 || res.Held != held {
			t.Errorf("%s: %+v", name, res)
		}
		if _, err := m.Restore(t.Context(), RestoreRequest{Who: who, All: true}); err != nil {
			t.Fatal(err)
		}
		got := stored(t, m, store.Scope{Tenant: "default", User: "ann"})
		if name == "purge" { // what came due can be restored no longer, and stays out of sight until the hold is released
			for _, id := range []string{"free", "alone"} {
				if it := got[id]; !it.Aside.Forgotten() {
					t.Errorf("purge: %s is in sight", id)
				}
			}
			for _, id := range []string{"is", "was"} {
				delete(got, id)
				delete(want, id)
			}
		}
		if !maps.EqualFunc(got, want, sameItem) {
			t.Errorf("%s: left %v of %v", name, got, want)
		}
	}
}

// Once the hold is released it goes as it would have gone.
func TestSourcesGoOnceReleased(t *testing.T) {
	m, _, who, _ := sharing(t)
	if err := m.ReleaseHold(t.Context(), "case"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: []string{"free", "alone"}}); err != nil {
		t.Fatal(err)
	}
	left := stored(t, m, store.Scope{Tenant: "default", User: "ann"})
	fact, section := left["fact"], left["is"]
	if len(left) != 3 || !slices.Equal(fact.Provenance.Turns, []string{"kept"}) || fact.Provenance.Quote != "" || !section.ProfileStale() {
		t.Errorf("%v", left)
	}
}
