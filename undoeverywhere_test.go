package evoke

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// An import that wrote to several memories is taken back by its id in all of them, and the undo of that in all of them, too;
// a dry run tells the same numbers.
func TestUndoEverywhere(t *testing.T) {
	t.Parallel()
	clock := clockAt(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC))
	m := open(t, &Options{Clock: clock.now})
	ann, bob := Who{User: "ann"}, Who{User: "bob", Agent: "helper"}
	for _, w := range []Who{ann, {User: "eve"}} {
		if _, err := m.Remember(t.Context(), RememberRequest{Who: w, Content: "Likes cats"}); err != nil {
			t.Fatal(err)
		}
	}
	const file = `{"id": "a", "content": "住在奥斯陆", "user": "ann"}
{"id": "b", "content": "Drinks tea", "user": "bob", "agent": "helper"}
{"id": "c", "content": "Has a boat", "user": "ann"}
`
	imported, err := m.Import(t.Context(), Who{}, strings.NewReader(file), nil)
	if err != nil || imported.Imported != 3 {
		t.Fatalf("%+v, %v", imported, err)
	}
	run := func(of string) (string, lifecycle.UndoResult) {
		t.Helper()
		clock.set(clock.now().Add(time.Hour))
		r := UndoRequest{Batch: lifecycle.Batch{Operation: of}, Everywhere: true, DryRun: true}
		dry, err := m.Undo(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		r.DryRun = false
		res, err := m.Undo(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		op, err := m.WaitOperation(t.Context(), res.Operation.ID)
		var did lifecycle.UndoResult
		if err != nil || op.State != store.OperationDone || json.Unmarshal(op.Result, &did) != nil {
			t.Fatal(op.State, op.Note, err)
		}
		if p := dry.Preview; p.Retracted != did.Retracted || p.Reopened != did.Reopened || p.Memories != did.Memories || p.Note != did.Note {
			t.Errorf("a dry run told %+v, the undo did %+v", p, did)
		}
		return op.ID, did
	}
	first, did := run(imported.ID)
	if did.Retracted != 3 || did.Memories != 2 || did.Conflicts != 0 {
		t.Errorf("%+v", did)
	}
	if a, b := holds(t, m, ann, time.Time{}), holds(t, m, bob, time.Time{}); len(a) != 1 || a[0] != "Likes cats" || len(b) != 0 {
		t.Errorf("left: %q, %q", a, b)
	}
	if _, did := run(first); did.Reopened != 3 || did.Memories != 2 {
		t.Errorf("undone: %+v", did)
	}
	if a, b := holds(t, m, ann, time.Time{}), holds(t, m, bob, time.Time{}); len(a) != 3 || len(b) != 1 {
		t.Errorf("again: %q, %q", a, b)
	}
	if _, did := run("nothing"); did.Selected != 0 || !strings.Contains(did.Note, "any memory") {
		t.Errorf("%+v", did)
	}
	for _, r := range []UndoRequest{
		{Batch: lifecycle.Batch{Source: "import"}, Everywhere: true},
		{Who: ann, Batch: lifecycle.Batch{Operation: first}, Everywhere: true},
	} {
		if _, err := m.Undo(t.Context(), r); classOf(err) != "invalid" {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
