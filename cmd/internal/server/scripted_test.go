package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke"
	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/recall"
	"evoke/store"
)

// After a run of which every step is known, /metrics says exactly that and nothing more.
func TestMetricsAreTheTruth(t *testing.T) {
	script := map[string]llmtest.Reply{
		"two":     llmtest.Always(llmtest.Answer(llmtest.Fact("t1", "I like tea", "The user likes tea"), llmtest.Fact("t1", "I like jam", "The user likes jam"))),
		"made up": llmtest.Always(llmtest.Answer(llmtest.Fact("t1", "I like jazz", "The user likes jazz"), llmtest.Fact("t1", "I own a yacht", "The user owns a yacht"), llmtest.Fact("t7", "x", "y"))),
		"nothing": llmtest.Always(llmtest.Answer()),
		"garbage": llmtest.Always("I would rather not."),
		"lies":    llmtest.Always(llmtest.Answer(llmtest.Fact("t1", "I am a king", "The user is a king"))),
		"again":   llmtest.Always(llmtest.Answer(llmtest.Fact("t1", "I like tea", "The user likes tea"))),
	}
	var now string
	failures := 0
	l := newLied(t, func(w http.ResponseWriter, r *llmtest.Request) {
		if failures > 0 {
			failures--
			llmtest.Fail(w, r, http.StatusServiceUnavailable, nil)
			return
		}
		script[now](w, r)
	}, func(o *llm.Options) { o.Retries = 1 })
	l.s.meters.WatchQueue(func(ctx context.Context) (store.QueueStats, error) {
		st, err := l.m.QueueStats(ctx)
		return st.QueueStats, err
	}, nil)
	for _, c := range []struct {
		name, said string
		fail       int
		state      store.EventState
	}{
		{"two", "I like tea and I like jam.", 1, store.EventStored}, // the second request is answered
		{"again", "As I said, I like tea.", 0, store.EventStored},
		{"made up", "I like jazz.", 0, store.EventStored},
		{"nothing", "How are you?", 0, store.EventNothing},
		{"garbage", "What do you think?", 0, store.EventDead}, // asked twice
		{"lies", "I am tired.", 2, store.EventQuarantined},    // the first attempt fails
	} {
		now, failures = c.name, c.fail
		event, _ := l.tell("u", c.name, c.said)
		if ev := l.ends("u", event); ev.State != c.state {
			t.Fatalf("%s: %+v", c.name, ev)
		}
	}
	if _, err := l.m.Recall(t.Context(), evoke.RecallRequest{Who: evoke.Who{User: "u"}, Request: recall.Request{Query: "tea"}}); err != nil {
		t.Fatal(err)
	}
	const calls, answered = 2 + 1 + 1 + 1 + 2 + 3, 1 + 1 + 1 + 1 + 2 + 1
	want := []string{
		"evoke_turns_total 12", "evoke_messages_dropped_total 0", "evoke_facts_total 4", "evoke_vectors_total 0",
		`evoke_extractions_total{state="stored"} 3`, `evoke_extractions_total{state="nothing"} 1`, `evoke_extractions_total{state="dead"} 1`, `evoke_extractions_total{state="quarantined"} 1`,
		`evoke_extraction_attempts_total{end="done"} 5`, `evoke_extraction_attempts_total{end="retry"} 1`, `evoke_extraction_attempts_total{end="dead"} 1`,
		`evoke_operations_total{action="add",kind="semantic"} 4`,
		`evoke_operations_rejected_total{reason="ungrounded"} 2`, `evoke_operations_rejected_total{reason="unknown_turn"} 1`,
		`evoke_stage_seconds_count{stage="claim"} 7`, `evoke_stage_seconds_count{stage="extract"} 7`, `evoke_stage_seconds_count{stage="reconcile"} 5`, `evoke_stage_seconds_count{stage="store"} 5`,
		`evoke_stage_seconds_count{stage="retry"} 1`, `evoke_stage_seconds_count{stage="dead"} 1`,
		`evoke_stage_seconds_count{stage="ingest"} 6`, `evoke_stage_seconds_count{stage="recall"} 1`,
		fmt.Sprintf(`evoke_stage_errors_total{error=%q,stage="extract"} 1`, store.ErrUnavailable), `evoke_stage_errors_total{error="the model's answer cannot be read",stage="extract"} 1`,
		fmt.Sprintf(`evoke_llm_calls_total{tenant="default"} %d`, calls),
		fmt.Sprintf(`evoke_llm_tokens_total{direction="prompt",tenant="default"} %d`, answered*llmtest.PromptTokens),
		fmt.Sprintf(`evoke_llm_tokens_total{direction="completion",tenant="default"} %d`, answered*llmtest.CompletionTokens),
		`evoke_queue_threads{state="waiting"} 0`, `evoke_queue_threads{state="due"} 0`, `evoke_queue_threads{state="leased"} 0`, "evoke_queue_age_seconds 0", "evoke_queue_errors_total 0",
		`evoke_recalls_total{degraded="true"} 1`, "evoke_recall_seconds_count 1", // there is no embedder
	}
	var got []string
	for _, line := range shown(t, l.world) {
		if strings.Contains(line, "_bucket{") || strings.Contains(line, "_sum") || strings.HasPrefix(line, "evoke_http_") || strings.HasPrefix(line, "evoke_build_info") {
			continue
		}
		got = append(got, line)
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +shown:\n%s", d)
	}
	if l.service.Calls() != calls {
		t.Errorf("%d calls, want %d", l.service.Calls(), calls)
	}
	l.counted(answered*llmtest.PromptTokens, answered*llmtest.CompletionTokens)
}
