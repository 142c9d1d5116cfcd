package scoring

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestDotInt8(t *testing.T) {
	for n := range 200 {
		for _, c := range [][2]int8{{127, 127}, {-127, 127}, {-127, -127}, {-128, -128}, {-128, 127}, {0, 5}} {
			a, b := make([]int8, n), make([]int8, n)
			for i := range a {
				a[i], b[i] = c[0], c[1]
			}
			if got, want := DotInt8(a, b), int32(n)*int32(c[0])*int32(c[1]); got != want {
				t.Fatalf("DotInt8 of %d × %v = %d, want %d", n, c, got, want)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 500).Draw(t, "n")
		a := rapid.SliceOfN(rapid.Int8(), n, n).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Int8(), n, n).Draw(t, "b")
		if got, want := DotInt8(a, b), dotInt8Scalar(a, b); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}

func TestDotFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 500).Draw(t, "n")
		a := rapid.SliceOfN(rapid.Float32Range(-1, 1), n, n).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Float32Range(-1, 1), n, n).Draw(t, "b")
		want := 0.0
		for i := range a {
			want += float64(a[i]) * float64(b[i])
		}
		if got := float64(Dot(a, b)); math.Abs(got-want) > 1e-4 {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
	if Dot(nil, nil) != 0 || Dot([]float32{1, 2}, []float32{3}) != 3 || DotInt8([]int8{1, 2}, []int8{3}) != 3 {
		t.Error("vectors of unequal length must be cut to their common beginning")
	}
}

func TestScanInt8EqualsSingle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.SampledFrom([]int{1, 7, 31, 32, 33, 64, 96, 100, 384, 385, 2048, 2080}).Draw(t, "dim")
		n := rapid.IntRange(0, 5).Draw(t, "rows")
		seed := rapid.Uint64().Draw(t, "seed")
		next := func() int8 {
			seed = seed*6364136223846793005 + 1442695040888963407
			return int8(seed >> 56)
		}
		q, rows := make([]int8, dim), make([]int8, n*dim+dim/2)
		for i := range q {
			q[i] = next()
		}
		for i := range rows {
			rows[i] = next()
		}
		out := make([]int32, n+2)
		for i := range out {
			out[i] = 42
		}
		ScanInt8(q, rows, dim, out)
		for i := range out {
			want := int32(42)
			if i < n {
				want = dotInt8Scalar(q, rows[i*dim:(i+1)*dim])
			}
			if out[i] != want {
				t.Fatalf("row %d of %d: %d, want %d", i, n, out[i], want)
			}
		}
	})
	out := []int32{7}
	ScanInt8([]int8{1}, []int8{1, 2}, 2, out)
	ScanInt8(nil, nil, 0, out)
	ScanInt8([]int8{1}, nil, 1, nil)
	if out[0] != 7 {
		t.Error("a query of the wrong length must leave the output alone")
	}
}

func TestScalarScan(t *testing.T) {
	out := make([]int32, 2)
	scanInt8Scalar([]int8{1, 2}, []int8{3, 4, 5, 6}, 2, out)
	if out[0] != 11 || out[1] != 17 {
		t.Error(out)
	}
}

func TestQuantize(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name  string
		in    []float32
		want  []int8
		scale float32
	}{
		{"empty", nil, []int8{}, 0},
		{"zero", []float32{0, 0}, []int8{0, 0}, 0},
		{"max is 127", []float32{0.5, -1, 0.25}, []int8{64, -127, 32}, 1.0 / 127},
		{"not finite", []float32{nan, inf, -inf, 2}, []int8{0, 127, -127, 127}, 2.0 / 127},
		{"nothing finite", []float32{nan, inf}, []int8{0, 0}, 0},
		{"below what scale can express", []float32{1e-45}, []int8{0}, 0},
	} {
		q, s := Quantize(c.in)
		if s != c.scale || len(q) != len(c.want) {
			t.Errorf("%s: %v, %v", c.name, q, s)
			continue
		}
		for i := range q {
			if q[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", c.name, q, c.want)
				break
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOf(rapid.Float32()).Draw(t, "v")
		q, s := Quantize(v)
		if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) || s < 0 {
			t.Fatalf("scale %v", s)
		}
		for i, x := range v {
			if q[i] == -128 {
				t.Fatal("-128 is out of range")
			}
			if s > 1e-38 && math.Abs(float64(q[i])*float64(s)-float64(x)) > float64(s)*0.501 {
				t.Fatalf("%v became %d × %v", x, q[i], s)
			}
		}
	})
}

func BenchmarkScanInt8_100k(b *testing.B) {
	const dim, n = 384, 100_000
	rows, q, out := make([]int8, dim*n), make([]int8, dim), make([]int32, n)
	for i := range rows {
		rows[i] = int8(i * 7)
	}
	for i := range q {
		q[i] = int8(i * 3)
	}
	b.SetBytes(dim * n)
	b.ReportAllocs()
	for b.Loop() {
		ScanInt8(q, rows, dim, out)
	}
}

func BenchmarkDotFloat384(b *testing.B) {
	x := make([]float32, 384)
	for b.Loop() {
		Dot(x, x)
	}
}
