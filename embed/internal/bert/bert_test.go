package bert

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"evoke/embed/internal/simd"
)

// plain is a matrix as the reference reads it: K rows of N.
type plain struct {
	n, k int
	w    []float64
	bias []float64
}

// source makes random weights together with their plain form.
type source struct {
	r    *rand.Rand
	kind string // "f32", "i8" or "q4"
}

func (s *source) floats(n int, mean, dev float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(mean + dev*s.r.NormFloat64())
	}
	return v
}

func (s *source) dense(t *testing.T, k, n int) (Dense, plain) {
	t.Helper()
	p := plain{n: n, k: k, w: make([]float64, n*k)}
	var m Matrix
	var err error
	switch s.kind {
	case "f32":
		w := s.floats(n*k, 0, 0.2)
		m, err = NewMatrix(n, k, w)
		for i, x := range w {
			p.w[i] = float64(x)
		}
	case "i8":
		w, scale := make([]int8, n*k), s.floats(n, 0.004, 0.0005)
		for i := range w {
			w[i] = int8(s.r.Uint32())
			p.w[i] = float64(float32(w[i]) * scale[i%n])
		}
		m, err = NewMatrixInt8(n, k, w, scale)
	default:
		w := make([]byte, n*k/groupSize*q4Block)
		for i := range w {
			w[i] = byte(s.r.Uint32())
		}
		row := make([]float32, k)
		for out := range n {
			raw := w[out*k/groupSize*q4Block:][:k/groupSize*q4Block]
			for g := 0; g < len(raw); g += q4Block {
				binary.LittleEndian.PutUint16(raw[g:], uint16(0x2800+s.r.IntN(500))) // about 1/32
			}
			unpackQ4(row, raw)
			for i, x := range row {
				p.w[i*n+out] = float64(x)
			}
		}
		m, err = NewMatrixQ4(n, k, w)
	}
	if err != nil {
		t.Fatal(err)
	}
	d := Dense{Matrix: m, Bias: s.floats(n, 0, 0.1)}
	for _, b := range d.Bias {
		p.bias = append(p.bias, float64(b))
	}
	return d, p
}

func (p plain) apply(x [][]float64) [][]float64 {
	y := make([][]float64, len(x))
	for r := range x {
		y[r] = slices.Clone(p.bias)
		for i, v := range x[r] {
			for j := range y[r] {
				y[r][j] += v * p.w[i*p.n+j]
			}
		}
	}
	return y
}

// plainLayer is a layer of the reference.
type plainLayer struct {
	q, k, v, ao, up, down plain
	an, on                Norm
}

const (
	testHidden = 128
	testHeads  = 2
	testInner  = 96
	testVocab  = 50
	testMax    = 45
)

func testModel(t *testing.T, kind string) (Weights, []plainLayer) {
	t.Helper()
	s := &source{r: rand.New(rand.NewPCG(11, 12)), kind: kind}
	norm := func() Norm { return Norm{s.floats(testHidden, 1, 0.1), s.floats(testHidden, 0, 0.1)} }
	w := Weights{Heads: testHeads, Eps: 1e-12, Type: s.floats(testHidden, 0, 0.1), Norm: norm()}
	var err error
	if w.Word, err = NewTable(testHidden, s.floats(testVocab*testHidden, 0, 1)); err != nil {
		t.Fatal(err)
	}
	if w.Position, err = NewTable(testHidden, s.floats(testMax*testHidden, 0, 0.3)); err != nil {
		t.Fatal(err)
	}
	var ref []plainLayer
	for range 2 {
		var l Layer
		var p plainLayer
		l.Query, p.q = s.dense(t, testHidden, testHidden)
		l.Key, p.k = s.dense(t, testHidden, testHidden)
		l.Value, p.v = s.dense(t, testHidden, testHidden)
		l.Attention, p.ao = s.dense(t, testHidden, testHidden)
		l.Up, p.up = s.dense(t, testHidden, testInner)
		l.Down, p.down = s.dense(t, testInner, testHidden)
		l.AttentionNorm, l.Norm = norm(), norm()
		p.an, p.on = l.AttentionNorm, l.Norm
		w.Layers, ref = append(w.Layers, l), append(ref, p)
	}
	return w, ref
}

// reference encodes one sequence in float64, straight from the definition.
func reference(w *Weights, layers []plainLayer, seq []int32) [][]float64 {
	x := make([][]float64, len(seq))
	row := make([]float32, testHidden)
	for i, id := range seq {
		x[i] = make([]float64, testHidden)
		w.Word.Row(row, int(id))
		for j, v := range row {
			x[i][j] = float64(v) + float64(w.Type[j])
		}
		w.Position.Row(row, i)
		for j, v := range row {
			x[i][j] += float64(v)
		}
	}
	normalise(x, w.Norm)
	for _, l := range layers {
		add(x, l.ao.apply(attention(l.q.apply(x), l.k.apply(x), l.v.apply(x))))
		normalise(x, l.an)
		mid := l.up.apply(x)
		for _, r := range mid {
			for j, v := range r {
				r[j] = 0.5 * v * (1 + math.Erf(v/math.Sqrt2))
			}
		}
		add(x, l.down.apply(mid))
		normalise(x, l.on)
	}
	return x
}

func attention(q, k, v [][]float64) [][]float64 {
	const d = testHidden / testHeads
	out := make([][]float64, len(q))
	for i := range q {
		out[i] = make([]float64, testHidden)
		for h := range testHeads {
			p, sum := make([]float64, len(k)), 0.0
			for j := range k {
				for c := h * d; c < (h+1)*d; c++ {
					p[j] += q[i][c] * k[j][c]
				}
				p[j] = math.Exp(p[j] / math.Sqrt(d))
				sum += p[j]
			}
			for j := range k {
				for c := h * d; c < (h+1)*d; c++ {
					out[i][c] += p[j] / sum * v[j][c]
				}
			}
		}
	}
	return out
}

func add(x, y [][]float64) {
	for i := range x {
		for j := range x[i] {
			x[i][j] += y[i][j]
		}
	}
}

func normalise(x [][]float64, n Norm) {
	for _, r := range x {
		var mean, variance float64
		for _, v := range r {
			mean += v / float64(len(r))
		}
		for _, v := range r {
			variance += (v - mean) * (v - mean) / float64(len(r))
		}
		for j, v := range r {
			r[j] = (v-mean)/math.Sqrt(variance+1e-12)*float64(n.Scale[j]) + float64(n.Shift[j])
		}
	}
}

func going() error { return nil }

func TestAgreesWithTheDefinition(t *testing.T) {
	for _, kind := range []string{"f32", "i8", "q4"} {
		w, layers := testModel(t, kind)
		seqs := [][]int32{{1, 2, 3}, {4}, sequence(testMax), sequence(33)}
		var want [][]float64
		for _, seq := range seqs {
			want = append(want, reference(&w, layers, seq)...)
		}
		for level := simd.Generic; level <= simd.Best(); level++ {
			m, err := New(w, level)
			if err != nil {
				t.Fatal(err)
			}
			var s Scratch
			got, err := m.Run(&s, seqs, going)
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range want {
				for j, x := range row {
					if d := math.Abs(float64(got[j]) - x); d > 2e-3 || math.IsNaN(d) {
						t.Fatalf("%s, %v: token %d, component %d is %v, want %v", kind, m.Level(), i, j, got[j], x)
					}
				}
				got = got[testHidden:]
			}
		}
	}
}

func sequence(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32((i*7 + 3) % testVocab)
	}
	return s
}

func TestScratchIsReused(t *testing.T) {
	w, _ := testModel(t, "i8")
	m, err := New(w, simd.Best())
	if err != nil {
		t.Fatal(err)
	}
	var s Scratch
	seqs := [][]int32{sequence(40), sequence(11)}
	run := func() {
		if _, err := m.Run(&s, seqs, going); err != nil {
			t.Error(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(20, run); n > 0 {
		t.Errorf("%v allocations in a run with used scratch memory, want none", n)
	}
	// What an earlier, larger run left behind must not show.
	short := [][]int32{{5, 6, 7}}
	used, err := m.Run(&s, short, going)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := m.Run(&Scratch{}, short, going)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(used, fresh) {
		t.Error("the result depends on what the scratch memory held")
	}
}

func TestRunRefuses(t *testing.T) {
	w, _ := testModel(t, "f32")
	m, err := New(w, simd.Best())
	if err != nil {
		t.Fatal(err)
	}
	for name, seqs := range map[string][][]int32{
		"empty": {{}}, "long": {sequence(testMax + 1)}, "negative": {{-1}}, "unknown": {{1, testVocab}},
	} {
		if _, err := m.Run(&Scratch{}, seqs, going); err == nil {
			t.Errorf("%s sequence: no error", name)
		}
	}
	stop := errors.New("stop")
	if _, err := m.Run(&Scratch{}, [][]int32{{1}}, func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("pause's error is lost: %v", err)
	}
	if m.Dim() != testHidden || m.MaxTokens() != testMax || m.Vocabulary() != testVocab {
		t.Errorf("shape %d, %d, %d", m.Dim(), m.MaxTokens(), m.Vocabulary())
	}
}

func TestNewRefuses(t *testing.T) {
	for name, spoil := range map[string]func(w *Weights){
		"no layers": func(w *Weights) { w.Layers = nil },
		"heads":     func(w *Weights) { w.Heads = 3 },
		"no heads":  func(w *Weights) { w.Heads = 0 },
		"position":  func(w *Weights) { w.Position.Width = 5 },
		"type":      func(w *Weights) { w.Type = nil },
		"norm":      func(w *Weights) { w.Norm.Shift = nil },
		"epsilon":   func(w *Weights) { w.Eps = float32(math.NaN()) },
		"bias":      func(w *Weights) { w.Layers[1].Up.Bias = nil },
		"matrix":    func(w *Weights) { w.Layers[0].Down = w.Layers[0].Up },
	} {
		w, _ := testModel(t, "f32")
		spoil(&w)
		if _, err := New(w, simd.Best()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestShapesAreChecked(t *testing.T) {
	if _, err := NewMatrix(33, 4, make([]float32, 132)); err == nil {
		t.Error("33 outputs: no error")
	}
	if _, err := NewMatrix(32, 4, make([]float32, 5)); err == nil {
		t.Error("too few values: no error")
	}
	if _, err := NewMatrixInt8(32, 4, make([]int8, 128), nil); err == nil {
		t.Error("no scales: no error")
	}
	if _, err := NewMatrixInt8(0, 4, nil, nil); err == nil {
		t.Error("no outputs: no error")
	}
	if _, err := NewMatrixQ4(32, 33, nil); err == nil {
		t.Error("33 inputs in groups of 32: no error")
	}
	if _, err := NewMatrixQ4(32, 32, make([]byte, 7)); err == nil {
		t.Error("too few blocks: no error")
	}
	if _, err := NewTable(3, make([]float32, 4)); err == nil {
		t.Error("ragged table: no error")
	}
	if _, err := NewTableInt8(3, make([]byte, 4), 1, 0, false); err == nil {
		t.Error("ragged table: no error")
	}
	if _, err := NewTableQ4(32, make([]byte, 17)); err == nil {
		t.Error("ragged table: no error")
	}
}

func TestTables(t *testing.T) {
	row := make([]float32, 2)
	u, err := NewTableInt8(2, []byte{0, 255, 100, 101}, 0.5, 100, false)
	if err != nil {
		t.Fatal(err)
	}
	if u.Row(row, 0); row[0] != -50 || row[1] != 77.5 {
		t.Errorf("unsigned row %v", row)
	}
	s, err := NewTableInt8(2, []byte{0, 255, 100, 101}, 0.5, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	if s.Row(row, 0); row[0] != -0.5 || row[1] != -1 {
		t.Errorf("signed row %v", row)
	}
	block := make([]byte, q4Block)
	binary.LittleEndian.PutUint16(block, 0x3c00) // 1
	block[2], block[17] = 0x9f, 0x80
	q, err := NewTableQ4(32, block)
	if err != nil {
		t.Fatal(err)
	}
	wide := make([]float32, 32)
	if q.Row(wide, 0); wide[0] != 7 || wide[16] != 1 || wide[15] != -8 || wide[31] != 0 {
		t.Errorf("4-bit row %v", wide)
	}
}

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0001: 1.0 / (1 << 24), 0x8001: -1.0 / (1 << 24), 0x0400: 1.0 / (1 << 14), 0x3555: 0.33325195,
	} {
		if got := Half(bits); got != want {
			t.Errorf("Half(%#04x) = %v, want %v", bits, got, want)
		}
	}
	if !math.IsInf(float64(Half(0xfc00)), -1) || !math.IsNaN(float64(Half(0x7e00))) {
		t.Error("infinity or NaN is lost")
	}
}
