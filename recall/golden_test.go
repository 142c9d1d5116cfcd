package recall

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"evoke/embed"
	"evoke/recall/wordvec"
	"evoke/scoring"
	"evoke/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// hashed embeds a text by its terms, each on an axis and with a sign that its hash gives: a stand-in for a model that
// needs no files and is the same everywhere.
type hashed struct{}

const hashedDim = 256

func (hashed) Model() embed.Model {
	return embed.Model{Name: "hashed", Dim: hashedDim, Low: 0, High: 0.8}
}

func (hashed) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, hashedDim)
	for _, f := range scoring.Terms(text) {
		sign := float32(1)
		if f.Term>>20&1 == 1 {
			sign = -1
		}
		v[f.Term%hashedDim] += sign
	}
	norm := 0.0
	for _, x := range v {
		norm += float64(x) * float64(x)
	}
	if norm == 0 {
		v[0], norm = 1, 1
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(norm))
	}
	return v, nil
}

func (e hashed) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range texts {
		out[i], _ = e.EmbedQuery(ctx, texts[i])
	}
	return out, nil
}

// hashedPieces tells the words of a query as pieces, too.
type hashedPieces struct{ hashed }

func (e hashedPieces) EmbedQueryPieces(ctx context.Context, text string) ([]float32, []embed.Piece, error) {
	v, err := e.EmbedQuery(ctx, text)
	var pieces []embed.Piece
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		wv, _ := e.EmbedQuery(ctx, w)
		pieces = append(pieces, embed.Piece{Text: w, Vector: wv})
	}
	return v, pieces, err
}

// alike are words of the golden set that its table takes for nearly the same.
var alike = [][2]string{{"pet", "dog"}, {"buy", "bought"}, {"job", "work"}, {"drink", "coffee"}, {"live", "moved"}, {"sick", "allergic"}}

// hashedTable has a vector for every word of the golden items: as hashed makes it, words that are alike leaning to each other.
func hashedTable(t *testing.T) *wordvec.Table {
	t.Helper()
	file := &wordvec.File{Version: "golden", Words: map[scoring.Term][]float32{}}
	for i := range hashedDim {
		axis := make([]float32, hashedDim)
		axis[i] = 1
		file.Axes = append(file.Axes, axis)
	}
	for i := range file.Means {
		file.Means[i] = make([]float32, hashedDim)
	}
	add := func(word string) {
		if term, ok := wordvec.TermOf(word); ok {
			file.Words[term], _ = hashed{}.EmbedQuery(t.Context(), word)
		}
	}
	for _, r := range rows(t, "items.tsv") {
		for _, w := range strings.FieldsFunc(strings.Join(r, " "), func(r rune) bool { return !unicode.IsLetter(r) }) {
			add(w)
		}
	}
	for _, pair := range alike {
		a, _ := wordvec.TermOf(pair[0])
		b, _ := wordvec.TermOf(pair[1])
		va, _ := hashed{}.EmbedQuery(t.Context(), pair[0])
		vb, _ := hashed{}.EmbedQuery(t.Context(), pair[1])
		file.Words[a], file.Words[b] = make([]float32, hashedDim), make([]float32, hashedDim)
		for i := range va {
			file.Words[a][i], file.Words[b][i] = va[i]+0.8*vb[i], vb[i]+0.8*va[i]
		}
	}
	table, err := wordvec.Parse(file.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// rows reads a file of the golden set: lines of fields parted by tabs.
func rows(t *testing.T, name string) [][]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, strings.Split(line, "\t"))
		}
	}
	return out
}

func goldenStore(t *testing.T) *fake {
	f := newFake()
	position := map[string]int{}
	for _, r := range rows(t, "items.tsv") {
		at, err := time.Parse(time.RFC3339, r[4])
		if err != nil || len(r) != 6 {
			t.Fatalf("%v: %v", r, err)
		}
		it := item(r[0], r[3], r[5])
		it.ValidFrom = at
		if r[2] != "" {
			key := r[1] + "/" + r[2]
			it.Turn.Thread, it.Turn.Session, it.Turn.Position = r[1], key, position[key]
			position[key]++
		} else {
			it.Kind = store.Semantic
		}
		v, _ := hashed{}.EmbedQuery(t.Context(), r[5])
		f.add(store.Scope{Tenant: "golden", User: r[1]}, it, (&store.Embedding{Own: [][]float32{v}}).Rows()...)
	}
	return f
}

// The rankings of a small set of our own writing, with their metrics, stand in testdata/golden/*.golden: a change of
// ranking shows there. `go test ./recall -run Golden -args -update` writes them anew; look at the difference before keeping it.
func TestGoldenRankings(t *testing.T) {
	f := goldenStore(t)
	for name, e := range map[string]embed.Embedder{"lexical": nil, "hashed": hashed{}, "late": hashedPieces{}} {
		t.Run(name, func(t *testing.T) {
			eng := engine(t, f, e, Options{})
			if name == "late" {
				eng.table = hashedTable(t)
			}
			var b strings.Builder
			var found, gain float64
			qs := rows(t, "questions.tsv")
			for _, q := range qs {
				res, err := eng.Recall(t.Context(), []store.Scope{{Tenant: "golden", User: q[0]}}, Request{Query: q[1], MinScore: ptr(0.0)})
				if err != nil {
					t.Fatal(err)
				}
				relevant := strings.Split(q[2], ",")
				fmt.Fprintf(&b, "\n%s  [%s, confidence %.1f]\n", q[1], q[0], res.Confidence)
				dcg, ideal := 0.0, 0.0
				for i := range relevant {
					ideal += 1 / math.Log2(float64(i+2))
				}
				for i, h := range res.Hits {
					mark := ""
					if slices.Contains(relevant, h.Item.ID) {
						mark = " *"
						found += 1 / float64(len(relevant)) / float64(len(qs))
						dcg += 1 / math.Log2(float64(i+2))
					}
					if h.Parts.Update > 0 {
						mark += fmt.Sprintf(" update %.2f", h.Parts.Update)
					}
					fmt.Fprintf(&b, "%d %s %.2f%s\n", i+1, h.Item.ID, h.Score, mark)
				}
				gain += dcg / ideal / float64(len(qs))
			}
			got := fmt.Sprintf("%d questions: recall@5 %.3f, ndcg@5 %.3f. A star marks what answers the question.\n%s", len(qs), found, gain, b.String())
			path := filepath.Join("testdata", "golden", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the ranking changed; if it is for the better, run with -args -update and review %s:\n%s", path, firstDifference(got, string(want)))
			}
			if found < 0.85 {
				t.Errorf("recall@5 is %.3f", found)
			}
		})
	}
}

// firstDifference shows the lines from the first that differs.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d\n got: %s\nwant: %s", i+1, strings.Join(g[i:min(i+6, len(g))], " | "), strings.Join(w[min(i, len(w)):min(i+6, len(w))], " | "))
		}
	}
	return fmt.Sprintf("%d lines instead of %d", len(g), len(w))
}
