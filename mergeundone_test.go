package evoke

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// Of two facts whose merge was undone, forgetting one leaves the other with its past, and no link to what is gone.
func TestForgettingAfterAMergeWasUndone(t *testing.T) {
	for name, soft := range map[string]bool{"for good": false, "softly": true} {
		now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		clock := clockAt(now.Add(time.Hour))
		m, w := open(t, &Options{Clock: clock.now}), Who{User: "u"}
		fact := func(id, text string) store.Item {
			return store.Item{ID: id, Kind: store.Semantic, Content: text, Importance: 0.5, Confidence: 1, ValidFrom: now, RecordedAt: now}
		}
		putAll(t, m, w, []store.Item{fact("one", "Ann keeps the blue umbrella in the hall closet"), fact("other", "Ann keeps the blue umbrella in the hall closet!")})
		op, did := consolidate(t, m, ConsolidateRequest{User: "u", Policy: wholly, Merge: true})
		if did.Merged != 1 {
			t.Fatalf("%+v", did)
		}
		clock.set(clock.now().Add(time.Hour))
		undo(t, m, w, lifecycle.Batch{Operation: op})
		page, err := m.List(t.Context(), ListRequest{Who: w})
		if err != nil || len(page.Items) != 2 {
			t.Fatal(page.Items, err)
		}
		i := slices.IndexFunc(page.Items, func(it store.Item) bool { return !strings.HasSuffix(it.Content, "!") })
		if _, err := m.Forget(t.Context(), ForgetRequest{Who: w, IDs: []string{page.Items[i].ID}, Soft: soft}); err != nil {
			t.Fatal(err)
		}
		left := stored(t, m, store.Scope{Tenant: "default", User: "u"})
		maps.DeleteFunc(left, func(_ string, it store.Item) bool { return it.Aside.Forgotten() })
		var past int
		for _, it := range left {
			if !strings.HasSuffix(it.Content, "!") {
				t.Errorf("%s: %+v is left of what was forgotten", name, it)
			}
			if it.ID == "other" {
				past++
			}
			for _, id := range []string{it.Supersedes, it.SupersededBy} {
				if _, ok := left[id]; !ok && id != "" && !soft && !strings.HasPrefix(id, "erased:") {
					t.Errorf("%s: %s names %s, which is gone", name, it.ID, id)
				}
			}
		}
		if len(left) != 2 || past != 1 {
			t.Errorf("%s: %d versions of the other are left: %v", name, len(left), left)
		}
	}
}

// Facts whose merge was undone are not merged again by the next run; and a dry run tells what a run does: what would be merged is
// not summarised as well.
func TestAMergeThatWasUndoneIsNotMadeAgain(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now.Add(time.Hour))
	m, w := open(t, &Options{Clock: clock.now}), Who{User: "u"}
	fact := func(id, text string) store.Item {
		return store.Item{ID: id, Kind: store.Semantic, Content: text, Importance: 0.5, Confidence: 1, ValidFrom: now, RecordedAt: now}
	}
	const text = "Ann keeps the blue umbrella in the hall closet"
	putAll(t, m, w, []store.Item{fact("a", text), fact("b", text+"!"), fact("c", text+".")})
	run := func(dry bool) (string, Consolidated) {
		clock.set(clock.now().Add(time.Hour))
		return consolidate(t, m, ConsolidateRequest{User: "u", Policy: wholly, Merge: true, DryRun: dry})
	}
	_, would := run(true)
	op, did := run(false)
	if did.Merged != 2 || would.Merged != 2 || would.Summaries != did.Summaries {
		t.Errorf("a dry run told %+v, and it was %+v", would, did)
	}
	clock.set(clock.now().Add(time.Hour))
	undo(t, m, w, lifecycle.Batch{Operation: op})
	if _, again := run(false); again.Merged != 0 {
		t.Errorf("merged again: %+v", again)
	}
}
