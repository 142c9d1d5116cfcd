package store

import (
	"fmt"
	"math"
)

// ValidateVector refuses a vector of another dimension than the store's, one with NaN or infinities, and one of zeros: some
// backends accept them and rank by them.
func ValidateVector(field string, v []float32, dim int) error {
	if len(v) != dim {
		return Invalid(field, fmt.Sprintf("a vector of %d numbers", dim), fmt.Sprint(len(v)))
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	switch {
	case math.IsNaN(sum) || math.IsInf(sum, 0):
		return Invalid(field, "a vector of finite numbers", "")
	case sum == 0:
		return Invalid(field, "a vector of unit length", "all zeros")
	}
	return nil
}
