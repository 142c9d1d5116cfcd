package scoring

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ x, lo, hi, want float64 }{
		{0.45, -0.3, 1.2, 0.5},
		{-9, -0.3, 1.2, 0},
		{9, -0.3, 1.2, 1},
		{1, 1, 1, 0},
		{1, 2, 1, 0},
		{math.NaN(), 0, 1, 0},
		{math.Inf(1), 0, 1, 1},
		{math.Inf(-1), 0, 1, 0},
		{1, math.NaN(), 1, 0},
	} {
		if got := Normalize(c.x, c.lo, c.hi); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Normalize(%v, %v, %v) = %v, want %v", c.x, c.lo, c.hi, got, c.want)
		}
	}
}

func TestConvex(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		parts []Part
		want  float64
	}{
		{nil, 0},
		{[]Part{{0, 1}}, 0},
		{[]Part{{0.3, 1}, {0.7, 0}}, 0.3},
		{[]Part{{3, 1}, {7, 0.5}}, 0.65},
		{[]Part{{1, 5}, {1, -5}}, 0.5},
		{[]Part{{nan, 1}, {-1, 1}, {math.Inf(1), 1}, {1, 0.25}}, 0.25},
		{[]Part{{1, nan}, {1, 1}}, 0.5},
	} {
		if got := Convex(c.parts...); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Convex(%v) = %v, want %v", c.parts, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Part {
			return Part{rapid.Float64Range(0, 10).Draw(t, "w"), rapid.Float64Range(-1, 2).Draw(t, "v")}
		})).Draw(t, "parts")
		a := Convex(parts...)
		b := Convex(rapid.Permutation(parts).Draw(t, "shuffled")...)
		if math.Abs(a-b) > 1e-12 || a < 0 || a > 1 {
			t.Fatalf("%v and %v", a, b)
		}
	})
}

func TestRRF(t *testing.T) {
	got := RRF(60, []string{"a", "b", "a"}, []string{"b", "c"})
	want := []Ranked[string]{{"b", 1/62.0 + 1/61.0}, {"a", 1 / 61.0}, {"c", 1 / 62.0}}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(RRF(60, []int{1}), RRF(0, []int{1})); diff != "" {
		t.Error(diff)
	}
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.SliceOf(rapid.SliceOfN(rapid.IntRange(0, 9), 0, 12)).Draw(t, "lists")
		if diff := cmp.Diff(RRF(60, lists...), RRF(60, rapid.Permutation(lists).Draw(t, "shuffled")...)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestRecencyAndImportance(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct{ got, want float64 }{
		{Recency(0, 14*day), 1},
		{Recency(-day, 14*day), 1},
		{Recency(14*day, 14*day), 0.5},
		{Recency(28*day, 14*day), 0.25},
		{Recency(math.MaxInt64, 1), 0},
		{Recency(day, 0), 0},
		{Recency(0, 0), 1},
		{Importance(0.5, 0), 0.3},
		{Importance(1, 10), 1},
		{Importance(1, 1<<40), 1},
		{Importance(-1, -5), 0},
		{Importance(math.NaN(), 5), 0.2},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		half := time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "half"))
		a := time.Duration(rapid.Int64().Draw(t, "a"))
		b := time.Duration(rapid.Int64().Draw(t, "b"))
		ra, rb := Recency(min(a, b), half), Recency(max(a, b), half)
		if ra < rb || ra > 1 || rb < 0 {
			t.Fatalf("the older scores %v, the newer %v", rb, ra)
		}
	})
}
