package evoke

import (
	"fmt"
	"slices"

	"evoke/extract"
	"evoke/store"
)

// ReviewPolicy says which of the facts that are distilled from conversations wait for a person. What waits is a proposal
// (Quarantined): it is seen nowhere and changes nothing until it is approved. What a caller stores itself (Remember, Update,
// Import) never waits. The zero value: nothing waits.
type ReviewPolicy struct {
	Mode extract.ReviewMode `json:"mode"` // off (also ""), low_confidence, category or all
	// Below is the confidence under which facts wait, in mode low_confidence; 0–1, 0 means 0.85. Those under
	// MemoryOptions.FactConfidence are not proposed either.
	Below float64 `json:"below,omitempty"`
	// Categories are those that wait, in mode category.
	Categories []store.Category `json:"categories,omitempty"`
}

const reviewedBelow = 0.85

// Validate refuses unknown modes and categories, a mode category of none, and a confidence out of range.
func (p *ReviewPolicy) Validate() error {
	switch p.Mode {
	case "", extract.ReviewOff, extract.ReviewConfidence, extract.ReviewAll:
	case extract.ReviewCategory:
		if len(p.Categories) == 0 {
			return store.Invalid("review.categories", "at least one, in mode category", "")
		}
	default:
		return store.Invalid("review.mode", "off, low_confidence, category or all", fmt.Sprintf("%.40q", p.Mode))
	}
	for _, c := range p.Categories {
		if !slices.Contains(store.Categories(), c) {
			return store.Invalid("review.categories", "of preference, knowledge, context, behavior, goal, correction", fmt.Sprintf("%.40q", c))
		}
	}
	return store.InUnit("review.below", p.Below)
}

// review is the policy as the worker applies it.
func (t *TenantOptions) review() extract.Review {
	if t.Review == nil {
		return extract.Review{}
	}
	v := extract.Review{Mode: t.Review.Mode, Below: t.Review.Below, Categories: t.Review.Categories}
	if v.Below == 0 {
		v.Below = reviewedBelow
	}
	return v
}
