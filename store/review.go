package store

import (
	"context"
	"time"
)

// Quarantined is an operation that an extractor proposed and that was not stored: it waits for review and is never
// recalled.
type Quarantined struct {
	ID        string
	Scope     Scope
	Event     string // the event it came of
	Thread    string
	Turn      string // id of the turn it claims to rest on
	Extractor string
	Reason    string // short and fixed, never content: "ungrounded"
	Key       string // the same for all of a scope that would do the same; they count as one. "": it stands for itself
	Operation []byte // the extractor's operation, as JSON
	Edited    bool   // somebody changed the words
	At        time.Time
	Times     int // how often it was proposed; set by those who read
}

// QuarantineQuery selects a page of a tenant's quarantined operations, newest first.
type QuarantineQuery struct {
	Scope     *Scope    // nil: all of the tenant
	Thread    string    // "" for all
	Extractor string    // "" for all
	Reason    string    // "" for all
	Category  Category  // of what would be stored; "" for all
	Before    time.Time // proposed earlier; zero: whenever
	Limit     int       // 1–1000; 0 means 100
	Cursor    string    // from the previous page; "" for the first
}

// QuarantinePage is one page. Next is "" on the last one.
type QuarantinePage struct {
	Entries []Quarantined
	Next    string
}

// Quarantine keeps what waits for review.
type Quarantine interface {
	// ListQuarantined pages through a tenant's entries. Of those of one key it lists the oldest.
	ListQuarantined(ctx context.Context, tenant string, q QuarantineQuery) (QuarantinePage, error)
	// GetQuarantined returns one entry of the tenant, or ErrNotFound.
	GetQuarantined(ctx context.Context, tenant, id string) (Quarantined, error)
	// EditQuarantined puts another operation and key in the place of an entry's, and marks it as edited; so it does with the
	// others of its key. ErrNotFound when the tenant has no such entry.
	EditQuarantined(ctx context.Context, tenant string, q Quarantined) error
	// DropQuarantined removes entries of the tenant, with the others of their keys, and returns how many of those named there
	// were. Unknown ids are skipped.
	DropQuarantined(ctx context.Context, tenant string, ids []string) (int, error)
}

// Usage is what a tenant took of a hosted model on one day.
type Usage struct {
	Day                                   string // "2026-11-30", UTC
	Calls, PromptTokens, CompletionTokens int64
}

// Usages adds up what tenants took.
type Usages interface {
	// AddUsage adds to the tenant's numbers of u.Day.
	AddUsage(ctx context.Context, tenant string, u Usage) error
	// Usage returns the days from fromDay to toDay, both included, that have any, oldest first.
	Usage(ctx context.Context, tenant, fromDay, toDay string) ([]Usage, error)
}

// QueueStats is how the queue of extractions stands. A lease that has run out does not count as one.
type QueueStats struct {
	Waiting int       `json:"waiting"`         // jobs that no run holds
	Due     int       `json:"due"`             // of these, the ones due by now
	Leased  int       `json:"leased"`          // jobs that a run holds
	Oldest  time.Time `json:"oldest,omitzero"` // due time of the oldest due job; zero without one
}

// EventQuery selects a page of a tenant's events, newest first.
type EventQuery struct {
	State  EventState // "" for all
	Scope  *Scope     // nil: all of the tenant
	Thread string     // "" for all
	Limit  int        // 1–1000; 0 means 100
	Cursor string     // from the previous page; "" for the first
}

// EventPage is one page. Next is "" on the last one.
type EventPage struct {
	Events []Event
	Next   string
}
