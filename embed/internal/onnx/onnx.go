// Package onnx reads the weights of BERT-shaped encoders out of ONNX files,
// without running the graph: constants are found by the names that the common
// exporters give them. Files with 32-bit weights and files with dynamically
// quantised 8-bit weights (one scale a tensor or one a column) are understood.
package onnx

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"evoke/embed/internal/bert"
)

// eps is BERT's layer norm epsilon; ONNX files hold it as an anonymous constant.
const eps = 1e-12

// maxLayers bounds the layers that a file may have.
const maxLayers = 96

// Parse reads a model file; the number of attention heads is not in it. The
// result does not hold on to data.
func Parse(data []byte, heads int) (bert.Weights, error) {
	w, err := parse(data, heads)
	if err != nil {
		return bert.Weights{}, fmt.Errorf("ONNX model file: %w", err)
	}
	return w, nil
}

func parse(data []byte, heads int) (bert.Weights, error) {
	g, err := parseGraph(data)
	if err != nil {
		return bert.Weights{}, err
	}
	root, ok := g.root()
	if !ok {
		return bert.Weights{}, fmt.Errorf("no %q among its %d constants", normName, len(g.tensors))
	}
	b := &builder{g: g, root: root}
	w := bert.Weights{Heads: heads, Eps: eps, Norm: b.norm("embeddings.LayerNorm")}
	h := len(w.Norm.Scale)
	w.Word = b.table("embeddings.word_embeddings.weight", h)
	w.Position = b.table("embeddings.position_embeddings.weight", h)
	kinds := b.table("embeddings.token_type_embeddings.weight", h)
	if b.err != nil {
		return w, b.err
	}
	w.Type = make([]float32, h)
	kinds.Row(w.Type, 0)
	w.Layers = b.layers()
	return w, b.err
}

const normName = "embeddings.LayerNorm.weight"

// root is what stands before the names of the encoder's parts, such as "" or
// "bert.".
func (g *graph) root() (string, bool) {
	var roots []string
	for name := range g.tensors {
		if r, ok := strings.CutSuffix(name, normName); ok {
			roots = append(roots, r)
		}
	}
	if len(roots) == 0 {
		return "", false
	}
	return slices.Min(roots), true
}

// builder turns constants into weights; the first error sticks.
type builder struct {
	g    *graph
	root string
	err  error
}

func (b *builder) fail(name string, err error) {
	if b.err == nil {
		b.err = fmt.Errorf("constant %q: %w", name, err)
	}
}

var errMissing = errors.New("is missing")

func (b *builder) tensor(name string) *tensor {
	if t := b.g.tensors[name]; t != nil {
		return t
	}
	b.fail(name, errMissing)
	return nil
}

func (b *builder) floats(name string) []float32 {
	t := b.tensor(name)
	if t == nil {
		return nil
	}
	f, err := t.asFloats()
	if err != nil {
		b.fail(name, err)
	}
	return f
}

func (b *builder) norm(name string) bert.Norm {
	return bert.Norm{Scale: b.floats(b.root + name + ".weight"), Shift: b.floats(b.root + name + ".bias")}
}

// table reads an embedding table, whole or quantised.
func (b *builder) table(name string, width int) bert.Table {
	name = b.root + name
	var out bert.Table
	var err error
	if b.g.tensors[name] != nil {
		out, err = bert.NewTable(width, b.floats(name))
	} else {
		q := b.quantised(name)
		if b.err != nil {
			return out
		}
		if len(q.scale) != 1 {
			err = fmt.Errorf("has %d scales, one was expected", len(q.scale))
		} else {
			out, err = bert.NewTableInt8(width, bytes.Clone(q.data), q.scale[0], q.zero[0], q.t.kind == typeInt8)
		}
	}
	if err != nil {
		b.fail(name, err)
	}
	return out
}

// quantised is a tensor of 8-bit integers: (value - zero)·scale, with one zero
// and scale or one of each per column.
type quantised struct {
	t     *tensor
	data  []byte
	scale []float32
	zero  []int
}

func (b *builder) quantised(name string) quantised {
	q := quantised{t: b.tensor(name + "_quantized"), scale: b.floats(name + "_scale")}
	zeros := b.tensor(name + "_zero_point")
	if b.err != nil {
		return q
	}
	data, err := q.t.asBytes()
	if err == nil {
		q.data = data
		data, err = zeros.asBytes()
	}
	if err == nil && (len(data) == 0 || len(data) != len(q.scale)) {
		err = fmt.Errorf("has %d scales and %d zero points", len(q.scale), len(data))
	}
	if err != nil {
		b.fail(name, err)
		return q
	}
	for _, z := range data {
		q.zero = append(q.zero, zeros.value(z))
	}
	return q
}

// dense reads the matrix that the graph multiplies by at a node, and its bias.
func (b *builder) dense(name string) bert.Dense {
	node := "/" + strings.ReplaceAll(b.root+name, ".", "/")
	// Node paths keep the dot of "layer.0".
	node = layerPath.Replace(node) + "/MatMul"
	in := b.g.product[node]
	if in == nil {
		in = b.g.product[node+"_quant"]
	}
	if len(in) < 2 {
		b.fail(node, errMissing)
		return bert.Dense{}
	}
	m, err := b.matrix(in[1])
	if err != nil {
		b.fail(in[1], err)
	}
	return bert.Dense{Matrix: m, Bias: b.floats(b.root + name + ".bias")}
}

var layerPath = strings.NewReplacer("/layer/", "/layer.")

func (b *builder) matrix(name string) (bert.Matrix, error) {
	if t := b.g.tensors[name]; t != nil && t.kind == typeFloat {
		k, n, err := t.shape()
		if err != nil {
			return bert.Matrix{}, err
		}
		return bert.NewMatrix(n, k, b.floats(name))
	}
	q := b.quantised(strings.TrimSuffix(name, "_quantized"))
	if b.err != nil {
		return bert.Matrix{}, b.err
	}
	k, n, err := q.t.shape()
	if err != nil {
		return bert.Matrix{}, err
	}
	if len(q.scale) == 1 {
		q.scale, q.zero = slices.Repeat(q.scale, n), slices.Repeat(q.zero, n)
	}
	if len(q.data) != n*k || len(q.scale) != n {
		return bert.Matrix{}, fmt.Errorf("%d×%d with %d values and %d scales", k, n, len(q.data), len(q.scale))
	}
	return q.matrix(n, k)
}

// matrix keeps the weights at 8 bits if they fit once the zero point is taken
// off, as they do in symmetric quantisation; otherwise it widens them.
func (q quantised) matrix(n, k int) (bert.Matrix, error) {
	narrow, fits := make([]int8, n*k), true
	for i, v := range q.data {
		x := q.t.value(v) - q.zero[i%n]
		narrow[i] = int8(x)
		fits = fits && x == int(int8(x))
	}
	if fits {
		return bert.NewMatrixInt8(n, k, narrow, q.scale)
	}
	wide := make([]float32, n*k)
	for i, v := range q.data {
		wide[i] = float32(q.t.value(v)-q.zero[i%n]) * q.scale[i%n]
	}
	return bert.NewMatrix(n, k, wide)
}

// shape is the size of a matrix, inputs first.
func (t *tensor) shape() (k, n int, err error) {
	const limit = 1 << 20
	if len(t.dims) != 2 || t.dims[0] <= 0 || t.dims[1] <= 0 || t.dims[0] > limit || t.dims[1] > limit {
		return 0, 0, fmt.Errorf("shape %v is not that of a matrix", t.dims)
	}
	return t.dims[0], t.dims[1], nil
}

// layers reads all layers that are there, side by side, for packing is most of
// the work of loading.
func (b *builder) layers() []bert.Layer {
	n := 0
	for n < maxLayers && b.g.tensors[b.root+layerName(n)+"attention.self.query.bias"] != nil {
		n++
	}
	out, parts := make([]bert.Layer, n), make([]builder, n)
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() {
			lb := builder{g: b.g, root: b.root}
			out[i] = lb.layer(layerName(i))
			parts[i] = lb
		})
	}
	wg.Wait()
	for _, p := range parts {
		if p.err != nil && b.err == nil {
			b.err = p.err
		}
	}
	return out
}

func layerName(i int) string { return fmt.Sprintf("encoder.layer.%d.", i) }

func (b *builder) layer(p string) bert.Layer {
	return bert.Layer{
		Query: b.dense(p + "attention.self.query"), Key: b.dense(p + "attention.self.key"), Value: b.dense(p + "attention.self.value"),
		Attention: b.dense(p + "attention.output.dense"), AttentionNorm: b.norm(p + "attention.output.LayerNorm"),
		Up: b.dense(p + "intermediate.dense"), Down: b.dense(p + "output.dense"), Norm: b.norm(p + "output.LayerNorm"),
	}
}
