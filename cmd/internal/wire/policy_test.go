package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"evoke"
	"evoke/cmd/internal/wire"
	"evoke/extract/llm/llmtest"
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
