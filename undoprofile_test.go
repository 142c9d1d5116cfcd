package evoke

import (
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// A section of the profile that rests on nothing but what an undo takes back goes with it, and the one before it holds again;
// one that rests on other turns, too, stays and is named. A diff tells both.
func TestUndoOfWhatAProfileRestsOn(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(start)
	m := open(t, &Options{Clock: clock.now})
	w, sc := Who{User: "u"}, store.Scope{Tenant: m.tenant, User: "u"}
	var turns []string
	for _, thread := range []string{"a", "b"} {
		in, err := m.Ingest(t.Context(), IngestRequest{Who: Who{User: "u", Thread: thread}, Messages: chat("I talk of "+thread, "I see.")})
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, in.Turns[0].ID)
	}
	hour := func(n int) time.Time { clock.set(start.Add(time.Duration(n) * time.Hour)); return clock.now() }
	one := written(t, m, sc, "w1", "work", "在面包店工作", hour(1), nil, turns[0])
	written(t, m, sc, "w2", "work", "Works in a bank", hour(2), &one, turns[1])
	written(t, m, sc, "p1", "personal", "Has a cat", hour(2), nil, turns...)
	work := func() ProfileSection {
		t.Helper()
		p, err := m.Profile(t.Context(), ProfileRequest{Who: w})
		if err != nil {
			t.Fatal(err)
		}
		return sectionOf(t, p, "work")
	}
	hour(3)
	op, did := undo(t, m, w, lifecycle.Batch{Thread: "b"})
	if did.Reopened != 1 || len(did.Left) != 1 || did.Left[0].ID != "p1" {
		t.Errorf("%+v", did)
	}
	if s := work(); s.Content != "在面包店工作" || s.Version != 3 {
		t.Errorf("%+v", s)
	}
	from := hour(4)
	undo(t, m, w, lifecycle.Batch{Operation: op})
	if s := work(); s.Content != "Works in a bank" || s.Version != 5 {
		t.Errorf("%+v", s)
	}
	hour(5)
	d, err := m.Diff(t.Context(), DiffRequest{Who: w, From: from.Add(-time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, x := range d.Differences {
		if x.After != nil && x.After.IsProfile() && x.Did == lifecycle.Changed && x.Before.Content == "在面包店工作" && x.After.Content == "Works in a bank" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%+v", d.Differences)
	}
	if _, did := undo(t, m, w, lifecycle.Batch{Source: "bogus"}); did.Selected != 0 || did.Note == "" {
		t.Errorf("%+v", did)
	}
}
