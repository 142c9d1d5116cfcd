package evoke

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/extract/rules"
	"evoke/store"
)

// What was erased comes back neither by the same message, id, key or export, nor by a new extraction of the turn that is
// left; a new statement of the same does, and so does everything once the erasure is lifted.
func TestErasedStaysAwayAndANewStatementDoesNot(t *testing.T) {
	m := open(t, &Options{Extractor: rules.New(nil)})
	ctx := t.Context()
	who := Who{User: "ann", Thread: "t"}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	replay := IngestRequest{Who: who, Messages: []message.Message{
		{ID: "m1", Role: "user", Content: "My name is Ann and I live in Lisbon.", Time: at}, {Role: "assistant", Content: "Hello Ann.", Time: at.Add(time.Minute)},
	}}
	if _, err := m.Ingest(ctx, replay); err != nil {
		t.Fatal(err)
	}
	item := RememberRequest{Who: Who{User: "ann"}, ID: "x1", Content: "Ann sails."}
	if _, err := m.Remember(ctx, item); err != nil {
		t.Fatal(err)
	}
	var export bytes.Buffer
	if _, err := m.Export(ctx, Who{User: "ann"}, &export); err != nil {
		t.Fatal(err)
	}
	op, err := m.Erase(ctx, EraseRequest{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if _, got := erased(t, m, op.ID); got.Items != 3 || got.Tombstones < 6 {
		t.Fatalf("%+v", got)
	}
	in, err := m.Ingest(ctx, replay)
	if err != nil || in.Skipped != "erased" || len(in.Turns) != 0 || len(in.Dropped) != 2 || in.Dropped[0].Reason != extract.DropErased || in.EventID != "" {
		t.Errorf("the same messages: %+v, %v", in, err)
	}
	if res, err := m.Remember(ctx, item); err != nil || res.Skipped != "erased" {
		t.Errorf("the same id: %+v, %v", res, err)
	}
	if res, err := m.Import(ctx, Who{User: "ann"}, bytes.NewReader(export.Bytes()), nil); err != nil || res.Erased != 3 || res.Imported != 0 {
		t.Errorf("the export: %+v, %v", res, err)
	}
	if res, err := m.Import(ctx, Who{User: "ann"}, strings.NewReader(`{"text":"ann SAILS"}`+"\n"+`{"text":"Ann swims."}`), nil); err != nil || res.Erased != 1 || res.Imported != 1 {
		t.Errorf("the same text of nowhere: %+v, %v", res, err)
	}
	if res, err := m.Import(ctx, Who{User: "bob"}, strings.NewReader(`{"text":"Ann sails."}`), nil); err != nil || res.Imported != 1 {
		t.Errorf("another's: %+v, %v", res, err)
	}

	fresh, err := m.Ingest(ctx, IngestRequest{Who: who, Messages: chat("My name is Ann and I live in Lisbon.", "Hello again.")})
	if err != nil || len(fresh.Turns) != 2 {
		t.Errorf("said anew: %+v, %v", fresh, err)
	}
	mixed := append(replay.Messages[:1:1], message.Message{ID: "m9", Role: "user", Content: "And I have a cat.", Time: at})
	if in, err = m.Ingest(ctx, IngestRequest{Who: who, Messages: mixed}); err != nil || len(in.Turns) != 1 || len(in.Dropped) != 1 || in.Skipped != "" {
		t.Errorf("the same with something new: %+v, %v", in, err)
	}
	if res, err := m.Remember(ctx, RememberRequest{Who: item.Who, ID: item.ID, Content: "Ann rows."}); err != nil || res.Skipped != "" {
		t.Errorf("something else under the same id: %+v, %v", res, err)
	}
	if res, err := m.Remember(ctx, RememberRequest{Who: item.Who, Content: item.Content}); err != nil || res.Skipped != "" || res.Existing {
		t.Errorf("said anew: %+v, %v", res, err)
	}
	for _, tenant := range []string{"other", "default"} {
		mt, err := m.ForTenant(tenant)
		if err != nil {
			t.Fatal(err)
		}
		n, err := mt.LiftErasure(ctx, op.ID)
		if own := tenant == "default"; own != (err == nil && n > 0) || !own && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s lifts %d, %v", tenant, n, err)
		}
	}
	if res, err := m.Import(ctx, Who{User: "ann"}, bytes.NewReader(export.Bytes()), nil); err != nil || res.Erased != 0 {
		t.Errorf("after it was lifted: %+v, %v", res, err)
	}
	if _, err := m.LiftErasure(ctx, ""); !errors.Is(err, store.ErrInvalid) {
		t.Error(err)
	}
}

// A fact that was forgotten is not distilled from the same turn again; from a new one it is.
func TestAForgottenFactIsNotDistilledFromTheSameTurnAgain(t *testing.T) {
	x := &again{Extractor: rules.New(nil)}
	m := open(t, &Options{Extractor: x})
	ctx := t.Context()
	who := Who{User: "ann", Thread: "t"}
	tell := func(text string) {
		t.Helper()
		if _, err := m.Ingest(ctx, IngestRequest{Who: who, Messages: chat(text, "I see.")}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Flush(ctx, who); err != nil {
			t.Fatal(err)
		}
	}
	homes := func() (ids []string) {
		page, err := m.List(ctx, ListRequest{Who: Who{User: "ann"}, Filter: store.Filter{Kinds: []store.Kind{store.Semantic}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			if strings.Contains(it.Content, "Lisbon") {
				ids = append(ids, it.ID)
			}
		}
		return ids
	}
	tell("I live in Lisbon.")
	ids := homes()
	if len(ids) != 1 {
		t.Fatal(ids)
	}
	if res, err := m.Forget(ctx, ForgetRequest{Who: who, IDs: ids}); err != nil || res.Forgotten != 1 || res.Derived != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	tell("The weather is fine today.") // the extractor tells of the earlier turn again
	if ids := homes(); len(ids) != 0 {
		t.Error("the same turn brought it back")
	}
	tell("I live in Lisbon.")
	if ids := homes(); len(ids) != 1 {
		t.Error("a new statement did not")
	}
}

// again listens to the turns before as well.
type again struct{ extract.Extractor }

func (x *again) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	b.Turns = append(append([]store.Item{}, b.Before...), b.Turns...)
	return x.Extractor.Extract(ctx, b)
}

// With a thread goes what was taken from it alone; what rests on another thread, too, stays, without the quotation of what
// went. A legal hold on it stops the whole.
func TestErasingAThreadTakesWhatRestsOnItAlone(t *testing.T) {
	m := open(t, nil)
	ctx := t.Context()
	sc := store.Scope{Tenant: "default", User: "ann"}
	w := m.newWrite(sc)
	item := func(id, thread, content, quote string, turns ...string) {
		it := store.Item{ID: id, Kind: store.Semantic, Content: content, Importance: 0.5, Confidence: 1, RecordedAt: m.now(), ContentKey: store.ContentKey(store.Semantic, content)}
		if it.Turn.Thread = thread; len(turns) > 0 {
			it.Provenance = store.Provenance{Origin: "llm", Extractor: "x/1", Turns: turns, Quote: quote}
		}
		w.Put = append(w.Put, it)
	}
	item("a", "one", "I have a dog called Rex", "")
	item("b", "two", "Rex the dog sleeps", "")
	item("alone", "one", "Has a dog called Rex.", "a dog called Rex", "a")
	item("both", "one", "Has a dog.", "I have a dog", "a", "b")
	item("kept", "", "The dog sleeps.", "the dog sleeps", "b", "a")
	w.Put[3].Supersedes, w.Put[2].SupersededBy = "alone", "both"
	if err := m.commit(ctx, w); err != nil {
		t.Fatal(err)
	}
	written(t, m, sc, "section", "personal", "Has a dog called Rex.", m.now(), nil, "a", "b")
	hold, err := m.AddHold(ctx, LegalHold{User: "ann", Thread: "one", Reason: "a case"})
	if err != nil {
		t.Fatal(err)
	}
	r := EraseRequest{User: "ann", Thread: "one"}
	run := func() (store.Operation, Erased) {
		op, err := m.Erase(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return erased(t, m, op.ID)
	}
	if _, err := m.Erase(ctx, r); !errors.Is(err, store.ErrConflict) || held(t, m) != 6 {
		t.Errorf("under a hold: %v, %d left", err, held(t, m))
	}
	if err := m.ReleaseHold(ctx, hold.ID); err != nil {
		t.Fatal(err)
	}
	if n, err := m.CountErasable(ctx, r); err != nil || n != (EraseCount{Memories: 1, Items: 2}) {
		t.Errorf("counted before: %+v, %v", n, err) // what rests on another thread, too, is not of it
	}
	op, got := run()
	if op.State != store.OperationDone || got.Items != 2 || got.Derived != 0 || got.Sections != 1 || strings.Contains(string(op.Args), "one") || len(op.Checkpoint) > 0 && strings.Contains(string(op.Checkpoint), `"alone"`) {
		t.Errorf("%s (%s), %+v, %s", op.State, op.Note, got, op.Args)
	}
	items, err := m.store.Get(ctx, sc, []string{"b", "both", "kept"})
	if err != nil || len(items) != 3 {
		t.Fatal(items, err)
	}
	for _, it := range items {
		if strings.Join(it.Provenance.Turns, " ") != map[string]string{"b": "", "both": "b", "kept": "b"}[it.ID] ||
			it.Provenance.Quote != map[string]string{"b": "", "both": "", "kept": "the dog sleeps"}[it.ID] ||
			it.ID == "both" && !strings.HasPrefix(it.Supersedes, store.ErasedPrefix) {
			t.Errorf("%+v", it)
		}
	}
	if n := held(t, m); n != 3 {
		t.Errorf("%d left", n)
	}
}

// A query is looked at first: what it shows is forgotten by ids, and what rests on it is told beforehand.
func TestForgetByQueryShowsFirst(t *testing.T) {
	m := open(t, &Options{Embedder: &bagEmbedder{}})
	ctx := t.Context()
	ann := Who{User: "ann"}
	for _, text := range []string{"Ann's sister lives in Oslo.", "Ann sails on Sundays.", "Bees are kept by Bob."} {
		if _, err := m.Remember(ctx, RememberRequest{Who: ann, Content: text}); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, m)
	if _, err := m.Forget(ctx, ForgetRequest{Who: ann, Query: "sister"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("without a dry run: %v", err)
	}
	got, err := m.Forget(ctx, ForgetRequest{Who: ann, Query: "Where does my sister live?", DryRun: true})
	if err != nil || got.Forgotten == 0 || got.Forgotten != len(got.Items) || !strings.Contains(got.Items[0].Content, "sister") || got.Items[0].Score <= 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	if n := held(t, m); n != 3 {
		t.Errorf("a dry run left %d", n)
	}
	res, err := m.Forget(ctx, ForgetRequest{Who: ann, IDs: []string{got.Items[0].ID}})
	if err != nil || res.Forgotten != 1 || res.ID == "" {
		t.Errorf("%+v, %v", res, err)
	}
	none, err := m.Forget(ctx, ForgetRequest{Who: Who{User: "nobody"}, Query: "sister", DryRun: true})
	if err != nil || none.Forgotten != 0 || !none.DryRun {
		t.Errorf("%+v, %v", none, err)
	}
	if _, err := m.Forget(ctx, ForgetRequest{Who: ann, Query: "x", All: true, DryRun: true}); !errors.Is(err, store.ErrInvalid) {
		t.Error(err)
	}
	foreign, err := m.Forget(ctx, ForgetRequest{Who: Who{User: "bob"}, IDs: []string{got.Items[0].ID, "no-such"}})
	if err != nil || foreign.Forgotten != 0 || len(foreign.Unknown) != 2 {
		t.Errorf("somebody else's id is not like an unknown one: %+v, %v", foreign, err)
	}
}

// Receipts are of this installation, of erasures that are done, and of the tenant's.
func TestReceiptsOfOthersAreNotFound(t *testing.T) {
	m := open(t, nil)
	ctx := t.Context()
	op, err := m.Erase(ctx, EraseRequest{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	erased(t, m, op.ID)
	signed, err := m.Receipt(ctx, op.ID)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := m.VerifyReceipt(ctx, signed); err != nil || !r.Clean || r.Asked.User != "ann" || r.Removed["items"] != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	other, err := m.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	for name, get := range map[string]func() error{
		"another tenant's": func() error { _, err := other.Receipt(ctx, op.ID); return err },
		"unknown":          func() error { _, err := m.Receipt(ctx, "no-such"); return err },
	} {
		if err := get(); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := open(t, nil).VerifyReceipt(ctx, signed); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("another installation takes it: %v", err)
	}
}

// With a fact go those that were merged into it, which say the same.
func TestErasingOneTakesWhatWasMergedIntoIt(t *testing.T) {
	m := open(t, nil)
	ctx := t.Context()
	for _, text := range []string{"Ann's zebraquartz stands on the shelf in the kitchen.", "Ann's zebraquartz stands on a shelf in the kitchen"} {
		if _, err := m.Import(ctx, Who{User: "ann"}, strings.NewReader(`{"text":"`+text+`","recorded_at":"2026-01-01T00:00:00Z"}`), nil); err != nil {
			t.Fatal(err)
		}
	}
	op, err := m.Consolidate(ctx, ConsolidateRequest{Merge: true, Policy: &ConsolidationPolicy{MinAgeHours: ptr(0)}})
	if err != nil {
		t.Fatal(err)
	}
	if op, err = m.WaitOperation(ctx, op.ID); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	page, err := m.List(ctx, ListRequest{Who: Who{User: "ann"}})
	if err != nil || len(page.Items) != 1 || held(t, m) != 3 {
		t.Fatalf("nothing was merged: %s, %+v, %v", op.Result, page.Items, err)
	}
	op, err = m.Erase(ctx, EraseRequest{User: "ann", Filter: &store.Filter{IDs: []string{page.Items[0].ID}}})
	if err != nil {
		t.Fatal(err)
	}
	if op, got := erased(t, m, op.ID); op.State != store.OperationDone || got.Items != 1 || got.Derived != 2 || held(t, m) != 0 {
		t.Errorf("%s (%s), %+v, %d left", op.State, op.Note, got, held(t, m))
	}
}
