package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

var errBroken = errors.New("file is cut short or is not an ONNX model")

// fields calls f for every field of a protobuf message: with the number for
// wire type 0 in v, with the bytes for types 1, 2 and 5 in d.
func fields(b []byte, f func(num, wire int, v uint64, d []byte) error) error {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return errBroken
		}
		b = b[n:]
		var v uint64
		var size int
		switch key & 7 {
		case 0:
			if v, n = binary.Uvarint(b); n <= 0 {
				return errBroken
			}
			b = b[n:]
		case 1:
			size = 8
		case 2:
			l, n := binary.Uvarint(b)
			if n <= 0 || l > uint64(len(b)-n) {
				return errBroken
			}
			b, size = b[n:], int(l)
		case 5:
			size = 4
		default:
			return errBroken
		}
		if size > len(b) {
			return errBroken
		}
		if err := f(int(key>>3), int(key&7), v, b[:size]); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// Element types of tensors that we read.
const (
	typeFloat = 1
	typeUint8 = 2
	typeInt8  = 3
)

// tensor is a constant of the graph. raw is what the file holds; numbers that
// it holds one by one are in floats and ints.
type tensor struct {
	dims   []int
	kind   int
	raw    []byte
	floats []float32
	ints   []int
}

// graph is what we need of a model: its constants by name, and by name of the
// node the inputs of each matrix product.
type graph struct {
	tensors map[string]*tensor
	product map[string][]string
}

func parseGraph(data []byte) (*graph, error) {
	g := &graph{tensors: make(map[string]*tensor), product: make(map[string][]string)}
	err := fields(data, func(num, wire int, _ uint64, d []byte) error {
		if num != 7 || wire != 2 { // ModelProto.graph
			return nil
		}
		return fields(d, func(num, wire int, _ uint64, d []byte) error {
			switch {
			case num == 1 && wire == 2: // GraphProto.node
				return g.node(d)
			case num == 5 && wire == 2: // GraphProto.initializer
				return g.initializer(d)
			}
			return nil
		})
	})
	return g, err
}

func (g *graph) node(b []byte) error {
	var in []string
	var name, op string
	err := fields(b, func(num, wire int, _ uint64, d []byte) error {
		switch num {
		case 1:
			in = append(in, string(d))
		case 3:
			name = string(d)
		case 4:
			op = string(d)
		}
		return nil
	})
	if op == "MatMul" || op == "MatMulInteger" {
		g.product[name] = in
	}
	return err
}

func (g *graph) initializer(b []byte) error {
	t := &tensor{}
	var name string
	err := fields(b, func(num, wire int, v uint64, d []byte) error {
		switch num {
		case 1:
			return numbers(wire, v, d, func(v uint64) { t.dims = append(t.dims, int(v)) })
		case 2:
			t.kind = int(v)
		case 4:
			for ; len(d) >= 4; d = d[4:] {
				t.floats = append(t.floats, math.Float32frombits(binary.LittleEndian.Uint32(d)))
			}
		case 5:
			return numbers(wire, v, d, func(v uint64) { t.ints = append(t.ints, int(int32(v))) })
		case 8:
			name = string(d)
		case 9:
			t.raw = d
		}
		return nil
	})
	if err == nil {
		g.tensors[name] = t
	}
	return err
}

// numbers reads a repeated integer field in either of its encodings.
func numbers(wire int, v uint64, d []byte, f func(uint64)) error {
	if wire == 0 {
		f(v)
		return nil
	}
	for len(d) > 0 {
		x, n := binary.Uvarint(d)
		if n <= 0 {
			return errBroken
		}
		f(x)
		d = d[n:]
	}
	return nil
}

// asFloats are the values of a float tensor.
func (t *tensor) asFloats() ([]float32, error) {
	if t.kind != typeFloat {
		return nil, fmt.Errorf("element type %d where floats were expected", t.kind)
	}
	if t.floats != nil {
		return t.floats, nil
	}
	if len(t.raw)%4 != 0 {
		return nil, errBroken
	}
	out := make([]float32, len(t.raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.raw[i*4:]))
	}
	return out, nil
}

// asBytes are the bytes of an 8-bit tensor.
func (t *tensor) asBytes() ([]byte, error) {
	if t.kind != typeUint8 && t.kind != typeInt8 {
		return nil, fmt.Errorf("element type %d where 8-bit integers were expected", t.kind)
	}
	if t.raw != nil {
		return t.raw, nil
	}
	out := make([]byte, len(t.ints))
	for i, v := range t.ints {
		out[i] = byte(v)
	}
	return out, nil
}

// value is byte b as the tensor's element type reads it.
func (t *tensor) value(b byte) int {
	if t.kind == typeInt8 {
		return int(int8(b))
	}
	return int(b)
}
