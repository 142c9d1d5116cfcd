package benchmarks_test

import (
	"strings"
	"testing"

	"evoke/benchmarks"
	"evoke/benchmarks/figure"
)

func TestFigures(t *testing.T) {
	curves := &benchmarks.ContextReport{Shape: "lines"}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		curves.Curves = append(curves.Curves, &benchmarks.Curve{Name: name, Points: []benchmarks.Point{{Budget: 500, Whole: 0.5}, {Budget: 1000, Whole: 0.75}}})
	}
	system := func(r5 float64) *benchmarks.SystemResult {
		return &benchmarks.SystemResult{Mean: map[benchmarks.Metric]float64{benchmarks.Recall5: r5}}
	}
	quality := &benchmarks.QualityReport{Sets: []*benchmarks.SetResult{
		{Name: "one", Systems: map[string]*benchmarks.SystemResult{benchmarks.Default: system(0.7), benchmarks.Dense: system(0.5)}},
		{Name: "two", Systems: map[string]*benchmarks.SystemResult{benchmarks.Default: system(0.9)}}, // without vectors
	}}
	latency := &benchmarks.LatencyReport{Sizes: []benchmarks.LatencySize{{Items: 1000, Given: benchmarks.Quantiles{P50: 2, P95: 3}}, {Items: 100000}}}

	all := append(append(curves.Figures(), quality.Figures()...), latency.Figures()...)
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
		if _, err := figure.SVG(&all[i]); err != nil {
			t.Error(err)
		}
	}
	if got, want := strings.Join(names, " "), "context-lines context-lines-more quality-recall-5 quality-recall-10 quality-ndcg-10 latency"; got != want {
		t.Errorf("figures: %s, want %s", got, want)
	}
	if got := all[0].Series[0].Points[1]; got.X != 1000 || got.Y != 75 {
		t.Errorf("a point of a curve: %+v", got)
	}
	if got := all[2].Series; len(got) != 2 || got[0].Points[1].Y != 90 || got[1].Points[1].Y != 0 {
		t.Errorf("bars of recall@5: %+v", got)
	}
}
