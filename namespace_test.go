package evoke

import (
	"bytes"
	"strings"
	"testing"

	"evoke/recall"
)

// Under none nothing said to a shared expert is kept or found by anyone; under pair only the pair finds it; and what
// another person is said to like is not the user's own.
func TestNamespacesOnTheWholePath(t *testing.T) {
	t.Parallel()
	m := open(t, &Options{Policy: &Policy{Rules: []PolicyRule{{"expert-*", NoNamespace}, {"*", PairNamespace}}}})
	tell := func(agent, text string) IngestResult {
		t.Helper()
		r, err := m.Ingest(t.Context(), IngestRequest{Who: Who{User: "ann", Agent: agent, Thread: "t"}, Messages: chat(text, "Noted.")})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := tell("expert-law", "I love zebrafish sushi."); r.Skipped != "namespace_policy" || len(r.Turns) != 0 {
		t.Errorf("none: %+v", r)
	}
	tell("chef", "I love quokka pancakes. Bob says he loves walrus tea.")
	tell("chef", "张三说他喜欢茶。我喜欢咖啡。")
	if _, err := m.FlushAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := func(w Who) string {
		t.Helper()
		var out bytes.Buffer
		if _, err := m.Export(t.Context(), w, &out); err != nil {
			t.Fatal(err)
		}
		l, err := m.List(t.Context(), ListRequest{Who: w, All: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range l.Items {
			out.WriteString(it.Content)
		}
		return out.String()
	}
	for _, w := range []Who{{User: "ann"}, {User: "bob"}, {User: "bob", Agent: "chef"}, {User: "ann", Agent: "baker"}} {
		if text := all(w); strings.Contains(text, "zebrafish") || strings.Contains(text, "quokka") || strings.Contains(text, "walrus") {
			t.Errorf("%+v holds what was said elsewhere", w)
		}
		for _, q := range []string{"zebrafish sushi", "quokka pancakes"} {
			if r, err := m.Recall(t.Context(), RecallRequest{Who: w, Request: recall.Request{Query: q}}); err != nil || len(r.Hits) != 0 {
				t.Errorf("%+v finds %q: %d hits, %v", w, q, len(r.Hits), err)
			}
		}
	}
	pair, err := m.List(t.Context(), ListRequest{Who: Who{User: "ann", Agent: "chef"}, All: true})
	if err != nil || len(pair.Items) < 4 {
		t.Fatalf("the pair holds %d items, %v", len(pair.Items), err)
	}
	for _, it := range pair.Items {
		if it.Provenance.Origin != "turn" && (strings.Contains(it.Content, "walrus") || strings.Contains(it.Content, "茶")) {
			t.Errorf("another's liking became a fact of the user: %+v", it)
		}
	}
}
