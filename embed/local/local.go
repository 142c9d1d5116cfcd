// Package local embeds text on this machine, with no service, no key and no
// native library: a BERT-shaped encoder in pure Go over the weights of
// published packages (see embed/modelstore for getting them).
//
// A vector depends on its text alone, to the bit, not on the batch it came in
// nor on the load of the machine. Between processors with and without AVX-512
// or AVX2 it differs by rounding (cosine above 0.99999).
//
// # Concurrency
//
// An Encoder may be used from any number of goroutines. At most Options.Threads
// of them compute at a time; the others wait their turn, queries before
// passages. Passages step back between two layers while a query computes, for a
// quarter of a second a run at most, and leave one of several threads free for a
// second after each query. Working memory is pooled: about 15 KB per token being computed,
// 256 to 512 tokens a thread.
package local

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"evoke/embed"
	"evoke/embed/centre"
	"evoke/embed/internal/bert"
	"evoke/embed/internal/simd"
)

// Options tune an Encoder. The zero value is the default.
type Options struct {
	// Threads is how many runs may compute at a time, 1 to 1024. Default: the
	// number of processors Go uses (GOMAXPROCS).
	Threads int
	// MaxTokens cuts texts after so many tokens, 8 to the model's own maximum
	// (512 for the models known here). Default: that maximum.
	MaxTokens int
	// Raw leaves the vectors as the model gives them, not centred.
	Raw bool
	// Instructions limits the processor extensions used: "avx512", "avx2" or
	// "generic". Default: the best that the machine has. For measurements.
	Instructions string
}

// Encoder is a local embedder. It implements embed.PieceEmbedder.
type Encoder struct {
	spec      Spec
	model     embed.Model
	tok       tokenizer
	net       *bert.Model
	means     *centre.Means // nil: raw
	maxTokens int
	threads   int
	gate      *gate
	scratch   sync.Pool
	prefixes  map[embed.Role]int // tokens of a role's prefix
}

var (
	_ embed.PieceEmbedder      = (*Encoder)(nil)
	_ embed.QueryPieceEmbedder = (*Encoder)(nil)
)

// maxText bounds the bytes of a text that are looked at. No model known here
// reads as much.
const maxText = 256 << 10

// batchTokens is how many tokens run together. More saves nothing, and a run
// should end soon enough to give way.
const batchTokens = 256

// maxThreads bounds Options.Threads.
const maxThreads = 1024

// newEncoder puts the parts of a model together.
func newEncoder(spec Spec, revision string, w bert.Weights, tok tokenizer, opts *Options) (*Encoder, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	level, err := o.level()
	if err != nil {
		return nil, err
	}
	net, err := bert.New(w, level)
	if err != nil {
		return nil, fmt.Errorf("open model %s: %w: %w", spec.Name, embed.ErrDamaged, err)
	}
	if tok.Size() > net.Vocabulary() {
		return nil, fmt.Errorf("open model %s: %w: the tokenizer has %d ids, the weights %d", spec.Name, embed.ErrDamaged, tok.Size(), net.Vocabulary())
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = net.MaxTokens()
	}
	if o.Threads < 1 || o.Threads > maxThreads {
		return nil, fmt.Errorf("open model %s: %w: Threads is %d: set 1 to %d, or 0 for the number of processors", spec.Name, embed.ErrInvalid, o.Threads, maxThreads)
	}
	if o.MaxTokens < minTokens || o.MaxTokens > net.MaxTokens() {
		return nil, fmt.Errorf("open model %s: %w: MaxTokens is %d: set %d to %d, or 0 for the most", spec.Name, embed.ErrInvalid, o.MaxTokens, minTokens, net.MaxTokens())
	}
	e := &Encoder{
		spec: spec, tok: tok, net: net, maxTokens: o.MaxTokens, threads: o.Threads, gate: newGate(o.Threads),
		model: embed.Model{Name: spec.Name, Revision: revision, Dim: net.Dim(), Pooling: string(spec.Pooling), Low: spec.Low, High: spec.High},
	}
	e.scratch.New = func() any { return new(bert.Scratch) }
	if means := centre.For(spec.Name); means != nil && !o.Raw && means.Dim() == net.Dim() {
		e.means = means
		e.model.Centring, e.model.Low, e.model.High = means.Version(), centre.Low, centre.High
	}
	e.prefixes = map[embed.Role]int{
		embed.Query:   len(tok.Encode(strings.TrimSpace(spec.QueryPrefix), e.maxTokens)) - 1,
		embed.Passage: len(tok.Encode(strings.TrimSpace(spec.PassagePrefix), e.maxTokens)) - 1,
	}
	return e, nil
}

// minTokens leaves room for the marks and a prefix.
const minTokens = 8

func (o *Options) level() (simd.Level, error) {
	switch o.Instructions {
	case "":
		return simd.Best(), nil
	case simd.AVX512.String():
		return simd.AVX512, nil
	case simd.AVX2.String():
		return simd.AVX2, nil
	case simd.Generic.String():
		return simd.Generic, nil
	}
	return 0, fmt.Errorf("%w: Instructions is %q: set avx512, avx2, generic or nothing", embed.ErrInvalid, o.Instructions)
}

// Model is the identity of the vector space.
func (e *Encoder) Model() embed.Model { return e.model }

// Instructions names the processor extensions in use: "avx512", "avx2" or
// "generic".
func (e *Encoder) Instructions() string { return e.net.Level().String() }

// EmbedQuery returns the vector of a query.
func (e *Encoder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	out := make([][]float32, 1)
	b := batch{seqs: [][]int32{e.tokens(embed.Query, text)}, texts: []string{text}, out: out, index: []int{0}}
	if err := e.run(ctx, queries, b); err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	return out[0], nil
}

// EmbedPassages returns the vectors of passages, in order.
func (e *Encoder) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, ctx.Err()
	}
	seqs := make([][]int32, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("embed passages: %w", err)
		}
		seqs[i] = e.tokens(embed.Passage, t)
	}
	out := make([][]float32, len(texts))
	if err := e.runAll(ctx, batches(seqs, texts, out)); err != nil {
		return nil, fmt.Errorf("embed passages: %w", err)
	}
	return out, nil
}

// tokens splits a text under the prefix of its role.
func (e *Encoder) tokens(role embed.Role, text string) []int32 {
	prefix := e.spec.PassagePrefix
	if role == embed.Query {
		prefix = e.spec.QueryPrefix
	}
	if len(text) > maxText {
		text = text[:maxText]
		for !utf8.RuneStart(text[len(text)-1]) {
			text = text[:len(text)-1]
		}
		text = text[:len(text)-1]
	}
	return e.tok.Encode(prefix+strings.ToValidUTF8(text, "\uFFFD"), e.maxTokens)
}

// pool makes a text's vector from the vectors of its tokens.
func (e *Encoder) pool(hidden []float32, text string) []float32 {
	dim := e.model.Dim
	v := make([]float32, dim)
	if e.spec.Pooling == CLS {
		copy(v, hidden)
	} else {
		for ; len(hidden) > 0; hidden = hidden[dim:] {
			for i, x := range hidden[:dim] {
				v[i] += x
			}
		}
	}
	normalise(v)
	if e.means != nil {
		e.means.Apply(v, text)
	}
	return v
}

// normalise gives v unit length; a vector without length becomes the first axis.
func normalise(v []float32) {
	var n float64
	for _, x := range v {
		n += float64(x) * float64(x)
	}
	if n == 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		clear(v)
		v[0] = 1
		return
	}
	k := 1 / math.Sqrt(n)
	for i, x := range v {
		v[i] = float32(float64(x) * k)
	}
}
