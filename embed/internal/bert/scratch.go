package bert

import "evoke/embed/internal/simd"

// Scratch is the working memory of a run. It grows to the largest run it has
// served and is reused; one run at a time. The zero value is ready.
type Scratch struct {
	x      []float32 // tokens × hidden: the layer's input and output
	qkv    []float32 // tokens × 3·hidden: queries, keys, values
	ctx    []float32 // tokens × hidden: what attention gathered
	mid    []float32 // tokens × inner
	scores []float32 // longest sequence × itself, padded to panels
	pack   []float32 // a panel of keys or values
	panel  []float32 // a widened block of weights
	pos    []float32 // one position vector
}

func (s *Scratch) fit(m *Model, tokens, longest int) {
	padded := (longest + simd.Panel - 1) / simd.Panel * simd.Panel
	grow(&s.x, tokens*m.hidden)
	grow(&s.qkv, tokens*3*m.hidden)
	grow(&s.ctx, tokens*m.hidden)
	grow(&s.mid, tokens*m.inner)
	grow(&s.scores, longest*padded)
	grow(&s.pack, max(m.headDim, longest)*simd.Panel)
	grow(&s.panel, kBlock*simd.Panel)
	grow(&s.pos, m.hidden)
}

func grow(b *[]float32, n int) {
	if cap(*b) < n {
		*b = make([]float32, n)
	}
	*b = (*b)[:cap(*b)]
}
