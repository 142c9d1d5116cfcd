package recall

import (
	"strings"
	"testing"

	"evoke/store"
)

// Every way of not being seen has its own words: expired, replaced, retracted, not yet known or true, of another task, of
// another memory, part of the profile.
func TestWhyNotTellsEveryWayOfNotBeingSeen(t *testing.T) {
	f := newFake()
	put := func(id string, change func(*store.Item)) {
		it := item(id, "Jonas", "The greyhound from the shelter limps, says "+id+".")
		it.ValidFrom, it.RecordedAt = now.AddDate(0, 0, -30), now.AddDate(0, 0, -30)
		if change != nil {
			change(&it)
		}
		f.add(alice, it)
	}
	put("seen", nil)
	put("expired", func(it *store.Item) { it.ValidTo = now.AddDate(0, 0, -3) })
	put("replaced", func(it *store.Item) { it.ValidTo, it.SupersededBy = now.AddDate(0, 0, -3), "seen" })
	put("retracted", func(it *store.Item) { it.RetractedAt = now.AddDate(0, 0, -3) })
	put("task", func(it *store.Item) {
		it.Provenance.Durability, it.Turn.Thread, it.Kind, it.ValidTo = store.TaskDurability, "t9", store.Semantic, now.AddDate(0, 0, 5)
	})
	put("section", func(it *store.Item) { it.ContentKey = store.ProfileKey("personal") })
	put("later", func(it *store.Item) { it.ValidFrom = now.AddDate(0, 0, -2) })
	put("unknown then", func(it *store.Item) { it.RecordedAt = now.AddDate(0, 0, -2) })
	other := item("elsewhere", "Jonas", "The greyhound from the shelter limps.")
	f.add(store.Scope{Tenant: "acme", User: "bob"}, other)
	e := engine(t, f, nil, Options{})

	got := fates(t, e, Request{Query: "greyhound from the shelter", Limit: 10, MinScore: ptr(0.0), WhyNot: []string{"seen", "expired", "replaced", "retracted", "task", "section", "elsewhere"}})
	for id, want := range map[string]struct {
		outcome Outcome
		words   string
	}{
		"seen": {Returned, "hit"}, "expired": {NotInView, "valid until 2026-06-12"}, "replaced": {NotInView, "replaced by seen"},
		"retracted": {NotInView, "retracted on 2026-06-12"}, "task": {NotInView, "task of its thread"}, "section": {NotInView, "profile"},
		"elsewhere": {NotFound, "no memory that was searched"},
	} {
		if got[id].Outcome != want.outcome || !strings.Contains(got[id].Detail, want.words) {
			t.Errorf("%s: %s, %q; want %s, %q", id, got[id].Outcome, got[id].Detail, want.outcome, want.words)
		}
	}
	got = fates(t, e, Request{Query: "greyhound from the shelter", AsOf: now.AddDate(0, 0, -10), Limit: 10, MinScore: ptr(0.0), WhyNot: []string{"later", "unknown then", "expired", "replaced", "retracted"}})
	for id, want := range map[string]string{"later": "not valid before 2026-06-13", "unknown then": "not known before 2026-06-13"} {
		if got[id].Outcome != NotInView || !strings.Contains(got[id].Detail, want) {
			t.Errorf("%s: %s, %q", id, got[id].Outcome, got[id].Detail)
		}
	}
	for _, id := range []string{"expired", "replaced", "retracted"} {
		if got[id].Outcome != Returned {
			t.Errorf("as of then %s was there: %+v", id, got[id])
		}
	}
}

// In a block an item may be there for another reason than the query, and why-not says so.
func TestWhyNotKnowsThePartsOfABlock(t *testing.T) {
	b := block(t, furnished(), BlockRequest{Request: Request{Query: "Where did I buy the hide glue?", Explain: true, WhyNot: []string{"w1", "p-work", "t2", "nowhere"}}})
	got := map[string]Fate{}
	for _, f := range b.Response.WhyNot {
		got[f.ID] = f
	}
	for id, words := range map[string]string{"w1": "as standing", "p-work": "as profile"} {
		if got[id].Outcome != Returned || !strings.Contains(got[id].Detail, words) {
			t.Errorf("%s: %+v", id, got[id])
		}
	}
	if got["t2"].Outcome != Returned || got["nowhere"].Outcome != NotFound {
		t.Errorf("%+v", got)
	}
}
