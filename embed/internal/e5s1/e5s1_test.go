package e5s1

import (
	"encoding/binary"
	"testing"

	"evoke/embed/internal/bert"
	"evoke/embed/internal/simd"
	"evoke/embed/internal/tinymodel"
	"evoke/embed/internal/unigram"
)

func TestParse(t *testing.T) {
	data := tinymodel.E5S1(1)
	m, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	clear(data) // the model must not hold on to it
	if m.Weights.Heads != tinymodel.Heads || len(m.Weights.Layers) != tinymodel.Layers || m.Weights.Word.Rows != len(tinymodel.Pieces) {
		t.Errorf("%d heads, %d layers, %d words", m.Weights.Heads, len(m.Weights.Layers), m.Weights.Word.Rows)
	}
	if m.Vocabulary.Normal['ﬁ'] != "fi" || m.Vocabulary.Normal['\t'] != " " || m.Vocabulary.Unknown != 3 || m.Vocabulary.End != 2 {
		t.Errorf("vocabulary %+v", m.Vocabulary.Normal)
	}
	if n := len(m.Vocabulary.Special); n != 5 {
		t.Errorf("%d special pieces, want 5 with the mask", n)
	}
	if _, err := bert.New(m.Weights, simd.Best()); err != nil {
		t.Error(err)
	}
	if _, err := unigram.New(m.Vocabulary); err != nil {
		t.Error(err)
	}
}

// Every prefix of a file is an error, not a panic.
func TestCutShort(t *testing.T) {
	data := tinymodel.E5S1(1)
	for n := 0; n < len(data); n += 1 + n/300 {
		if _, err := Parse(data[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for a model", n, len(data))
		}
	}
}

func TestRefuses(t *testing.T) {
	put := func(at int, v uint32) []byte {
		data := tinymodel.E5S1(1)
		binary.LittleEndian.PutUint32(data[at:], v)
		return data
	}
	for name, data := range map[string][]byte{
		"magic":       append([]byte("E5S2"), tinymodel.E5S1(1)[4:]...),
		"version":     put(4, 2),
		"width":       put(8, 1<<30),
		"layers":      put(12, 3),
		"many layers": put(12, 1000),
		"no layers":   put(12, 0),
		"inner":       put(20, 128),
		"positions":   put(28, 65),
		"group":       put(40, 64),
		"pieces":      put(44, 1<<31),
	} {
		if _, err := Parse(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzParse: any file gives a model that fits together or an error.
func FuzzParse(f *testing.F) {
	good := tinymodel.E5S1(1)
	f.Add(uint32(0), uint32(0), uint16(0))
	f.Add(uint32(44), uint32(0xffffffff), uint16(0))
	f.Add(uint32(64), uint32(1<<31), uint16(100))
	f.Fuzz(func(t *testing.T, at, v uint32, cut uint16) {
		// Random bytes never get past the header, so real files are damaged.
		data := append([]byte(nil), good...)
		if int(at)+4 <= len(data) {
			binary.LittleEndian.PutUint32(data[at:], v)
		}
		data = data[:max(0, len(data)-int(cut))]
		m, err := Parse(data)
		if err != nil {
			return
		}
		if tok, err := unigram.New(m.Vocabulary); err == nil {
			tok.Encode("the training 世界", 20)
		}
		if net, err := bert.New(m.Weights, simd.Best()); err == nil {
			if _, err := net.Run(&bert.Scratch{}, [][]int32{{0, 1}}, func() error { return nil }); err != nil {
				t.Error(err)
			}
		}
	})
}
