package benchmarks

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"evoke"
	"evoke/recall"
)

// BackendsReport compares two item stores under the same engine, set by set.
type BackendsReport struct {
	Machine Machine
	A, B    string // names of the stores
	Sets    []*BackendsSet
}

// BackendsSet says how far two stores rank alike on one set.
type BackendsSet struct {
	Name       string               `json:"name"`
	N          int                  `json:"n"`
	SameOrder  float64              `json:"same_top10_order"` // share of questions with the same ten in the same order
	SameItems  float64              `json:"same_top10_items"` // … the same ten in any order
	ScoreDiff  float64              `json:"largest_score_difference"`
	MeanA      map[Metric]float64   `json:"a"`
	MeanB      map[Metric]float64   `json:"b"`
	Latency    map[string]Quantiles `json:"latency_ms"`
	Embedder   string               `json:"embedder"`
	firstOther string
}

// CompareBackends imports a set into both engines and asks both every scored question.
func CompareBackends(ctx context.Context, a, b Engine, clock *Clock, s *Set, progress func(string)) (*BackendsSet, error) {
	if progress == nil {
		progress = func(string) {}
	}
	for i, e := range []Engine{a, b} {
		for j := range s.Namespaces {
			if _, err := importNamespace(ctx, e, clock, s.Name, &s.Namespaces[j]); err != nil {
				return nil, err
			}
		}
		if err := e.Settle(ctx); err != nil {
			return nil, fmt.Errorf("vectors of %s: %w", s.Name, err)
		}
		progress(fmt.Sprintf("%s: store %d of 2 is filled", s.Name, i+1))
	}
	r := &BackendsSet{Name: s.Name, MeanA: map[Metric]float64{}, MeanB: map[Metric]float64{}}
	var msA, msB []float64
	for i := range s.Namespaces {
		n := &s.Namespaces[i]
		session := n.sessions()
		err := n.scored(clock, func(q Question, l Label) error {
			hitsA, ms, err := r.ask(ctx, a, s.Name, n, q)
			if err != nil {
				return err
			}
			msA = append(msA, ms)
			hitsB, ms, err := r.ask(ctx, b, s.Name, n, q)
			if err != nil {
				return err
			}
			msB = append(msB, ms)
			r.add(hitsA, hitsB, l, session)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	n := float64(max(r.N, 1))
	r.SameOrder, r.SameItems = r.SameOrder/n, r.SameItems/n
	for _, m := range Metrics() {
		r.MeanA[m], r.MeanB[m] = r.MeanA[m]/n, r.MeanB[m]/n
	}
	r.Latency = map[string]Quantiles{"a": quantiles(msA), "b": quantiles(msB)}
	return r, nil
}

func (r *BackendsSet) ask(ctx context.Context, e Engine, set string, n *Namespace, q Question) ([]recall.Hit, float64, error) {
	zero := 0.0
	began := time.Now()
	res, err := e.Recall(ctx, evoke.RecallRequest{Who: who(set, n), Request: recall.Request{Query: q.Text, Limit: depth, MinScore: &zero}})
	if err != nil {
		return nil, 0, fmt.Errorf("ask: %w", err)
	}
	if len(res.Degraded) > 0 {
		return nil, 0, fmt.Errorf("ask: a degraded answer: %v", res.Degraded)
	}
	r.Embedder = res.Embedder
	return res.Hits, float64(time.Since(began).Microseconds()) / 1000, nil
}

func (r *BackendsSet) add(a, b []recall.Hit, l Label, session map[string]string) {
	ids := func(hits []recall.Hit) []string {
		out := make([]string, len(hits))
		for i, h := range hits {
			out[i] = h.Item.ID
		}
		return out
	}
	x, y := ids(a), ids(b)
	for m, v := range Score(x, l.Relevant, session) {
		r.MeanA[m] += v
	}
	for m, v := range Score(y, l.Relevant, session) {
		r.MeanB[m] += v
	}
	for i := range min(len(a), len(b)) {
		d := a[i].Score - b[i].Score
		r.ScoreDiff = max(r.ScoreDiff, d, -d)
	}
	r.N++
	x, y = x[:min(10, len(x))], y[:min(10, len(y))]
	if slices.Equal(x, y) {
		r.SameOrder++
	}
	slices.Sort(x)
	slices.Sort(y)
	if slices.Equal(x, y) {
		r.SameItems++
	} else if r.firstOther == "" {
		r.firstOther = l.ID
	}
}

// WriteMarkdown writes the table for people.
func (r *BackendsReport) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Machine.markdown())
	fmt.Fprintf(&b, "\nThe same engine and vectors over %s (A) and %s (B), limit %d.\n\n", r.A, r.B, depth)
	b.WriteString("| set | n | same top 10 | in the same order | R@10 A | R@10 B | largest score difference | p50 / p95 ms A | p50 / p95 ms B |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Sets {
		fmt.Fprintf(&b, "| %s | %d | %.1f %% | %.1f %% | %.2f | %.2f | %.1g | %.1f / %.1f | %.1f / %.1f |\n", s.Name, s.N, 100*s.SameItems, 100*s.SameOrder,
			100*s.MeanA[Recall10], 100*s.MeanB[Recall10], s.ScoreDiff, s.Latency["a"].P50, s.Latency["a"].P95, s.Latency["b"].P50, s.Latency["b"].P95)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the report as JSON.
func (r *BackendsReport) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		Machine Machine        `json:"machine"`
		A       string         `json:"a"`
		B       string         `json:"b"`
		Sets    []*BackendsSet `json:"sets"`
	}{r.Machine, r.A, r.B, r.Sets})
}
