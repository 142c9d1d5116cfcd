package bert

import (
	"encoding/binary"
	"fmt"

	"evoke/embed/internal/simd"
)

// Matrix is a weight matrix of K inputs and N outputs, packed into panels of
// simd.Panel outputs. Weights stay as narrow as their file holds them (4 or 8
// bits, or 32) and are widened a panel at a time when used: a query is bound by
// the memory that the weights occupy, not by widening them.
//
// Exactly one of f32, i8 and i4 is set.
type Matrix struct {
	N, K int
	f32  []float32 // panel, input, output
	i8   []int8    // panel, input, output
	i4   []byte    // panel, input, half an output a byte
	// scale holds one factor per output for i8, and for i4 one per output and
	// group of groupSize inputs: panel, group, output.
	scale []float32
}

// groupSize is the number of inputs that share a scale in 4-bit weights.
const groupSize = 32

// kBlock is the number of inputs that are widened and multiplied at a time. A
// block of a panel takes kBlock·128 bytes of the first-level cache. It is a
// multiple of groupSize.
const kBlock = 192

func checkShape(n, k, align int) error {
	if n <= 0 || k <= 0 || n%simd.Panel != 0 || k%align != 0 {
		return fmt.Errorf("weight matrix of %d outputs and %d inputs: need positive multiples of %d and %d", n, k, simd.Panel, align)
	}
	return nil
}

// NewMatrix packs 32-bit weights that lie input after input, as ONNX files
// hold them.
func NewMatrix(n, k int, w []float32) (Matrix, error) {
	if err := checkShape(n, k, 1); err != nil {
		return Matrix{}, err
	}
	if len(w) != n*k {
		return Matrix{}, fmt.Errorf("weight matrix of %d×%d has %d values", k, n, len(w))
	}
	m := Matrix{N: n, K: k, f32: make([]float32, n*k)}
	packPanels(m.f32, w, n, k)
	return m, nil
}

// NewMatrixInt8 packs 8-bit weights that lie input after input; a weight is its
// value times the scale of its output.
func NewMatrixInt8(n, k int, w []int8, scale []float32) (Matrix, error) {
	if err := checkShape(n, k, 1); err != nil {
		return Matrix{}, err
	}
	if len(w) != n*k || len(scale) != n {
		return Matrix{}, fmt.Errorf("weight matrix of %d×%d has %d values and %d scales", k, n, len(w), len(scale))
	}
	m := Matrix{N: n, K: k, i8: make([]int8, n*k), scale: append([]float32(nil), scale...)}
	packPanels(m.i8, w, n, k)
	return m, nil
}

func packPanels[T any](dst, src []T, n, k int) {
	for p := range n / simd.Panel {
		for i := range k {
			copy(dst[(p*k+i)*simd.Panel:][:simd.Panel], src[i*n+p*simd.Panel:])
		}
	}
}

// q4Block is the size of a block of 32 4-bit weights: a half-precision scale
// and 16 bytes, of which byte j holds weight j in its low and weight j+16 in
// its high half, each as value+8.
const q4Block = 2 + groupSize/2

// NewMatrixQ4 packs 4-bit weights that lie output after output in blocks of 32
// inputs.
func NewMatrixQ4(n, k int, w []byte) (Matrix, error) {
	if err := checkShape(n, k, groupSize); err != nil {
		return Matrix{}, err
	}
	groups := k / groupSize
	if len(w) != n*groups*q4Block {
		return Matrix{}, fmt.Errorf("weight matrix of %d×%d has %d bytes of 4-bit blocks", k, n, len(w))
	}
	m := Matrix{N: n, K: k, i4: make([]byte, n*k/2), scale: make([]float32, n*groups)}
	const half = simd.Panel / 2
	for out := range n {
		panel, col := out/simd.Panel, out%simd.Panel
		shift := uint(col / half * 4)
		for g := range groups {
			block := w[(out*groups+g)*q4Block:][:q4Block]
			m.scale[(panel*groups+g)*simd.Panel+col] = Half(binary.LittleEndian.Uint16(block))
			rows := m.i4[(panel*k+g*groupSize)*half:][:groupSize*half]
			for j, b := range block[2:] {
				rows[j*half+col%half] |= b & 15 << shift
				rows[(j+groupSize/2)*half+col%half] |= b >> 4 << shift
			}
		}
	}
	return m, nil
}

// mulAdd adds x·m to y, where x has ldx and y has ldy floats from row to row.
// buf holds at least kBlock·simd.Panel floats.
func (m *Matrix) mulAdd(ops *simd.Ops, rows int, x []float32, ldx int, y []float32, ldy int, buf []float32) {
	for p := range m.N / simd.Panel {
		for k0 := 0; k0 < m.K; k0 += kBlock {
			kn := min(kBlock, m.K-k0)
			b := m.widen(ops, p, k0, kn, buf)
			ops.MulAdd(rows, kn, x[k0:], ldx, b, y[p*simd.Panel:], ldy)
		}
	}
}

// widen returns inputs k0 … k0+kn of panel p as floats, in buf if need be.
func (m *Matrix) widen(ops *simd.Ops, p, k0, kn int, buf []float32) []float32 {
	first := p*m.K + k0
	switch {
	case m.f32 != nil:
		return m.f32[first*simd.Panel:][:kn*simd.Panel]
	case m.i8 != nil:
		ops.ExpandInt8(buf, m.i8[first*simd.Panel:], m.scale[p*simd.Panel:], kn)
	default:
		for k := 0; k < kn; k += groupSize {
			scale := m.scale[(first+k)/groupSize*simd.Panel:]
			ops.ExpandInt4(buf[k*simd.Panel:], m.i4[(first+k)*simd.Panel/2:], scale, groupSize)
		}
	}
	return buf[:kn*simd.Panel]
}
