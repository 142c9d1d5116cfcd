package recall

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"evoke/store"
)

// words are drawn to make items and queries that meet.
var words = []string{"dog", "tea", "run", "piano", "Lisbon", "yesterday", "7 May 2026", "not", "上海", "喝茶", "when", "Ada", "Bo", "3", "cats"}

var genText = rapid.Custom(func(t *rapid.T) string {
	s := ""
	for _, w := range rapid.SliceOfN(rapid.SampledFrom(words), 1, 8).Draw(t, "words") {
		s += w + " "
	}
	return s
})

var genItems = rapid.Custom(func(t *rapid.T) []store.Item {
	n := rapid.IntRange(1, 12).Draw(t, "n")
	out := make([]store.Item, n)
	for i := range out {
		it := item(fmt.Sprint("i", i), rapid.SampledFrom([]string{"", "Ada", "Bo", "user", "assistant"}).Draw(t, "speaker"), genText.Draw(t, "text"))
		it.Kind = rapid.SampledFrom(store.Kinds()).Draw(t, "kind")
		it.Importance = rapid.Float64Range(0, 1).Draw(t, "importance")
		it.Uses = rapid.IntRange(0, 30).Draw(t, "uses")
		if rapid.Bool().Draw(t, "dated") {
			it.ValidFrom = now.Add(time.Duration(rapid.IntRange(-1000, 100).Draw(t, "hours")) * time.Hour)
		}
		if rapid.Bool().Draw(t, "turn") {
			it.Turn.Thread, it.Turn.Session, it.Turn.Position = "t", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session"), i
		}
		out[i] = it
	}
	return out
})

// build puts items into a store, with vectors for those that embedded tells.
func build(items []store.Item, embedded func(i int) bool) *fake {
	f := newFake()
	model := toy{axes: []string{"dog", "tea", "run"}}
	for i, it := range items {
		if !embedded(i) {
			f.add(alice, it)
			continue
		}
		v, _ := model.EmbedQuery(context.Background(), it.Content)
		f.add(alice, it, (&store.Embedding{Own: [][]float32{v}}).Rows()...)
	}
	return f
}

func answer(t *rapid.T, f *fake, req Request) *Response {
	e, err := New(f, toy{axes: []string{"dog", "tea", "run"}}, &Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Recall(context.Background(), []store.Scope{alice}, req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestScoresAreBoundedAndTheirPartsSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := genItems.Draw(t, "items")
		mask := rapid.Uint64().Draw(t, "embedded")
		zero := 0.0
		req := Request{Query: genText.Draw(t, "query"), Limit: 100, MinScore: &zero, Explain: true, Profile: rapid.SampledFrom([]string{"default", "classic"}).Draw(t, "profile")}
		if rapid.Bool().Draw(t, "own weights") {
			req.Weights = &Weights{Semantic: rapid.Float64Range(0, 0.4).Draw(t, "s"), Recency: rapid.Float64Range(0, 0.3).Draw(t, "r"), Importance: rapid.Float64Range(0, 0.3).Draw(t, "i")}
		}
		res := answer(t, build(items, func(i int) bool { return mask>>i&1 == 1 }), req)
		for i, h := range res.Hits {
			sum := h.Parts.Semantic + h.Parts.Recency + h.Parts.Importance + h.Parts.Update
			if math.IsNaN(h.Score) || h.Score < 0 || h.Score > 1 || math.Abs(sum-h.Score) > 1e-6 {
				t.Fatalf("score %g, parts %+v", h.Score, h.Parts)
			}
			for name, raw := range h.Explain.Raw {
				if math.IsNaN(raw) || raw < 0 || raw > 1 {
					t.Fatalf("%s is %g", name, raw)
				}
			}
			if i > 0 && h.Score > res.Hits[i-1].Score {
				t.Fatal("not sorted")
			}
		}
		if len(res.Hits)+len(res.Duplicates) != len(items) {
			t.Fatalf("%d hits and %d duplicates of %d items", len(res.Hits), len(res.Duplicates), len(items))
		}
	})
}

func TestOrderOfCandidatesDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := genItems.Draw(t, "items")
		req := Request{Query: rapid.OneOf(genText, rapid.Just("")).Draw(t, "query"), Limit: rapid.IntRange(1, 12).Draw(t, "limit"), Explain: true}
		all := func(int) bool { return true }
		a := answer(t, build(items, all), req)
		shuffled := slices.Clone(items)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		b := answer(t, build(shuffled, all), req)
		for _, res := range []*Response{a, b} { // ranks of equal items in an arm are the store's affair
			for i := range res.Hits {
				res.Hits[i].Explain.Ranks = nil
			}
		}
		if diff := cmp.Diff(a, b, cmp.Comparer(func(x, y store.Value) bool { return x.Equal(y) })); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestMoreImportanceNeverLowersAScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := genItems.Draw(t, "items")
		zero := 0.0
		req := Request{Query: genText.Draw(t, "query"), Limit: 100, MinScore: &zero, Profile: rapid.SampledFrom([]string{"default", "classic"}).Draw(t, "profile")}
		all := func(int) bool { return true }
		scoreOf := func(res *Response, id string) (float64, bool) {
			for _, h := range res.Hits {
				if h.Item.ID == id {
					return h.Score, true
				}
			}
			return 0, false
		}
		before := answer(t, build(items, all), req)
		raised := slices.Clone(items)
		i := rapid.IntRange(0, len(items)-1).Draw(t, "which")
		raised[i].Importance = rapid.Float64Range(items[i].Importance, 1).Draw(t, "raised")
		raised[i].Uses += rapid.IntRange(0, 5).Draw(t, "used")
		after := answer(t, build(raised, all), req)
		x, ok := scoreOf(before, items[i].ID)
		y, still := scoreOf(after, items[i].ID)
		if ok && (!still || y < x-1e-12) {
			t.Fatalf("%g, then %g (%v)", x, y, still)
		}
	})
}
