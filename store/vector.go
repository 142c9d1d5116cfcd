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

// MaxDim is the greatest number of dimensions of a store's vectors.
const MaxDim = 16384

// ValidateSpace checks the identity and the dimensions of a vector space.
func ValidateSpace(id string, dim int) error {
	if id == "" {
		return Invalid("model", "given", "")
	}
	if dim < 1 || dim > MaxDim {
		return Invalid("dim", fmt.Sprintf("from 1 to %d", MaxDim), fmt.Sprint(dim))
	}
	return nil
}
