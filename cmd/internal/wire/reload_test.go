package wire_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"evoke"
	"evoke/cmd/internal/wire"
	"evoke/extract/llm/llmtest"
	"evoke/extract/message"
	"evoke/store"
)

// change puts other settings in force, as a changed file does.
func change(t *testing.T, e *wire.Engine, yaml string) {
	t.Helper()
	put, err := e.Prepare(settings(t, yaml))
	if err != nil {
		t.Fatal(err)
	}
	put()
}

// Model, threshold and whether anything is kept hold for what comes next.
func TestModelAndThresholdWhileRunning(t *testing.T) {
	first := llmtest.Start(t, llmtest.Knowing(llmtest.Statement{Quote: "old maps", Content: "The user collects old maps", More: []any{"confidence", 0.75}}))
	second := llmtest.Start(t, llmtest.Knowing(
		llmtest.Statement{Quote: "sea charts", Content: "The user collects sea charts", More: []any{"confidence", 0.75}},
		llmtest.Statement{Quote: "brass globes", Content: "The user collects brass globes", More: []any{"confidence", 0.95}},
	))
	dir := t.TempDir()
	yaml := func(own string) string {
		return fmt.Sprintf("{ tenant: acme, store: { path: %s }, tenants: { acme: { %s } } }", dir, own)
	}
	e := open(t, yaml(""), &wire.Options{NoModel: true})
	if ev := say(t, e, "rules", "I like green tea."); !strings.HasPrefix(ev.Extractor, "rules/") {
		t.Errorf("%+v", ev)
	}
	change(t, e, yaml(fmt.Sprintf("llm: { model: one, url: '%s' }", first.URL)))
	if ev := say(t, e, "one", "Well, old maps are nice to collect."); ev.Extractor != "llm/2/one" || ev.Facts != 1 {
		t.Errorf("%+v", ev)
	}
	change(t, e, yaml(fmt.Sprintf("llm: { model: two, url: '%s' }, memory: { fact_confidence_threshold: 0.9 }", second.URL)))
	if ev := say(t, e, "two", "And sea charts and brass globes, which I collect."); ev.Extractor != "llm/2/two" || ev.Facts != 1 || first.Calls() != 1 {
		t.Errorf("above the threshold: %+v", ev)
	}
	page, err := e.List(t.Context(), evoke.ListRequest{Who: evoke.Who{User: "ada"}, Filter: store.Filter{Kinds: []store.Kind{store.Semantic}}})
	if err != nil || len(page.Items) != 3 {
		t.Errorf("%+v, %v", page.Items, err)
	}
	change(t, e, yaml("memory: { enabled: false }"))
	res, err := e.Ingest(t.Context(), evoke.IngestRequest{Who: evoke.Who{User: "ada", Thread: "off"}, Messages: []message.Message{
		{Role: message.User, Content: "I like rum."}, {Role: message.Assistant, Content: "I see."},
	}})
	if err != nil || res.Skipped != "disabled" {
		t.Errorf("%+v, %v", res, err)
	}
}

// A conversation is extracted by the debounce that is in force when it is said.
func TestDebounceWhileRunning(t *testing.T) {
	yaml := func(seconds int) string {
		return fmt.Sprintf("{ store: { path: %s }, memory: { debounce_seconds: %d, max_wait_seconds: 300 } }", t.TempDir(), seconds)
	}
	e := open(t, yaml(200), &wire.Options{NoModel: true})
	tell := func(thread string, wait time.Duration) store.Event {
		t.Helper()
		res, err := e.Ingest(t.Context(), evoke.IngestRequest{Who: evoke.Who{User: "ada", Thread: thread}, Messages: []message.Message{
			{Role: message.User, Content: "I like green tea."}, {Role: message.Assistant, Content: "I see."},
		}})
		if err != nil {
			t.Fatal(err)
		}
		ev, err := e.Event(t.Context(), res.EventID, wait)
		if err != nil {
			t.Fatal(err)
		}
		return ev
	}
	if ev := tell("slow", 1500*time.Millisecond); ev.State != store.EventPending {
		t.Errorf("%+v", ev)
	}
	change(t, e, yaml(1))
	if ev := tell("fast", 20*time.Second); ev.State != store.EventStored {
		t.Errorf("%+v", ev)
	}
}
