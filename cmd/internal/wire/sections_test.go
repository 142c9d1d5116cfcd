package wire_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/wire"
	"evoke/extract"
	"evoke/extract/llm/llmtest"
	"evoke/extract/redact"
	"evoke/recall"
	"evoke/store"
)

// What the top of the file and the variables say holds for a tenant that has no section of its own, and with one that says
// nothing, in every section that a tenant may have.
func TestTheTopOfTheSettingsHoldsWithoutATenantsSection(t *testing.T) {
	srv := llmtest.Start(t, llmtest.Knowing(llmtest.Statement{Quote: "old maps are my weakness", Content: "The user collects old maps"}))
	for _, c := range []struct {
		section, yaml string
		environ       []string // says the same; nil: there are no variables for it
		check         func(t *testing.T, e *wire.Engine, p *evoke.PolicyResult)
	}{
		{"llm", fmt.Sprintf("llm: { model: m, url: '%s', calls_per_day: 7 }", srv.URL), []string{"EVOKE_LLM_MODEL=m", "EVOKE_LLM_URL=" + srv.URL, "EVOKE_LLM_CALLS_PER_DAY=7"},
			func(t *testing.T, e *wire.Engine, p *evoke.PolicyResult) {
				t.Helper()
				if from := p.From["budget.calls_per_day"]; from != evoke.FromSettings || *p.Effective.Budget.CallsPerDay != 7 {
					t.Errorf("%+v from %s", p.Effective.Budget, from)
				}
				if ev := say(t, e, "one", "Well, old maps are my weakness."); ev.Extractor != "llm/2/m" {
					t.Errorf("%+v", ev)
				}
			}},
		{"memory", "memory: { injection_enabled: false }", []string{"EVOKE_MEMORY_INJECTION_ENABLED=false"},
			func(t *testing.T, e *wire.Engine, _ *evoke.PolicyResult) {
				t.Helper()
				b, err := e.Context(t.Context(), evoke.ContextRequest{Request: recall.Request{Query: "tea"}})
				if err != nil || b.Skipped != "disabled" {
					t.Errorf("%+v, %v", b, err)
				}
			}},
		{"recall", "recall: { limit: 1 }", []string{"EVOKE_RECALL_LIMIT=1"},
			func(t *testing.T, e *wire.Engine, _ *evoke.PolicyResult) {
				t.Helper()
				remember(t, e, "green tea", "black tea")
				r, err := e.Recall(t.Context(), evoke.RecallRequest{Request: recall.Request{Query: "tea"}})
				if err != nil || len(r.Hits) != 1 {
					t.Errorf("%d hits, %v", len(r.Hits), err)
				}
			}},
		{"redaction", "redaction: { mode: mask }", []string{"EVOKE_REDACTION_MODE=mask"},
			func(t *testing.T, e *wire.Engine, p *evoke.PolicyResult) {
				t.Helper()
				if p.From["redaction"] != evoke.FromSettings || p.Effective.Redaction.Mode != redact.Mask {
					t.Errorf("%+v from %s", p.Effective.Redaction, p.From["redaction"])
				}
				remember(t, e, "Ada is ada@example.org")
				l, err := e.List(t.Context(), evoke.ListRequest{Limit: 10})
				if err != nil || len(l.Items) != 1 || l.Items[0].Content != "Ada is [email]" {
					t.Errorf("%+v, %v", l.Items, err)
				}
			}},
		{"retention", "retention: { max_items: 1 }", []string{"EVOKE_RETENTION_MAX_ITEMS=1"},
			func(t *testing.T, e *wire.Engine, p *evoke.PolicyResult) {
				t.Helper()
				if p.From["retention"] != evoke.FromSettings || p.Effective.Retention.MaxItems != 1 {
					t.Errorf("%+v from %s", p.Effective.Retention, p.From["retention"])
				}
				remember(t, e, "green tea", "black tea", "white tea")
				op, err := e.Retain(t.Context(), evoke.RetainRequest{DryRun: true})
				if err == nil {
					op, err = e.WaitOperation(t.Context(), op.ID)
				}
				var s evoke.Swept
				if err != nil || json.Unmarshal(op.Result, &s) != nil || s.Items != 2 {
					t.Errorf("%s, %v", op.Result, err)
				}
			}},
		{"review", "review: { mode: all }", []string{"EVOKE_REVIEW_MODE=all"},
			func(t *testing.T, e *wire.Engine, p *evoke.PolicyResult) {
				t.Helper()
				if p.From["review"] != evoke.FromSettings || p.Effective.Review.Mode != extract.ReviewAll {
					t.Errorf("%+v from %s", p.Effective.Review, p.From["review"])
				}
				if ev := say(t, e, "one", "I like green tea."); ev.State != store.EventQuarantined || ev.Note != "1 waits for review" {
					t.Errorf("%+v", ev)
				}
			}},
		{"policy", "policy: { preset: experts }", nil,
			func(t *testing.T, e *wire.Engine, p *evoke.PolicyResult) {
				t.Helper()
				r, err := e.Remember(t.Context(), evoke.RememberRequest{Who: evoke.Who{Agent: "oracle"}, Content: "x"})
				if err != nil || r.Skipped != "namespace_policy" || p.From["namespace"] != evoke.FromSettings {
					t.Errorf("%+v from %s, %v", r, p.From["namespace"], err)
				}
			}},
	} {
		t.Run(c.section, func(t *testing.T) {
			sources := map[string]*config.Config{
				"file":             settings(t, c.yaml),
				"an empty section": settings(t, c.yaml+"\ntenants: { default: {} }"),
			}
			if c.environ != nil {
				var err error
				if sources["variables"], err = config.Load(config.Options{File: empty(t), Environ: c.environ}); err != nil {
					t.Fatal(err)
				}
			}
			for source, cfg := range sources {
				t.Run(source, func(t *testing.T) {
					cfg.Store.Path = t.TempDir()
					e, err := wire.Open(t.Context(), cfg, &wire.Options{NoModel: true})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() {
						if err := e.Close(); err != nil {
							t.Error(err)
						}
					})
					p, err := e.TenantPolicy(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					c.check(t, e, &p)
				})
			}
		})
	}
}

// empty is a file of settings that says nothing.
func empty(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "evoke.yaml")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func remember(t *testing.T, e *wire.Engine, contents ...string) {
	t.Helper()
	for _, s := range contents {
		if _, err := e.Remember(t.Context(), evoke.RememberRequest{Content: s}); err != nil {
			t.Fatal(err)
		}
	}
}
