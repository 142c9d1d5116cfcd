package evoke

import (
	"net/http"
	"strings"
	"testing"

	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/store"
)

// A way of working that a model finds is stored with its steps and needs and how it went, recalled by its task, and
// counted when it is tried again.
func TestWorkflowsFromConversations(t *testing.T) {
	way := []any{
		"kind", "procedural", "category", "behavior", "outcome", "succeeded",
		"steps", []string{"run make clean", "run make release"}, "needs", []string{"the signing key"},
	}
	srv := llmtest.Start(t, func(w http.ResponseWriter, r *llmtest.Request) {
		if known := r.Block("known"); len(known) > 0 {
			llmtest.Say(w, llmtest.Answer(llmtest.Fact("t1", "it failed this time", "", "action", "confirm", "target", known[0].ID, "kind", "procedural", "outcome", "failed")))
			return
		}
		llmtest.Say(w, llmtest.Answer(llmtest.Fact("t2", "make clean, then make release", "To release the desktop client", way...)))
	})
	x, err := llm.New("m", &llm.Options{BaseURL: srv.URL, HTTPClient: srv.Client})
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, &Options{Extractor: x})
	say := func(thread string, lines ...string) {
		t.Helper()
		who := Who{User: "ada", Thread: thread}
		if _, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat(lines...)}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Flush(t.Context(), who); err != nil {
			t.Fatal(err)
		}
	}
	say("one", "How do I release the desktop client?", "With the signing key at hand: make clean, then make release.", "That worked!", "Good.")
	say("two", "I released the client as before, and it failed this time.", "Let me look.")
	q := RecallRequest{Who: Who{User: "ada"}}
	q.Query, q.Kinds = "release the desktop client", []store.Kind{store.Procedural}
	res, err := m.Recall(t.Context(), q)
	if err != nil || len(res.Hits) != 1 {
		t.Fatalf("%+v, %v", res.Hits, err)
	}
	got := res.Hits[0].Item
	if got.Content != "To release the desktop client\nNeeds: the signing key\n1. run make clean\n2. run make release" {
		t.Errorf("%q", got.Content)
	}
	if o := got.Outcomes; o.Succeeded != 1 || o.Failed != 1 || !strings.HasPrefix(string(o.Last), "fail") || o.LastAt.IsZero() {
		t.Errorf("%+v", o)
	}
}
