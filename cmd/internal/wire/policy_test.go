package wire_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"evoke"
	"evoke/cmd/internal/wire"
	"evoke/extract/llm/llmtest"
	"evoke/extract/message"
	"evoke/store"
)

// A budget that a tenant gives itself stops its model as one of the settings does, at once; it cannot be more than theirs.
func TestBudgetOfAPolicy(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Knowing(
		llmtest.Statement{Quote: "old maps are my weakness", Content: "The user collects old maps"},
		llmtest.Statement{Quote: "sea charts", Content: "The user collects sea charts"},
		llmtest.Statement{Quote: "star globes", Content: "The user collects star globes"},
	))
	yaml := fmt.Sprintf("{ tenant: acme, store: { path: %s }, tenants: { acme: { llm: { model: m, url: '%s', calls_per_day: 2 } } } }", t.TempDir(), srv.URL)
	e := open(t, yaml, &wire.Options{NoModel: true})
	limit := func(version, calls int64) evoke.PolicyResult {
		t.Helper()
		p, err := e.SetPolicy(t.Context(), evoke.SetPolicyRequest{Version: version, Policy: evoke.TenantPolicy{Budget: &evoke.BudgetPolicy{CallsPerDay: &calls}}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := limit(0, 1); *p.Effective.Budget.CallsPerDay != 1 || p.From["budget.calls_per_day"] != evoke.FromPolicy {
		t.Errorf("%+v", p)
	}
	if ev := say(t, e, "one", "Well, old maps are my weakness."); ev.Extractor != "llm/2/m" {
		t.Fatalf("%+v", ev)
	}
	if ev := say(t, e, "two", "I like green tea."); !strings.HasPrefix(ev.Extractor, "rules/") || srv.Calls() != 1 {
		t.Errorf("beyond its own limit: %d calls, %+v", srv.Calls(), ev)
	}
	if b, err := e.Budget(t.Context(), "acme"); err != nil || !b.Spent {
		t.Errorf("%+v, %v", b, err)
	}
	if p := limit(1, 100); *p.Effective.Budget.CallsPerDay != 2 || p.From["budget.calls_per_day"] != evoke.FromSettings {
		t.Errorf("more than the settings give: %+v", p)
	}
	if ev := say(t, e, "three", "And sea charts, I collect them."); ev.Extractor != "llm/2/m" || ev.State != store.EventStored {
		t.Errorf("within the settings' limit: %+v", ev)
	}
	if ev := say(t, e, "four", "And star globes, too."); srv.Calls() != 2 {
		t.Errorf("beyond the settings' limit: %d calls, %+v", srv.Calls(), ev)
	}
}

// What waits for a model that asked for an hour is extracted at once when the settings name another address, or a budget of
// today grows, without a restart.
func TestAnotherModelIsAskedAtOnce(t *testing.T) {
	busy := llmtest.Start(t, func(w http.ResponseWriter, r *llmtest.Request) {
		w.Header().Set("Retry-After", "3600")
		llmtest.Fail(w, r, http.StatusTooManyRequests, nil)
	})
	free := llmtest.Start(t, llmtest.Knowing(
		llmtest.Statement{Quote: "old maps are my weakness", Content: "The user collects old maps"},
		llmtest.Statement{Quote: "sea charts", Content: "The user collects sea charts"},
	))
	dir := t.TempDir()
	yaml := func(url string, calls int) string {
		return fmt.Sprintf("{ tenant: acme, store: { path: %s }, tenants: { acme: { llm: { model: m, url: '%s', interim_rules: false, calls_per_day: %d } } } }", dir, url, calls)
	}
	e := open(t, yaml(busy.URL, 2), &wire.Options{NoModel: true})
	waits := func(thread, text string) string {
		t.Helper()
		who := evoke.Who{User: "ada", Thread: thread}
		res, err := e.Ingest(t.Context(), evoke.IngestRequest{Who: who, Messages: []message.Message{{Role: message.User, Content: text}, {Role: message.Assistant, Content: "ok"}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, _ = e.Flush(ctx, who)
		if ev, err := e.Event(t.Context(), res.EventID, 0); err != nil || ev.State != store.EventPending {
			t.Fatalf("%+v, %v", ev, err)
		}
		return res.EventID
	}
	ends := func(event string) {
		t.Helper()
		if ev, err := e.Event(t.Context(), event, 30*time.Second); err != nil || ev.State != store.EventStored || ev.Extractor != "llm/2/m" {
			t.Fatalf("%+v, %v", ev, err)
		}
	}
	first := waits("one", "Well, old maps are my weakness.")
	change(t, e, yaml(free.URL, 2))
	ends(first)
	second := waits("two", "And sea charts, I collect them.") // the calls of the day are taken
	change(t, e, yaml(free.URL, 9))
	ends(second)
}
