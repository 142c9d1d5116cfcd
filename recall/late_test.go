package recall

import (
	"context"
	"strings"
	"testing"

	"evoke/embed"
	"evoke/recall/wordvec"
	"evoke/scoring"
	"evoke/store"
)

// spelling is a toy that tells the pieces of a query: its words, each with a vector by what it means.
type spelling struct {
	toy
	means map[string][]float32
}

func (s spelling) EmbedQueryPieces(ctx context.Context, text string) ([]float32, []embed.Piece, error) {
	v, err := s.EmbedQuery(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	var pieces []embed.Piece
	for _, w := range strings.Fields(strings.ToLower(text)) {
		w = strings.Trim(w, "?.,")
		m := s.means[w]
		if m == nil {
			m = []float32{0, 0, 0, 1}
		}
		pieces = append(pieces, embed.Piece{Text: w, Vector: m})
	}
	return v, pieces, nil
}

// meanings is an embedder and a table in which a hound is a dog, and an engine with both.
func meanings(t *testing.T, f *fake, o Options) *Engine {
	t.Helper()
	dog, tea := []float32{0.75, 0, 0.66, 0}, []float32{0, 0.75, 0.66, 0}
	e := engine(t, f, spelling{toy{axes: []string{"nothing", "at", "all"}}, map[string][]float32{"hound": dog, "dog": dog, "beverage": tea}}, o)
	file := &wordvec.File{Version: "t", Axes: [][]float32{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, Words: map[scoring.Term][]float32{}}
	for w, v := range map[string][]float32{"greyhound": {1, 0, 0}, "hound": {1, 0, 0}, "dog": {1, 0, 0}, "tea": {0, 1, 0}} {
		file.Words[scoring.Terms(w)[0].Term] = v
	}
	for i := range file.Means {
		file.Means[i] = make([]float32, 4)
	}
	table, err := wordvec.Parse(file.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if e.opts.Late >= 0 {
		e.table = table
	}
	return e
}

func TestWordsAreMetByWhatTheyMean(t *testing.T) {
	for query, want := range map[string]string{"Who has a hound?": "2", "Which beverage?": "8"} {
		res := recall(t, meanings(t, conversation(), Options{}), Request{Query: query, Explain: true, Limit: 8, MinScore: ptr(0.0)})
		if res.Hits[0].Item.ID != want || res.Hits[0].Explain.Terms["late"] < 0.9 {
			t.Errorf("%s: %v, late %v; want %s first", query, ids(res), res.Hits[0].Explain.Terms["late"], want)
		}
		// The turn after it sees it as context, for less.
		for _, h := range res.Hits {
			if after := h.Item.ID == "3"; after && want == "2" && (h.Explain.Terms["late"] <= 0 || h.Explain.Terms["late"] >= res.Hits[0].Explain.Terms["late"]) {
				t.Errorf("late of the turn after: %v", h.Explain.Terms["late"])
			}
		}
		off := recall(t, meanings(t, conversation(), Options{Late: -1}), Request{Query: query, Explain: true, Limit: 8, MinScore: ptr(0.0)})
		for _, h := range off.Hits {
			if h.Explain.Terms["late"] != 0 {
				t.Errorf("%s: switched off, late is %v", query, h.Explain.Terms["late"])
			}
		}
	}
}

// A word misspelt counts as the one it was taken for.
func TestMisspeltWordsAreMetAsCorrected(t *testing.T) {
	res := recall(t, meanings(t, conversation(), Options{}), Request{Query: "the greyhuond", Explain: true, MinScore: ptr(0.0)})
	if h := res.Hits[0]; h.Item.ID != "2" || h.Explain.Terms["late"] < 0.9 || h.Explain.Terms["lexical"] <= 0 {
		t.Errorf("%v, %v", ids(res), h.Explain.Terms)
	}
}

// Without time for it the rest decides alone, and that is told.
func TestComparisonOutOfTime(t *testing.T) {
	e := meanings(t, conversation(), Options{LateTimeout: 1})
	res := recall(t, e, Request{Query: "Who has a hound?", Explain: true, Limit: 8, MinScore: ptr(0.0)})
	if res.Degraded["late"] != "timed out" || len(res.Hits) == 0 || res.Embedder == "none" {
		t.Fatalf("%+v", res)
	}
	plain := recall(t, meanings(t, conversation(), Options{Late: -1}), Request{Query: "Who has a hound?", Limit: 8, MinScore: ptr(0.0)})
	for i, h := range res.Hits {
		if h.Item.ID != plain.Hits[i].Item.ID || h.Score != plain.Hits[i].Score {
			t.Errorf("hit %d: %s %v, without the comparison %s %v", i, h.Item.ID, h.Score, plain.Hits[i].Item.ID, plain.Hits[i].Score)
		}
	}
}

// Comparing a page of candidates allocates a fixed few times, whatever their number.
func TestComparisonAllocates(t *testing.T) {
	f := conversation()
	f.pool = 1
	e := meanings(t, f, Options{})
	p, err := e.plan([]store.Scope{alice}, Request{Query: "Who has a hound?"})
	if err != nil {
		t.Fatal(err)
	}
	e.embedQuery(t.Context(), p, &Response{})
	found, err := f.Search(t.Context(), alice, p.query())
	if err != nil {
		t.Fatal(err)
	}
	l := p.newLate(found, p.terms)
	score := func() {
		for i := range found.Records {
			l.score(&found.Records[i])
		}
	}
	score()
	if n := testing.AllocsPerRun(50, score); n != 0 {
		t.Errorf("%v allocations for %d candidates", n, len(found.Records))
	}
}

// BenchmarkComparison is the whole comparison of one query of eight words with as many candidates as a search brings, every
// word of theirs met for the first time, against a table of full size.
func BenchmarkComparison(b *testing.B) {
	table := wordvec.For("multilingual-e5-small-q4")
	sentence := strings.Fields(`We planned a long weekend by the lake with friends from work and cooked fish over an open fire while the children
		collected stones and painted them in bright colours until rain drove everybody back into the small wooden cabin`)
	p := &plan{table: table}
	for _, w := range []string{"trip", "water", "colleagues", "dinner", "weather", "kids", "house", "holiday"} {
		t, _ := wordvec.TermOf(w)
		p.words = append(p.words, table.Word(t))
		p.terms = append(p.terms, scoring.QueryTerm{Term: t, Token: w, N: 1})
	}
	found := &store.Candidates{Stats: scoring.LexicalStats{Docs: 1000, DF: map[scoring.Term]int{}}, Terms: p.terms}
	for _, q := range p.terms {
		found.Stats.DF[q.Term] = 3
	}
	var all []*candidate
	for i := range 300 {
		doc := scoring.NewDoc("Ada", strings.Join(sentence[i%10:i%10+20], " "), now)
		r := store.Record{Item: turn("x", "s", i, "Ada", "x", now), Doc: &doc, Prev1: &doc, Prev2: &doc}
		all = append(all, &candidate{record: &r})
	}
	b.ReportAllocs()
	for b.Loop() {
		if !p.scoreLate(b.Context(), all, found, true) {
			b.Fatal("out of time")
		}
	}
}
