package benchmarks

import (
	"slices"
	"strings"

	"evoke/benchmarks/figure"
)

// Figures draws the curve of each set over the token budgets.
func (r *ContextReport) Figures() []figure.Figure {
	f := figure.Figure{
		Name: "context-" + string(r.Shape), Title: "Questions whose whole evidence is in the block, shape " + string(r.Shape),
		X: "budget, tokens", Y: "% of questions, with 95 % intervals", LogX: true, Max: 100,
	}
	for _, c := range r.Curves {
		s := figure.Series{Name: c.Name}
		for _, p := range c.Points {
			s.Points = append(s.Points, figure.Point{X: float64(p.Budget), Y: 100 * p.Whole, Low: 100 * p.CI.Low, High: 100 * p.CI.High})
		}
		f.Series = append(f.Series, s)
	}
	return split(f)
}

// Figures draws the quantiles over the number of items.
func (r *LatencyReport) Figures() []figure.Figure {
	f := figure.Figure{Name: "latency", Title: "Latency of recall, everything on", X: "items in one memory", Y: "ms", LogX: true}
	line := func(name string, y func(LatencySize) float64) {
		s := figure.Series{Name: name}
		for _, size := range r.Sizes {
			s.Points = append(s.Points, figure.Point{X: float64(size.Items), Y: y(size)})
		}
		f.Series = append(f.Series, s)
	}
	line("vector given, p50", func(s LatencySize) float64 { return s.Given.P50 })
	line("vector given, p95", func(s LatencySize) float64 { return s.Given.P95 })
	line("with encoder, p50", func(s LatencySize) float64 { return s.Encoder.P50 })
	line("with encoder, p95", func(s LatencySize) float64 { return s.Encoder.P95 })
	return []figure.Figure{f}
}

// Figures draws the systems beside each other, a figure for each of three metrics.
func (q *QualityReport) Figures() []figure.Figure {
	var out []figure.Figure
	for _, m := range []Metric{Recall5, Recall10, NDCG10} {
		f := figure.Figure{Name: "quality-" + strings.ReplaceAll(string(m), "@", "-"), Title: string(m), Y: "%", Max: 100}
		for _, s := range q.Sets {
			f.Labels = append(f.Labels, s.Name)
		}
		for _, name := range Systems() {
			if name == Timeless { // next to the default; the tables tell them apart
				continue
			}
			if !slices.ContainsFunc(q.Sets, func(r *SetResult) bool { return r.Systems[name] != nil }) {
				continue
			}
			s := figure.Series{Name: name}
			for _, r := range q.Sets {
				p := figure.Point{}
				if sys := r.Systems[name]; sys != nil {
					p.Y = 100 * sys.Mean[m]
				}
				s.Points = append(s.Points, p)
			}
			f.Series = append(f.Series, s)
		}
		out = append(out, f)
	}
	return out
}

// split makes figures of as many series as can be told apart.
func split(f figure.Figure) []figure.Figure {
	var out []figure.Figure
	for part := range slices.Chunk(f.Series, figure.MaxSeries) {
		g := f
		if g.Series = part; len(out) > 0 {
			g.Name += strings.Repeat("-more", len(out))
		}
		out = append(out, g)
	}
	return out
}
