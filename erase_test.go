package evoke

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"evoke/recall"
)

// Forgotten text is gone from the files too: from the items, their facts, and the answers remembered for retries.
func TestForgottenTextLeavesTheDisk(t *testing.T) {
	dir := t.TempDir()
	m, err := Open(t.Context(), &Options{Path: dir, Embedder: &bagEmbedder{}})
	if err != nil {
		t.Fatal(err)
	}
	who := Who{User: "u", Thread: "t"}
	kept := RememberRequest{Who: Who{User: "u"}, Content: "The zebraquartz code is 4471.", IdempotencyKey: "k"}
	if _, err := m.Remember(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("I like zebraquartz.", "zebraquartz it is"), IdempotencyKey: "j"}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Flush(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	if res, err := m.Forget(t.Context(), ForgetRequest{Who: Who{User: "u"}, All: true}); err != nil || res.Forgotten != 4 {
		t.Fatalf("two turns, a fact and an item: %+v, %v", res, err)
	}
	if r, err := m.Remember(t.Context(), kept); err != nil || r.Skipped != "erased" {
		t.Errorf("a retry of what was forgotten: %+v, %v", r, err)
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

// A retry gets the item as it is now, also when it was changed since.
func TestARetryOfRememberAnswersTheItemAsItIs(t *testing.T) {
	m := open(t, nil)
	r := RememberRequest{Who: Who{User: "u"}, Content: "Ann sails.", IdempotencyKey: "k"}
	first, err := m.Remember(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Update(t.Context(), UpdateRequest{Who: r.Who, ID: first.Item.ID, Importance: ptr(0.9)}); err != nil {
		t.Fatal(err)
	}
	again, err := m.Remember(t.Context(), r)
	if err != nil || again.Existing || again.Item.ID != first.Item.ID || again.Item.Content != "Ann sails." || again.Item.Importance != 0.9 {
		t.Errorf("%+v, %v", again, err)
	}
}

// What begins later, or seems to because the clock went back, has one current version after a change.
func TestAPlannedItemHasOneCurrentVersion(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for name, begin := range map[string]time.Time{"planned": now.AddDate(1, 0, 0), "clock went back": {}} {
		clock := clockAt(now)
		m := open(t, &Options{Clock: clock.now})
		who := Who{User: "u"}
		r, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: "The trip goes to Rome.", ValidFrom: begin})
		if err != nil {
			t.Fatal(err)
		}
		clock.set(now.Add(-time.Hour))
		next, err := m.Update(t.Context(), UpdateRequest{Who: who, ID: r.Item.ID, Content: ptr("The trip goes to Oslo.")})
		if err != nil || !next.ValidFrom.Equal(r.Item.ValidFrom) {
			t.Errorf("%s: %+v, %v", name, next, err)
		}
		page, err := m.List(t.Context(), ListRequest{Who: who})
		if err != nil || len(page.Items) != 1 || page.Items[0].ID != next.ID {
			t.Errorf("%s: %+v, %v", name, page, err)
		}
		hits, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: "trip", MinScore: ptr(0.0)}})
		if err != nil || contents(hits.Hits) != "The trip goes to Oslo." {
			t.Errorf("%s: %q, %v", name, contents(hits.Hits), err)
		}
	}
}

// Texts of nothing but punctuation are not one statement.
func TestPunctuationIsNotOneStatement(t *testing.T) {
	m := open(t, nil)
	for _, text := range []string{"!!!", "???", "…", "\ue000", "\ue001"} {
		if r, err := m.Remember(t.Context(), RememberRequest{Who: Who{User: "u"}, Content: text}); err != nil || r.Existing || r.Item.Content != text {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
	if r, err := m.Remember(t.Context(), RememberRequest{Who: Who{User: "u"}, Content: " ??? "}); err != nil || !r.Existing {
		t.Errorf("the same again: %+v, %v", r, err)
	}
}

// What a longer text said is not found once it was made shorter: neither by its words nor by its vectors.
func TestAShorterTextLeavesNothingOfTheLonger(t *testing.T) {
	m := open(t, &Options{Embedder: &bagEmbedder{}})
	ctx := t.Context()
	ann := Who{User: "ann"}
	r, err := m.Remember(ctx, RememberRequest{Who: ann, Content: "Ann keeps bees. She also owns a zebraquartz collection of twelve stones."})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	next, err := m.Update(ctx, UpdateRequest{Who: ann, ID: r.Item.ID, Content: ptr("Ann keeps bees.")})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	for _, query := range []string{"zebraquartz", "zebraquartz collection of twelve stones"} {
		res, err := m.Recall(ctx, RecallRequest{Who: ann, Request: recall.Request{Query: query, MinScore: ptr(0.0), Explain: true}})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			if h.Item.ID != next.ID || h.Explain.Terms["lexical_own"] > 0 || h.Explain.Terms["cosine"] > 0.6 {
				t.Errorf("%q finds %q by %v", query, h.Item.Content, h.Explain.Terms)
			}
		}
	}
}
