// Package bert runs BERT-shaped transformer encoders: embeddings, then layers
// of self-attention and a GELU feed-forward net, each followed by a layer norm.
// It knows nothing of files and tokenizers; readers of model files fill in
// Weights.
//
// Activations are 32-bit floats throughout. A token's result depends on its own
// sequence alone, bit for bit, whatever else is run with it.
package bert

import (
	"errors"
	"fmt"
	"math"

	"evoke/embed/internal/simd"
)

// Weights are the parameters of an encoder.
type Weights struct {
	Heads    int     // attention heads
	Eps      float32 // added to variances by layer norms
	Word     Table
	Position Table
	Type     []float32 // the type vector that every token gets
	Norm     Norm      // of the embeddings
	Layers   []Layer
}

// Norm is a layer norm's scale and shift.
type Norm struct{ Scale, Shift []float32 }

// Dense is a matrix and the bias added to its product.
type Dense struct {
	Matrix
	Bias []float32
}

// Layer is one transformer layer.
type Layer struct {
	Query, Key, Value Dense
	Attention         Dense // output projection of the attention
	AttentionNorm     Norm
	Up, Down          Dense // the feed-forward net
	Norm              Norm
}

// Model is a runnable encoder, safe for concurrent use.
type Model struct {
	w               Weights
	ops             *simd.Ops
	hidden, headDim int
	inner           int // width of the feed-forward net
}

// maxWidth bounds what a model file may ask for: ten times the widest model
// that could sensibly run here.
const maxWidth = 1 << 14

// New checks that the weights fit together and returns the encoder running at
// an instruction level.
func New(w Weights, level simd.Level) (*Model, error) {
	if len(w.Layers) == 0 {
		return nil, errors.New("encoder has no layers")
	}
	m := &Model{w: w, ops: simd.For(level), hidden: w.Word.Width, inner: w.Layers[0].Up.N}
	h := m.hidden
	if h <= 0 || h > maxWidth || m.inner > maxWidth || w.Heads <= 0 || h%w.Heads != 0 || h/w.Heads%simd.Panel != 0 {
		return nil, fmt.Errorf("encoder of width %d with %d heads: the width of a head must be a multiple of %d", h, w.Heads, simd.Panel)
	}
	m.headDim = h / w.Heads
	if w.Position.Width != h || len(w.Type) != h || !w.Norm.fits(h) {
		return nil, fmt.Errorf("embedding tables do not have the width %d", h)
	}
	if !(w.Eps >= 0 && w.Eps < 1) {
		return nil, fmt.Errorf("layer norm epsilon %g is not in [0, 1)", w.Eps)
	}
	for i := range w.Layers {
		if !w.Layers[i].fits(h, m.inner) {
			return nil, fmt.Errorf("layer %d does not have the width %d and the inner width %d", i, h, m.inner)
		}
	}
	return m, nil
}

func (n Norm) fits(h int) bool { return len(n.Scale) == h && len(n.Shift) == h }

func (d *Dense) fits(k, n int) bool { return d.K == k && d.N == n && len(d.Bias) == n }

func (l *Layer) fits(h, inner int) bool {
	return l.Query.fits(h, h) && l.Key.fits(h, h) && l.Value.fits(h, h) && l.Attention.fits(h, h) &&
		l.AttentionNorm.fits(h) && l.Up.fits(h, inner) && l.Down.fits(inner, h) && l.Norm.fits(h)
}

// Dim is the width of a token's vector.
func (m *Model) Dim() int { return m.hidden }

// MaxTokens is the length of the longest sequence.
func (m *Model) MaxTokens() int { return m.w.Position.Rows }

// Vocabulary is the number of token ids.
func (m *Model) Vocabulary() int { return m.w.Word.Rows }

// Level is the instruction level in use.
func (m *Model) Level() simd.Level { return m.ops.Level() }

// Run encodes sequences of token ids and returns one vector per token, sequence
// after sequence, each of Dim components. The result lies in s and holds until
// s is used again. Between layers, where a run may be given up or may wait, it
// calls pause; an error of pause ends the run with that error.
func (m *Model) Run(s *Scratch, seqs [][]int32, pause func() error) ([]float32, error) {
	total, longest := 0, 0
	for i, seq := range seqs {
		if len(seq) == 0 || len(seq) > m.MaxTokens() {
			return nil, fmt.Errorf("sequence %d has %d tokens: a sequence has 1 to %d", i, len(seq), m.MaxTokens())
		}
		for _, id := range seq {
			if id < 0 || int(id) >= m.Vocabulary() {
				return nil, fmt.Errorf("sequence %d has token %d, which is not in the vocabulary of %d", i, id, m.Vocabulary())
			}
		}
		total += len(seq)
		longest = max(longest, len(seq))
	}
	s.fit(m, total, longest)
	m.embed(s, seqs)
	for i := range m.w.Layers {
		if err := pause(); err != nil {
			return nil, err
		}
		m.layer(s, &m.w.Layers[i], seqs, total)
	}
	return s.x[:total*m.hidden], nil
}

// embed sums the three embeddings of every token.
func (m *Model) embed(s *Scratch, seqs [][]int32) {
	h, row := m.hidden, 0
	pos := s.pos[:h]
	for _, seq := range seqs {
		for i, id := range seq {
			x := s.x[row*h:][:h]
			m.w.Word.Row(x, int(id))
			m.w.Position.Row(pos, i)
			for j, t := range m.w.Type {
				x[j] += pos[j] + t
			}
			m.ops.LayerNorm(x, m.w.Norm.Scale, m.w.Norm.Shift, m.w.Eps)
			row++
		}
	}
}

// layer runs one layer over s.x in place.
func (m *Model) layer(s *Scratch, l *Layer, seqs [][]int32, rows int) {
	h := m.hidden
	for i, d := range []*Dense{&l.Query, &l.Key, &l.Value} {
		m.apply(s, d, rows, s.x, h, s.qkv[i*h:], 3*h)
	}
	clear(s.ctx[:rows*h])
	row := 0
	for _, seq := range seqs {
		for head := range m.w.Heads {
			m.attend(s, row, len(seq), head)
		}
		row += len(seq)
	}
	m.applyResidual(s, &l.Attention, rows, s.ctx, h, l.AttentionNorm)
	m.apply(s, &l.Up, rows, s.x, h, s.mid, m.inner)
	m.ops.GELU(s.mid[:rows*m.inner])
	m.applyResidual(s, &l.Down, rows, s.mid, m.inner, l.Norm)
}

// apply sets y to x·d plus the bias.
func (m *Model) apply(s *Scratch, d *Dense, rows int, x []float32, ldx int, y []float32, ldy int) {
	for r := range rows {
		copy(y[r*ldy:], d.Bias)
	}
	d.mulAdd(m.ops, rows, x, ldx, y, ldy, s.panel)
}

// applyResidual adds y·d and the bias to s.x, and normalises.
func (m *Model) applyResidual(s *Scratch, d *Dense, rows int, y []float32, ldy int, n Norm) {
	h := m.hidden
	for r := range rows {
		for j, b := range d.Bias {
			s.x[r*h+j] += b
		}
	}
	d.mulAdd(m.ops, rows, y, ldy, s.x, h, s.panel)
	for r := range rows {
		m.ops.LayerNorm(s.x[r*h:][:h], n.Scale, n.Shift, m.w.Eps)
	}
}

// attend adds one head's attention over the n tokens from row first to s.ctx.
func (m *Model) attend(s *Scratch, first, n, head int) {
	h, d := m.hidden, m.headDim
	qkv := s.qkv[first*3*h+head*d:]
	padded := (n + simd.Panel - 1) / simd.Panel * simd.Panel
	scores := s.scores[:n*padded]
	clear(scores)
	for j := 0; j < n; j += simd.Panel {
		keys := s.pack[:d*simd.Panel]
		transpose(keys, qkv[h+j*3*h:], 3*h, min(simd.Panel, n-j), d)
		m.ops.MulAdd(n, d, qkv, 3*h, keys, scores[j:], padded)
	}
	n8 := (n + 7) &^ 7
	scale := float32(1 / math.Sqrt(float64(d)))
	for r := range n {
		row := scores[r*padded:][:n8]
		for j := n; j < n8; j++ {
			row[j] = simd.NegInf
		}
		m.ops.Softmax(row, scale)
	}
	for c := 0; c < d; c += simd.Panel {
		values := s.pack[:n*simd.Panel]
		for i := range n {
			copy(values[i*simd.Panel:][:simd.Panel], qkv[i*3*h+2*h+c:])
		}
		m.ops.MulAdd(n, n, scores, padded, values, s.ctx[first*h+head*d+c:], h)
	}
}

// transpose writes n rows of d values, ld apart, as the columns of a panel.
// Columns from n on get zeros.
func transpose(panel, rows []float32, ld, n, d int) {
	if n < simd.Panel {
		clear(panel)
	}
	for i := range n {
		for j, v := range rows[i*ld:][:d] {
			panel[j*simd.Panel+i] = v
		}
	}
}
