package onnx

import (
	"strings"
	"testing"

	"evoke/embed/internal/bert"
	"evoke/embed/internal/simd"
	"evoke/embed/internal/tinymodel"
)

var kinds = []tinymodel.Kind{tinymodel.Float, tinymodel.PerColumn, tinymodel.PerTensor}

func TestParse(t *testing.T) {
	for _, kind := range kinds {
		for _, root := range []string{"", "bert."} {
			data := tinymodel.ONNX(1, kind, root)
			w, err := Parse(data, tinymodel.Heads)
			if err != nil {
				t.Fatalf("kind %d: %v", kind, err)
			}
			clear(data) // the weights must not hold on to it
			if len(w.Layers) != tinymodel.Layers || w.Word.Rows != len(tinymodel.Words) || w.Position.Rows != tinymodel.Positions {
				t.Errorf("kind %d: %d layers, %d words, %d positions", kind, len(w.Layers), w.Word.Rows, w.Position.Rows)
			}
			if _, err := bert.New(w, simd.Best()); err != nil {
				t.Errorf("kind %d: %v", kind, err)
			}
		}
	}
}

func TestCutShort(t *testing.T) {
	data := tinymodel.ONNX(1, tinymodel.PerColumn, "")
	for n := 0; n < len(data); n += 1 + n/300 {
		if _, err := Parse(data[:n], tinymodel.Heads); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for a model", n, len(data))
		}
	}
}

// Renaming anything that is needed is an error that names it.
func TestMissingParts(t *testing.T) {
	whole := string(tinymodel.ONNX(1, tinymodel.PerTensor, ""))
	for _, part := range []string{
		"embeddings.LayerNorm.weight", "embeddings.word_embeddings.weight_quantized", "embeddings.word_embeddings.weight_scale",
		"embeddings.word_embeddings.weight_zero_point", "encoder.layer.1.output.LayerNorm.bias", "/encoder/layer.0/attention/self/key/MatMul",
		"onnx::MatMul_encoder.layer.1.intermediate.dense_scale", "encoder.layer.0.output.dense.bias",
	} {
		renamed := "X" + part[1:]
		if _, err := Parse([]byte(strings.ReplaceAll(whole, part, renamed)), tinymodel.Heads); err == nil {
			t.Errorf("without %s: no error", part)
		}
	}
}

func TestNumbersStoredOneByOne(t *testing.T) {
	// int32_data and float_data, packed and not, in place of raw_data.
	g := &graph{tensors: map[string]*tensor{}, product: map[string][]string{}}
	if err := g.initializer([]byte{0x08, 2, 0x10, 2, 0x28, 5, 0x2a, 2, 6, 7, 0x42, 1, 'b'}); err != nil {
		t.Fatal(err)
	}
	b, err := g.tensors["b"].asBytes()
	if err != nil || string(b) != "\x05\x06\x07" {
		t.Errorf("bytes %v, %v", b, err)
	}
	if _, err := g.tensors["b"].asFloats(); err == nil {
		t.Error("bytes read as floats")
	}
	if err := g.initializer([]byte{0x0a, 1, 1, 0x10, 1, 0x25, 0, 0, 0x80, 0x3f, 0x22, 4, 0, 0, 0, 0x40, 0x42, 1, 'f'}); err != nil {
		t.Fatal(err)
	}
	f, err := g.tensors["f"].asFloats()
	if err != nil || len(f) != 2 || f[0] != 1 || f[1] != 2 {
		t.Errorf("floats %v, %v", f, err)
	}
	if _, err := g.tensors["f"].asBytes(); err == nil {
		t.Error("floats read as bytes")
	}
	for _, broken := range [][]byte{{0x08}, {0x0a, 5, 1}, {0x0b}, {0x09, 1}, {0x25, 1}, {0x0a, 1, 0x80}} {
		if err := g.initializer(broken); err == nil {
			t.Errorf("% x: no error", broken)
		}
	}
}

// FuzzParse: any file gives weights or an error.
func FuzzParse(f *testing.F) {
	for _, kind := range kinds {
		f.Add(uint8(kind), uint32(0), uint64(0), uint16(0))
	}
	f.Add(uint8(1), uint32(3), uint64(1)<<63, uint16(9))
	files := make(map[tinymodel.Kind][]byte)
	for _, kind := range kinds {
		files[kind] = tinymodel.ONNX(1, kind, "")
	}
	f.Fuzz(func(t *testing.T, kind uint8, at uint32, v uint64, cut uint16) {
		data := append([]byte(nil), files[kinds[int(kind)%len(kinds)]]...)
		for i := range 8 {
			if p := int(at%uint32(len(data))) + i; p < len(data) && v>>(8*i) != 0 {
				data[p] = byte(v >> (8 * i))
			}
		}
		w, err := Parse(data[:max(0, len(data)-int(cut))], tinymodel.Heads)
		if err != nil {
			return
		}
		if net, err := bert.New(w, simd.Best()); err == nil {
			if _, err := net.Run(&bert.Scratch{}, [][]int32{{0, 1}}, func() error { return nil }); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzParseBytes feeds bytes without form.
func FuzzParseBytes(f *testing.F) {
	f.Add([]byte{0x3a, 2, 0x0a, 0})
	f.Add([]byte{0x3a, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := Parse(data, 1); err == nil {
			t.Error("taken for a model")
		}
	})
}
