package simd

import (
	"math"
	"unsafe"
)

// genericOps is the portable version: plain Go over the same operands.
var genericOps = Ops{
	level:     Generic,
	tileRows:  4,
	tile:      tileGeneric,
	softmax:   softmaxGeneric,
	gelu:      geluGeneric,
	layerNorm: layerNormGeneric,
	int8s:     expandInt8Generic,
	int4s:     expandInt4Generic,
}

func tileGeneric(rows int, a *float32, lda int, b *float32, k int, c *float32, ldc int) {
	as := unsafe.Slice(a, (rows-1)*lda+k)
	bs := unsafe.Slice(b, k*Panel)
	cs := unsafe.Slice(c, (rows-1)*ldc+Panel)
	for r := range rows {
		var sum [Panel]float32
		for i, x := range as[r*lda : r*lda+k] {
			row := (*[Panel]float32)(bs[i*Panel:])
			for j := range sum {
				sum[j] += x * row[j]
			}
		}
		out := cs[r*ldc : r*ldc+Panel]
		for j, s := range sum {
			out[j] += s
		}
	}
}

func softmaxGeneric(x *float32, n int, scale float32) {
	xs := unsafe.Slice(x, n)
	top := xs[0]
	for _, v := range xs {
		top = max(top, v)
	}
	var sum float32
	for i, v := range xs {
		e := float32(math.Exp(float64((v - top) * scale)))
		xs[i] = e
		sum += e
	}
	inv := 1 / sum
	for i := range xs {
		xs[i] *= inv
	}
}

func geluGeneric(x *float32, n int) {
	for i, v := range unsafe.Slice(x, n) {
		g := 0.5 * float64(v) * (1 + math.Erf(float64(v)/math.Sqrt2))
		unsafe.Slice(x, n)[i] = float32(g)
	}
}

func layerNormGeneric(x, w, b *float32, n int, eps float32) {
	xs, ws, bs := unsafe.Slice(x, n), unsafe.Slice(w, n), unsafe.Slice(b, n)
	var mean, variance float32
	for _, v := range xs {
		mean += v
	}
	mean /= float32(n)
	for _, v := range xs {
		variance += (v - mean) * (v - mean)
	}
	inv := float32(1 / math.Sqrt(float64(variance/float32(n)+eps)))
	for i, v := range xs {
		xs[i] = (v-mean)*inv*ws[i] + bs[i]
	}
}

func expandInt8Generic(dst *float32, src *int8, scale *float32, k int) {
	d, s, f := unsafe.Slice(dst, k*Panel), unsafe.Slice(src, k*Panel), unsafe.Slice(scale, Panel)
	for i, v := range s {
		d[i] = float32(v) * f[i%Panel]
	}
}

func expandInt4Generic(dst *float32, src *byte, scale *float32, k int) {
	const half = Panel / 2
	d, s, f := unsafe.Slice(dst, k*Panel), unsafe.Slice(src, k*half), unsafe.Slice(scale, Panel)
	for i, v := range s {
		row, j := d[i/half*Panel:], i%half
		row[j] = float32(int(v&15)-8) * f[j]
		row[j+half] = float32(int(v>>4)-8) * f[j+half]
	}
}
