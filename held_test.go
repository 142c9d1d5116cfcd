package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// heldItems are a turn and a fact in each of two threads; the fact of the second was merged into that of the first, and one fact
// more was taken from the turn of the second and stands in no thread.
func heldItems(now time.Time) []store.Item {
	turn := func(id, thread string) store.Item {
		return store.Item{ID: id, Kind: store.Episodic, Content: "Said " + id, ValidFrom: now, RecordedAt: now, Turn: store.Turn{Thread: thread, Session: thread, Role: "user", Speaker: "Ann"}}
	}
	fact := func(id, thread string, of ...string) store.Item {
		return store.Item{ID: id, Kind: store.Semantic, Content: "Fact " + id, ValidFrom: now, RecordedAt: now, Turn: store.Turn{Thread: thread}, Provenance: store.Provenance{Origin: "rules", Extractor: "rules/1", Turns: of}}
	}
	fB := fact("fB", "thB")
	fB.RetractedAt, fB.SupersededBy, fB.Provenance.EndedBy = now.Add(time.Hour), "fA", "op"
	return []store.Item{turn("tA", "thA"), turn("tB", "thB"), fact("fA", "thA", "tA"), fB, fact("loose", "", "tB")}
}

func heldMemory(t *testing.T) (*Memory, *testClock, Who) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now.Add(2 * time.Hour))
	m, who := open(t, &Options{Clock: clock.now}), Who{User: "ann"}
	putAll(t, m, who, heldItems(now))
	if _, err := m.AddHold(t.Context(), LegalHold{ID: "case", User: "ann", Thread: "thB", Reason: "claim 17"}); err != nil {
		t.Fatal(err)
	}
	return m, clock, who
}

func isHeld(err error) bool {
	return errors.Is(err, store.ErrConflict) && strings.Contains(err.Error(), "case")
}

// An erasure is refused as a whole when what would go with what it selects is held, also one that began before the hold.
func TestErasureLeavesHeldDerived(t *testing.T) {
	m, _, who := heldMemory(t)
	want := all(t, m, who)
	r := EraseRequest{User: "ann", Thread: "thA"}
	if op, err := m.Erase(t.Context(), r); !isHeld(err) {
		t.Errorf("%+v, %v", op, err)
	}
	op, err := m.submit(t.Context(), "erase", r)
	if err == nil {
		op, err = m.WaitOperation(t.Context(), op.ID)
	}
	if err != nil || op.State != store.OperationFailed || !strings.Contains(op.Note, "case") {
		t.Errorf("%s: %q, %v", op.State, op.Note, err)
	}
	if got := all(t, m, who); !maps.Equal(got, want) {
		t.Errorf("%v are left of %v", got, want)
	}
}

// A hold of a thread covers what was taken from the thread and stands in no thread, or in another.
func TestHoldOfAThreadCoversItsFacts(t *testing.T) {
	m, _, who := heldMemory(t)
	if _, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: []string{"loose"}}); !isHeld(err) {
		t.Errorf("forget: %v", err)
	}
	if op, err := m.Erase(t.Context(), EraseRequest{User: "ann", Filter: &store.Filter{IDs: []string{"loose"}}}); !isHeld(err) {
		t.Errorf("erase: %+v, %v", op, err)
	}
	op, err := m.Retain(t.Context(), RetainRequest{Policy: &RetentionPolicy{MaxItems: 1, Hard: true}})
	if err == nil {
		_, err = m.WaitOperation(t.Context(), op.ID)
	}
	if got := all(t, m, who); err != nil || !got["loose"] || !got["tB"] || !got["fB"] {
		t.Errorf("retention left %v, %v", got, err)
	}
}

// A hold that is placed while a large forgetting is under way stops it at the next part.
func TestForgettingStopsAtALaterHold(t *testing.T) {
	m, _, who := heldMemory(t)
	sc, err := m.memory(who)
	if err != nil {
		t.Fatal(err)
	}
	// As after the check of the whole: the hold came since.
	items, err := m.selected(t.Context(), sc, ForgetRequest{All: true})
	if err == nil {
		err = m.forgetParts(t.Context(), sc, items, removing{by: "f", facts: true, marks: true})
	}
	if got := all(t, m, who); !isHeld(err) || len(got) != 5 {
		t.Errorf("%v, left %v", err, got)
	}
}

// A retention that was cut off does not count as taken what a hold keeps that was placed meanwhile.
func TestRetentionCountsWhatLaterHoldsKeep(t *testing.T) {
	m, _, who := heldMemory(t)
	sc, err := m.memory(who)
	if err != nil {
		t.Fatal(err)
	}
	op := store.Operation{ID: "cut-off", Tenant: m.tenant, Kind: retainKind, State: store.OperationFailed, CreatedAt: m.now()}
	op.Args = mustJSON(t, retaining{RetainRequest: RetainRequest{Policy: &RetentionPolicy{Hard: true}}, At: m.now()})
	op.Checkpoint = mustJSON(t, sweep{
		Swept: Swept{Items: 3, Reasons: map[lifecycle.Reason]int{lifecycle.TooOld: 2, lifecycle.Expired: 1}}, Scope: sc, Next: []string{"fA", "tB", "went"},
		Why: map[string]lifecycle.Reason{"fA": lifecycle.TooOld, "tB": lifecycle.TooOld, "went": lifecycle.Expired},
	})
	if _, err := m.ledger.SaveOperation(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	did := swept(t, m, func(ctx context.Context) (store.Operation, error) { return m.RetryOperation(ctx, op.ID) })
	want := map[lifecycle.Reason]int{lifecycle.TooOld: 1, lifecycle.Expired: 1}
	if left := all(t, m, who); did.Items != 2 || !maps.Equal(did.Reasons, want) || left["fA"] || !left["tB"] {
		t.Errorf("%+v, left %v", did, left)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A purge leaves out what is held and what that rests on, counts it, and takes the rest.
func TestPurgeGoesOnPastWhatIsHeld(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := clockAt(now.Add(2 * time.Hour))
	m, who := open(t, &Options{Clock: clock.now}), Who{User: "ann"}
	items := heldItems(now)
	items[2].Turn.Thread = "thC" // taken from tA, and confirmed since in a thread that is held
	more := items[1]
	more.ID, more.Content, more.Turn.Position = "other", "Said more", 1
	putAll(t, m, who, append(items, more))
	putAll(t, m, Who{User: "zoe"}, []store.Item{{ID: "z", Kind: store.Semantic, Content: "of zoe", ValidFrom: now, RecordedAt: now}})
	for who, ids := range map[Who][]string{who: {"tA", "other"}, {User: "zoe"}: {"z"}} {
		if _, err := m.Forget(t.Context(), ForgetRequest{Who: who, IDs: ids, Soft: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.AddHold(t.Context(), LegalHold{ID: "case", User: "ann", Thread: "thC", Reason: "claim 17"}); err != nil {
		t.Fatal(err)
	}
	clock.set(now.AddDate(1, 0, 0))
	op, err := m.Purge(t.Context())
	if err == nil {
		op, err = m.WaitOperation(t.Context(), op.ID)
	}
	var did Swept
	if err != nil || op.State != store.OperationDone || json.Unmarshal(op.Result, &did) != nil || did.Items != 3 || did.Held != 2 {
		t.Errorf("%s: %q %+v, %v", op.State, op.Note, did, err)
	}
	sc, err := m.memory(who)
	if err != nil {
		t.Fatal(err)
	}
	items, err = m.store.Get(t.Context(), sc, []string{"fA", "fB", "loose", "other", "tA", "tB"})
	var left []string
	for i := range items {
		left = append(left, items[i].ID)
	}
	slices.Sort(left)
	if err != nil || !slices.Equal(left, []string{"fA", "loose", "tA", "tB"}) || len(all(t, m, Who{User: "zoe"})) != 0 {
		t.Errorf("left: %v", left)
	}
}
