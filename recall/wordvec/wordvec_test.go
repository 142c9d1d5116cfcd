package wordvec

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"evoke/embed"
	"evoke/embed/centre"
	"evoke/scoring"
)

func term(word string) scoring.Term { return scoring.HashTerm(scoring.Tokens(word)[0]) }

// small is a table of four words on three axes in a space of four.
func small() *File {
	f := &File{Version: "t1", Axes: [][]float32{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, Words: map[scoring.Term][]float32{
		term("car"): {1, 0, 0}, term("lorry"): {0.8, 0.6, 0}, term("apple"): {0, 0, 1}, term("猫咪"): {0, -1, 0},
	}}
	for s := range f.Means {
		f.Means[s] = make([]float32, 4)
	}
	return f
}

func parse(t *testing.T, f *File) *Table {
	t.Helper()
	table, err := Parse(f.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestMatcher(t *testing.T) {
	table := parse(t, small())
	if table.Version() != "t1" || table.Len() != 4 || !table.Has(term("car")) || table.Has(term("pear")) {
		t.Fatalf("version %s, %d words", table.Version(), table.Len())
	}
	q := table.Query([]embed.Piece{
		{Text: "the", Vector: []float32{0, 0, 1, 0}}, // a stop word
		{Text: "ca", Vector: []float32{1, 0, 0, 1}}, {Text: "##r", Vector: []float32{1, 0, 0, -1}},
		{Text: "?", Vector: []float32{0, 0, 1, 0}},
		{Text: "waldo", Vector: []float32{0, 0, 1, 0}},
	})
	if len(q) != 2 || q[0].Term != term("car") || q[1].Term != term("waldo") {
		t.Fatalf("words %v", q)
	}
	m := table.NewMatcher(q)
	for _, c := range []struct {
		item     string
		discount float32
		want     [2]float64
	}{
		{"car", 0, [2]float64{1, 0}}, {"lorries", 0, [2]float64{0.8, 0}}, {"lorry", 0.1, [2]float64{0.7, 0}},
		{"apple", 0, [2]float64{0, 1}}, {"Waldo", 0, [2]float64{0, sameWord}}, {"nothing of it", 0, [2]float64{0, 0}},
		{"apple lorry car", 0, [2]float64{1, 1}}, {"猫咪", 0, [2]float64{0, 0}}, // below what is there stays
	} {
		best := make([]float32, 2)
		m.Best(best, scoring.Terms(c.item), c.discount)
		for i, b := range best {
			if math.Abs(float64(b)-c.want[i]) > 0.06 {
				t.Errorf("%q: %v, want %v", c.item, best, c.want)
			}
		}
	}
	if w := table.Word(term("lorry")); w.Term != term("lorry") {
		t.Errorf("%+v", w)
	} else {
		best := make([]float32, 1)
		table.NewMatcher([]Word{w}).Best(best, scoring.Terms("car"), 0)
		if math.Abs(float64(best[0])-0.8) > 0.06 {
			t.Errorf("a word of the table comes to %v of another, want 0.8", best[0])
		}
	}
	if parse(t, small()).NewMatcher(nil) != nil || (*Table)(nil).Query(nil) != nil {
		t.Error("nothing to compare gives no matcher")
	}
}

func TestSpell(t *testing.T) {
	v := func(x float32) []float32 { return []float32{x} }
	type said struct {
		Token string
		Sum   float32
	}
	for _, c := range []struct {
		name   string
		pieces []embed.Piece
		want   []said
	}{
		{"word pieces", []embed.Piece{{Text: "my", Vector: v(1)}, {Text: "grey", Vector: v(2)}, {Text: "##hound", Vector: v(4)}, {Text: ",", Vector: v(8)}, {Text: "2023", Vector: v(16)}},
			[]said{{"greyhound", 6}, {"2023", 16}}},
		{"sentence pieces", []embed.Piece{{Text: "▁My", Vector: v(1)}, {Text: "▁grey", Vector: v(2)}, {Text: "hound", Vector: v(4)}, {Text: ".", Vector: v(8)}, {Text: "▁ice", Vector: v(16)}, {Text: "-", Vector: v(32)}, {Text: "cream", Vector: v(64)}},
			[]said{{"greyhound", 6}, {"ice", 16}, {"cream", 64}}},
		{"Chinese", []embed.Piece{{Text: "▁", Vector: v(1)}, {Text: "猫咪", Vector: v(2)}, {Text: "叫", Vector: v(4)}, {Text: "Coco", Vector: v(8)}, {Text: "。", Vector: v(16)}},
			[]said{{"猫咪", 2}, {"咪叫", 6}, {"coco", 8}}},
		{"nothing", nil, nil},
	} {
		var got []said
		for _, s := range Spell(c.pieces) {
			token := "?"
			for _, w := range c.want {
				if scoring.HashTerm(w.Token) == s.Term {
					token = w.Token
				}
			}
			got = append(got, said{token, s.Vector[0]})
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// Whatever the pieces are called, spelling them fails never and gives vectors of the pieces' length.
func TestSpellAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pieces []embed.Piece
		for _, s := range rapid.SliceOf(rapid.StringN(0, 6, -1)).Draw(t, "pieces") {
			pieces = append(pieces, embed.Piece{Text: s, Vector: []float32{1, 2}})
		}
		for _, s := range Spell(pieces) {
			if len(s.Vector) != 2 || s.Script < centre.Other || int(s.Script) >= centre.Scripts {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// The embedded tables are whole, of the models' dimension, and know common words as near to what they mean.
func TestEmbeddedTables(t *testing.T) {
	files, err := data.ReadDir("data")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d tables, %v", len(files), err)
	}
	for _, f := range files {
		raw, err := data.ReadFile("data/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		table, err := Parse(raw)
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
			continue
		}
		if For(strings.TrimSuffix(f.Name(), ".bin")) == nil || table.dim != 384 || table.Len() < 10_000 {
			t.Errorf("%s: %d words of dimension %d", f.Name(), table.Len(), table.dim)
		}
		near := func(a, b string) float32 {
			best := []float32{-1}
			table.NewMatcher([]Word{table.Word(term(a))}).Best(best, scoring.Terms(b), 0)
			return best[0]
		}
		for _, c := range [][3]string{{"dog", "puppy", "invoice"}, {"physician", "doctor", "bicycle"}, {"happy", "glad", "concrete"}, {"car", "automobile", "poem"}} {
			if near(c[0], c[1]) <= near(c[0], c[2])+0.1 {
				t.Errorf("%s: %s is %.2f of %s and %.2f of %s", f.Name(), c[0], near(c[0], c[1]), c[1], near(c[0], c[2]), c[2])
			}
		}
	}
	if For("no such model") != nil {
		t.Error("a model without a table has one")
	}
}

func FuzzParse(f *testing.F) {
	whole := small().Append(nil)
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, raw []byte) {
		table, err := Parse(raw)
		if err != nil {
			return
		}
		best := make([]float32, 1)
		if m := table.NewMatcher([]Word{{Term: 1}}); m != nil {
			m.Best(best, []scoring.TermFreq{{Term: 1, N: 1}}, 0)
		}
	})
}

// Comparing costs no memory once a term is known.
func TestBestAllocates(t *testing.T) {
	table := parse(t, small())
	m := table.NewMatcher([]Word{table.Word(term("car"))})
	best, item := make([]float32, 1), scoring.Terms("an apple in a lorry")
	m.Best(best, item, 0)
	if n := testing.AllocsPerRun(100, func() { m.Best(best, item, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
