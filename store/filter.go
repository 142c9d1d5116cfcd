package store

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Filter selects items. Set fields are joined by AND; All, Any and None nest further filters (AND, OR, NOT). The zero
// Filter selects everything.
type Filter struct {
	IDs        []string   `json:"ids,omitempty"`
	Kinds      []Kind     `json:"kinds,omitempty"`
	Categories []Category `json:"categories,omitempty"`
	Threads    []string   `json:"threads,omitempty"`
	Sessions   []string   `json:"sessions,omitempty"`
	Roles      []string   `json:"roles,omitempty"`
	Speakers   []string   `json:"speakers,omitempty"`
	// ContentKeys are the keys that ContentKey makes.
	ContentKeys []string      `json:"content_keys,omitempty"`
	Subjects    []string      `json:"-"`                  // on Provenance.Subject
	Positions   PositionRange `json:"positions,omitzero"` // on Turn.Position; an item outside a session is outside every range
	Valid       TimeRange     `json:"valid,omitzero"`     // on ValidFrom; an item without a time is outside every range
	Recorded    TimeRange     `json:"recorded,omitzero"`  // on RecordedAt
	Expires     TimeRange     `json:"expires,omitzero"`   // on ExpiresAt; an item that is kept for good is outside every range
	Metadata    []Condition   `json:"metadata,omitempty"`
	// Distilled selects what an extractor made of conversations: items with a Provenance.Extractor.
	Distilled bool `json:"-"`

	All  []Filter `json:"all,omitempty"`
	Any  []Filter `json:"any,omitempty"`
	None []Filter `json:"none,omitempty"`
}

// TimeRange is From ≤ t < To; a zero end is open.
type TimeRange struct {
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
}

// IsZero reports whether the range is open at both ends.
func (r TimeRange) IsZero() bool { return r.From.IsZero() && r.To.IsZero() }

// Contains reports whether t lies in the range. A zero t lies only in the open range.
func (r TimeRange) Contains(t time.Time) bool {
	if r.IsZero() {
		return true
	}
	return !t.IsZero() && !t.Before(r.From) && (r.To.IsZero() || t.Before(r.To))
}

// PositionRange is From ≤ position < To; To 0 is open.
type PositionRange struct {
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
}

// IsZero reports whether the range is open at both ends.
func (r PositionRange) IsZero() bool { return r == PositionRange{} }

// Contains reports whether the turn lies in the range.
func (r PositionRange) Contains(t Turn) bool {
	return r.IsZero() || t.IsTurn() && t.Position >= r.From && (r.To == 0 || t.Position < r.To)
}

// Condition tests one metadata key: In (equal to any; a list value matches by any member) and/or a closed number
// range. A missing key never matches.
type Condition struct {
	Key string   `json:"key"`
	In  []Value  `json:"in,omitempty"`
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
}

// Limits of a filter: nesting depth and number of conditions in all.
const (
	maxFilterDepth = 8
	maxFilterTerms = 4096
)

// IsZero reports whether the filter selects everything.
func (f *Filter) IsZero() bool {
	return f == nil || (len(f.IDs)+len(f.Kinds)+len(f.Categories)+len(f.Threads)+len(f.Sessions)+len(f.Roles)+len(f.Speakers)+
		len(f.ContentKeys)+len(f.Subjects)+len(f.Metadata)+len(f.All)+len(f.Any)+len(f.None) == 0 && !f.Distilled && f.Positions.IsZero() && f.Valid.IsZero() && f.Recorded.IsZero() && f.Expires.IsZero())
}

// Validate refuses unknown kinds and categories, empty conditions, reversed ranges and filters that are too deep or
// too large. A list that is present must not be empty of meaning: nil means "any".
func (f *Filter) Validate() error {
	terms := 0
	return f.validate("filter", 1, &terms)
}

func (f *Filter) validate(at string, depth int, terms *int) error {
	if depth > maxFilterDepth {
		return Invalid(at, fmt.Sprintf("nested at most %d deep", maxFilterDepth), "")
	}
	*terms += len(f.IDs) + len(f.Kinds) + len(f.Categories) + len(f.Threads) + len(f.Sessions) + len(f.Roles) + len(f.Speakers) + len(f.ContentKeys) + len(f.Subjects) + len(f.Metadata) + 1
	for i := range f.Metadata {
		*terms += len(f.Metadata[i].In)
	}
	if *terms > maxFilterTerms {
		return Invalid("filter", fmt.Sprintf("of at most %d values in all", maxFilterTerms), "")
	}
	for _, k := range f.Kinds {
		if err := k.Validate(); err != nil {
			return err
		}
	}
	for _, c := range f.Categories {
		if err := c.Validate(); err != nil {
			return err
		}
	}
	if f.Positions.From < 0 || f.Positions.To < 0 || f.Positions.To > 0 && f.Positions.From >= f.Positions.To {
		return Invalid(at+".positions", "a range from 0 whose from is before its to", "")
	}
	for _, r := range []struct {
		name string
		r    TimeRange
	}{{"valid", f.Valid}, {"recorded", f.Recorded}, {"expires", f.Expires}} {
		if !r.r.From.IsZero() && !r.r.To.IsZero() && !r.r.From.Before(r.r.To) {
			return Invalid(at+"."+r.name, "a range whose from is before its to", "")
		}
	}
	for i, c := range f.Metadata {
		if err := c.validate(fmt.Sprintf("%s.metadata[%d]", at, i)); err != nil {
			return err
		}
	}
	for _, g := range []struct {
		name string
		list []Filter
	}{{"all", f.All}, {"any", f.Any}, {"none", f.None}} {
		for i := range g.list {
			if err := g.list[i].validate(fmt.Sprintf("%s.%s[%d]", at, g.name, i), depth+1, terms); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c Condition) validate(at string) error {
	if c.Key == "" {
		return Invalid(at+".key", "given", "")
	}
	if len(c.In) == 0 && c.Min == nil && c.Max == nil {
		return Invalid(at, "a test: in, min or max", "")
	}
	for _, end := range []*float64{c.Min, c.Max} {
		if end != nil && math.IsNaN(*end) {
			return Invalid(at, "a range of numbers", "NaN")
		}
	}
	if c.Min != nil && c.Max != nil && *c.Min > *c.Max {
		return Invalid(at, "a range whose min is at most its max", "")
	}
	return nil
}

// Match reports whether the filter selects the item. It defines what every backend must answer.
func (f *Filter) Match(it *Item) bool {
	if f == nil {
		return true
	}
	if !in(f.IDs, it.ID) || !in(f.Kinds, it.Kind) || !in(f.Categories, it.Category) || !in(f.Threads, it.Turn.Thread) ||
		!in(f.Sessions, it.Turn.Session) || !in(f.Roles, it.Turn.Role) || !in(f.Speakers, it.Turn.Speaker) ||
		!in(f.ContentKeys, it.ContentKey) || !in(f.Subjects, it.Provenance.Subject) || f.Distilled && it.Provenance.Extractor == "" || !f.Positions.Contains(it.Turn) ||
		!f.Valid.Contains(it.ValidFrom) || !f.Recorded.Contains(it.RecordedAt) ||
		!f.Expires.Contains(it.ExpiresAt) {
		return false
	}
	for i := range f.Metadata {
		if !f.Metadata[i].match(it.Metadata) {
			return false
		}
	}
	for i := range f.All {
		if !f.All[i].Match(it) {
			return false
		}
	}
	for i := range f.None {
		if f.None[i].Match(it) {
			return false
		}
	}
	for i := range f.Any {
		if f.Any[i].Match(it) {
			return true
		}
	}
	return len(f.Any) == 0
}

func (c *Condition) match(m Metadata) bool {
	v, ok := m[c.Key]
	if !ok {
		return false
	}
	if len(c.In) > 0 && !slices.ContainsFunc(c.In, v.Has) {
		return false
	}
	if c.Min == nil && c.Max == nil {
		return true
	}
	return v.kind == NumberValue && (c.Min == nil || v.num >= *c.Min) && (c.Max == nil || v.num <= *c.Max)
}

func in[T comparable](list []T, v T) bool { return len(list) == 0 || slices.Contains(list, v) }
