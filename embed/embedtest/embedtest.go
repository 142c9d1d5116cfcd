// Package embedtest is the contract of embed.Embedder as tests. Every embedder's
// own tests run it:
//
//	func TestContract(t *testing.T) {
//		embedtest.Run(t, func(t *testing.T) embed.Embedder { return … })
//	}
package embedtest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"evoke/embed"
)

// texts are passages of several scripts and shapes.
var texts = []string{
	"The train to the coast leaves at seven in the morning.",
	"Meine Schwester spielt seit Januar Cello.",
	"我妹妹下个月要搬到海边去住。",
	"昨日、駅前のパン屋さんに行きました。",
	"다음 주에 이사를 가요.",
	"Мой дед чинил часы в маленькой мастерской.",
	"كان جدي يصلح الساعات.",
	"मुझे मूँगफली से एलर्जी है।",
	"พรุ่งนี้ประชุมเริ่มกี่โมง",
	"ok",
	strings.Repeat("a long walk along the river ", 40),
	"🚀🚀 1234 — (!?)",
}

// Run checks the contract. open returns a fresh embedder, or the same one again
// if it is dear; it cleans up through t.
func Run(t *testing.T, open func(t *testing.T) embed.Embedder) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(t *testing.T, e embed.Embedder)
	}{
		{"Model", testModel},
		{"Shape", testShape},
		{"Order", testOrder},
		{"BatchIndependence", testBatchIndependence},
		{"Repeatable", testRepeatable},
		{"NoTexts", testNoTexts},
		{"AnyText", testAnyText},
		{"CallersOwnVectors", testOwnership},
		{"Cancelled", testCancelled},
		{"Concurrent", testConcurrent},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

// tolerance of a cosine that should be 1. Services round.
const tolerance = 1e-4

func testModel(t *testing.T, e embed.Embedder) {
	m := e.Model()
	if m.Name == "" || m.Dim <= 0 || m.Pooling == "" {
		t.Errorf("model %+v lacks name, dimension or pooling", m)
	}
	if m.Views != "" {
		t.Errorf("Views is %q: it is the caller's to set", m.Views)
	}
	if !(m.Low < m.High) || m.Low < -1 || m.High > 1 {
		t.Errorf("ends %v and %v are not in order within [-1, 1]", m.Low, m.High)
	}
	if e.Model() != m {
		t.Error("the model changes from call to call")
	}
}

func testShape(t *testing.T, e embed.Embedder) {
	vs := passages(t, e, texts)
	for i, v := range vs {
		checkVector(t, e, texts[i], v)
	}
	checkVector(t, e, texts[0], query(t, e, texts[0]))
}

func checkVector(t *testing.T, e embed.Embedder, text string, v []float32) {
	t.Helper()
	if len(v) != e.Model().Dim {
		t.Fatalf("%.30q has %d components, want %d", text, len(v), e.Model().Dim)
	}
	if n := math.Sqrt(dot(v, v)); !(math.Abs(n-1) < 1e-3) {
		t.Errorf("%.30q has length %v, want 1", text, n)
	}
}

func testOrder(t *testing.T, e embed.Embedder) {
	forward := passages(t, e, texts)
	backward := make([]string, len(texts))
	for i, s := range texts {
		backward[len(texts)-1-i] = s
	}
	for i, v := range passages(t, e, backward) {
		if d := dot(v, forward[len(texts)-1-i]); d < 1-tolerance {
			t.Errorf("%.30q: cosine %v between the batch and its reverse", backward[i], d)
		}
	}
	// A model may know little of some script, but not of most.
	same := 0
	for i := range forward[1:] {
		if dot(forward[i], forward[i+1]) > 1-tolerance {
			same++
		}
	}
	if same > len(texts)/2 {
		t.Errorf("%d of %d texts have the vector of their neighbour", same, len(texts))
	}
}

func testBatchIndependence(t *testing.T, e embed.Embedder) {
	batch := passages(t, e, texts)
	for i, s := range texts {
		if d := dot(passages(t, e, []string{s})[0], batch[i]); d < 1-tolerance {
			t.Errorf("%.30q: cosine %v between alone and in a batch", s, d)
		}
	}
}

func testRepeatable(t *testing.T, e embed.Embedder) {
	if d := dot(query(t, e, texts[2]), query(t, e, texts[2])); d < 1-tolerance {
		t.Errorf("cosine %v between two calls", d)
	}
	vs := passages(t, e, []string{texts[0], texts[1], texts[0]})
	if d := dot(vs[0], vs[2]); d < 1-tolerance {
		t.Errorf("cosine %v between a text and itself in one batch", d)
	}
}

func testNoTexts(t *testing.T, e embed.Embedder) {
	for _, none := range [][]string{nil, {}} {
		vs, err := e.EmbedPassages(context.Background(), none)
		if err != nil || len(vs) != 0 {
			t.Errorf("no texts give %d vectors and %v, want none and no error", len(vs), err)
		}
	}
}

func testAnyText(t *testing.T, e embed.Embedder) {
	hard := []string{
		"", " ", "\n\t", "\x00", "a\x00b", "\xff\xfe\xfd", "broken \xe6\x88 end", "\xed\xa0\x80 lone surrogate",
		"\u200b\u200d", "\u202egnp", strings.Repeat("e\u0301", 50), strings.Repeat("\u0300", 50), strings.Repeat("x", 100_000),
		strings.Repeat("界", 20_000), strings.Repeat(" ", 50_000), "[CLS] [SEP] <s> </s> <mask>",
	}
	for i, v := range passages(t, e, hard) {
		checkVector(t, e, hard[i], v)
	}
	for _, s := range hard {
		checkVector(t, e, s, query(t, e, s))
	}
}

func testOwnership(t *testing.T, e embed.Embedder) {
	want := query(t, e, texts[0])
	spoiled := query(t, e, texts[0])
	clear(spoiled)
	if d := dot(query(t, e, texts[0]), want); d < 1-tolerance {
		t.Error("writing to a query's vector changes later answers")
	}
	clear(passages(t, e, texts[:1])[0])
	checkVector(t, e, texts[0], passages(t, e, texts[:1])[0])
}

func testCancelled(t *testing.T, e embed.Embedder) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.EmbedQuery(ctx, "never asked before: a cancelled question"); !errors.Is(err, context.Canceled) {
		t.Errorf("query: error %v, want context.Canceled", err)
	}
	if _, err := e.EmbedPassages(ctx, []string{"never asked before: a cancelled passage"}); !errors.Is(err, context.Canceled) {
		t.Errorf("passages: error %v, want context.Canceled", err)
	}
}

func testConcurrent(t *testing.T, e embed.Embedder) {
	want := passages(t, e, texts)
	asked := query(t, e, texts[0])
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			if i%2 == 0 {
				v, err := e.EmbedQuery(context.Background(), texts[0])
				if err != nil || dot(v, asked) < 1-tolerance {
					t.Errorf("a concurrent query gives another vector (error %v)", err)
				}
				return
			}
			vs, err := e.EmbedPassages(context.Background(), texts)
			if err != nil {
				t.Error(err)
				return
			}
			for j := range vs {
				if dot(vs[j], want[j]) < 1-tolerance {
					t.Errorf("concurrent calls give %.30q another vector", texts[j])
				}
			}
		})
	}
	wg.Wait()
}

func passages(t *testing.T, e embed.Embedder, texts []string) [][]float32 {
	t.Helper()
	vs, err := e.EmbedPassages(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(vs) != len(texts) {
		t.Fatalf("%d texts give %d vectors", len(texts), len(vs))
	}
	return vs
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
