package tinymodel

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// Kind is how an ONNX file holds its weights.
type Kind int

// The kinds of files that exporters make.
const (
	Float     Kind = iota
	PerColumn      // 8 bits, signed, one scale a column
	PerTensor      // 8 bits, unsigned, one scale and zero point
)

// message is a protobuf message under construction.
type message struct{ b []byte }

func (m *message) varint(field int, v uint64) {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3)
	m.b = binary.AppendUvarint(m.b, v)
}

func (m *message) bytes(field int, v []byte) {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3|2)
	m.b = binary.AppendUvarint(m.b, uint64(len(v)))
	m.b = append(m.b, v...)
}

type graph struct {
	message
	r    *rand.Rand
	kind Kind
}

// The element types of ONNX.
const (
	float32s = 1
	uint8s   = 2
	int8s    = 3
)

func (g *graph) tensor(name string, kind int, raw []byte, dims ...int) {
	var t message
	for _, d := range dims {
		t.varint(1, uint64(d))
	}
	t.varint(2, uint64(kind))
	t.bytes(8, []byte(name))
	t.bytes(9, raw)
	g.bytes(5, t.b)
}

func (g *graph) floats(name string, mean float32, dims ...int) {
	n := 1
	for _, d := range dims {
		n *= d
	}
	g.tensor(name, float32s, floats(normals(g.r, n, mean, 0.1)), dims...)
}

// quantised writes a tensor of random bytes with its scales and zero points.
func (g *graph) quantised(name string, kind, scales int, zero byte, dims ...int) {
	raw := make([]byte, dims[0]*dims[1])
	for i := range raw {
		raw[i] = byte(g.r.Uint32())
	}
	zeros := make([]byte, scales)
	for i := range zeros {
		zeros[i] = zero
	}
	scale := make([]float32, scales)
	for i := range scale {
		scale[i] = 0.002 + 0.001*g.r.Float32()
	}
	var shape []int
	if scales > 1 {
		shape = []int{scales}
	}
	g.tensor(name+"_quantized", kind, raw, dims...)
	g.tensor(name+"_scale", float32s, floats(scale), shape...)
	g.tensor(name+"_zero_point", kind, zeros, shape...)
}

func (g *graph) table(name string, rows int) {
	if g.kind == Float {
		g.floats(name, 0, rows, Hidden)
	} else {
		g.quantised(name, uint8s, 1, 120, rows, Hidden)
	}
}

func (g *graph) dense(name, node string, k, n int) {
	const prefix = "onnx::MatMul_"
	weight, op, suffix := prefix+name, "MatMul", ""
	input := weight
	switch g.kind {
	case Float:
		g.floats(weight, 0, k, n)
	case PerColumn:
		g.quantised(weight, int8s, n, 0, k, n)
	default:
		g.quantised(weight, uint8s, 1, 131, k, n)
	}
	if g.kind != Float {
		op, suffix, input = "MatMulInteger", "_quant", weight+"_quantized"
	}
	var m message
	m.bytes(1, []byte("x"))
	m.bytes(1, []byte(input))
	m.bytes(2, []byte("y"))
	m.bytes(3, []byte(node+"/MatMul"+suffix))
	m.bytes(4, []byte(op))
	g.bytes(1, m.b)
	g.floats(name+".bias", 0, n)
}

func (g *graph) norm(name string) {
	g.floats(name+".weight", 1, Hidden)
	g.floats(name+".bias", 0, Hidden)
}

// ONNX makes a file of that format, as exporters lay it out, with root in front
// of the names of its constants.
func ONNX(seed uint64, kind Kind, root string) []byte {
	g := &graph{r: rand.New(rand.NewPCG(seed, 2)), kind: kind}
	g.table(root+"embeddings.word_embeddings.weight", len(Words))
	g.table(root+"embeddings.position_embeddings.weight", Positions)
	g.table(root+"embeddings.token_type_embeddings.weight", 2)
	g.norm(root + "embeddings.LayerNorm")
	path := "/"
	if root != "" {
		path += root[:len(root)-1] + "/"
	}
	for l := range Layers {
		p, n := fmt.Sprintf("%sencoder.layer.%d.", root, l), fmt.Sprintf("%sencoder/layer.%d/", path, l)
		for _, s := range []string{"query", "key", "value"} {
			g.dense(p+"attention.self."+s, n+"attention/self/"+s, Hidden, Hidden)
		}
		g.dense(p+"attention.output.dense", n+"attention/output/dense", Hidden, Hidden)
		g.norm(p + "attention.output.LayerNorm")
		g.dense(p+"intermediate.dense", n+"intermediate/dense", Hidden, Inner)
		g.dense(p+"output.dense", n+"output/dense", Inner, Hidden)
		g.norm(p + "output.LayerNorm")
	}
	var model message
	model.varint(1, 7)
	model.bytes(7, g.b)
	return model.b
}
