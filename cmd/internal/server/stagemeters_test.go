package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/extract"
	"evoke/store"
)

// shown are the lines of /metrics about our own things, without comments.
func shown(t *testing.T, w *world) []string {
	t.Helper()
	var lines []string
	for _, l := range strings.Split(w.want(200, w.call("GET", "/metrics", "")).body, "\n") {
		if strings.HasPrefix(l, "evoke_") {
			lines = append(lines, l)
		}
	}
	return lines
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	for _, line := range want {
		if !slices.Contains(got, line) {
			name, _, _ := strings.Cut(line, "{")
			var like []string
			for _, l := range got {
				if strings.HasPrefix(l, name) && !strings.Contains(l, "_bucket") {
					like = append(like, l)
				}
			}
			t.Errorf("no line %s; there is:\n%s", line, strings.Join(like, "\n"))
		}
	}
}

func TestStagesAreCounted(t *testing.T) {
	w := newWorld(t, "")
	m := w.s.meters
	m.Price(func(tenant string, u extract.Usage) float64 {
		if tenant == "acme" {
			return float64(2*u.PromptTokens+10*u.CompletionTokens) / 1e6
		}
		return 0
	})
	stage := m.Events().Stage
	stage(extract.Stage{Stage: extract.StageClaim})
	stage(extract.Stage{Stage: extract.StageClaim, Attempts: 3, Took: time.Millisecond})
	stage(extract.Stage{Stage: extract.StageExtract, Tenant: "acme", Operations: map[string]int{"add:semantic": 9}, Rejected: map[string]int{"ungrounded": 4},
		Usage: extract.Usage{Calls: 2, PromptTokens: 1_000_000, CompletionTokens: 500_000}})
	stage(extract.Stage{Stage: extract.StageExtract, Tenant: "acme", Err: "unavailable", Usage: extract.Usage{Calls: 1}})
	stage(extract.Stage{Stage: extract.StageExtract, Tenant: "beta", Usage: extract.Usage{Calls: 1, PromptTokens: 7}})
	stage(extract.Stage{Stage: extract.StageRetry, Tenant: "acme", Err: "unavailable"})
	stage(extract.Stage{Stage: extract.StageReconcile, Tenant: "acme", Operations: map[string]int{"add:semantic": 2, "retract:semantic": 1}, Rejected: map[string]int{"confidence": 1}})
	stage(extract.Stage{Stage: extract.StageStore, Tenant: "acme", State: store.EventStored})
	stage(extract.Stage{Stage: extract.StageStore, Tenant: "acme", Err: "conflict"})
	stage(extract.Stage{Stage: extract.StageDead, Tenant: "acme", Err: "unreadable"})
	wantLines(t, shown(t, w),
		`evoke_stage_seconds_count{stage="claim"} 1`, `evoke_stage_seconds_count{stage="extract"} 3`, `evoke_stage_seconds_count{stage="store"} 2`,
		`evoke_stage_errors_total{error="unavailable",stage="extract"} 1`, `evoke_stage_errors_total{error="conflict",stage="store"} 1`,
		`evoke_extraction_attempts_total{end="done"} 1`, `evoke_extraction_attempts_total{end="retry"} 1`, `evoke_extraction_attempts_total{end="dead"} 1`,
		`evoke_operations_total{action="add",kind="semantic"} 2`, `evoke_operations_total{action="retract",kind="semantic"} 1`, `evoke_operations_rejected_total{reason="ungrounded"} 4`,
		`evoke_operations_rejected_total{reason="confidence"} 1`,
		`evoke_llm_calls_total{tenant="acme"} 3`, `evoke_llm_calls_total{tenant="beta"} 1`,
		`evoke_llm_tokens_total{direction="prompt",tenant="acme"} 1e+06`, `evoke_llm_tokens_total{direction="completion",tenant="acme"} 500000`,
		`evoke_llm_tokens_total{direction="prompt",tenant="beta"} 7`, `evoke_llm_cost_total{tenant="acme"} 7`,
	)
}

// Whoever can make tenants or reasons up cannot make series without end.
func TestSeriesAreBounded(t *testing.T) {
	w := newWorld(t, "")
	stage := w.s.meters.Events().Stage
	for i := range 3 * mostTenants {
		name := fmt.Sprint("n", i)
		stage(extract.Stage{Stage: extract.StageExtract, Tenant: name, Rejected: map[string]int{name: 1}, Err: name, Usage: extract.Usage{Calls: 1}})
	}
	got := shown(t, w)
	wantLines(t, got, fmt.Sprintf(`evoke_llm_calls_total{tenant="other"} %d`, 2*mostTenants), `evoke_llm_calls_total{tenant="n0"} 1`,
		fmt.Sprintf(`evoke_operations_rejected_total{reason="other"} %d`, 3*mostTenants-mostReasons))
	for prefix, most := range map[string]int{"evoke_llm_calls_total": mostTenants, "evoke_operations_rejected_total": mostReasons, "evoke_stage_errors_total": mostReasons} {
		n := 0
		for _, l := range got {
			if strings.HasPrefix(l, prefix+"{") {
				n++
			}
		}
		if n != most+1 {
			t.Errorf("%d series of %s, want %d", n, prefix, most+1)
		}
	}
}

func TestQueueIsShown(t *testing.T) {
	w := newWorld(t, "")
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	st, failed := store.QueueStats{Waiting: 5, Due: 2, Leased: 1, Oldest: now.Add(-90 * time.Second)}, error(nil)
	w.s.meters.WatchQueue(func(context.Context) (store.QueueStats, error) { return st, failed }, func() time.Time { return now })
	wantLines(t, shown(t, w), `evoke_queue_threads{state="waiting"} 5`, `evoke_queue_threads{state="due"} 2`, `evoke_queue_threads{state="leased"} 1`, `evoke_queue_age_seconds 90`, `evoke_queue_errors_total 0`)
	st = store.QueueStats{}
	wantLines(t, shown(t, w), `evoke_queue_threads{state="due"} 0`, `evoke_queue_age_seconds 0`)
	failed = errors.New("no")
	w.call("GET", "/metrics", "")
	if got := shown(t, w); slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, "evoke_queue_age") }) {
		t.Error("a queue that cannot be read is shown")
	}
}

func TestStagesOfTheReadPathAreTimed(t *testing.T) {
	w := newWorld(t, "")
	var ended []string
	span := w.s.meters.Timed(func(ctx context.Context, stage string) (context.Context, func(error)) {
		return ctx, func(error) { ended = append(ended, stage) }
	})
	for _, stage := range []string{"ingest", "recall", "recall", "extract"} {
		_, end := span(t.Context(), stage)
		end(nil)
	}
	_, end := w.s.meters.Timed(nil)(t.Context(), "embed")
	end(errors.New("x"))
	got := shown(t, w)
	wantLines(t, got, `evoke_stage_seconds_count{stage="ingest"} 1`, `evoke_stage_seconds_count{stage="recall"} 2`, `evoke_stage_seconds_count{stage="embed"} 1`)
	if len(ended) != 4 || slices.Contains(got, `evoke_stage_seconds_count{stage="extract"} 1`) {
		t.Errorf("%v; a step of an extraction is timed twice", ended)
	}
}
