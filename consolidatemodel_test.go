package evoke

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/extract/llm"
	"evoke/extract/llm/llmtest"
	"evoke/store/lifecycle"
)

// A model writes the summaries where the policy asks for it. Whatever is wrong with what it says changes nothing.
func TestConsolidateWithAModel(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Nora signed up for a pottery class in Porto, Inês Duarte fires everything in a wood kiln, Tom bought 12 kilos of red clay. ", 4)
	good := "Nora signed up for a pottery class in Porto; the teacher, Inês Duarte, fires everything in a wood kiln. Tom bought 12 kilos of red clay last week."
	for name, c := range map[string]struct {
		reply llmtest.Reply
		why   string // "" when it is taken
		items int
	}{
		"good":                    {llmtest.Always(good), "", 3},
		"longer than its sources": {llmtest.Always(long), "long", 0},
		"made up":                 {llmtest.Always(strings.ReplaceAll(good, "12", "15")), "empty", 0},
		"too little":              {llmtest.Always("Nora signed up for pottery."), "thin", 0},
		"another language":        {llmtest.Always("诺拉在波尔图报名参加了陶艺课，老师用柴窑烧制所有作品，汤姆买了12公斤红色黏土。"), "empty", 0},
		"JSON":                    {llmtest.Always(`{"operations":[]}`), "empty", 0},
		"cut off":                 {llmtest.Cut(good), "empty", 0},
		"away":                    {llmtest.Status(http.StatusServiceUnavailable, nil), "unavailable", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(t, c.reply)
			x, err := llm.New("m", &llm.Options{BaseURL: s.URL, Pause: time.Millisecond, Retries: -1})
			if err != nil {
				t.Fatal(err)
			}
			m := open(t, &Options{Extractor: x})
			w := Who{User: "u"}
			converse(t, m, w, "s", "2026-02-01", pottery...)
			before := holds(t, m, w, time.Time{})
			p := *wholly
			p.Model = true
			_, got := consolidate(t, m, ConsolidateRequest{User: "u", Policy: &p})
			if c.why == "" {
				if sums := summaries(t, m, w); got.Summaries != 1 || got.Items != c.items || len(sums) != 1 || sums[0].Content != good || sums[0].Provenance.Extractor != x.Name() {
					t.Fatalf("%+v: %+v", got, sums)
				}
				if _, again := consolidate(t, m, ConsolidateRequest{User: "u", Policy: &p}); again.Summaries != 0 || s.Calls() != 1 {
					t.Errorf("asked again: %d calls, %+v", s.Calls(), again)
				}
				return
			}
			if got.Summaries != 0 || got.Left != 1 || got.Reasons[c.why] != 1 || !slices.Equal(holds(t, m, w, time.Time{}), before) {
				t.Errorf("%+v; in view: %q", got, holds(t, m, w, time.Time{}))
			}
		})
	}
	m := open(t, &Options{})
	if _, err := m.Consolidate(t.Context(), ConsolidateRequest{User: "u", Policy: &ConsolidationPolicy{Model: true}}); err == nil {
		t.Error("a policy that asks for a model is taken where there is none")
	}
}

func TestConsolidateRefuses(t *testing.T) {
	t.Parallel()
	m := open(t, &Options{})
	for name, p := range map[string]ConsolidationPolicy{
		"least": {Grouping: lifecycle.Grouping{Least: 2}}, "words": {Grouping: lifecycle.Grouping{Words: 1}},
		"share": {Grouping: lifecycle.Grouping{Share: 1.5}}, "by": {Grouping: lifecycle.Grouping{By: []string{"moon"}}},
		"min_age_hours": {MinAgeHours: ptr(-1)},
	} {
		if _, err := m.Consolidate(t.Context(), ConsolidateRequest{User: "u", Policy: &p}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
