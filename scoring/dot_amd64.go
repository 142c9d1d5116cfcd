package scoring

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// maxScanDim bounds the widened query that a scan keeps on its stack.
const maxScanDim = 2048

// The kernels take lengths that are positive multiples of 32.

//go:noescape
func dotFloatAVX2(a, b *float32, n int) float32

//go:noescape
func dotInt8AVX2(a, b *int8, n int) int32

// scanInt8AVX2 computes n rows of dim numbers against a query widened to int16.
//
//go:noescape
func scanInt8AVX2(query *int16, rows *int8, dim, n int, out *int32)

func dotFloat(a, b []float32) float32 {
	n := len(a) &^ 31
	if n == 0 || !hasAVX2 {
		return dotFloatScalar(a, b)
	}
	return dotFloatAVX2(&a[0], &b[0], n) + dotFloatScalar(a[n:], b[n:])
}

func dotInt8(a, b []int8) int32 {
	n := len(a) &^ 31
	if n == 0 || !hasAVX2 {
		return dotInt8Scalar(a, b)
	}
	return dotInt8AVX2(&a[0], &b[0], n) + dotInt8Scalar(a[n:], b[n:])
}

func scanInt8(query, rows []int8, dim int, out []int32) {
	if !hasAVX2 || dim%32 != 0 || dim > maxScanDim {
		for i := range out {
			out[i] = dotInt8(query, rows[i*dim:(i+1)*dim])
		}
		return
	}
	var wide [maxScanDim]int16
	for i, x := range query {
		wide[i] = int16(x)
	}
	scanInt8AVX2(&wide[0], &rows[0], dim, len(out), &out[0])
}
