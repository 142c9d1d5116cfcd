package evoke

import (
	"strings"
	"testing"
	"time"

	"evoke/store"
)

// A hold that is placed after an erasure was begun stops it at its next step, with the reason; released, it goes on.
func TestHoldStopsAnErasureUnderWay(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	m := open(t, &Options{Clock: clockAt(now.Add(time.Hour)).now})
	who := Who{User: "ann"}
	secretive(t, m, who, now)
	if _, err := m.AddHold(t.Context(), LegalHold{ID: "case", User: "ann", Reason: "claim 17"}); err != nil {
		t.Fatal(err)
	}
	op, err := m.submit(t.Context(), "erase", EraseRequest{User: "ann"}) // as if the hold had come after Erase
	if err == nil {
		op, err = m.WaitOperation(t.Context(), op.ID)
	}
	if err != nil || op.State != store.OperationFailed || !strings.Contains(op.Note, "case") || !strings.Contains(op.Note, "claim 17") {
		t.Fatalf("%s: %q, %v", op.State, op.Note, err)
	}
	if n := len(all(t, m, who)); n != 12 {
		t.Errorf("%d items are left of 12", n)
	}
	if err := m.ReleaseHold(t.Context(), "case"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.RetryOperation(t.Context(), op.ID); err != nil {
		t.Fatal(err)
	}
	if op, err = m.WaitOperation(t.Context(), op.ID); err != nil || op.State != store.OperationDone {
		t.Errorf("%s: %q, %v", op.State, op.Note, err)
	}
	if n := len(all(t, m, who)); n != 0 {
		t.Errorf("%d items are left", n)
	}
	log, err := m.Audit(t.Context(), AuditRequest{})
	verbs := ""
	for _, e := range log.Entries {
		verbs += e.Verb + ","
	}
	if err != nil || !strings.Contains(verbs, "add hold") || !strings.Contains(verbs, "release hold") {
		t.Errorf("on record: %s, %v", verbs, err)
	}
}

// When a hold was placed, nothing more goes of what it covers: a removal that read the holds before is waited for.
func TestAHoldWaitsForWhatIsAtWork(t *testing.T) {
	t.Parallel()
	m := open(t, nil)
	ann, bob := store.Scope{Tenant: m.tenant, User: "ann"}, store.Scope{Tenant: m.tenant, User: "bob"}
	for _, user := range []string{"ann", "bob"} {
		if _, err := m.Remember(t.Context(), RememberRequest{Who: Who{User: user}, Content: "I like tea"}); err != nil {
			t.Fatal(err)
		}
	}
	unlock, other := m.locks.Lock(ann), m.locks.Lock(bob) // as a removal does
	defer other()
	placed := make(chan error, 1)
	go func() {
		_, err := m.AddHold(t.Context(), LegalHold{User: "ann", Reason: "claim 17"})
		placed <- err
	}()
	for held := false; !held; {
		holds, err := m.Holds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = len(holds) > 0
	}
	select {
	case <-placed:
		t.Error("the hold was granted while something was at work that may not know of it")
		unlock()
	case <-time.After(50 * time.Millisecond):
		unlock()
		if err := <-placed; err != nil {
			t.Error(err)
		}
	}
}

// What one retention took in several memories comes back by its id in all of them, as it was.
func TestRestoreBatchReachesEveryMemory(t *testing.T) {
	oneByOne(t)
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	m := open(t, &Options{Clock: clockAt(now.AddDate(1, 0, 0)).now})
	whose := []Who{{User: "ann"}, {User: "ann", Agent: "chef"}, {User: "bob"}}
	before := ""
	for _, w := range whose {
		lines(t, m, w, 250)
	}
	for _, w := range whose {
		before += exported(t, m, w)
	}
	op, err := m.Retain(t.Context(), RetainRequest{Policy: &RetentionPolicy{MaxItems: 10}})
	if err != nil {
		t.Fatal(err)
	}
	if op, err = m.WaitOperation(t.Context(), op.ID); err != nil || op.Done != 3*240 {
		t.Fatalf("%d went, %v", op.Done, err)
	}
	back, err := m.RestoreBatch(t.Context(), op.ID)
	if err == nil {
		back, err = m.WaitOperation(t.Context(), back.ID)
	}
	if err != nil || string(back.Result) != `{"memories":3,"items":720}` {
		t.Errorf("%s, %v", back.Result, err)
	}
	after := ""
	for _, w := range whose {
		after += exported(t, m, w)
	}
	if before != after {
		t.Error("restored otherwise than it was")
	}
}
