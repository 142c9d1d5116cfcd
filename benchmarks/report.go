package benchmarks

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// QualityReport is a whole quality run.
type QualityReport struct {
	Machine Machine
	Sets    []*SetResult
	Apart   map[string]*SetResult // of a merged set, by its name: the set whose questions it asks, with its memories apart
}

// jsonSystem is a system's part of the JSON report: the means by metric name, then the rest.
func (s *SystemResult) json() map[string]any {
	out := map[string]any{"n": s.N}
	ci := map[string][2]float64{}
	for m, v := range s.Mean {
		out[string(m)] = v
		ci[string(m)] = [2]float64{s.Interval[m].Low, s.Interval[m].High}
	}
	out["ci95"] = ci
	if s.LatencyMS.P50 > 0 {
		out["latency_ms"] = s.LatencyMS
	}
	if s.Versus != nil {
		v := map[string][2]float64{}
		for m, i := range s.Versus {
			v[string(m)] = [2]float64{i.Low, i.High}
		}
		out["default_minus_this_ci95"] = v
	}
	if len(s.Strict) > 0 {
		out["tokens_top5"] = s.Tokens
		strict := map[string]float64{}
		for m, v := range s.Strict {
			strict[string(m)] = v
		}
		out["at_default_min_score"] = strict
	}
	return out
}

// WriteJSON writes {"machine": …, "sets": {"<set>": {"n", "embedder", "systems": {"<system>": {"recall@5", …}}}}},
// values 0 to 1.
func (q *QualityReport) WriteJSON(w io.Writer) error {
	type set struct {
		N          int                       `json:"n"`
		Refused    int                       `json:"refused_items"`
		Embedder   string                    `json:"embedder"`
		Systems    map[string]map[string]any `json:"systems"`
		Categories map[string]map[string]any `json:"categories"`
		Updates    map[string]*Updates       `json:"newer_above_older,omitempty"`
		Abstention map[string]*Abstention    `json:"abstention,omitempty"`
	}
	sets := map[string]set{}
	for _, s := range q.Sets {
		out := set{N: s.N, Refused: s.Refused, Embedder: s.Embedder, Systems: map[string]map[string]any{}, Categories: map[string]map[string]any{}, Updates: s.Updates, Abstention: s.Abstention}
		for name, r := range s.Systems {
			out.Systems[name] = r.json()
		}
		for name, r := range s.Categories {
			c := r.json()
			delete(c, "at_default_min_score")
			out.Categories[name] = c
		}
		sets[s.Name] = out
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Machine Machine        `json:"machine"`
		Sets    map[string]set `json:"sets"`
	}{q.Machine, sets})
}

// WriteMarkdown writes the tables for people.
func (q *QualityReport) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(q.Machine.markdown())
	for _, s := range q.Sets {
		s.markdown(&b)
		if apart := q.Apart[s.Name]; apart != nil {
			merged(&b, apart, s)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (m Machine) markdown() string {
	s := fmt.Sprintf("Machine: %s, %d cores used, %s, %s. Commit %s, %s.", m.CPU, m.Cores, m.OS, m.Go, m.Commit, m.Date)
	if m.Load != "" {
		s += " Load at the start: " + m.Load + "."
	}
	return s + "\n"
}

func (r *SetResult) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\nn = %d questions; vectors: %s; import and vectors took %.0f s. Percent, with 95 %% bootstrap intervals of the mean.\n\n", r.Name, r.N, r.Embedder, r.Took.Seconds())
	if r.Refused > 0 {
		fmt.Fprintf(b, "%d items were refused on import (blank, say) and count as not found.\n\n", r.Refused)
	}
	header(b, "system", Metrics())
	for _, name := range Systems() {
		s := r.Systems[name]
		if s == nil {
			continue
		}
		row(b, name, Metrics(), func(m Metric) string {
			return fmt.Sprintf("%.1f [%.1f, %.1f]", 100*s.Mean[m], 100*s.Interval[m].Low, 100*s.Interval[m].High)
		})
	}
	d := r.Systems[Default]
	if d == nil {
		return
	}
	b.WriteString("\nDefault minus each, paired by question, 95 % interval; bold where it leaves out 0.\n\n")
	three := []Metric{Recall5, Recall10, NDCG10}
	header(b, "against", three)
	for _, name := range Systems()[1:] {
		s := r.Systems[name]
		if s == nil {
			continue
		}
		row(b, name, three, func(m Metric) string {
			v := s.Versus[m]
			t := fmt.Sprintf("%+.1f (%+.1f, %+.1f)", 100*(d.Mean[m]-s.Mean[m]), 100*v.Low, 100*v.High)
			if v.Low > 0 || v.High < 0 {
				t = "**" + t + "**"
			}
			return t
		})
	}
	fmt.Fprintf(b, "\nDefault: latency p50 %.1f / p95 %.1f / p99 %.1f ms with the query's embedding (classic p50 %.1f); %.0f tokens in the first five answers; at the default min_score R@5 %.1f, R@10 %.1f.\n\n",
		d.LatencyMS.P50, d.LatencyMS.P95, d.LatencyMS.P99, r.Systems[Classic].LatencyMS.P50, d.Tokens, 100*d.Strict[Recall5], 100*d.Strict[Recall10])
	fmt.Fprintf(b, "| category (default) | n | %s | %s | %s | %s |\n|---|---|---|---|---|---|\n", Recall5, Recall10, NDCG10, AllEvidence10)
	for _, name := range slices.Sorted(maps.Keys(r.Categories)) {
		c := r.Categories[name]
		fmt.Fprintf(b, "| %s | %d | %.1f | %.1f | %.1f | %.1f |\n", name, c.N, 100*c.Mean[Recall5], 100*c.Mean[Recall10], 100*c.Mean[NDCG10], 100*c.Mean[AllEvidence10])
	}
	r.signals(b)
}

// signals writes what else the answers tell.
func (r *SetResult) signals(b *strings.Builder) {
	for _, name := range []string{Default, Classic} {
		if u := r.Updates[name]; u != nil {
			fmt.Fprintf(b, "\nUpdates, %s: the newer statement stands above the older in %.0f %% [%.0f, %.0f], n = %d.\n", name, 100*u.Share, 100*u.Interval.Low, 100*u.Interval.High, u.N)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(r.Abstention)) {
		a := r.Abstention[c]
		fmt.Fprintf(b, "\nConfidence, %d answerable against %d %s questions: AUROC %.2f [%.2f, %.2f]; under 0.3 are %.0f %% of the first and %.0f %% of the second.\n",
			a.Answerable, a.Unanswerable, c, a.AUROC, a.Interval.Low, a.Interval.High, 100*a.AnswerableUnder03, 100*a.UnanswerableUnder03)
	}
}

// merged writes what is lost when the memories of several sets are one.
func merged(b *strings.Builder, apart, all *SetResult) {
	means, intervals, ok := Lost(apart, all)
	if !ok {
		return
	}
	fmt.Fprintf(b, "\nAgainst the same questions with each memory apart, lost (paired, 95 %% interval):")
	for _, m := range []Metric{Recall5, Recall10, NDCG10} {
		fmt.Fprintf(b, " %s %.1f (%+.1f, %+.1f);", m, 100*means[m], 100*intervals[m].Low, 100*intervals[m].High)
	}
	b.WriteByte('\n')
}

func header(b *strings.Builder, first string, ms []Metric) {
	fmt.Fprintf(b, "| %s |", first)
	for _, m := range ms {
		fmt.Fprintf(b, " %s |", m)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(ms)) + "\n")
}

func row(b *strings.Builder, first string, ms []Metric, cell func(Metric) string) {
	fmt.Fprintf(b, "| %s |", first)
	for _, m := range ms {
		fmt.Fprintf(b, " %s |", cell(m))
	}
	b.WriteByte('\n')
}
