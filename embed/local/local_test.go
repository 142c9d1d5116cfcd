package local_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"evoke/embed"
	"evoke/embed/embedtest"
	"evoke/embed/internal/tinymodel"
	"evoke/embed/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// spec is a tiny model whose file the caller writes.
func spec() local.Spec {
	return local.Spec{
		Name: "tiny", Weights: "weights", Tokenizer: "tokenizer.json", Heads: tinymodel.Heads, Pooling: local.Mean,
		QueryPrefix: "query: ", PassagePrefix: "passage: ", High: 1,
	}
}

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, weights []byte, s local.Spec, o *local.Options) *local.Encoder {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, s.Weights, weights)
	if s.Tokenizer != "" {
		write(t, dir, s.Tokenizer, tinymodel.Tokenizer())
	}
	e, err := local.Open(dir, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// files are the formats of weights.
func files() map[string][]byte {
	return map[string][]byte{
		"e5s1":            tinymodel.E5S1(1),
		"onnx":            tinymodel.ONNX(1, tinymodel.Float, ""),
		"onnx in bert":    tinymodel.ONNX(1, tinymodel.Float, "bert."),
		"onnx per col":    tinymodel.ONNX(1, tinymodel.PerColumn, ""),
		"onnx per tensor": tinymodel.ONNX(1, tinymodel.PerTensor, ""),
	}
}

func TestContract(t *testing.T) {
	for name, weights := range files() {
		if name != "e5s1" && name != "onnx per col" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			embedtest.Run(t, func(t *testing.T) embed.Embedder { return open(t, weights, spec(), &local.Options{Threads: 2}) })
		})
	}
}

func TestFormatsOpen(t *testing.T) {
	ctx := context.Background()
	seen := make(map[string]string)
	for name, weights := range files() {
		e := open(t, weights, spec(), nil)
		v, err := e.EmbedQuery(ctx, "the train")
		if err != nil || len(v) != tinymodel.Hidden {
			t.Fatalf("%s: %d components, %v", name, len(v), err)
		}
		m := e.Model()
		if m.Name != "tiny" || m.Dim != tinymodel.Hidden || m.Pooling != "mean" || m.Centring != "" || len(m.Revision) != 12 {
			t.Errorf("%s: model %+v", name, m)
		}
		if other, ok := seen[m.Revision]; ok {
			t.Errorf("%s and %s have the same revision", name, other)
		}
		seen[m.Revision] = name
	}
}

func TestRootsOfNamesDoNotMatter(t *testing.T) {
	a := open(t, tinymodel.ONNX(5, tinymodel.Float, ""), spec(), nil)
	b := open(t, tinymodel.ONNX(5, tinymodel.Float, "bert."), spec(), nil)
	va, vb := query(t, a, "walking"), query(t, b, "walking")
	if d := dot(va, vb); d < 1-1e-6 {
		t.Errorf("cosine %v between one model under two names", d)
	}
}

func query(t *testing.T, e embed.Embedder, text string) []float32 {
	t.Helper()
	v, err := e.EmbedQuery(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func dot(a, b []float32) float64 {
	var d float64
	for i := range a {
		d += float64(a[i]) * float64(b[i])
	}
	return d
}

func TestBatchesAreExact(t *testing.T) {
	ctx := context.Background()
	e := open(t, tinymodel.E5S1(2), spec(), &local.Options{Threads: 3})
	var texts []string
	for i := range 60 {
		texts = append(texts, strings.Repeat("walking the train ", i%7)+string(rune('a'+i%26)))
	}
	batch, err := e.EmbedPassages(ctx, texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range texts {
		alone, err := e.EmbedPassages(ctx, []string{s})
		if err != nil {
			t.Fatal(err)
		}
		for j := range alone[0] {
			if alone[0][j] != batch[i][j] {
				t.Fatalf("text %d differs in component %d between alone and in a batch", i, j)
			}
		}
	}
}

func TestInstructionLevelsAgree(t *testing.T) {
	weights := tinymodel.ONNX(3, tinymodel.PerColumn, "")
	text := "the train and a walk, 世界!"
	want := query(t, open(t, weights, spec(), &local.Options{Instructions: "generic"}), text)
	for _, level := range []string{"avx2", "avx512", ""} {
		e := open(t, weights, spec(), &local.Options{Instructions: level})
		if d := dot(query(t, e, text), want); d < 0.99999 {
			t.Errorf("%q (runs %s): cosine %v with the portable version", level, e.Instructions(), d)
		}
	}
}

func TestPoolingCLS(t *testing.T) {
	s := spec()
	s.Pooling = local.CLS
	weights := tinymodel.E5S1(4)
	cls, mean := open(t, weights, s, nil), open(t, weights, spec(), nil)
	if d := dot(query(t, cls, "the train"), query(t, mean, "the train")); d > 0.999 {
		t.Errorf("cosine %v between the poolings: they should differ", d)
	}
	if cls.Model().ID() == mean.Model().ID() {
		t.Error("poolings share an identity")
	}
}

func TestPieces(t *testing.T) {
	ctx := context.Background()
	e := open(t, tinymodel.E5S1(1), spec(), nil)
	p, ok := embed.Pieces(e)
	if !ok {
		t.Fatal("the encoder offers no pieces")
	}
	pieces, err := p.EmbedPieces(ctx, embed.Query, "the training 世界")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range pieces {
		texts = append(texts, p.Text)
		if n := dot(p.Vector, p.Vector); math.Abs(n-1) > 1e-3 || len(p.Vector) != tinymodel.Hidden {
			t.Errorf("piece %q: %d components, squared length %v", p.Text, len(p.Vector), n)
		}
	}
	if got, want := strings.Join(texts, " "), "\u2581the \u2581train ing \u2581 世界"; got != want {
		t.Errorf("pieces %q, want %q", got, want)
	}
	if none, err := p.EmbedPieces(ctx, embed.Passage, ""); err != nil || len(none) > 1 { // at most the space of the prefix
		t.Errorf("an empty text has %d pieces, %v", len(none), err)
	}
	if _, err := p.EmbedPieces(ctx, "reader", "x"); !errors.Is(err, embed.ErrInvalid) {
		t.Errorf("unknown role: %v", err)
	}
}

// A query's vector and its pieces from one pass are those of two.
func TestQueryPieces(t *testing.T) {
	ctx := context.Background()
	e := open(t, tinymodel.E5S1(1), spec(), nil)
	v, pieces, err := e.EmbedQueryPieces(ctx, "the training 世界")
	if err != nil {
		t.Fatal(err)
	}
	want, err := e.EmbedPieces(ctx, embed.Query, "the training 世界")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(query(t, e, "the training 世界"), v); diff != "" {
		t.Error("vector:", diff)
	}
	if diff := cmp.Diff(want, pieces); diff != "" {
		t.Error("pieces:", diff)
	}
	if words := e.Vocabulary(); len(words) == 0 || words[pieces[1].ID] != pieces[1].Text {
		t.Errorf("%d words in the vocabulary", len(words))
	}
}

func TestLongTextsAreCut(t *testing.T) {
	e := open(t, tinymodel.E5S1(1), spec(), &local.Options{MaxTokens: 20})
	for _, s := range []string{strings.Repeat("a ", 1<<20), strings.Repeat("x", 5<<20), strings.Repeat("世", 1<<20), strings.Repeat(" ", 1<<20)} {
		if n := len(e.Tokens(embed.Query, s)); n > 20 {
			t.Errorf("%d tokens, want at most 20", n)
		}
	}
	long, cut := strings.Repeat("the train ", 100), strings.Repeat("the train ", 50)
	if d := dot(query(t, e, long), query(t, e, cut)); d < 1-1e-6 {
		t.Errorf("cosine %v between a long text and its beginning", d)
	}
}

func TestSteadyStateAllocatesLittle(t *testing.T) {
	e := open(t, tinymodel.E5S1(1), spec(), &local.Options{Threads: 1})
	ctx := context.Background()
	query(t, e, "the train is walking")
	n := testing.AllocsPerRun(50, func() {
		if _, err := e.EmbedQuery(ctx, "the train is walking"); err != nil {
			t.Error(err)
		}
	})
	// The answer, its tokens, the prefixed text and the batch around them.
	if n > 12 {
		t.Errorf("%v allocations a query, want at most 12", n)
	}
}

func TestQueriesAndPassagesTogether(t *testing.T) {
	e := open(t, tinymodel.E5S1(1), spec(), &local.Options{Threads: 1})
	want := query(t, e, "the train")
	texts := make([]string, 200)
	for i := range texts {
		texts[i] = strings.Repeat("walk ", 40)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := e.EmbedPassages(context.Background(), texts); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			for range 50 {
				v, err := e.EmbedQuery(context.Background(), "the train")
				if err != nil || dot(v, want) < 1-1e-6 {
					t.Errorf("query beside passages: %v", err)
				}
			}
		})
	}
	// Calls that are given up in the middle leave no place taken.
	for range 20 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			go cancel()
			if _, err := e.EmbedPassages(ctx, texts); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	query(t, e, "still answers")
}

func TestOpenRefuses(t *testing.T) {
	good := tinymodel.E5S1(1)
	for _, c := range []struct {
		name    string
		weights []byte
		change  func(s *local.Spec)
		opts    local.Options
		want    error
		say     string
	}{
		{"no name", good, func(s *local.Spec) { s.Name = "" }, local.Options{}, embed.ErrInvalid, "name"},
		{"pooling", good, func(s *local.Spec) { s.Pooling = "max" }, local.Options{}, embed.ErrInvalid, "pooling"},
		{"ends", good, func(s *local.Spec) { s.High = 0 }, local.Options{}, embed.ErrInvalid, "Low"},
		{"threads", good, nil, local.Options{Threads: -1}, embed.ErrInvalid, "Threads"},
		{"many tokens", good, nil, local.Options{MaxTokens: 1000}, embed.ErrInvalid, "MaxTokens"},
		{"instructions", good, nil, local.Options{Instructions: "mmx"}, embed.ErrInvalid, "Instructions"},
		{"no file", good, func(s *local.Spec) { s.Weights = "other" }, local.Options{}, os.ErrNotExist, "other"},
		{"cut short", good[:len(good)/2], nil, local.Options{}, embed.ErrDamaged, "weights"},
		{"empty", nil, nil, local.Options{}, embed.ErrDamaged, "weights"},
		{"not a model", []byte("hello, this is no model"), nil, local.Options{}, embed.ErrDamaged, "weights"},
		{"no tokenizer", tinymodel.ONNX(1, tinymodel.Float, ""), func(s *local.Spec) { s.Tokenizer = "" }, local.Options{}, embed.ErrDamaged, "tokenizer"},
		{"tokenizer missing", tinymodel.ONNX(1, tinymodel.Float, ""), func(s *local.Spec) { s.Tokenizer = "t" }, local.Options{}, os.ErrNotExist, "t"},
		{"tokenizer broken", tinymodel.ONNX(1, tinymodel.Float, ""), func(s *local.Spec) { s.Tokenizer = "weights" }, local.Options{}, embed.ErrDamaged, "tokenizer"},
		{"heads", tinymodel.ONNX(1, tinymodel.Float, ""), func(s *local.Spec) { s.Heads = 3 }, local.Options{}, embed.ErrDamaged, "heads"},
		{"folder", good, func(s *local.Spec) { s.Weights = "." }, local.Options{}, embed.ErrDamaged, "regular"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, s := t.TempDir(), spec()
			write(t, dir, "weights", c.weights)
			write(t, dir, "tokenizer.json", tinymodel.Tokenizer())
			if c.change != nil {
				c.change(&s)
			}
			_, err := local.Open(dir, s, &c.opts)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.say) {
				t.Errorf("error %v, want %v that says %q", err, c.want, c.say)
			}
		})
	}
}
