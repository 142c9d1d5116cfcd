package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"evoke/embed"
	"evoke/scoring"
)

// bag is a small vector space: a text is the normalised sum of fixed vectors of its tokens.
type bag struct{ cached bool }

func (bag) Model() embed.Model {
	return embed.Model{Name: "bag", Dim: 32, Pooling: "mean", Low: 0, High: 1}
}

func (b bag) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	if b.cached {
		return nil, fmt.Errorf("a cache was asked")
	}
	vs := make([][]float32, len(texts))
	for i, t := range texts {
		v := make([]float32, 32)
		for _, tok := range append(scoring.Tokens(t), "·") {
			h := fnv.New64a()
			h.Write([]byte(tok))
			for x, j := h.Sum64(), 0; j < len(v); j++ {
				x = x*6364136223846793005 + 1442695040888963407
				v[j] += float32(int64(x>>33)%2000-1000) / 1000
			}
		}
		var n float64
		for _, f := range v {
			n += float64(f) * float64(f)
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(n))
		}
		vs[i] = v
	}
	return vs, ctx.Err()
}

func (b bag) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vs, err := b.EmbedPassages(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vs[0], nil
}

// kept stands in front of an embedder as a cache does.
type kept struct{ bag }

func (kept) Unwrap() embed.Embedder { return bag{} }

func smallSet() *Set {
	words := strings.Fields("harbour lantern violin marmalade glacier saddle orchid compass tunnel pepper quilt falcon")
	n := Namespace{Name: "a"}
	for i := range 24 {
		n.Items = append(n.Items, Item{ID: fmt.Sprint("m", i), Text: fmt.Sprintf("We spoke about the %s and the %s today.", words[i%12], words[(i*5+1)%12]),
			Speaker: "Ann", Time: time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC), Session: fmt.Sprint(i / 6), Seq: i % 6, Chat: true})
	}
	for _, w := range words {
		n.Questions = append(n.Questions, Question{Text: " who spoke about the " + w + "? "})
		n.Labels = append(n.Labels, Label{})
	}
	return &Set{Name: "small", Namespaces: []Namespace{n}}
}

func TestLatencyRun(t *testing.T) {
	var said []string
	r, err := RunLatency(t.Context(), kept{bag{cached: true}}, smallSet(), &LatencyOptions{Sizes: []int{60, 130}, Calls: 15, Dir: t.TempDir(), Progress: func(s string) { said = append(said, s) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sizes) != 2 || r.Sizes[1].Items != 130 || r.Sizes[0].Given.N != 15 || r.Sizes[0].Encoder.P50 <= 0 || r.Sizes[0].Cold <= 0 || len(said) == 0 {
		t.Errorf("%+v", r)
	}
	for _, s := range r.Spectrum {
		if math.Abs(s.Set-s.Made) > 0.35 {
			t.Errorf("%s: %v of the set, %v made", s.What, s.Set, s.Made)
		}
	}
	checkReport(t, r, "| 130 | 15 |")
	if runtime.GOOS == "linux" && (r.Sizes[0].Resident < 1 || r.Sizes[0].Resident > 1e5) {
		t.Errorf("%v MB resident", r.Sizes[0].Resident)
	}
	if _, err := RunLatency(t.Context(), bag{}, &Set{Name: "empty"}, nil); err == nil {
		t.Error("an empty set makes no items")
	}
}

func TestIngestRun(t *testing.T) {
	r, err := RunIngest(t.Context(), kept{bag{cached: true}}, smallSet(), &IngestOptions{Rate: 400, Events: 40, Vectors: 3 * time.Second, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if r.Ack.N != 40 || r.Ack.P95 <= 0 || r.Turns != 80 || r.Model == "" {
		t.Errorf("%+v", r)
	}
	checkReport(t, r, "40 events of two short turns at 400 a second")
	if _, err := RunIngest(t.Context(), bag{}, &Set{Name: "empty"}, nil); err == nil {
		t.Error("an empty set has no turns")
	}
}

// report is what every run makes.
type report interface {
	WriteMarkdown(w io.Writer) error
	WriteJSON(w io.Writer) error
}

func checkReport(t *testing.T, r report, want string) {
	t.Helper()
	var out bytes.Buffer
	if err := r.WriteMarkdown(&out); err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	if err := r.WriteJSON(&out); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("%v: %s", err, out.String())
	}
}
