package evoke

import (
	"context"
	"evoke/embed"
	"evoke/extract/message"
	"evoke/recall"
	"evoke/scoring"
	"hash/fnv"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// bagEmbedder is a small real vector space: a text is the normalised sum of fixed pseudo-random vectors of its tokens.
type bagEmbedder struct {
	revision string
	mu       sync.Mutex
	fail     error
}

func (b *bagEmbedder) Model() embed.Model {
	return embed.Model{Name: "bag", Revision: b.revision, Dim: 64, Pooling: "mean", Low: 0, High: 1}
}

func (b *bagEmbedder) setFail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = err
}

func (b *bagEmbedder) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return nil, b.fail
	}
	vs := make([][]float32, len(texts))
	for i, t := range texts {
		vs[i] = bag(t)
	}
	return vs, ctx.Err()
}

func (b *bagEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vs, err := b.EmbedPassages(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vs[0], nil
}

func bag(text string) []float32 {
	v := make([]float32, 64)
	for _, tok := range append(scoring.Tokens(text), "·") {
		h := fnv.New64a()
		h.Write([]byte(tok))
		x := h.Sum64()
		for i := range v {
			x = x*6364136223846793005 + 1442695040888963407
			v[i] += float32(int64(x>>33)%2000-1000) / 1000
		}
	}
	var n float64
	for _, f := range v {
		n += float64(f) * float64(f)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(n))
	}
	return v
}

// testClock is a clock that a test sets while the workers read it.
type testClock struct{ at atomic.Pointer[time.Time] }

func clockAt(at time.Time) *testClock {
	c := &testClock{}
	c.set(at)
	return c
}

func (c *testClock) set(at time.Time) { c.at.Store(&at) }
func (c *testClock) now() time.Time   { return *c.at.Load() }

func open(t *testing.T, o *Options) *Memory {
	t.Helper()
	m, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func chat(lines ...string) []message.Message {
	ms := make([]message.Message, len(lines))
	for i, l := range lines {
		ms[i] = message.Message{Role: message.User, Content: l}
		if i%2 == 1 {
			ms[i].Role = message.Assistant
		}
	}
	return ms
}

func settle(t *testing.T, m *Memory) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := m.Settle(ctx); err != nil {
		t.Fatal(err)
	}
}

func contents(hits []recall.Hit) string {
	var s []string
	for _, h := range hits {
		s = append(s, h.Item.Content)
	}
	return strings.Join(s, "|")
}
