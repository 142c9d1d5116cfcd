package store

import (
	"fmt"
	"math"
	"time"
)

// Outcome is how it went when somebody did what a procedural item says.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
)

// Outcomes counts what was reported of a procedural item. The zero value: nothing yet.
type Outcomes struct {
	Succeeded int       `json:"succeeded"`
	Failed    int       `json:"failed"`
	Last      Outcome   `json:"last,omitempty"`
	LastAt    time.Time `json:"last_at,omitzero"`
}

// Count adds one outcome. One that is older than the last one counts and leaves it the last.
func (o *Outcomes) Count(how Outcome, at time.Time) {
	n := &o.Succeeded
	if how == Failed {
		n = &o.Failed
	}
	*n = min(*n, math.MaxInt32-1) + 1 // an imported count may be any
	if !at.Before(o.LastAt) {
		o.Last, o.LastAt = how, at
	}
}

// Validate refuses an unknown outcome.
func (o Outcome) Validate() error {
	if o == Succeeded || o == Failed {
		return nil
	}
	return Invalid("outcome", "succeeded or failed", quote(string(o)))
}

func (o *Outcomes) validate(k Kind) error {
	if *o == (Outcomes{}) {
		return nil
	}
	if k != Procedural {
		return Invalid("outcomes", "given for procedural items alone", string(k))
	}
	if o.Last != "" {
		if err := o.Last.Validate(); err != nil {
			return err
		}
	}
	if n := min(o.Succeeded, o.Failed); n < 0 {
		return Invalid("outcomes", "zero or more", fmt.Sprint(n))
	}
	return nil
}
