package simd

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// best relies on x/sys/cpu, which reports an extension only when the operating
// system saves its registers too.
func best() Level {
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return Generic
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ:
		return AVX512
	default:
		return AVX2
	}
}

func ops(l Level) *Ops {
	switch l {
	case AVX512:
		return &avx512Ops
	case AVX2:
		return &avx2Ops
	default:
		return &genericOps
	}
}

var avx512Ops = Ops{
	level: AVX512, tileRows: len(tiles512), tile: tile512,
	softmax: softmax256, gelu: gelu256, layerNorm: layerNorm256, int8s: expandInt8x256, int4s: expandInt4x256,
}

var avx2Ops = Ops{
	level: AVX2, tileRows: len(tiles256), tile: tile256,
	softmax: softmax256, gelu: gelu256, layerNorm: layerNorm256, int8s: expandInt8x256, int4s: expandInt4x256,
}

const floatBytes = 4

// tileFunc is one assembly kernel; its strides are in bytes.
type tileFunc func(a *float32, lda int, b *float32, k int, c *float32, ldc int)

// tiles512[r-1] does a tile of r rows and 32 columns.
var tiles512 = [...]tileFunc{
	tile512x1, tile512x2, tile512x3, tile512x4, tile512x5, tile512x6,
	tile512x7, tile512x8, tile512x9, tile512x10, tile512x11, tile512x12,
}

// tiles256[r-1] does a tile of r rows and 16 columns.
var tiles256 = [...]tileFunc{tile256x1, tile256x2, tile256x3, tile256x4, tile256x5, tile256x6}

func tile512(rows int, a *float32, lda int, b *float32, k int, c *float32, ldc int) {
	tiles512[rows-1](a, lda*floatBytes, b, k, c, ldc*floatBytes)
}

func tile256(rows int, a *float32, lda int, b *float32, k int, c *float32, ldc int) {
	f := tiles256[rows-1]
	f(a, lda*floatBytes, b, k, c, ldc*floatBytes)
	f(a, lda*floatBytes, half(b), k, half(c), ldc*floatBytes)
}

// half is the second half of a panel row.
func half(p *float32) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(p), Panel/2*floatBytes))
}

//go:noescape
func tile512x1(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile512x2(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile512x3(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile512x4(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile512x5(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile512x6(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile512x7(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile512x8(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile512x9(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile512x10(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile512x11(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile512x12(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile256x1(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile256x2(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile256x3(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile256x4(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile256x5(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func tile256x6(a *float32, lda int, b *float32, k int, c *float32, ldc int)

//go:noescape
func softmax256(x *float32, n int, scale float32)

//go:noescape
func gelu256(x *float32, n int)

//go:noescape
func layerNorm256(x, w, b *float32, n int, eps float32)

//go:noescape
func expandInt8x256(dst *float32, src *int8, scale *float32, k int)

//go:noescape
func expandInt4x256(dst *float32, src *byte, scale *float32, k int)
