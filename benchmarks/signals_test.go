package benchmarks

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"evoke"
)

func TestAUROC(t *testing.T) {
	for _, c := range []struct {
		positive, negative []float64
		want               float64
	}{
		{[]float64{3, 4}, []float64{1, 2}, 1}, {[]float64{1, 2}, []float64{3, 4}, 0}, {[]float64{1, 1}, []float64{1}, 0.5},
		{[]float64{1, 3}, []float64{2, 3}, 0.375},
	} {
		if got := AUROC(c.positive, c.negative); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v over %v: %v, want %v", c.positive, c.negative, got, c.want)
		}
	}
	if i := aurocInterval([]float64{1, 2, 3}, []float64{0, 2.5}); i.Low > 5.0/6 || i.High < 5.0/6 || i.Low >= i.High {
		t.Errorf("interval %v leaves out the area", i)
	}
}

func TestNewerFirst(t *testing.T) {
	for _, c := range []struct {
		ranking string
		want    bool
	}{{"n o", true}, {"o n", false}, {"x n", true}, {"x o", false}, {"x", false}} {
		if got := newerFirst(strings.Fields(c.ranking), []string{"n", "m"}, []string{"o"}); got != c.want {
			t.Errorf("%q: %v", c.ranking, got)
		}
	}
}

func TestMisspell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[A-Za-z]{1,9}[?,]?|\d+|猫咪喜欢`), 1, 30).Draw(t, "words"), " ")
		seed := rapid.Uint64().Draw(t, "seed")
		got := strings.Fields(Misspell(q, seed))
		if Misspell(q, seed) != strings.Join(got, " ") {
			t.Fatal("one seed, two results")
		}
		for i, w := range strings.Fields(q) {
			if letters := strings.TrimRight(w, "?,"); got[i] != w && (len(letters) < misspeltLetters || got[i][0] != w[0] || math.Abs(float64(len(got[i])-len(w))) > 1) {
				t.Fatalf("%q became %q", w, got[i])
			}
		}
	})
	long := strings.Repeat("counting ", 2000)
	changed := 0
	for _, w := range strings.Fields(Misspell(long, 1)) {
		if w != "counting" {
			changed++
		}
	}
	if changed < 520 || changed > 680 { // 30 %, less the swaps and doublings that change nothing
		t.Errorf("%d of 2000 words misspelt", changed)
	}
}

func TestMergedSetsKeepTheirEvidence(t *testing.T) {
	set := func(name string) Set {
		at := time.Date(2024, 1, 2, 3, 0, 0, 0, time.UTC)
		var s Set
		s.Name = name
		for _, ns := range []string{"a", "b"} {
			s.Namespaces = append(s.Namespaces, Namespace{Name: ns, Items: []Item{
				{ID: "1", Text: "The " + name + ns + " report was late.", Session: "s", Chat: true, Time: at}, {ID: "2", Text: "The " + name + ns + " report was early.", Session: "s", Seq: 1, Chat: true, Time: at.AddDate(0, 0, 1)},
			}, Questions: []Question{{Text: "Is the " + name + ns + " report early?"}, {Text: "Who is Zork?"}},
				Labels: []Label{{ID: name + ns, Category: "c", Relevant: []string{"2"}, Stale: []string{"1"}}, {ID: "z", Category: "abstention"}}})
		}
		return s
	}
	first, second := set("alpha"), set("beta")
	run := func(s *Set) *SetResult {
		clock := new(Clock)
		m, err := evoke.Open(t.Context(), &evoke.Options{Clock: clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		r, err := RunSet(t.Context(), m, clock, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	all := Merge(first, second)
	if len(all.Namespaces) != 1 || len(all.Namespaces[0].Items) != 8 || len(all.Namespaces[0].Questions) != 2 || all.Name != "alpha+beta" {
		t.Fatalf("%+v", all)
	}
	apart, merged := run(&first), run(&all)
	if u := merged.Updates[Default]; u == nil || u.N != 2 || u.Share != 1 {
		t.Errorf("updates: %+v", u)
	}
	means, _, ok := Lost(apart, merged)
	if !ok || math.Abs(means[Recall5]) > 1e-9 || merged.Systems[Default].Mean[Recall5] != 1 {
		t.Errorf("lost %v, %v; %v found", means, ok, merged.Systems[Default].Mean[Recall5])
	}
	if a := apart.Abstention["abstention"]; a == nil || a.AUROC < 0.9 || a.Answerable != 2 || a.Unanswerable != 2 {
		t.Errorf("abstention: %+v", a)
	}
	var out bytes.Buffer
	rep := &QualityReport{Sets: []*SetResult{apart, merged}, Apart: map[string]*SetResult{merged.Name: apart}}
	if err := rep.WriteMarkdown(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| misspelt |", "Updates, default: the newer", "AUROC", "with each memory apart, lost"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

func TestCross(t *testing.T) {
	q := Set{Name: "zh", Namespaces: []Namespace{{Name: "a", Items: []Item{{ID: "1", Text: "猫"}}, Questions: []Question{{Text: "谁?"}}, Labels: []Label{{ID: "q", Relevant: []string{"1"}}}}, {Name: "b"}}}
	it := Set{Name: "en", Namespaces: []Namespace{{Name: "a", Items: []Item{{ID: "1", Text: "cat"}}}, {Name: "c"}}}
	got := Cross(&q, &it)
	if got.Name != "zh-over-en" || len(got.Namespaces) != 1 || got.Namespaces[0].Items[0].Text != "cat" || got.Namespaces[0].Questions[0].Text != "谁?" || it.Namespaces[0].Questions != nil {
		t.Errorf("%+v", got)
	}
}
