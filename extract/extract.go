// Package extract is the write path: it takes conversations in, keeps their turns verbatim, waits until a conversation
// goes quiet, distils facts with an Extractor and reconciles them with what is stored.
package extract

import (
	"context"
	"errors"
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

// What an extractor that asks a model fails with beside store.ErrUnavailable (later) and store.ErrBudget (spent). None of
// them says anything about whether there is something to remember.
var (
	ErrUnreadable = errors.New("the model's answer cannot be read")
	ErrRefused    = errors.New("the model refuses to answer")
	// ErrService: an operator is needed, for example because the key is refused or the model does not exist. Until then
	// every request fails, so that it says nothing about the batch.
	ErrService = errors.New("the model's service needs an operator")
	// ErrPaced: a pace of the caller's own, not the service, allows no request just now (RetryAfter tells when). It is no
	// failure, and no outage: the turns are extracted when their turn comes.
	ErrPaced = errors.New("the pace of requests allows none now")
)

// Sizer is an Extractor that takes only so much text in one call.
type Sizer interface {
	// BatchBytes is the number of bytes of text that one call takes: of all new turns of a batch, with 80 more for each of
	// them. A turn that is longer by itself is a batch of its own.
	BatchBytes() int
}

// Batch is what one extraction sees.
type Batch struct {
	Scope  store.Scope
	Thread string
	Turns  []store.Item // new turns in order; each is episodic with Turn set
	Before []store.Item // up to a few earlier turns, for context only
	Known  []store.Item // current distilled items most related to the batch, for reconciliation by the extractor
	// Profile is the current sections of the scope's profile; see Section.
	Profile []store.Item
	Now     time.Time
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

	About      string     // name of the person or thing a statement is about when that is not its speaker; Subject begins with it then
	Precision  Precision  // of At
	Modality   Modality   // how it was said; nothing but what was asserted becomes a fact
	Durability Durability // for whom and how long it holds
	Outcome    Outcome    // of a procedural statement: how it went this time
}

// Outcome is how a way of doing something went. The empty one: it was not said.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
)

// Precision tells how exactly a moment is known: At is the beginning of that year, month, … The empty one: exactly.
type Precision string

// The precisions.
const (
	Year   Precision = "year"
	Month  Precision = "month"
	Day    Precision = "day"
	Hour   Precision = "hour"
	Minute Precision = "minute"
)

// Modality is how something was said. The empty one is Asserted.
type Modality string

// The modalities.
const (
	Asserted     Modality = "asserted"
	Hypothetical Modality = "hypothetical" // if, maybe, planned in jest
	Question     Modality = "question"
	Quoted       Modality = "quoted" // words of another, of a text or a song
	RolePlay     Modality = "role_play"
)

// Durability is for whom, and how long, a statement holds. The empty one is DurableUser.
type Durability string

// The durabilities.
const (
	DurableUser    Durability = "user"
	DurableAgent   Durability = "agent"   // about how this agent is to work
	DurableProject Durability = "project" // as long as the project that the conversation is about
	DurableTask    Durability = "task"    // this task only: to expire with its thread
	// DurableOther: it is the matter of another user or of another project than the one at hand; nothing of it is stored.
	DurableOther Durability = "other"
)

// Reporter is an Extractor that also tells what it refused and what the call took.
type Reporter interface {
	Extractor
	// Report is Extract with the refused operations and the usage. The report is valid, and its usage complete, also
	// beside an error.
	Report(ctx context.Context, b Batch) (Report, error)
}

// Report is what came of an extraction.
type Report struct {
	Operations []Operation
	Rejected   []Rejected
	Sections   []Section // those of the profile that are to be written anew
	Usage      Usage
}

// Section is a part of a user's profile: a short text that stands for many turns. It is kept as an item with versions.
type Section struct {
	Name    string   // one of Sections
	Content string   // in the language of the conversation
	Turns   []string // ids of the turns of the batch that it rests on
}

// Sections lists the names of a profile's sections.
func Sections() []string {
	return []string{"work", "personal", "top_of_mind", "recent_months", "earlier", "long_term"}
}

// Rejected is an operation that is not to be stored, as far as it could be read, and why.
type Rejected struct {
	Reason    string // short, fixed for each extractor, never content: "ungrounded"
	Operation Operation
}

// Usage is what an extraction took of a hosted model.
type Usage struct {
	Calls            int // requests sent, those that failed included
	PromptTokens     int // as the service counts them, or estimated where it does not tell
	CompletionTokens int
}
