// Package evoke is a memory engine for AI agents. It takes conversations in, keeps what matters as episodic, semantic
// and procedural items, and answers what an agent should know right now, ranked, explained and within an exact token
// budget.
//
// Open a Memory on a directory (or in memory), Ingest conversations, ask Recall or Context. With a local embedding
// model installed, recall is semantic and lexical; without one it is lexical only and says so. Nothing needs a server,
// a key or a network.
package evoke

import (
	"time"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/recall"
	"evoke/store"
)

// Who names whose memory a call is about. The tenant is fixed at Open. The namespace policy turns user and agent into
// the memory that is read or written: see Policy.
type Who struct {
	User   string `json:"user,omitempty"`  // "" means "default"
	Agent  string `json:"agent,omitempty"` // "": no agent, the user's own memory
	Thread string `json:"thread,omitempty"`
}

// IngestRequest is a piece of conversation.
type IngestRequest struct {
	Who
	Messages []message.Message
	// IdempotencyKey makes a retry safe: the same key with the same messages gives the same answer, with others
	// ErrConflict. At most 256 bytes; "" for none.
	IdempotencyKey string
	NoStore        bool // answer as usual and keep nothing
	// ExpiresAt is until when the turns are kept; zero: for good. Facts that are distilled from them outlive them.
	ExpiresAt time.Time
}

// IngestResult says what became of the messages. When Ingest returns without error the turns are durable and
// lexically searchable.
type IngestResult struct {
	EventID string            `json:"event_id,omitempty"` // follow it with Event
	State   store.EventState  `json:"state,omitempty"`    // pending, or nothing when no extraction follows
	Note    string            `json:"note,omitempty"`     // why nothing follows
	Turns   []extract.TurnRef `json:"turns"`              // the turns kept by this call
	Dropped []extract.Dropped `json:"dropped,omitempty"`
	// Redacted counts what was masked in the messages, by kind; see Options.Redactor.
	Redacted map[string]int `json:"redacted,omitempty"`
	// Skipped names why nothing was kept: "namespace_policy", "disabled", "no_store", or "erased" for what comes back by
	// replay after it was erased; "" otherwise.
	Skipped string `json:"skipped,omitempty"`
}

// RememberRequest is one item to store as it is.
type RememberRequest struct {
	Who
	ID         string     // "": a new one is made
	Kind       store.Kind // "" means semantic
	Category   store.Category
	Content    string
	Metadata   store.Metadata
	Importance *float64  // nil: 0.5
	Confidence *float64  // nil: 1
	ValidFrom  time.Time // zero: now
	ValidTo    time.Time
	ExpiresAt  time.Time `json:"ExpiresAt,omitzero"` // from then on it is kept no longer; zero: for good. See store.Item
	Speaker    string
	// Subject is what the item says one thing about at a time, such as "home": it takes the place of what the speaker said
	// of it before. "": what the rules make of the words ("I live in Oslo" is about the home), or none.
	Subject        string `json:"Subject,omitempty"` // left out of the hashes of requests that do not have it
	IdempotencyKey string
	NoStore        bool
}

// RememberResult is the stored item. Existing is true when the same statement was there already: it was confirmed
// instead of stored twice.
type RememberResult struct {
	Item     store.Item `json:"item,omitzero"`
	Existing bool       `json:"existing,omitempty"`
	Skipped  string     `json:"skipped,omitempty"`
	// Redacted counts what was masked, by kind.
	Redacted map[string]int `json:"redacted,omitempty"`
}

// UpdateRequest changes fields of one item; nil fields stay. A change of Content is a new version: the old one is
// closed and linked.
type UpdateRequest struct {
	Who
	ID         string
	Content    *string
	Category   *store.Category
	Metadata   store.Metadata // nil: unchanged; keys given are set
	Importance *float64
	Confidence *float64
	ValidFrom  *time.Time
	ValidTo    *time.Time
	ExpiresAt  *time.Time // the zero time: it is kept for good
}

// ListRequest pages through items.
type ListRequest struct {
	Who
	Filter  store.Filter
	AsOf    time.Time // what was true then; zero: now
	Known   time.Time // by what was known then; zero: AsOf
	All     bool      // every version, closed and retracted ones too
	Sources bool      // also what summaries stand for
	Task    string    // the thread at hand: what holds for its task only is seen, too; narrows nothing
	Order   store.Order
	Limit   int // 1–1000; 0 means 100
	Cursor  string
}

// RecallRequest asks for the most relevant items.
type RecallRequest struct {
	Who
	recall.Request
	// PairOnly leaves the user's own memory out when the agent has a memory with this user ("pair").
	PairOnly bool
}

// RecallResult is a recall.Response, or says why memory was not read.
type RecallResult struct {
	recall.Response
	Pending Pending `json:"pending"` // what this answer could not see yet
	Skipped string  `json:"skipped,omitempty"`
}

// ContextRequest asks for a block to put into a prompt.
type ContextRequest struct {
	Who
	recall.Request
	PairOnly  bool
	MaxTokens *int         // 0–100000; nil: 2000 (memory.max_injection_tokens)
	Tokenizer string       // model or encoding the budget is counted for; "": o200k_base
	Shape     recall.Shape // "": recall.Lines
}

// ContextResult is a rendered block.
type ContextResult struct {
	recall.Block
	PendingVectors int               `json:"pending_vectors"`
	Embedder       string            `json:"embedder"`
	Degraded       map[string]string `json:"degraded,omitempty"`
	Confidence     float64           `json:"confidence"`        // see recall.Response
	WhyNot         []recall.Fate     `json:"why_not,omitempty"` // of the items that Request.WhyNot names
	Pending        Pending           `json:"pending"`           // what this answer could not see yet
	Skipped        string            `json:"skipped,omitempty"`
}

// FeedbackRequest says that items helped. Their use count grows, and with it their importance.
type FeedbackRequest struct {
	Who
	IDs []string
}

// FeedbackResult counts the items that the feedback reached and names the ids that are not in the memory.
type FeedbackResult struct {
	Updated int      `json:"updated"`
	Unknown []string `json:"unknown,omitempty"`
}

// ForgetRequest names items to remove, by id or by filter.
type ForgetRequest struct {
	Who
	IDs    []string
	Filter *store.Filter
	All    bool // everything in the memory named by Who
	// Query shows, in a dry run, what speaks of something: forget the ids of what is meant.
	Query  string
	DryRun bool // count and show only
	// Soft takes the items out of sight and keeps them until Until (zero: Options.ForgetDays from now); until then Restore
	// brings them back. A time in Until alone asks for it, too.
	Soft  bool
	Until time.Time
}

// ForgetResult counts what was (or would be) removed.
type ForgetResult struct {
	ID        string       `json:"id,omitempty"`   // of what was forgotten by this call: Restore takes it or, of what is gone for good, LiftErasure
	Until     time.Time    `json:"until,omitzero"` // until then it can be restored; zero: it is gone for good
	Forgotten int          `json:"forgotten"`
	Derived   int          `json:"derived,omitempty"`  // facts and summaries beside them, that rested on nothing else
	Sections  int          `json:"sections,omitempty"` // versions of the profile's sections beside them, that went or were marked for resting on them
	Unknown   []string     `json:"unknown,omitempty"`
	DryRun    bool         `json:"dry_run,omitempty"`
	Items     []ForgetItem `json:"items,omitempty"` // of a dry run: what would go, the first 100; of a query the best first
}

// ForgetItem is what a dry run shows of an item.
type ForgetItem struct {
	ID       string         `json:"id"`
	Kind     store.Kind     `json:"kind"`
	Category store.Category `json:"category,omitempty"`
	Content  string         `json:"content"` // its beginning
	At       time.Time      `json:"at,omitzero"`
	Score    float64        `json:"score,omitempty"` // for a query
}

// Stats counts a memory's items, zeros included.
type Stats struct {
	Total      int     `json:"total"`
	Episodic   int     `json:"episodic"`
	Semantic   int     `json:"semantic"`
	Procedural int     `json:"procedural"`
	Pending    Pending `json:"pending"`
	Bytes      int64   `json:"bytes"`
	Embedder   string  `json:"embedder"`       // "none" without a model
	Note       string  `json:"note,omitempty"` // why there is no dense search, when there is none
}

// Pending counts work that is promised and not done yet.
type Pending struct {
	Vectors int `json:"vectors"` // items that wait for their vectors
	Threads int `json:"threads"` // conversations that wait for extraction
}

// ImportLine reports a line that could not be imported.
type ImportLine struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

// StatsRequest counts a memory's items.
type StatsRequest struct {
	Who
	AsOf  time.Time // what was true then; zero: now
	Known time.Time // by what was known then; zero: AsOf
}

// ImportResult counts the lines of an import.
type ImportResult struct {
	ID       string       `json:"id"` // of this import: undo a lifecycle.Batch of this operation to take it back
	Imported int          `json:"imported"`
	Same     int          `json:"same"`             // were there already, unchanged
	Erased   int          `json:"erased,omitempty"` // were erased before, and stay away; see Memory.LiftErasure
	Again    int          `json:"again,omitempty"`  // of Imported: had been taken back by an undo and hold again
	Failed   []ImportLine `json:"failed,omitempty"` // the first 1000
	FailedN  int          `json:"failed_count"`
	// UnknownFields counts the lines that hold a field the format does not have, by its name: the field was left aside.
	// At most 100 names.
	UnknownFields map[string]int `json:"unknown_fields,omitempty"`
}
