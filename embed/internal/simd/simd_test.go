package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// levels are the levels this machine can run besides the portable one.
func levels(t *testing.T) []Level {
	t.Helper()
	var ls []Level
	for _, l := range []Level{AVX2, AVX512} {
		if l <= Best() {
			ls = append(ls, l)
		} else {
			t.Logf("%v is not tested: this machine has no such instructions", l)
		}
	}
	return ls
}

func randoms(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// worst is the greatest difference between want and got, relative to 1+|want|.
func worst(want, got []float32) float64 {
	var w float64
	for i := range want {
		d := math.Abs(float64(want[i]-got[i])) / (1 + math.Abs(float64(want[i])))
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		w = max(w, d)
	}
	return w
}

func TestMulAddAgreesWithFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, l := range append(levels(t), Generic) {
		for rows := 1; rows <= 40; rows++ {
			k := 1 + r.IntN(100)
			lda, ldc := k+r.IntN(5), Panel+r.IntN(9)
			a, b, c := randoms(r, rows*lda), randoms(r, k*Panel), randoms(r, rows*ldc)
			want := append([]float32(nil), c...)
			for i := range rows {
				for j := range Panel {
					var s float64
					for x := range k {
						s += float64(a[i*lda+x]) * float64(b[x*Panel+j])
					}
					want[i*ldc+j] += float32(s)
				}
			}
			For(l).MulAdd(rows, k, a, lda, b, c, ldc)
			if w := worst(want, c); w > 1e-5 {
				t.Fatalf("%v, %d rows, k %d: differs by %g", l, rows, k, w)
			}
		}
	}
}

func TestMulAddRowsDoNotDependOnTheBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const rows, k = 37, 64
	a, b := randoms(r, rows*k), randoms(r, k*Panel)
	for _, l := range append(levels(t), Generic) {
		all, one := make([]float32, rows*Panel), make([]float32, rows*Panel)
		For(l).MulAdd(rows, k, a, k, b, all, Panel)
		for i := range rows {
			For(l).MulAdd(1, k, a[i*k:], k, b, one[i*Panel:], Panel)
		}
		for i := range all {
			if all[i] != one[i] {
				t.Fatalf("%v: element %d is %v in a batch and %v alone", l, i, all[i], one[i])
			}
		}
	}
}

func TestMulAddOfNothing(t *testing.T) {
	For(Best()).MulAdd(0, 3, nil, 3, nil, nil, Panel)
	c := []float32{7}
	For(Best()).MulAdd(1, 0, nil, 3, nil, c, Panel)
	if c[0] != 7 {
		t.Error("a product over nothing must add nothing")
	}
}

func TestRowOperationsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, l := range levels(t) {
		fast, slow := For(l), For(Generic)
		for n := 8; n <= 400; n += 8 {
			x := randoms(r, n)
			for i := range x {
				x[i] *= 6
			}
			if n > 8 {
				x[n-1] = NegInf
			}
			check := func(name string, limit float64, f func(o *Ops, x []float32)) {
				t.Helper()
				want, got := append([]float32(nil), x...), append([]float32(nil), x...)
				f(slow, want)
				f(fast, got)
				if w := worst(want, got); w > limit {
					t.Fatalf("%v, %s of %d: differs by %g", l, name, n, w)
				}
			}
			check("softmax", 1e-6, func(o *Ops, x []float32) { o.Softmax(x, 0.3) })
			if n > 8 {
				x[n-1] = 1
			}
			check("gelu", 1e-6, func(o *Ops, x []float32) { o.GELU(x) })
			w, b := randoms(r, n), randoms(r, n)
			check("layer norm", 5e-6, func(o *Ops, x []float32) { o.LayerNorm(x, w, b, 1e-12) })
		}
	}
}

func TestSoftmaxSumsToOneAndDropsPadding(t *testing.T) {
	for _, l := range append(levels(t), Generic) {
		x := []float32{1, 2, 3, NegInf, NegInf, NegInf, NegInf, NegInf}
		For(l).Softmax(x, 0.125)
		var sum float64
		for _, v := range x {
			sum += float64(v)
		}
		if math.Abs(sum-1) > 1e-6 || x[3] > 1e-30 || !(x[0] < x[1] && x[1] < x[2]) {
			t.Errorf("%v: softmax gives %v", l, x)
		}
	}
}

func TestGELUAtTheEnds(t *testing.T) {
	for _, l := range append(levels(t), Generic) {
		x := []float32{-1000, -30, -6, -0, 0, 6, 30, 1000}
		For(l).GELU(x)
		want := []float32{0, 0, 0, 0, 0, 6, 30, 1000}
		for i := range x {
			if math.Abs(float64(x[i]-want[i])) > 1e-4*math.Max(1, math.Abs(float64(want[i]))) {
				t.Errorf("%v: gelu[%d] = %v, want about %v", l, i, x[i], want[i])
			}
		}
	}
}

func TestExpandIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const k = 9
	scale := randoms(r, Panel)
	bytes, ints := make([]byte, k*Panel/2), make([]int8, k*Panel)
	for i := range bytes {
		bytes[i] = byte(r.Uint32())
	}
	for i := range ints {
		ints[i] = int8(r.Uint32())
	}
	for _, l := range append(levels(t), Generic) {
		got := make([]float32, k*Panel)
		For(l).ExpandInt8(got, ints, scale, k)
		for i, v := range ints {
			if got[i] != float32(v)*scale[i%Panel] {
				t.Fatalf("%v: 8-bit element %d is %v", l, i, got[i])
			}
		}
		For(l).ExpandInt4(got, bytes, scale, k)
		for i, v := range bytes {
			row, j := i/(Panel/2)*Panel, i%(Panel/2)
			if got[row+j] != float32(int(v&15)-8)*scale[j] || got[row+j+Panel/2] != float32(int(v>>4)-8)*scale[j+Panel/2] {
				t.Fatalf("%v: 4-bit row %d column %d is wrong", l, i/(Panel/2), j)
			}
		}
	}
}

func TestLevelsHaveNames(t *testing.T) {
	for l, want := range map[Level]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512"} {
		if l.String() != want {
			t.Errorf("level %d is called %q, want %q", l, l.String(), want)
		}
	}
	if got := For(AVX512 + 1).Level(); got != Best() {
		t.Errorf("a level above the best gives %v, want %v", got, Best())
	}
}

func BenchmarkMulAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const rows, k = 36, 384
	x, p, y := randoms(r, rows*k), randoms(r, k*Panel), make([]float32, rows*Panel)
	for _, l := range []Level{Generic, AVX2, AVX512} {
		if l > Best() {
			continue
		}
		b.Run(l.String(), func(b *testing.B) {
			for b.Loop() {
				For(l).MulAdd(rows, k, x, k, p, y, Panel)
			}
			b.ReportMetric(2*rows*k*Panel*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
