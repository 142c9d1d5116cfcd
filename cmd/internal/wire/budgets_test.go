package wire_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"evoke"
	"evoke/cmd/internal/wire"
	"evoke/extract"
	"evoke/extract/llm/llmtest"
	"evoke/extract/message"
	"evoke/store"
)

// say ingests an exchange in a thread, extracts it and returns its event.
func say(t *testing.T, e *wire.Engine, thread, said string) store.Event {
	t.Helper()
	who := evoke.Who{User: "ada", Thread: thread}
	res, err := e.Ingest(t.Context(), evoke.IngestRequest{Who: who, Messages: []message.Message{
		{Role: message.User, Content: said}, {Role: message.Assistant, Content: "I see."},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Flush(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	ev, err := e.Event(t.Context(), res.EventID, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// A spent budget is a hard stop: the rules take the model's place, for good, and the model is back when the limit is
// raised, without a restart. What an earlier process took counts.
func TestBudgetOfADay(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Knowing(
		llmtest.Statement{Quote: "old maps are my weakness", Content: "The user collects old maps"},
		llmtest.Statement{Quote: "sea charts", Content: "The user collects sea charts"},
	))
	dir := t.TempDir()
	yaml := func(calls int) string {
		return fmt.Sprintf("{ tenant: acme, store: { path: %s }, tenants: { acme: { llm: { model: m, url: '%s', calls_per_day: %d, price_in: 2, price_out: 10 } } } }", dir, srv.URL, calls)
	}
	e := open(t, yaml(1), &wire.Options{NoModel: true})
	if ev := say(t, e, "one", "Well, old maps are my weakness."); ev.State != store.EventStored || ev.Extractor != "llm/2/m" {
		t.Fatalf("%+v", ev)
	}
	if ev := say(t, e, "two", "I like green tea."); ev.State != store.EventStored || !strings.HasPrefix(ev.Extractor, "rules/") || srv.Calls() != 1 {
		t.Errorf("%d calls, %+v", srv.Calls(), ev)
	}
	b, err := e.Budget(t.Context(), "acme")
	if err != nil || b.Calls != 1 || b.Tokens != llmtest.PromptTokens+llmtest.CompletionTokens || b.CallsPerDay != 1 || !b.Spent || b.PriceOut != 10 || b.Day == "" {
		t.Errorf("%+v, %v", b, err)
	}
	if got := e.Cost("acme", extract.Usage{PromptTokens: 1_000_000, CompletionTokens: 100_000}); got != 3 {
		t.Errorf("cost %v", got)
	}
	if got := e.Cost("other", extract.Usage{PromptTokens: 1_000_000}); got != 0 {
		t.Errorf("cost %v", got)
	}
	change(t, e, yaml(2))
	if ev := say(t, e, "three", "And sea charts, I collect them."); ev.Extractor != "llm/2/m" || srv.Calls() != 2 {
		t.Errorf("%d calls, %+v", srv.Calls(), ev)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, yaml(2), &wire.Options{NoModel: true})
	if b, err := e.Budget(t.Context(), "acme"); err != nil || b.Calls != 2 || !b.Spent {
		t.Errorf("after a restart: %+v, %v", b, err)
	}
	if ev := say(t, e, "four", "I like black tea."); !strings.HasPrefix(ev.Extractor, "rules/") || srv.Calls() != 2 {
		t.Errorf("after a restart: %d calls, %+v", srv.Calls(), ev)
	}
	if b, err := e.Budget(t.Context(), "other"); err != nil || b.Calls != 0 || b.CallsPerDay != 0 || b.Spent {
		t.Errorf("another tenant: %+v, %v", b, err)
	}
}

// Without interim rules a conversation waits for the model's next day.
func TestNoInterimRules(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Knowing())
	e := open(t, fmt.Sprintf("{ store: { path: %s }, llm: { model: m, url: '%s', calls_per_day: 1, interim_rules: false } }", t.TempDir(), srv.URL), &wire.Options{NoModel: true})
	if ev := say(t, e, "first", "Hello there, I say."); ev.State != store.EventNothing || srv.Calls() != 1 {
		t.Errorf("%+v", ev)
	}
	res, err := e.Ingest(t.Context(), evoke.IngestRequest{Who: evoke.Who{User: "ada", Thread: "one"}, Messages: []message.Message{
		{Role: message.User, Content: "I like green tea."}, {Role: message.Assistant, Content: "I see."},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Flush(t.Context(), evoke.Who{User: "ada"}); !errors.Is(err, store.ErrBudget) {
		t.Errorf("flushed what waits for the next day: %v", err)
	}
	if ev, err := e.Event(t.Context(), res.EventID, 0); err != nil || ev.State != store.EventPending || srv.Calls() != 1 {
		t.Errorf("%d calls, %+v, %v", srv.Calls(), ev, err)
	}
}

// Prompts of a tenant's own are used and named in the provenance.
func TestPromptsOfATenant(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Knowing(llmtest.Statement{Quote: "old maps", Content: "The user collects old maps"}))
	dir := t.TempDir()
	const text = "Read <conversation> and answer {\"operations\":[]}, as acme wants it."
	if err := os.WriteFile(filepath.Join(dir, "en.acme-7.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e := open(t, fmt.Sprintf("{ tenant: acme, store: { path: %s }, tenants: { acme: { llm: { model: m, url: '%s', prompts: %s } } } }", t.TempDir(), srv.URL, dir), &wire.Options{NoModel: true})
	if ev := say(t, e, "one", "I collect old maps."); ev.Extractor != "llm/acme-7+2/m" {
		t.Errorf("%+v", ev)
	}
	if got := srv.Requests()[0].Messages[0].Content; got != text {
		t.Errorf("%q", got)
	}
}

// What the settings say of memory holds for what comes next, without a restart.
func TestMemorySettingsWhileRunning(t *testing.T) {
	yaml := func(own string) string {
		return "{ tenant: acme, store: { path: " + t.TempDir() + " }, tenants: { acme: { memory: { " + own + " } } } }"
	}
	e := open(t, yaml("tool_summaries: true, task_hours: 2, category_caps: { preference: 1 }"), &wire.Options{NoModel: true})
	for i, said := range []string{"I like green tea.", "I love black coffee."} {
		say(t, e, fmt.Sprint(i), said)
	}
	page, err := e.List(t.Context(), evoke.ListRequest{Who: evoke.Who{User: "ada"}, Filter: store.Filter{Categories: []store.Category{store.Preference}}})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("a cap of one preference: %+v, %v", page.Items, err)
	}
	change(t, e, yaml("category_caps: { preference: 3 }"))
	for i, said := range []string{"I like red wine.", "I love white rice."} {
		say(t, e, fmt.Sprint("later", i), said)
	}
	page, err = e.List(t.Context(), evoke.ListRequest{Who: evoke.Who{User: "ada"}, Filter: store.Filter{Categories: []store.Category{store.Preference}}})
	if err != nil || len(page.Items) != 3 {
		t.Errorf("a cap of three: %+v, %v", page.Items, err)
	}
}
