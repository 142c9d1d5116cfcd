// Package fake is an embedder for tests: its vectors are hashes of the texts.
package fake

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"sync"

	"evoke/embed"
)

// Dim is the number of components of a fake vector.
const Dim = 32

// Embedder is a fake. The zero value works.
type Embedder struct {
	// Name of the model; default "fake".
	Name string

	mu    sync.Mutex
	err   error
	asked []string
}

// Fail makes every call fail with err, until called with nil.
func (e *Embedder) Fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

// Asked lists the calls, as "query[text]" and "passages[text text]".
func (e *Embedder) Asked() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.asked...)
}

// Model is the fake's identity.
func (e *Embedder) Model() embed.Model {
	name := e.Name
	if name == "" {
		name = "fake"
	}
	return embed.Model{Name: name, Revision: "1", Dim: Dim, Pooling: "mean", Low: 0, High: 1}
}

func (e *Embedder) call(ctx context.Context, what string, texts []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, fmt.Sprintf("%s%v", what, texts))
	if e.err != nil {
		return e.err
	}
	return ctx.Err()
}

// EmbedQuery hashes a query.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := e.call(ctx, "query", []string{text}); err != nil {
		return nil, err
	}
	return e.vector(text), nil
}

// EmbedPassages hashes passages.
func (e *Embedder) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	if err := e.call(ctx, "passages", texts); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = e.vector(t)
	}
	return out, nil
}

func (e *Embedder) vector(text string) []float32 {
	h := sha256.Sum256([]byte(e.Model().Name + "\x00" + text))
	v := make([]float32, Dim)
	var n float64
	for i := range v {
		v[i] = float32(h[i]) - 127.5
		n += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(n))
	}
	return v
}
