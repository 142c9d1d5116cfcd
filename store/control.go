package store

import (
	"context"
	"encoding/json"
	"time"
)

// OperationState is where long work stands.
type OperationState string

// The states. Those from done on are terminal.
const (
	OperationQueued   OperationState = "queued"
	OperationRunning  OperationState = "running"
	OperationDone     OperationState = "done"
	OperationFailed   OperationState = "failed" // Note says why
	OperationCanceled OperationState = "canceled"
)

// Ended tells whether the state is terminal.
func (s OperationState) Ended() bool {
	return s == OperationDone || s == OperationFailed || s == OperationCanceled
}

// Operation is long work that was asked for by id: an erasure, a consolidation, an import. What it needs to go on after a
// crash is in Args and Checkpoint. Neither holds content that erasure has to reach: ids, filters and counts only.
type Operation struct {
	ID         string          `json:"id"`
	Tenant     string          `json:"-"`
	Kind       string          `json:"kind"` // "erase"
	State      OperationState  `json:"state"`
	By         string          `json:"by,omitempty"` // name of the credential that asked for it
	Args       json.RawMessage `json:"args,omitempty"`
	Checkpoint json.RawMessage `json:"-"`
	Result     json.RawMessage `json:"result,omitempty"`
	Done       int             `json:"done"`            // units finished
	Total      int             `json:"total,omitempty"` // units in all; 0: not known yet
	Note       string          `json:"note,omitempty"`  // never content
	Cancel     bool            `json:"cancel,omitempty"`
	Version    int64           `json:"version"` // of this record; 0 for one that is not stored yet
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
	DoneAt     time.Time       `json:"done_at,omitzero"`
}

// OperationQuery selects a page of a tenant's operations, newest first.
type OperationQuery struct {
	Kind   string         // "" for all
	State  OperationState // "" for all
	Limit  int            // 1–1000; 0 means 100
	Cursor string         // from the previous page; "" for the first
}

// OperationPage is one page. Next is "" on the last one.
type OperationPage struct {
	Operations []Operation
	Next       string
}

// Operations keeps long work.
type Operations interface {
	// SaveOperation stores the operation with the next version, which it returns. ErrConflict when Version is not the
	// stored one: another changed it meanwhile, or, with 0, the id is taken.
	SaveOperation(ctx context.Context, op Operation) (version int64, err error)
	// Operation returns one of the tenant's operations, or ErrNotFound.
	Operation(ctx context.Context, tenant, id string) (Operation, error)
	// ListOperations pages through a tenant's operations.
	ListOperations(ctx context.Context, tenant string, q OperationQuery) (OperationPage, error)
	// Unfinished returns the operations of all tenants that have not ended, oldest first.
	Unfinished(ctx context.Context) ([]Operation, error)
}

// Audit is one deed of somebody, without content.
type Audit struct {
	At      time.Time      `json:"at"`
	Tenant  string         `json:"-"`
	User    string         `json:"user,omitempty"`
	Agent   string         `json:"agent,omitempty"`
	By      string         `json:"by,omitempty"` // name of the credential; "" for the library itself
	Verb    string         `json:"verb"`         // "forget"
	IDs     []string       `json:"ids,omitempty"`
	Counts  map[string]int `json:"counts,omitempty"`
	Request string         `json:"request,omitempty"` // id of the request
	Error   string         `json:"error,omitempty"`   // class of the failure; "" when it succeeded
}

// AuditQuery selects a page of a tenant's audit log, newest first.
type AuditQuery struct {
	Verb   string    // "" for all
	User   string    // "" for all
	From   time.Time // zero: from the beginning
	To     time.Time // exclusive; zero: up to now
	Limit  int       // 1–1000; 0 means 100
	Cursor string    // from the previous page; "" for the first
}

// AuditPage is one page. Next is "" on the last one.
type AuditPage struct {
	Entries []Audit
	Next    string
}

// Audits keeps who did what.
type Audits interface {
	// AppendAudit adds an entry.
	AppendAudit(ctx context.Context, a Audit) error
	// PruneAudit drops entries of all tenants of before a time and returns how many went.
	PruneAudit(ctx context.Context, before time.Time) (int, error)
	// ListAudit pages through a tenant's log.
	ListAudit(ctx context.Context, tenant string, q AuditQuery) (AuditPage, error)
}

// Tombstone is what is left of something that was erased: a keyed hash by which it is known when it comes back by replay.
type Tombstone struct {
	Hash      string
	Operation string // that erased it
	At        time.Time
}

// Tombstones keep keyed hashes of what was erased, so that it does not come back by replay.
type Tombstones interface {
	// AddTombstones adds hashes; one that is there is of the newer operation from then on.
	AddTombstones(ctx context.Context, tenant string, ts []Tombstone) error
	// Tombstoned returns those of the hashes that are there, in the order given.
	Tombstoned(ctx context.Context, tenant string, hashes []string) ([]Tombstone, error)
	// DropTombstones removes hashes and returns how many there were.
	DropTombstones(ctx context.Context, tenant string, hashes []string) (int, error)
	// LiftTombstones removes those of an operation and returns how many there were.
	LiftTombstones(ctx context.Context, tenant, operation string) (int, error)
}

// Setting is one piece of durable configuration that is changed while running: an API key, a policy, a schedule, a hold.
type Setting struct {
	Tenant  string          // "" is of the whole installation
	Kind    string          // "key", "policy", "schedule", "hold", "erasure"
	Name    string          // unique within kind and tenant
	Value   json.RawMessage // never a secret of a caller: keys are hashed
	Version int64           // of this record; 0 for one that is not stored yet
	At      time.Time       // of the last change
}

// Settings keeps them.
type Settings interface {
	// SaveSetting stores the setting with the next version, which it returns. ErrConflict as for SaveOperation.
	SaveSetting(ctx context.Context, s Setting) (version int64, err error)
	// Settings returns all of a kind, of all tenants when tenant is "*", by tenant and name.
	Settings(ctx context.Context, tenant, kind string) ([]Setting, error)
	// DropSetting removes one; ErrNotFound when there is none.
	DropSetting(ctx context.Context, tenant, kind, name string) error
}

// Control is what operators steer and look into. It is part of every Ledger.
type Control interface {
	Operations
	Audits
	Tombstones
	Settings
	Tracer
}
