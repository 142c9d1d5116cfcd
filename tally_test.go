package evoke

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What is done too often for an entry of its own is in the audit log as a number, by who did it to whose memory, at the latest
// when the engine is closed; nothing of what was said is there.
func TestWhatIsCountedInTheAuditLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clock := clockAt(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	m, err := Open(t.Context(), &Options{Path: dir, Clock: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	ops := WithActor(t.Context(), Actor{Name: "ops"})
	var turn string
	for i := range 3 {
		in, err := m.Ingest(ops, IngestRequest{Who: Who{User: []string{"ann", "ann", "bob"}[i], Thread: "t"}, Messages: chat(fmt.Sprint("zebraquartz ", i), "Ok then.")})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			turn = in.Turns[0].ID
		}
	}
	if res, err := m.Feedback(t.Context(), FeedbackRequest{Who: Who{User: "ann"}, IDs: []string{turn}}); err != nil || res.Updated != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	for range 5 {
		m.Denied(ops, "POST /v1/admin/erase")
	}
	m.Denied(ops, "broken\x00")
	told := func() []string {
		t.Helper()
		res, err := m.Audit(context.WithoutCancel(t.Context()), AuditRequest{})
		if err != nil {
			t.Fatal(err)
		}
		out := []string{}
		for _, a := range res.Entries {
			out = append(out, fmt.Sprint(a.Verb, " ", a.By, " ", a.User, " ", a.IDs, " ", a.Counts))
		}
		slices.Sort(out)
		return out
	}
	if got := told(); len(got) != 0 {
		t.Errorf("at once: %q", got)
	}
	want := []string{
		"denied ops  [POST /v1/admin/erase] map[calls:5]", "feedback  ann [] map[calls:1 items:1]",
		"ingest ops ann [] map[calls:2 turns:4]", "ingest ops bob [] map[calls:1 turns:2]",
	}
	m.putDown(t.Context())
	m.putDown(t.Context())
	if d := cmp.Diff(want, told()); d != "" {
		t.Error(d)
	}
	m.Denied(ops, "GET /v1/stats")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err = Open(t.Context(), &Options{Path: dir, Clock: clock.now}); err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := told(); len(got) != 5 {
		t.Errorf("after Close: %q", got)
	}
	if n, err := m.ledger.PruneAudit(t.Context(), clock.now().Add(time.Second)); err != nil || n != 5 || len(told()) != 0 {
		t.Errorf("%d went, %v", n, err)
	}
}
