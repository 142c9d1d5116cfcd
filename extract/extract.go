// Package extract is the write path: it takes conversations in, keeps their turns verbatim, waits until a conversation
// goes quiet, distils facts with an Extractor and reconciles them with what is stored.
package extract

import (
	"context"
	"time"

	"evoke/store"
)

// Extractor distils operations from the turns of one conversation. The rule extractor needs no model; a language
// model's extractor implements the same port.
type Extractor interface {
	// Name identifies the extractor and its version in the provenance of what it wrote: "rules/1".
	Name() string
	// Extract returns the operations that the batch supports. ErrUnavailable means "try again later"; it never means
	// that there was nothing to remember.
	Extract(ctx context.Context, b Batch) ([]Operation, error)
}

// Batch is what one extraction sees.
type Batch struct {
	Scope  store.Scope
	Thread string
	Turns  []store.Item // new turns in order; each is episodic with Turn set
	Before []store.Item // up to a few earlier turns, for context only
	Known  []store.Item // current distilled items most related to the batch, for reconciliation by the extractor
	Now    time.Time
}

// Action is what an operation does to the store.
type Action string

// The actions.
const (
	Add       Action = "add"
	Confirm   Action = "confirm"   // the statement of item Target was repeated or affirmed
	Supersede Action = "supersede" // Content replaces what item Target says
	Retract   Action = "retract"   // item Target is no longer so and nothing replaces it
)

// Operation is one proposed change, grounded in a span of a turn.
type Operation struct {
	Action     Action
	Target     string // id of a known item; "" for Add
	Kind       store.Kind
	Category   store.Category
	Content    string // in the language of the conversation
	Turn       string // id of the turn it rests on
	Quote      string // span of that turn, verbatim
	Speaker    string
	Subject    string    // what the statement is about within its category ("name", "home", "likes:coffee"); two current statements of one exclusive subject contradict each other
	Exclusive  bool      // Subject holds one value at a time
	At         time.Time // when it became true; zero: the turn's time
	Confidence float64
	Importance float64
}
