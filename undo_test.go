package evoke

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
	"evoke/store/lifecycle"
)

// undo runs an undo to its end.
func undo(t interface {
	Helper()
	Fatal(...any)
}, m *Memory, w Who, b lifecycle.Batch) (string, lifecycle.UndoResult) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := m.Undo(ctx, UndoRequest{Who: w, Batch: b})
	if err != nil {
		t.Fatal(err)
	}
	op, err := m.WaitOperation(ctx, res.Operation.ID)
	if err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	var did lifecycle.UndoResult
	if err := json.Unmarshal(op.Result, &did); err != nil {
		t.Fatal(err)
	}
	return op.ID, did
}

// holds lists what a view shows, sorted.
func holds(t *testing.T, m *Memory, w Who, at time.Time) []string {
	t.Helper()
	page, err := m.List(t.Context(), ListRequest{Who: w, AsOf: at, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, it := range page.Items {
		out = append(out, it.Content)
	}
	slices.Sort(out)
	return out
}

// An undo retracts what the batch added and what it closed holds again; the past is seen as it was; undoing the undo makes
// the batch hold again, and undoing that takes it back once more.
func TestUndoAndRedo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][3]string{
		"en": {"The user lives in Rome", "The user lives in Oslo", "The user owns a boat"},
		"zh": {"用户住在北京", "用户住在上海", "用户有一条船"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
			clock := clockAt(start)
			m := open(t, &Options{Clock: clock.now})
			w := Who{User: "u"}
			remember := func(hour int, thread, text, subject string) string {
				t.Helper()
				clock.set(start.Add(time.Duration(hour) * time.Hour))
				res, err := m.Remember(t.Context(), RememberRequest{Who: Who{User: "u", Thread: thread}, Content: text, Subject: subject})
				if err != nil {
					t.Fatal(err)
				}
				return res.Item.ID
			}
			remember(0, "a", c[0], "home")
			remember(1, "b", c[1], "home")
			remember(2, "b", c[2], "")
			clock.set(start.Add(3 * time.Hour))
			dry, err := m.Undo(t.Context(), UndoRequest{Who: w, Batch: lifecycle.Batch{Thread: "b"}, DryRun: true})
			if err != nil || dry.Preview.Retracted != 2 || dry.Preview.Reopened != 1 || dry.Preview.Conflicts != 0 || len(dry.Preview.Items) != 3 {
				t.Fatalf("%+v, %v", dry.Preview, err)
			}
			before, after := []string{c[0]}, []string{c[1], c[2]}
			slices.Sort(after)
			if d := cmp.Diff(after, holds(t, m, w, time.Time{})); d != "" {
				t.Fatalf("the dry run changed something: %s", d)
			}
			ops := []string{}
			for i, b := range []lifecycle.Batch{{Thread: "b"}, {}, {}, {}} {
				clock.set(start.Add(time.Duration(4+i) * time.Hour))
				if i > 0 {
					b.Operation = ops[i-1]
				}
				id, did := undo(t, m, w, b)
				ops = append(ops, id)
				want, counts := before, [2]int{2, 1}
				if i%2 == 1 {
					want, counts = after, [2]int{1, 3} // the closed one is written again as closed
				} else if i > 0 {
					counts = [2]int{3, 1}
				}
				if did.Retracted != counts[0] || did.Reopened != counts[1] || did.Conflicts != 0 {
					t.Errorf("undo %d: %+v", i, did)
				}
				clock.set(start.Add(time.Duration(4+i)*time.Hour + time.Minute))
				if d := cmp.Diff(want, holds(t, m, w, time.Time{})); d != "" {
					t.Fatalf("after undo %d: %s", i, d)
				}
			}
			for minutes, want := range map[int][]string{30: before, 90: {c[1]}, 150: after, 230: after, 270: before, 330: after, 390: before, 450: after} {
				if d := cmp.Diff(want, holds(t, m, w, start.Add(time.Duration(minutes)*time.Minute))); d != "" {
					t.Errorf("as of minute %d: %s", minutes, d)
				}
			}
			// One line of versions, with no gap, whichever is asked for.
			page, err := m.List(t.Context(), ListRequest{Who: w, All: true})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, it := range page.Items {
				if it.Provenance.Subject == "home" {
					n++
				}
			}
			for _, it := range page.Items {
				if it.Provenance.Subject != "home" {
					continue
				}
				if h, err := m.History(t.Context(), w, it.ID); err != nil || len(h) != n {
					t.Errorf("the history of %s has %d versions of %d, %v", it.ID, len(h), n, err)
				}
			}
			if again, did := undo(t, m, w, lifecycle.Batch{Operation: ops[0]}); again == "" || did.Retracted+did.Reopened != 0 {
				t.Errorf("an operation whose undo was undone is undone twice: %+v", did)
			}
		})
	}
}

// What later writes built on stays, and is named.
func TestUndoLeavesWhatWasBuiltOn(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(start)
	m := open(t, &Options{Clock: clock.now})
	w := Who{User: "u"}
	put := func(hour int, thread, text, subject string) store.Item {
		t.Helper()
		clock.set(start.Add(time.Duration(hour) * time.Hour))
		res, err := m.Remember(t.Context(), RememberRequest{Who: Who{User: "u", Thread: thread}, Content: text, Subject: subject})
		if err != nil {
			t.Fatal(err)
		}
		return res.Item
	}
	put(0, "a", "The user lives in Rome", "home")
	oslo := put(1, "b", "The user lives in Oslo", "home")
	tea := put(1, "b", "The user drinks tea", "")
	boat := put(1, "b", "The user owns a boat", "")
	put(2, "c", "The user lives in Lima", "home")
	text := "The user owns a red boat"
	if _, err := m.Update(t.Context(), UpdateRequest{Who: w, ID: boat.ID, Content: &text}); err != nil {
		t.Fatal(err)
	}
	clock.set(start.Add(3 * time.Hour))
	_, did := undo(t, m, w, lifecycle.Batch{Thread: "b"})
	left := []string{}
	for _, c := range did.Left {
		left = append(left, c.ID)
	}
	for _, id := range []string{oslo.ID, boat.ID} {
		if !slices.Contains(left, id) {
			t.Errorf("%s is not named: %+v", id, did)
		}
	}
	if did.Retracted != 1 || did.Reopened != 0 || slices.Contains(left, tea.ID) {
		t.Errorf("%+v", did)
	}
	clock.set(start.Add(4 * time.Hour))
	if d := cmp.Diff([]string{"The user lives in Lima", text}, holds(t, m, w, time.Time{})); d != "" {
		t.Error(d)
	}
}

// A range of time takes back what ended in it without anything in its place, too; a batch of everything, a broken range and
// one that lies ahead are refused.
func TestUndoARangeOfTime(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(start)
	m := open(t, &Options{Clock: clock.now})
	w := Who{User: "u"}
	tea, err := m.Remember(t.Context(), RememberRequest{Who: w, Content: "The user drinks tea"})
	if err != nil {
		t.Fatal(err)
	}
	at := start.Add(time.Hour)
	clock.set(at)
	if _, err := m.Update(t.Context(), UpdateRequest{Who: w, ID: tea.Item.ID, ValidTo: &at}); err != nil {
		t.Fatal(err)
	}
	clock.set(at.Add(time.Hour))
	if got := holds(t, m, w, time.Time{}); len(got) != 0 {
		t.Fatal(got)
	}
	if _, did := undo(t, m, w, lifecycle.Batch{From: at}); did.Reopened != 1 || did.Retracted != 0 {
		t.Errorf("%+v", did)
	}
	if d := cmp.Diff([]string{"The user drinks tea"}, holds(t, m, w, time.Time{})); d != "" {
		t.Error(d)
	}
	for _, b := range []lifecycle.Batch{{}, {From: at, To: at}, {Thread: "a\x01"}, {From: at.AddDate(1, 0, 0)}} {
		if _, err := m.Undo(t.Context(), UndoRequest{Who: w, Batch: b}); classOf(err) != "invalid" {
			t.Errorf("%+v: %v", b, err)
		}
	}
	if res, err := m.Undo(t.Context(), UndoRequest{Who: Who{User: "other"}, Batch: lifecycle.Batch{Source: "remember"}, DryRun: true}); err != nil || res.Preview.Retracted != 0 {
		t.Errorf("another's memory: %+v, %v", res.Preview, err)
	}
}
