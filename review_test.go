package evoke

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"evoke/extract"
	"evoke/recall"
	"evoke/store"
)

// quarantined ingests an exchange of a user and puts operations that rest on its first turn into quarantine.
func quarantined(t *testing.T, m *Memory, user string, contents ...string) (ids []string, turn string) {
	t.Helper()
	who := Who{User: user, Thread: "t"}
	in, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("Would you name a boat Wanda?", "I might.")})
	if err != nil {
		t.Fatal(err)
	}
	turn = in.Turns[0].ID
	w := m.newWrite(store.Scope{Tenant: m.tenant, User: user})
	for i, content := range contents {
		op, err := json.Marshal(extract.Operation{Action: extract.Add, Kind: store.Semantic, Content: content, Quote: "my boat", Speaker: "user", Confidence: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("%s%d", user, i)
		ids = append(ids, id)
		w.Quarantine = append(w.Quarantine, store.Quarantined{
			ID: id, Scope: w.Scope, Event: in.EventID, Thread: "t", Turn: turn, Extractor: "llm/1", Reason: "ungrounded", Operation: op, At: m.now(),
		})
	}
	if err := store.Commit(t.Context(), m.store, m.ledger, w); err != nil {
		t.Fatal(err)
	}
	return ids, turn
}

func TestQuarantineIsReviewed(t *testing.T) {
	m := open(t, nil)
	ctx := t.Context()
	ann := Who{User: "ann"}
	ids, turn := quarantined(t, m, "ann", "Owns a boat.", "Owns a plane.")
	quarantined(t, m, "bob", "Owns a car.")
	all, err := m.Quarantined(ctx, QuarantineRequest{})
	if err != nil || len(all.Entries) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	page, err := m.Quarantined(ctx, QuarantineRequest{Who: ann, Limit: 1})
	if err != nil || len(page.Entries) != 1 || page.Next == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	rest, err := m.Quarantined(ctx, QuarantineRequest{Who: ann, Cursor: page.Next})
	if err != nil || len(rest.Entries) != 1 || rest.Entries[0].ID == page.Entries[0].ID {
		t.Fatalf("%+v, %v", rest, err)
	}
	e := page.Entries[0]
	if e.User != "ann" || e.Turn != turn || e.Reason != "ungrounded" || e.Operation.Action != extract.Add || e.Operation.Quote != "my boat" {
		t.Errorf("%+v", e)
	}
	if hits, err := m.Recall(ctx, RecallRequest{Who: ann, Request: recall.Request{Query: "owns", Kinds: []store.Kind{store.Semantic}}}); err != nil || len(hits.Hits) != 0 {
		t.Errorf("recalled from quarantine: %+v, %v", hits.Hits, err)
	}
	ok, err := m.Approve(ctx, []string{ids[0], "unknown"})
	if err != nil || ok.Approved != 1 || len(ok.Items) != 1 || ok.Items[0].Provenance.Origin != "review" || !slices.Equal(ok.Unknown, []string{"unknown"}) {
		t.Fatalf("%+v, %v", ok, err)
	}
	hits, err := m.Recall(ctx, RecallRequest{Who: ann, Request: recall.Request{Query: "who owns a boat", Kinds: []store.Kind{store.Semantic}, MinScore: ptr(0.0)}})
	if err != nil || contents(hits.Hits) != "Owns a boat." {
		t.Errorf("%q, %v", contents(hits.Hits), err)
	}
	no, err := m.Reject(ctx, []string{ids[1], ids[0]})
	if err != nil || no.Rejected != 1 || !slices.Equal(no.Unknown, []string{ids[0]}) {
		t.Errorf("%+v, %v", no, err)
	}
	if left, err := m.Quarantined(ctx, QuarantineRequest{Who: ann}); err != nil || len(left.Entries) != 0 {
		t.Errorf("%+v, %v", left, err)
	}
}

// Nothing tells another tenant's entries from those that never were.
func TestQuarantineOfAnotherTenant(t *testing.T) {
	m := open(t, nil)
	ids, _ := quarantined(t, m, "ann", "Owns a boat.")
	rival, err := m.ForTenant("rival")
	if err != nil {
		t.Fatal(err)
	}
	if page, err := rival.Quarantined(t.Context(), QuarantineRequest{}); err != nil || len(page.Entries) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
	asked := []string{ids[0], "unknown"}
	if ok, err := rival.Approve(t.Context(), asked); err != nil || ok.Approved != 0 || !slices.Equal(ok.Unknown, asked) {
		t.Errorf("%+v, %v", ok, err)
	}
	if no, err := rival.Reject(t.Context(), asked); err != nil || no.Rejected != 0 || !slices.Equal(no.Unknown, asked) {
		t.Errorf("%+v, %v", no, err)
	}
	if page, err := m.Quarantined(t.Context(), QuarantineRequest{}); err != nil || len(page.Entries) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
}

// What waits for review goes with the turn it rests on, and cannot come back after it.
func TestForgettingATurnEmptiesItsQuarantine(t *testing.T) {
	m := open(t, nil)
	ids, turn := quarantined(t, m, "ann", "Owns a boat.")
	kept, _ := quarantined(t, m, "bob", "Owns a car.")
	if res, err := m.Forget(t.Context(), ForgetRequest{Who: Who{User: "ann"}, IDs: []string{turn}}); err != nil || res.Forgotten != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	page, err := m.Quarantined(t.Context(), QuarantineRequest{})
	if err != nil || len(page.Entries) != 1 || page.Entries[0].ID != kept[0] {
		t.Errorf("%+v, %v", page, err)
	}
	if ok, err := m.Approve(t.Context(), ids); err != nil || ok.Approved != 0 || !slices.Equal(ok.Unknown, ids) {
		t.Errorf("%+v, %v", ok, err)
	}
}

func TestApproveRefusesWhatIsNoOperation(t *testing.T) {
	m := open(t, nil)
	ids, _ := quarantined(t, m, "ann", "")
	ok, err := m.Approve(t.Context(), ids)
	if err != nil || ok.Approved != 0 || len(ok.Refused) != 1 || ok.Refused[0].ID != ids[0] || ok.Refused[0].Why == "" {
		t.Errorf("%+v, %v", ok, err)
	}
	for _, bad := range [][]string{nil, {""}} {
		if _, err := m.Approve(t.Context(), bad); err == nil {
			t.Errorf("%q is approved", bad)
		}
		if _, err := m.Reject(t.Context(), bad); err == nil {
			t.Errorf("%q is rejected", bad)
		}
	}
}

// What was derived from a forgotten turn is gone from the files, too: sections that rested on it, what waits for review,
// and what a person approved of it.
func TestForgottenTextOfSectionsAndQuarantineLeavesTheDisk(t *testing.T) {
	dir := t.TempDir()
	m, err := Open(t.Context(), &Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	ids, turn := quarantined(t, m, "ann", "Owns zebraquartz.", "Sells zebraquartz.")
	sc := store.Scope{Tenant: m.tenant, User: "ann"}
	old := written(t, m, sc, "w1", "work", "Digs for zebraquartz.", m.now(), nil, turn)
	written(t, m, sc, "w2", "work", "Dug for zebraquartz.", m.now(), &old, turn)
	if ok, err := m.Approve(ctx, ids[:1]); err != nil || ok.Approved != 1 {
		t.Fatalf("%+v, %v", ok, err)
	}
	if res, err := m.Forget(ctx, ForgetRequest{Who: Who{User: "ann"}, IDs: []string{turn}}); err != nil || res.Forgotten != 1 || res.Derived != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if versions, err := m.profileItems(ctx, sc, store.View{All: true}); err != nil || len(versions) != 0 {
		t.Errorf("%+v, %v", versions, err)
	}
	if page, err := m.Quarantined(ctx, QuarantineRequest{}); err != nil || len(page.Entries) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
	if res, err := m.Forget(ctx, ForgetRequest{Who: Who{User: "ann"}, All: true}); err != nil || res.Forgotten != 1 {
		t.Fatalf("the other turn: %+v, %v", res, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(b, []byte("zebraquartz")); n > 0 {
			t.Errorf("%s holds forgotten text %d times", filepath.Base(f), n)
		}
	}
}
