package evoke

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
	"evoke/store/lifecycle"
)

// An import is taken back by its id, as a whole and nothing else; importing the file again brings it back, and that can be
// taken back as well.
func TestUndoAnImportAndImportAgain(t *testing.T) {
	t.Parallel()
	clock := clockAt(time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC))
	m := open(t, &Options{Clock: clock.now})
	w := Who{User: "u"}
	const file = `{"id": "t1", "kind": "episodic", "content": "I moved to Oslo", "turn": {"thread": "a", "session": "a"}}
{"id": "was", "content": "Lives in Rome", "recorded_at": "2026-01-01T09:00:00Z", "valid_from": "2026-01-01T09:00:00Z", "valid_to": "2026-01-02T09:00:00Z", "closed_at": "2026-01-02T09:00:00Z", "superseded_by": "is", "provenance": {"subject": "home"}}
{"id": "is", "content": "住在奥斯陆", "recorded_at": "2026-01-02T09:00:00Z", "valid_from": "2026-01-02T09:00:00Z", "supersedes": "was", "provenance": {"subject": "home", "turns": ["t1"]}}
{"id": "tea", "content": "Drinks tea"}
{"id": "boat", "content": "Has a boat"}
`
	if _, err := m.Remember(t.Context(), RememberRequest{Who: w, Content: "Likes cats"}); err != nil {
		t.Fatal(err)
	}
	load := func(want ImportResult) string {
		t.Helper()
		clock.set(clock.now().Add(time.Hour))
		res, err := m.Import(t.Context(), w, strings.NewReader(file), nil)
		if err != nil || res.ID == "" || res.Imported != want.Imported || res.Same != want.Same || res.Again != want.Again || res.FailedN != want.FailedN {
			t.Fatalf("%+v, %v, want %+v", res, err, want)
		}
		clock.set(clock.now().Add(time.Hour))
		return res.ID
	}
	sees := func(want ...string) {
		t.Helper()
		slices.Sort(want)
		if d := cmp.Diff(want, holds(t, m, w, time.Time{})); d != "" {
			t.Error(d)
		}
	}
	first := load(ImportResult{Imported: 5})
	imported := clock.now()
	clock.set(imported.Add(time.Hour))
	all := []string{"I moved to Oslo", "住在奥斯陆", "Drinks tea", "Has a boat", "Likes cats"}
	sees(all...)
	if _, did := undo(t, m, w, lifecycle.Batch{Operation: first}); did.Retracted != 5 || did.Conflicts != 0 {
		t.Errorf("%+v", did)
	}
	sees("Likes cats")
	second := load(ImportResult{Imported: 5, Again: 5})
	sees(all...)
	load(ImportResult{Same: 5})
	page, err := m.List(t.Context(), ListRequest{Who: w, Filter: store.Filter{Subjects: []string{"home"}}})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	if h, err := m.History(t.Context(), w, page.Items[0].ID); err != nil || len(h) != 4 {
		t.Errorf("%d versions, %v", len(h), err)
	}
	if turn, err := m.Get(t.Context(), w, page.Items[0].Provenance.Turns[0]); err != nil || turn.Closed() {
		t.Errorf("it rests on %+v, %v", turn, err)
	}
	text := "Has a red boat"
	boat, err := m.List(t.Context(), ListRequest{Who: w, Filter: store.Filter{ContentKeys: []string{store.ContentKey(store.Semantic, "Has a boat")}}})
	if err != nil || len(boat.Items) != 1 {
		t.Fatalf("%+v, %v", boat, err)
	}
	if _, err := m.Update(t.Context(), UpdateRequest{Who: w, ID: boat.Items[0].ID, Content: &text}); err != nil {
		t.Fatal(err)
	}
	clock.set(clock.now().Add(time.Hour))
	if _, did := undo(t, m, w, lifecycle.Batch{Operation: second}); did.Retracted != 4 || did.Conflicts != 1 {
		t.Errorf("%+v", did)
	}
	clock.set(clock.now().Add(time.Hour))
	sees("Likes cats", text) // what somebody made of an imported item is his
	if d := cmp.Diff(5, len(holds(t, m, w, imported))); d != "" {
		t.Errorf("the past: %s", d)
	}
	if _, err := m.Remember(t.Context(), RememberRequest{Who: w, Content: "Lives in Lima", Subject: "home"}); err != nil {
		t.Fatal(err)
	}
	load(ImportResult{Imported: 3, Again: 3, Same: 1, FailedN: 1}) // the home has another value by now
	sees("Likes cats", text, "Lives in Lima", "I moved to Oslo", "Drinks tea")
}

// A batch without an end is undone although an import gave something the last moment that there is.
func TestUndoOfTheLastMoment(t *testing.T) {
	t.Parallel()
	m := open(t, nil)
	w := Who{User: "u"}
	const file = `{"id": "a", "content": "Drinks tea", "recorded_at": "9999-12-31T23:59:59.999999Z"}` + "\n" + `{"id": "b", "content": "Has a boat"}` + "\n"
	if res, err := m.Import(t.Context(), w, strings.NewReader(file), nil); err != nil || res.Imported != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	undo := func(b lifecycle.Batch, want int) string {
		t.Helper()
		res, err := m.Undo(t.Context(), UndoRequest{Who: w, Batch: b})
		if err != nil {
			t.Fatal(err)
		}
		if op, err := m.WaitOperation(t.Context(), res.Operation.ID); err != nil || op.State != store.OperationDone {
			t.Fatalf("%s: %s, %v", op.State, op.Note, err)
		}
		if page, err := m.List(t.Context(), ListRequest{Who: w}); err != nil || len(page.Items) != want {
			t.Fatalf("%d items, not %d, %v", len(page.Items), want, err)
		}
		return res.Operation.ID
	}
	id := undo(lifecycle.Batch{Source: "import"}, 0)
	undo(lifecycle.Batch{Operation: id}, 2)
}
