package scoring

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Normalize maps x from the fixed ends low … high to 0 … 1, clamped. NaN, and ends that are not in order, give 0.
func Normalize(x, low, high float64) float64 {
	if !(high > low) {
		return 0
	}
	return clamp01((x - low) / (high - low))
}

// clamp01 forces x into [0,1]; NaN becomes 0.
func clamp01(x float64) float64 {
	switch {
	case x >= 1:
		return 1
	case x > 0:
		return x
	}
	return 0
}

// Part is one component of a fused score: a value in [0,1] and its weight (not negative).
type Part struct {
	Weight, Value float64
}

// Convex is the weighted mean of parts: Σ weight·value / Σ weight, in [0,1]. Values are clamped; parts whose weight is
// not a positive finite number are left out. Without any part it is 0.
func Convex(parts ...Part) float64 {
	sum, total := 0.0, 0.0
	for _, p := range parts {
		if !(p.Weight > 0) || math.IsInf(p.Weight, 1) {
			continue
		}
		sum += p.Weight * clamp01(p.Value)
		total += p.Weight
	}
	if total == 0 {
		return 0
	}
	return clamp01(sum / total)
}

// Ranked is an identifier with its fused score.
type Ranked[ID cmp.Ordered] struct {
	ID    ID
	Score float64
}

// RRF is reciprocal rank fusion, Σ 1/(k + rank), the baseline of the benchmarks. Each list runs from best to worst; an
// identifier counts once a list, at its first place. The result is sorted by score, then identifier, and does not depend
// on the order of the lists. A k that is not positive means 60.
func RRF[ID cmp.Ordered](k float64, lists ...[]ID) []Ranked[ID] {
	if !(k > 0) {
		k = 60
	}
	ranks := map[ID][]int{}
	for _, list := range lists {
		seen := make(map[ID]bool, len(list))
		for i, id := range list {
			if !seen[id] {
				seen[id] = true
				ranks[id] = append(ranks[id], i+1)
			}
		}
	}
	out := make([]Ranked[ID], 0, len(ranks))
	for id, rs := range ranks {
		slices.Sort(rs) // one order of summation, so that equal ranks give equal scores to the last bit
		r := Ranked[ID]{ID: id}
		for _, rank := range rs {
			r.Score += 1 / (k + float64(rank))
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Ranked[ID]) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Recency is 2^(-age/halfLife), in [0,1]. An age of zero or less (a time to come) scores 1; without a positive half-life
// everything older scores 0.
func Recency(age, halfLife time.Duration) float64 {
	switch {
	case age <= 0:
		return 1
	case halfLife <= 0:
		return 0
	}
	return math.Exp2(-float64(age) / float64(halfLife))
}

// Importance is 0.6·importance + 0.4·min(uses/10, 1), in [0,1]. Importance is clamped to [0,1]; uses counts how often
// the item helped.
func Importance(importance float64, uses int) float64 {
	return 0.6*clamp01(importance) + 0.4*clamp01(float64(uses)/10)
}
