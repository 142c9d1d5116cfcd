package store

import (
	"context"
	"time"
)

// Ledger keeps control data durably: what was promised and is not done yet.
type Ledger interface {
	Intents
	Threads
	Queue
	Embeds
	Events
	Quarantine
	Usages
	Control
	Blocks
	// Prune drops what is older than before and no longer needed: remembered replies, the marks of writes that were made,
	// and events that ended, but for dead ones: they wait for another try. It returns how many entries went.
	Prune(ctx context.Context, before time.Time) (int, error)
	Close() error
}

// Write is one durable step of the write path: items to change and everything that must be true together with them.
// Zero fields are left out.
type Write struct {
	ID    string // unique; a second Record with the same id is a no-op
	Scope Scope
	Change
	Embed  []string     // ids of items whose vectors have to be computed
	Thread *ThreadState // new state of a thread
	Arm    *Arming      // (re)arm the debounce of a thread
	Event  *Event       // a new event
	Reply  *Reply       // answer to remember under an idempotency key
	Finish *Finish      // an extraction that ends with this write
	// Quarantine is what waits for review. It goes when the turn that it rests on is deleted.
	Quarantine []Quarantined
}

// Intents makes writes durable before they reach the item store.
type Intents interface {
	// Record makes the write durable: thread state, arming, event, reply and pending embeds take effect at once, the
	// change of items is kept as an intent until Applied. ErrConflict, and nothing written, when the idempotency key
	// holds another reply (the very same reply makes it a no-op), when the id of the event or of something to quarantine is taken, and when a Finish no
	// longer holds its lease.
	Record(ctx context.Context, w Write) error
	// Applied drops the intent.
	Applied(ctx context.Context, id string) error
	// Unapplied returns intents that were recorded and not applied, oldest first: their id, scope and change.
	Unapplied(ctx context.Context) ([]Write, error)
	// Reply returns what was answered under an idempotency key, or ErrNotFound.
	Reply(ctx context.Context, sc Scope, key string) (Reply, error)
}

// Reply is a remembered answer. The same key with another BodyHash is a conflict.
type Reply struct {
	Key      string
	BodyHash string
	Body     []byte // the answer, as JSON
	At       time.Time
}

// ThreadState is where a thread stands.
type ThreadState struct {
	Thread string
	Next   int // position of the next turn
	Cursor int // position up to which (exclusive) turns were extracted
	// Interim is the position up to which (exclusive) an interim extractor ran; see Provenance.Interim. Beyond Cursor its
	// items wait to be confirmed or replaced.
	Interim int
}

// Threads reads thread states.
type Threads interface {
	// Thread returns the state, zero (with the name set) for a thread never seen.
	Thread(ctx context.Context, sc Scope, thread string) (ThreadState, error)
}

// Arming sets a thread's trailing debounce: due at min(now+Quiet, first armed+MaxWait). While a run holds the thread, an
// arming starts a new window. It never comes sooner than a Retry asked for.
type Arming struct {
	Thread  string
	Now     time.Time
	Quiet   time.Duration
	MaxWait time.Duration
}

// Job is a thread whose conversation went quiet.
type Job struct {
	Scope      Scope
	Thread     string
	Generation int64 // grows with every arming; finishing an old generation keeps newer work
	FirstAt    time.Time
	DueAt      time.Time
	Attempts   int // failed attempts so far
	Lease      string
}

// Finish ends a job. The thread's events up to UpTo (exclusive position) reach State. An event of which an earlier, partial
// finish stored facts never ends as nothing or quarantined, and one with quarantined operations never as nothing.
type Finish struct {
	Job   Job
	UpTo  int
	State EventState
	Facts int    // items that came of it
	Note  string // reason, for nothing and dead; never content
	At    time.Time
	// Extractor is what the events are told to have ended by ("rules/1"); "" when none was asked.
	Extractor string
	// Partial ends a part of the job: it goes on with the turns from UpTo on, its lease stays and its failed attempts are
	// forgotten. An event that reaches beyond UpTo stays pending, unless State is dead.
	Partial bool
}

// Tenants narrows whose jobs are meant. The zero value means all.
type Tenants struct {
	Except []string // none of these
	Fresh  []string // of these, none that were given back since they were armed last
}

// Queue is the durable debounce.
type Queue interface {
	// Claim leases up to n due jobs, one a thread. Tenants take turns, from one call to the next, too; of one tenant the
	// oldest due comes first. A job is free again when its lease has ended.
	Claim(ctx context.Context, now time.Time, lease time.Duration, n int, of Tenants) ([]Job, error)
	// Extend moves the end of a lease that is held: the heartbeat of a long run. ErrConflict when it is another's by now.
	Extend(ctx context.Context, j Job, until time.Time) error
	// QueueStats tells how the queue stands, of all tenants when tenant is "".
	QueueStats(ctx context.Context, tenant string, now time.Time) (QueueStats, error)
	// Retry gives a job back, due at the given time, with one more failed attempt and a reason. ErrConflict when the
	// lease is another's by now.
	Retry(ctx context.Context, j Job, at time.Time, reason string) error
	// Defer is Retry without a failed attempt: the job was not to blame.
	Defer(ctx context.Context, j Job, at time.Time, reason string) error
	// NextDue returns when the earliest job can be claimed: at its due time or, while leased, not before the lease
	// ends; ok is false when there is none.
	NextDue(ctx context.Context, of Tenants) (at time.Time, ok bool, err error)
	// Release makes jobs due now that Retry or Defer put off, and leaves those that wait for their conversation to go quiet:
	// of a tenant, or with "" of all but those of except. It returns how many there were.
	Release(ctx context.Context, tenant string, except []string, now time.Time) (int, error)
	// Flush makes waiting jobs due now: one thread's, or all of the scope when thread is "". It returns how many wait,
	// those due already included, those that a run holds (and nothing newer) left out.
	Flush(ctx context.Context, sc Scope, thread string, now time.Time) (int, error)
}

// EmbedRef names an item that waits for its vectors.
type EmbedRef struct {
	Scope Scope
	ID    string
	// Generation is set by PendingEmbeds. An item that is entered again (its text changed) gets a newer one, which
	// Embedded and Postpone of the older leave alone; 0 means whatever generation.
	Generation int64
}

// Embeds is the durable list of items without vectors. Entries are added by Record.
type Embeds interface {
	// PendingEmbeds returns up to n entries, oldest first, skipping those set aside until later than now.
	PendingEmbeds(ctx context.Context, now time.Time, n int) ([]EmbedRef, error)
	// Embedded removes entries.
	Embedded(ctx context.Context, refs []EmbedRef) error
	// Postpone sets entries aside until the given time.
	Postpone(ctx context.Context, refs []EmbedRef, until time.Time) error
	// CountEmbeds counts all entries of a scope.
	CountEmbeds(ctx context.Context, sc Scope) (int, error)
}

// EventState is where an event stands. Every event ends in exactly one terminal state.
type EventState string

// The states. All but pending are terminal.
const (
	EventPending EventState = "pending" // its turns are stored; facts may follow
	EventStored  EventState = "stored"  // facts were stored
	EventNothing EventState = "nothing" // nothing worth keeping was found, or there was no turn to extract from
	EventDead    EventState = "dead"    // given up after the last attempt; Note says why
	// EventQuarantined: operations were proposed and none could be stored; they wait for review.
	EventQuarantined EventState = "quarantined"
)

// Event is one ingested message batch.
type Event struct {
	ID        string     `json:"id"`
	Scope     Scope      `json:"-"`
	Thread    string     `json:"thread,omitempty"`
	From      int        `json:"-"` // position of its first turn
	UpTo      int        `json:"-"` // position (exclusive) of its last turn
	State     EventState `json:"state"`
	Facts     int        `json:"facts"`
	Note      string     `json:"note,omitempty"`
	Extractor string     `json:"extractor,omitempty"` // what ended it, "rules/1"; "" while pending and when none was asked
	CreatedAt time.Time  `json:"created_at"`
	DoneAt    time.Time  `json:"done_at,omitzero"`
}

// Events reads events and gives given-up ones another try.
type Events interface {
	// Event returns one event of the tenant, or ErrNotFound.
	Event(ctx context.Context, tenant, id string) (Event, error)
	// CountEvents counts a tenant's events by state, zeros included.
	CountEvents(ctx context.Context, tenant string) (map[EventState]int, error)
	// ListEvents pages through a tenant's events, newest first.
	ListEvents(ctx context.Context, tenant string, q EventQuery) (EventPage, error)
	// ReviveEvents makes the tenant's dead events among ids pending again, sets their threads back to their first turns
	// and makes these due now, with no failed attempt so far. A run that holds such a thread loses its lease. It returns
	// how many were revived; unknown ids and events in another state are skipped. The caller holds the scopes' locks.
	ReviveEvents(ctx context.Context, tenant string, ids []string, now time.Time) (int, error)
	// WaitingThreads counts a scope's threads that wait for extraction.
	WaitingThreads(ctx context.Context, sc Scope) (int, error)
}
