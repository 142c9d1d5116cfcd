// Package simd holds the inner loops of the encoder: a matrix product over
// packed panels and the row operations of a transformer layer. There is an
// AVX-512 and an AVX2 version in assembly for amd64 and a portable one for
// everything else; which is used is chosen once, from what the processor and
// the operating system support.
//
// All versions give every row the same order of operations whatever the shape
// of the call, so results do not depend on how rows are batched. Versions
// differ from each other by rounding only.
package simd

import "math"

// Panel is the number of columns of a packed panel: a k×Panel block of a
// matrix, row after row.
const Panel = 32

// Level is a set of processor instructions.
type Level int

// The levels, worst first.
const (
	Generic Level = iota
	AVX2          // AVX2 and FMA
	AVX512        // AVX-512 F, with AVX2 and FMA
)

// String is the level's name as reports print it.
func (l Level) String() string {
	switch l {
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	default:
		return "generic"
	}
}

// Ops are the inner loops at one level. Slices must be at least as long as the
// described operands; lengths called n must be positive multiples of 8.
type Ops struct {
	level    Level
	tileRows int
	// tile adds a*b to c for one tile of 1 … tileRows rows and Panel columns.
	tile      func(rows int, a *float32, lda int, b *float32, k int, c *float32, ldc int)
	softmax   func(x *float32, n int, scale float32)
	gelu      func(x *float32, n int)
	layerNorm func(x, w, b *float32, n int, eps float32)
	int8s     func(dst *float32, src *int8, scale *float32, k int)
	int4s     func(dst *float32, src *byte, scale *float32, k int)
}

// Best is the best level of this machine.
func Best() Level { return best() }

// For returns the loops of a level; a level above Best gives those of Best.
func For(l Level) *Ops { return ops(min(l, Best())) }

// Level is the level the loops belong to.
func (o *Ops) Level() Level { return o.level }

// MulAdd adds a*b to c: a is rows×k with lda floats from row to row, b a packed
// panel of k rows, c rows×Panel with ldc floats from row to row.
func (o *Ops) MulAdd(rows, k int, a []float32, lda int, b []float32, c []float32, ldc int) {
	if rows == 0 || k == 0 {
		return
	}
	_, _, _ = a[(rows-1)*lda+k-1], b[k*Panel-1], c[(rows-1)*ldc+Panel-1]
	tiles := (rows + o.tileRows - 1) / o.tileRows
	for t := range tiles {
		// Tiles of nearly equal height: a low rest tile would cost as much
		// time as a full one.
		r0, r1 := rows*t/tiles, rows*(t+1)/tiles
		o.tile(r1-r0, &a[r0*lda], lda, &b[0], k, &c[r0*ldc], ldc)
	}
}

// Softmax replaces x by exp(scale*(x-max)) over the sum of those, for scale > 0.
func (o *Ops) Softmax(x []float32, scale float32) { o.softmax(&x[0], len(x), scale) }

// GELU applies x/2*(1+erf(x/sqrt 2)) to every element, to about 1e-7·|x|.
func (o *Ops) GELU(x []float32) { o.gelu(&x[0], len(x)) }

// LayerNorm normalises x to mean 0 and variance 1, then scales by w and adds b.
func (o *Ops) LayerNorm(x, w, b []float32, eps float32) {
	_, _ = w[len(x)-1], b[len(x)-1]
	o.layerNorm(&x[0], &w[0], &b[0], len(x), eps)
}

// ExpandInt8 unpacks k rows of a panel of 8-bit integers with one scale per
// column.
func (o *Ops) ExpandInt8(dst []float32, src []int8, scale []float32, k int) {
	_, _, _ = dst[k*Panel-1], src[k*Panel-1], scale[Panel-1]
	o.int8s(&dst[0], &src[0], &scale[0], k)
}

// ExpandInt4 unpacks k rows of a panel of 4-bit integers with one scale per
// column. A row is Panel/2 bytes; byte j holds column j in its low and column
// j+Panel/2 in its high half, each as value+8.
func (o *Ops) ExpandInt4(dst []float32, src []byte, scale []float32, k int) {
	_, _, _ = dst[k*Panel-1], src[k*Panel/2-1], scale[Panel-1]
	o.int4s(&dst[0], &src[0], &scale[0], k)
}

// NegInf is a finite stand-in for minus infinity: Softmax takes it to zero.
const NegInf = -math.MaxFloat32 / 4
