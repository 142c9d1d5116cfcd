package scoring

import "math"

// Dot is the dot product of two vectors of the same length; of unequal ones, that of their common beginning. The order
// of summation, and so the last bits, may differ between machines.
func Dot(a, b []float32) float32 {
	n := min(len(a), len(b))
	return dotFloat(a[:n], b[:n])
}

// DotInt8 is the exact dot product of two int8 vectors of the same length (of unequal ones, of their common beginning).
// It cannot overflow below 131,072 dimensions.
func DotInt8(a, b []int8) int32 {
	n := min(len(a), len(b))
	return dotInt8(a[:n], b[:n])
}

// ScanInt8 sets out[i] to the dot product of query with the i-th row of rows, dim numbers each, for as many rows as out
// has room for and rows holds. query must have dim numbers; out stays as it is when it has not, or dim is not positive.
func ScanInt8(query, rows []int8, dim int, out []int32) {
	if dim <= 0 || len(query) != dim {
		return
	}
	n := min(len(out), len(rows)/dim)
	if n == 0 {
		return
	}
	scanInt8(query, rows[:n*dim], dim, out[:n])
}

func dotFloatScalar(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

func dotInt8Scalar(a, b []int8) int32 {
	var s int32
	for i, x := range a {
		s += int32(x) * int32(b[i])
	}
	return s
}

// Quantize maps v to int8 by its greatest absolute value: v[i] ≈ float32(q[i])·scale. NaN becomes 0 and infinities
// the end of the range. A vector without a finite number other than 0 (or with none that scale can express) becomes
// zeros with scale 0. Dot products of unit vectors change by less than 0.01 as a rule; scale is always finite.
func Quantize(v []float32) (q []int8, scale float32) {
	q = make([]int8, len(v))
	return q, QuantizeInto(q, v)
}

// QuantizeInto is [Quantize] into q, which must be as long as v; it returns the scale.
func QuantizeInto(q []int8, v []float32) (scale float32) {
	var top float64
	for _, x := range v {
		a := math.Abs(float64(x))
		if a > top && a <= math.MaxFloat32 {
			top = a
		}
	}
	n := min(len(q), len(v))
	scale = float32(top / 127)
	if scale == 0 {
		clear(q[:n])
		return 0
	}
	inv := 1 / float64(scale)
	for i, x := range v[:n] {
		f := math.RoundToEven(float64(x) * inv)
		switch {
		case f != f:
			q[i] = 0
		case f > 127:
			q[i] = 127
		case f < -127:
			q[i] = -127
		default:
			q[i] = int8(f)
		}
	}
	return scale
}

func scanInt8Scalar(query, rows []int8, dim int, out []int32) {
	for i := range out {
		out[i] = dotInt8Scalar(query, rows[i*dim:(i+1)*dim])
	}
}
