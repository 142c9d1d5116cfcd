package scoring

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestBM25(t *testing.T) {
	m := BM25{K1: 0.9, B: 0.4, AvgLen: 10}
	for _, c := range []struct{ got, want float64 }{
		{m.IDF(10, 1), math.Log(1 + 9.5/1.5)},
		{m.IDF(10, 10), math.Log(1 + 0.5/10.5)},
		{m.IDF(0, 0), math.Log(2)},
		{m.IDF(10, 99), m.IDF(10, 10)},
		{m.IDF(10, -5), m.IDF(10, 0)},
		{m.IDF(-3, 2), m.IDF(0, 0)},
		{m.Weight(0, 10), 0},
		{m.Weight(1, 10), 1},
		{m.Weight(2, 20), 2 * 1.9 / (2 + 0.9*1.4)},
		{BM25{K1: 0.9, B: 0.4}.Weight(1, 1e9), 1},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// scope is a small set of documents with its statistics.
func statsOf(docs ...Doc) LexicalStats {
	st := LexicalStats{Docs: len(docs), DF: map[Term]int{}}
	for _, d := range docs {
		for _, f := range d.Terms() {
			st.DF[f.Term]++
		}
	}
	return st
}

func TestLexicalViews(t *testing.T) {
	turn := func(s string) Doc { return NewDoc("Mel", s, may8) }
	docs := []Doc{turn("Do you play chess?"), turn("Since when?"), turn("For a month now."), turn("The weather is nice.")}
	lex := NewLexical(LexicalParams{}, statsOf(docs...), QueryTerms("chess month"))

	alone, views := lex.Score(&docs[2], nil, nil)
	if views[0] <= 0 || views[0] >= 1 || math.Abs(alone-(views[0]+views[1]+views[2])/3) > 1e-12 {
		t.Errorf("alone: %v %v", alone, views)
	}
	_, ctx := lex.Score(&docs[2], &docs[1], &docs[0])
	if !(ctx[2] > ctx[1]) || ctx[0] != views[0] {
		t.Errorf("the word two turns before must count in the third view only: %v", ctx)
	}
	if s, _ := lex.Score(&docs[3], nil, nil); s != 0 {
		t.Errorf("no common word scores %v", s)
	}
	// By hand: own view of "mel month 8 may 2023" (five terms).
	m := BM25{0.9, 0.4, defaultAvgLen[0]}
	idf := m.IDF(4, 1)
	if want := idf * m.Weight(1, 5) / (2 * idf * 1.9); math.Abs(views[0]-want) > 1e-12 {
		t.Errorf("own view %v, want %v", views[0], want)
	}
}

func TestLexicalLongItemsHaveNoContext(t *testing.T) {
	prev := NewDoc("Mel", "chess", may8)
	st := statsOf(prev, NewDoc("Mel", "tea", may8))
	lex := NewLexical(LexicalParams{}, st, QueryTerms("chess"))
	long := NewDoc("Mel", strings.Repeat("tea ", 81), may8)
	if s, _ := lex.Score(&long, &prev, nil); s != 0 {
		t.Errorf("an item over 80 words saw its context: %v", s)
	}
	short := NewDoc("Mel", strings.Repeat("tea ", 80), may8)
	if s, _ := lex.Score(&short, &prev, nil); s == 0 {
		t.Error("an item of 80 words did not see its context")
	}
	none := NewLexical(LexicalParams{ContextWords: -1}, st, QueryTerms("chess"))
	if s, _ := none.Score(&short, &prev, nil); s != 0 {
		t.Error("a negative limit must switch context off")
	}
}

func TestLexicalChunks(t *testing.T) {
	long := NewDoc("Mel", sentence(100)+" "+sentence(95)+" Chess at last.", may8)
	if len(long.Chunks) != 2 {
		t.Fatalf("%d chunks", len(long.Chunks))
	}
	st := statsOf(long, NewDoc("Mel", "tea", may8))
	lex := NewLexical(LexicalParams{}, st, QueryTerms("chess"))
	total, views := lex.Score(&long, nil, nil)
	mean := (views[0] + views[1] + views[2]) / 3
	if math.Abs(total-(mean-0.08*math.Log(2))) > 1e-12 {
		t.Errorf("total %v, views %v", total, views)
	}
	free, _ := NewLexical(LexicalParams{ChunkPenalty: -1}, st, QueryTerms("chess")).Score(&long, nil, nil)
	if math.Abs(free-mean) > 1e-12 {
		t.Errorf("without penalty %v, want %v", free, mean)
	}
}

func TestLexicalAbsentTerms(t *testing.T) {
	d := NewDoc("Mel", "tea", may8)
	st := statsOf(d, NewDoc("Mel", "coffee", may8))
	q := QueryTerms("tea zebra")
	lenient, _ := NewLexical(LexicalParams{}, st, q).Score(&d, nil, nil)
	strict, _ := NewLexical(LexicalParams{AbsentShare: 1}, st, q).Score(&d, nil, nil)
	if !(0 < strict && strict < lenient) {
		t.Errorf("strict %v, lenient %v", strict, lenient)
	}
	for name, l := range map[string]*Lexical{
		"no query":    NewLexical(LexicalParams{}, st, nil),
		"absent only": NewLexical(LexicalParams{}, st, QueryTerms("zebra")),
		"no stats":    NewLexical(LexicalParams{}, LexicalStats{}, q),
	} {
		if s, v := l.Score(&d, nil, nil); s != 0 || v != [3]float64{} {
			t.Errorf("%s scores %v", name, s)
		}
	}
	if s, _ := NewLexical(LexicalParams{}, st, q).Score(nil, nil, nil); s != 0 {
		t.Error("no item scores")
	}
	if s, _ := NewLexical(LexicalParams{}, st, q).Score(&Doc{}, nil, nil); s != 0 {
		t.Error("the zero item scores")
	}
}

func TestLexicalBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfN(docGen(), 3, 6).Draw(t, "docs")
		q := QueryTerms(rapid.SampledFrom([]string{"tea", "coffee Paris", "我喜欢猫 2021", "long long tea", "7 x"}).Draw(t, "query"))
		params := LexicalParams{AbsentShare: rapid.Float64Range(-1, 2).Draw(t, "share")}
		st := statsOf(docs...)
		lex := NewLexical(params, st, q)
		total, views := lex.Score(&docs[0], &docs[1], &docs[2])
		for _, s := range append(views[:], total) {
			if !(s >= 0 && s <= 1) {
				t.Fatalf("score %v of %v", s, views)
			}
		}
		shuffled := rapid.Permutation(q).Draw(t, "shuffled")
		again, _ := NewLexical(params, st, shuffled).Score(&docs[0], &docs[1], &docs[2])
		if again != total {
			t.Fatalf("the order of the query's terms changes %v to %v", total, again)
		}
	})
}

// One more occurrence of a query term in place of another word never lowers a view.
func TestLexicalMonotone(t *testing.T) {
	vocab := []string{"tea", "zebra", "river", "stone", "cloud"}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(vocab), 1, 30).Draw(t, "words")
		words[0] = "filler"
		better := slices.Clone(words)
		better[0] = "tea"
		a, b := NewDoc("", strings.Join(words, " "), may8), NewDoc("", strings.Join(better, " "), may8)
		st := LexicalStats{Docs: 50, DF: map[Term]int{}}
		for i, w := range vocab {
			st.DF[HashTerm(Tokens(w)[0])] = 3 * (i + 1)
		}
		lex := NewLexical(LexicalParams{}, st, QueryTerms("tea river"))
		prev := NewDoc("", "river", may8)
		sa, va := lex.Score(&a, &prev, nil)
		sb, vb := lex.Score(&b, &prev, nil)
		for i := range va {
			if vb[i] < va[i] {
				t.Fatalf("view %d fell from %v to %v", i, va[i], vb[i])
			}
		}
		if sb < sa {
			t.Fatalf("total fell from %v to %v", sa, sb)
		}
	})
}

// The sparse vector and the own-text view agree on items of one chunk and never disagree on the side of losing one.
func TestWeightsBoundOwnView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := docGen().Draw(t, "doc")
		q := QueryTerms("tea Paris 2021 喜欢猫 long")
		st := statsOf(d, d, Doc{})
		params := LexicalParams{}
		_, views := NewLexical(params, st, q).Score(&d, nil, nil)
		m := params.OwnBM25()
		ws := d.Weights(m)
		sum, top := 0.0, 0.0
		for _, qt := range q {
			df := st.DF[qt.Term]
			if df == 0 {
				continue
			}
			top += m.IDF(st.Docs, df) * 1.9
			for _, w := range ws {
				if w.Term == qt.Term {
					sum += m.IDF(st.Docs, df) * float64(w.Weight)
				}
			}
		}
		if top == 0 {
			return
		}
		if got := sum / top; got < views[0]-1e-6 || len(d.Chunks) == 1 && math.Abs(got-views[0]) > 1e-6 {
			t.Fatalf("sparse %v, view %v, %d chunks", got, views[0], len(d.Chunks))
		}
	})
	if w := (Doc{Date: Terms("2023")}).Weights(LexicalParams{}.OwnBM25()); len(w) != 1 || w[0].Weight <= 0 {
		t.Errorf("an item with a date alone has weights %v", w)
	}
}

func benchCandidate() (*Lexical, [3]Doc) {
	docs := [3]Doc{}
	for i := range docs {
		docs[i] = NewDoc("Caroline", fmt.Sprintf("I went to the support group number %d yesterday, and the stories about adoption there were so inspiring that I want to go back soon.", i), may8)
	}
	return NewLexical(LexicalParams{}, statsOf(docs[:]...), QueryTerms("When did Caroline go to the LGBTQ support group about adoption in May?")), docs
}

func TestLexicalScoreDoesNotAllocate(t *testing.T) {
	lex, d := benchCandidate()
	if n := testing.AllocsPerRun(100, func() { lex.Score(&d[0], &d[1], &d[2]) }); n != 0 {
		t.Errorf("Score allocates %v times", n)
	}
	rows, q, out := make([]int8, 3840), make([]int8, 384), make([]int32, 10)
	if n := testing.AllocsPerRun(100, func() { ScanInt8(q, rows, 384, out) }); n != 0 {
		t.Errorf("ScanInt8 allocates %v times", n)
	}
	wins := QueryDates("in May 2023")
	if n := testing.AllocsPerRun(100, func() { DateMatch(wins, may8, d[0].Ranges) }); n != 0 {
		t.Errorf("DateMatch allocates %v times", n)
	}
}

func BenchmarkLexicalScore(b *testing.B) {
	lex, d := benchCandidate()
	b.ReportAllocs()
	for b.Loop() {
		lex.Score(&d[0], &d[1], &d[2])
	}
}

func BenchmarkNewDoc(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		NewDoc("Caroline", "I went to a LGBTQ support group yesterday and it was so powerful. The transgender stories were so inspiring!", may8)
	}
}

func BenchmarkQueryTerms(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		QueryTerms("When did Caroline go to the LGBTQ support group?")
	}
}

func BenchmarkUnmarshalDoc(b *testing.B) {
	data, err := NewDoc("Caroline", "I went to a LGBTQ support group yesterday and it was so powerful. The transgender stories were so inspiring!", may8).MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(data)), "B/doc")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := UnmarshalDoc(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewDocMegabyte(b *testing.B) {
	text := strings.Repeat("the quick brown fox jumps over a lazy dog. ", 24_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		NewDoc("user", text, time.Time{})
	}
}
