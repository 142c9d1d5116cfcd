// Package tinymodel makes model files for tests: real files of the formats that
// the encoder reads, with a few random weights. Their vectors mean nothing.
package tinymodel

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// The shape of the models.
const (
	Hidden    = 64
	Heads     = 2
	Inner     = 96
	Layers    = 2
	Positions = 64
)

// Pieces is the vocabulary of E5S1 models: the special ones, letters, a few
// words and Han characters.
var Pieces = func() []string {
	p := []string{"<s>", "<pad>", "</s>", "<unk>", "\u2581", "query", "passage", ":", "\u2581the", "\u2581train", "ing", "\u2581walk", "界", "世", "世界", "<mask>"}
	for c := 'a'; c <= 'z'; c++ {
		p = append(p, string(c), "\u2581"+string(c))
	}
	return p
}()

type writer struct{ b []byte }

func (w *writer) u16(v int)     { w.b = binary.LittleEndian.AppendUint16(w.b, uint16(v)) }
func (w *writer) u32(v int)     { w.b = binary.LittleEndian.AppendUint32(w.b, uint32(v)) }
func (w *writer) u64(v int)     { w.b = binary.LittleEndian.AppendUint64(w.b, uint64(v)) }
func (w *writer) f32(v float32) { w.b = binary.LittleEndian.AppendUint32(w.b, math.Float32bits(v)) }
func (w *writer) str(s string)  { w.b = append(w.b, s...) }

// normal is the normalisation table of E5S1 models.
var normal = []struct {
	from rune
	to   string
}{{'\t', " "}, {'\n', " "}, {'A', "a"}, {'é', "e"}, {'\u3000', " "}, {'ﬁ', "fi"}, {'\x00', ""}}

// E5S1 makes a file of that format.
func E5S1(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &writer{}
	w.str("E5S1")
	for _, v := range []int{1, Hidden, Layers, Heads, Inner, len(Pieces), Positions, 2} {
		w.u32(v)
	}
	w.f32(1e-12)
	w.u32(32)
	for _, v := range []int{len(Pieces), 0, 2, 1, 3} {
		w.u32(v)
	}
	size := 0
	for _, p := range Pieces {
		size += len(p)
	}
	w.u64(size)
	at := 0
	for _, p := range Pieces {
		w.u32(at)
		at += len(p)
	}
	w.u32(at)
	for i, p := range Pieces {
		w.f32(float32(len(p))*2 - 10 - float32(i)/100)
	}
	for _, p := range Pieces {
		w.str(p)
	}
	table := &writer{}
	for _, n := range normal {
		rs := []rune(n.to)
		table.u32(int(n.from))
		table.b = append(table.b, byte(len(rs)))
		for _, c := range rs {
			table.u32(int(c))
		}
	}
	w.u32(len(normal))
	w.u32(len(table.b))
	w.b = append(w.b, table.b...)
	w.tensors(tensorsE5S1(r))
	return w.b
}

type tensor struct {
	name string
	raw  []byte
}

func (w *writer) tensors(ts []tensor) {
	head := 4
	for _, t := range ts {
		head += 2 + len(t.name) + 1 + 4 + 16
	}
	at := len(w.b) + head
	w.u32(len(ts))
	for _, t := range ts {
		w.u16(len(t.name))
		w.str(t.name)
		w.b = append(w.b, 0)
		w.u32(0)
		w.u64(at)
		w.u64(len(t.raw))
		at += len(t.raw)
	}
	for _, t := range ts {
		w.b = append(w.b, t.raw...)
	}
}

func tensorsE5S1(r *rand.Rand) []tensor {
	var ts []tensor
	f := func(name string, n int, mean float32) {
		ts = append(ts, tensor{name, floats(normals(r, n, mean, 0.1))})
	}
	q := func(name string, n int) { ts = append(ts, tensor{name, q4(r, n)}) }
	q("emb.word", len(Pieces)*Hidden)
	f("emb.pos", Positions*Hidden, 0)
	f("emb.type", 2*Hidden, 0)
	f("emb.ln.w", Hidden, 1)
	f("emb.ln.b", Hidden, 0)
	for l := range Layers {
		p := "l" + strconv.Itoa(l) + "."
		for _, n := range []string{"q", "k", "v", "ao"} {
			q(p+n+".w", Hidden*Hidden)
			f(p+n+".b", Hidden, 0)
		}
		q(p+"fi.w", Hidden*Inner)
		f(p+"fi.b", Inner, 0)
		q(p+"fo.w", Inner*Hidden)
		f(p+"fo.b", Hidden, 0)
		for _, n := range []string{"aln", "oln"} {
			f(p+n+".w", Hidden, 1)
			f(p+n+".b", Hidden, 0)
		}
	}
	return ts
}

func normals(r *rand.Rand, n int, mean, dev float32) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = mean + dev*float32(r.NormFloat64())
	}
	return v
}

func floats(v []float32) []byte {
	w := &writer{}
	for _, x := range v {
		w.f32(x)
	}
	return w.b
}

// q4 makes n random weights in 4-bit blocks of scale 1/32.
func q4(r *rand.Rand, n int) []byte {
	const scale = 0x2800 // 1/32 in half precision
	w := &writer{}
	for range n / 32 {
		w.u16(scale)
		for range 16 {
			w.b = append(w.b, byte(r.Uint32()))
		}
	}
	return w.b
}

// Words is the vocabulary of WordPiece models.
var Words = func() []string {
	v := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "query", "passage", ":", "the", "train", "##ing", "walk", "世", "界", "!", "##s"}
	for c := 'a'; c <= 'z'; c++ {
		v = append(v, string(c), "##"+string(c))
	}
	return v
}()

// Tokenizer makes the tokenizer.json of ONNX models.
func Tokenizer() []byte {
	vocab := make(map[string]int)
	for i, w := range Words {
		vocab[w] = i
	}
	b, err := json.Marshal(map[string]any{
		"normalizer": map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"model": map[string]any{
			"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab,
		},
	})
	if err != nil {
		panic(fmt.Sprintf("tinymodel: %v", err)) //nolint:forbidigo // for tests alone; strings and numbers always encode
	}
	return b
}
