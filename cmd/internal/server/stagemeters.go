package server

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"evoke/extract"
)

// stageMeters count what the steps of extractions took and came to.
type stageMeters struct {
	seconds          *prometheus.HistogramVec // by stage
	errors           *prometheus.CounterVec   // by stage and class
	attempts         *prometheus.CounterVec   // by how they ended
	operations       *prometheus.CounterVec   // by action and kind
	rejected         *prometheus.CounterVec   // by reason
	calls, cost      *prometheus.CounterVec   // by tenant
	tokens           *prometheus.CounterVec   // by tenant and direction
	tenants, reasons *names
	price            atomic.Pointer[func(tenant string, u extract.Usage) float64]
}

// other stands for the names that have no series of their own.
const other = "other"

// names bound how many values a label takes: those that come first have a series each, the rest share one.
type names struct {
	most int
	mu   sync.Mutex
	seen map[string]bool
}

func newNames(most int) *names { return &names{most: most, seen: map[string]bool{}} }

func (n *names) label(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case name == "" || n.seen[name]:
	case len(n.seen) >= n.most:
		return other
	default:
		n.seen[name] = true
	}
	return name
}

// How many tenants, and how many reasons, have series of their own.
const (
	mostTenants = 100
	mostReasons = 64
)

func newStageMeters(counters func(name, help string, labels ...string) *prometheus.CounterVec) *stageMeters {
	return &stageMeters{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "evoke", Name: "stage_seconds", Help: "Time of a stage of the write or the read path.", Buckets: buckets}, []string{"stage"}),
		errors:     counters("stage_errors_total", "Stages that failed, by class of the error.", "stage", "error"),
		attempts:   counters("extraction_attempts_total", "Attempts to distil a batch of a conversation: done, to be tried again, given up.", "end"),
		operations: counters("operations_total", "Operations that extractors proposed and that were brought together with what is stored.", "action", "kind"),
		rejected:   counters("operations_rejected_total", "Operations that were refused, by their extractor or against what is stored, by reason.", "reason"),
		calls:      counters("llm_calls_total", "Requests to language models, failed ones included.", "tenant"),
		tokens:     counters("llm_tokens_total", "Tokens of language models, as the services count them.", "tenant", "direction"),
		cost:       counters("llm_cost_total", "What the tokens cost at the prices of the settings.", "tenant"),
		tenants:    newNames(mostTenants), reasons: newNames(mostReasons),
	}
}

func (m *stageMeters) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.seconds, m.errors, m.attempts, m.operations, m.rejected, m.calls, m.tokens, m.cost}
}

// The ends of an attempt.
const (
	endDone  = "done"
	endRetry = "retry"
	endDead  = "dead"
)

// stage counts one step.
func (m *stageMeters) stage(s extract.Stage) {
	if s.Stage != extract.StageClaim || s.Attempts > 0 { // looks at a queue in which nothing is due would drown the rest
		m.seconds.WithLabelValues(s.Stage).Observe(s.Took.Seconds())
	}
	switch s.Stage {
	case extract.StageStore:
		if s.Err == "" {
			m.attempts.WithLabelValues(endDone).Inc()
		}
	case extract.StageRetry:
		m.attempts.WithLabelValues(endRetry).Inc()
	case extract.StageDead:
		m.attempts.WithLabelValues(endDead).Inc()
	}
	if s.Err != "" && s.Stage != extract.StageRetry && s.Stage != extract.StageDead { // those two repeat what the stage before said
		m.errors.WithLabelValues(s.Stage, m.reasons.label(s.Err)).Inc()
	}
	if s.Stage == extract.StageReconcile { // the stage before tells of them, too, once for each attempt
		m.count(s.Operations)
	}
	for reason, n := range s.Rejected {
		m.rejected.WithLabelValues(m.reasons.label(reason)).Add(float64(n))
	}
	m.usage(s.Tenant, s.Usage)
}

func (m *stageMeters) count(operations map[string]int) {
	for op, n := range operations {
		action, kind, _ := strings.Cut(op, ":")
		m.operations.WithLabelValues(action, kind).Add(float64(n))
	}
}

func (m *stageMeters) usage(tenant string, u extract.Usage) {
	if u == (extract.Usage{}) {
		return
	}
	label := m.tenants.label(tenant)
	m.calls.WithLabelValues(label).Add(float64(u.Calls))
	m.tokens.WithLabelValues(label, "prompt").Add(float64(u.PromptTokens))
	m.tokens.WithLabelValues(label, "completion").Add(float64(u.CompletionTokens))
	if price := m.price.Load(); price != nil {
		if cost := (*price)(tenant, u); cost > 0 {
			m.cost.WithLabelValues(label).Add(cost)
		}
	}
}

// Price sets what tells the cost of an extraction; it is asked anew for every one.
func (m *Meters) Price(of func(tenant string, u extract.Usage) float64) { m.stages.price.Store(&of) }

// Timed adds the times of the stages that span traces to the metrics: ingest, recall, context and embed. The steps of
// extractions have theirs from Events.Stage.
func (m *Meters) Timed(span func(ctx context.Context, stage string) (context.Context, func(error))) func(ctx context.Context, stage string) (context.Context, func(error)) {
	return func(ctx context.Context, stage string) (context.Context, func(error)) {
		end := func(error) {}
		if span != nil {
			ctx, end = span(ctx, stage)
		}
		if !timed[stage] {
			return ctx, end
		}
		began := time.Now()
		return ctx, func(err error) {
			m.stages.seconds.WithLabelValues(stage).Observe(time.Since(began).Seconds())
			end(err)
		}
	}
}

var timed = map[string]bool{"ingest": true, "recall": true, "context": true, "embed": true}
