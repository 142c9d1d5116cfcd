package benchmarks

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"evoke"
	"evoke/store"
	"evoke/store/lifecycle"
)

// consolidationSet is two memories in which one day of talk is to be summarised; each has one question that counts, whose
// evidence is two turns of that day, and one that was never answered.
func consolidationSet() *Set {
	s := &Set{Name: "tiny"}
	for ns, c := range map[string]struct {
		question string
		said     []string
	}{
		"en": {"Who teaches pottery and how much clay was bought?", []string{
			"I signed up for a pottery class in Porto yesterday.", "The pottery teacher is Inês Duarte and she owns a kiln.", "I bought 12 kilos of red clay last week.", "The clay waits in our cellar."}},
		"zh": {"陶艺课的老师是谁，买了多少黏土？", []string{
			"我昨天在杭州报名参加了陶艺课。", "陶艺课的老师叫王芳，她有一个柴窑。", "我上周买了12公斤红色黏土。", "黏土放在我们的地下室里。"}},
	} {
		n := Namespace{
			Name: ns, Questions: []Question{{Text: c.question}, {Text: "never said"}},
			Labels: []Label{{ID: "q", Relevant: []string{ns + "1", ns + "2"}}, {ID: "none", Category: "adversarial", Relevant: []string{ns + "0"}}},
		}
		for i, text := range c.said {
			n.Items = append(n.Items, Item{ID: ns + string(rune('0'+i)), Text: text, Speaker: "Nora", Kind: "episodic", Time: time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC), Session: "s", Seq: i, Chat: true})
		}
		s.Namespaces = append(s.Namespaces, n)
	}
	return s
}

// forgetful is an engine whose summaries, as they are listed, hold nothing of what their sources say of clay.
type forgetful struct{ *evoke.Memory }

func (f forgetful) List(ctx context.Context, r evoke.ListRequest) (store.Page, error) {
	page, err := f.Memory.List(ctx, r)
	for i := range page.Items {
		if it := &page.Items[i]; it.IsSummary() {
			var keeps []string
			for _, s := range strings.FieldsFunc(it.Content, func(r rune) bool { return strings.ContainsRune("\n.。;；", r) }) {
				if !strings.Contains(s, "clay") && !strings.Contains(s, "黏土") {
					keeps = append(keeps, s)
				}
			}
			it.Content = strings.Join(keeps, "\n")
		}
	}
	return page, err
}

// The counts of a run are those of the memories; a source counts after the consolidation as long as its summary is in the
// block and holds what it says, and no longer when the summary does not.
func TestConsolidationIsMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		of func(*evoke.Memory) Consolidator
		on float64
	}{
		"summaries that hold their sources":      {func(m *evoke.Memory) Consolidator { return m }, 1},
		"summaries that lack what was asked for": {func(m *evoke.Memory) Consolidator { return forgetful{m} }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			clock := new(Clock)
			m, err := evoke.Open(t.Context(), &evoke.Options{Clock: clock.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			policy := evoke.ConsolidationPolicy{Grouping: lifecycle.Grouping{Share: 1}}
			got, err := RunConsolidation(t.Context(), c.of(m), clock, consolidationSet(), 1000, policy, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			if got.N != 2 || got.Off != 1 || got.On != c.on || got.Diff.Low != c.on-1 || got.Diff.High != c.on-1 {
				t.Errorf("%d questions: off %v, on %v, difference %+v; want 2, 1, %v", got.N, got.Off, got.On, got.Diff, c.on)
			}
			if r := got.Result; got.ItemsOff != 8 || got.ItemsOn != 2 || r.Summaries != 2 || r.Items != 8 || r.Memories != 2 || r.Left != 0 || got.Fall() != 0.75 {
				t.Errorf("%d → %d items, %+v", got.ItemsOff, got.ItemsOn, r)
			}
			var out bytes.Buffer
			report := &ConsolidationReport{Machine: ThisMachine(t.Context(), clock.Now()), Sets: []*Consolidation{got}}
			if err := report.WriteMarkdown(&out); err != nil || !strings.Contains(out.String(), "| 8 → 2 | 75.0 % | 2 of 8 items |") {
				t.Errorf("%v: %s", err, out.String())
			}
		})
	}
}
