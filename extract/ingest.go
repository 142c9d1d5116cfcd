package extract

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"evoke/extract/message"
	"evoke/store"
)

// IngestOptions adapt an Ingester. The zero value of a field means its default.
type IngestOptions struct {
	Locks  *Locks // shared with every other writer of the store; default: its own
	Limits message.Options
	Filter FilterOptions
	// A conversation is extracted once it was quiet for Debounce (default 30 s, 1–300 s), and at the latest MaxWait
	// after the first turn that waits (default 300 s, 1–3600 s).
	Debounce, MaxWait time.Duration
	Clock             func() time.Time // default time.Now
	NewID             func() string    // default UUID version 7
	Wake              func()           // called after a thread was armed: Worker.Wake
	// Erased tells which of the turns were erased before and come back by replay, ErasedKey whether what was done under an
	// idempotency key was; nil: none.
	Erased    func(ctx context.Context, sc store.Scope, turns []store.Item) ([]bool, error)
	ErasedKey func(ctx context.Context, sc store.Scope, key string) (bool, error)
}

func (o *IngestOptions) withDefaults() (IngestOptions, error) {
	var c IngestOptions
	if o != nil {
		c = *o
	}
	if c.Locks == nil {
		c.Locks = new(Locks)
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.NewID == nil {
		c.NewID = newID
	}
	if c.Wake == nil {
		c.Wake = func() {}
	}
	if c.Debounce == 0 {
		c.Debounce = 30 * time.Second
	}
	if c.MaxWait == 0 {
		c.MaxWait = max(300*time.Second, c.Debounce)
	}
	if err := checkRules(c.Filter.Off); err != nil {
		return c, err
	}
	return c, checkWaits(c.Debounce, c.MaxWait)
}

func checkWaits(quiet, most time.Duration) error {
	if quiet < time.Second || quiet > 300*time.Second {
		return store.Invalid("memory.debounce_seconds", "from 1 to 300", fmt.Sprint(quiet.Seconds()))
	}
	if most < time.Second || most > longestMaxWait {
		return store.Invalid("memory.max_wait_seconds", "from 1 to 3600", fmt.Sprint(most.Seconds()))
	}
	return nil
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil { // the system has no randomness left; version 4 would fail too
		return uuid.NewSHA1(uuid.NameSpaceOID, []byte(time.Now().String())).String()
	}
	return id.String()
}

// Call is what one Ingest may set.
type Call struct {
	// Key is the caller's idempotency key within the scope, "" for none: the same key with the same messages gets the
	// first answer again and writes nothing, with others it is a conflict.
	Key string
	// Metadata is kept on every turn.
	Metadata store.Metadata
	// ExpiresAt is until when the turns are kept; zero: for good. What is distilled from them outlives them.
	ExpiresAt time.Time
	// Debounce and MaxWait replace the Ingester's for this call when set.
	Debounce, MaxWait time.Duration
	// ToolSummaries keeps a line of what each tool answered, as FilterOptions.ToolSummaries does.
	ToolSummaries bool
	// Recalled are the memories whose items may have been put into the conversation, so that they are known when they are
	// repeated; nil: the scope's own.
	Recalled []store.Scope
}

// Result is the answer to Ingest.
type Result struct {
	Event   string           `json:"event"` // id of the event that tells when facts of it are stored
	State   store.EventState `json:"state"` // pending, or nothing when no extraction follows
	Note    string           `json:"note,omitempty"`
	Thread  string           `json:"thread"`
	Turns   []TurnRef        `json:"turns"`   // stored by this call
	Dropped []Dropped        `json:"dropped"` // everything else, with its reason
	// Replayed tells that the answer is that of an earlier call under the same key.
	Replayed bool `json:"-"`
}

// TurnRef says where a message was stored.
type TurnRef struct {
	Index    int    `json:"index"` // in the messages as given
	ID       string `json:"id"`
	Position int    `json:"position"`
}

// Ingester takes conversations in. Its methods may be called from several goroutines.
type Ingester struct {
	store  store.Store
	ledger store.Ledger
	opts   IngestOptions
}

// NewIngester checks the options.
func NewIngester(s store.Store, l store.Ledger, opts *IngestOptions) (*Ingester, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Ingester{store: s, ledger: l, opts: o}, nil
}

// The notes of events that end without extraction.
const (
	noteNoTurn = "no turn to keep"
	notePair   = "needs a user and an assistant turn"
	noteEmpty  = "nothing said that could be remembered"
)

// Ingest stores the turns of a conversation as one durable write and arms the thread's extraction. When it returns nil
// the turns survive a crash and are found by their words.
//
// A message with an id that is stored already with the same text is not stored again (DropStored); with another text,
// or in another thread, the call fails with store.ErrConflict and stores nothing. Extraction needs a turn of a user that
// says something (see saysNothing) and one of an assistant: while one is missing, the event ends as "nothing" and the turns
// wait for their counterpart.
func (g *Ingester) Ingest(ctx context.Context, sc store.Scope, thread string, msgs []message.Message, call *Call) (*Result, error) {
	if call == nil {
		call = new(Call)
	}
	msgs, arming, err := g.check(sc, thread, msgs, call)
	if err != nil {
		return nil, err
	}
	unlock, err := g.opts.Locks.LockContext(ctx, sc)
	if err != nil {
		return nil, err
	}
	defer unlock()
	hash, err := bodyHash(thread, msgs, call)
	if err != nil {
		return nil, err
	}
	if call.Key != "" {
		if r, err := g.replay(ctx, sc, call.Key, hash); r != nil || err != nil {
			return r, err
		}
		if r, err := g.erased(ctx, sc, thread, msgs, call.Key); r != nil || err != nil {
			return r, err
		}
	}
	if err := store.ReplayScope(ctx, g.store, g.ledger, sc); err != nil { // turns of a call that failed count, too
		return nil, fmt.Errorf("ingest: %w", err)
	}
	w, res, err := g.plan(ctx, sc, thread, msgs, call, arming)
	if err != nil || w == nil {
		return res, err
	}
	if call.Key != "" {
		body, err := json.Marshal(res)
		if err != nil {
			return nil, fmt.Errorf("encode answer: %w", err)
		}
		w.Reply = &store.Reply{Key: call.Key, BodyHash: hash, Body: body, At: arming.Now}
	}
	if err := store.Commit(ctx, g.store, g.ledger, *w); err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	if w.Arm != nil {
		g.opts.Wake()
	}
	return res, nil
}

func (g *Ingester) check(sc store.Scope, thread string, msgs []message.Message, call *Call) ([]message.Message, store.Arming, error) {
	arming := store.Arming{Thread: thread, Now: g.opts.Clock().UTC().Truncate(time.Microsecond), Quiet: g.opts.Debounce, MaxWait: g.opts.MaxWait}
	if call.Debounce != 0 {
		arming.Quiet = call.Debounce
	}
	if call.MaxWait != 0 {
		arming.MaxWait = call.MaxWait
	}
	if err := checkWaits(arming.Quiet, arming.MaxWait); err != nil {
		return nil, arming, err
	}
	if err := sc.Validate(); err != nil {
		return nil, arming, err
	}
	if thread == "" {
		return nil, arming, store.Invalid("thread", "given: turns belong to a conversation", "nothing")
	}
	for _, f := range [...]struct{ field, v string }{{"thread", thread}, {"idempotency key", call.Key}} {
		if err := store.ValidateName(f.field, f.v); err != nil {
			return nil, arming, err
		}
	}
	clean, err := message.Clean(msgs, &g.opts.Limits)
	return clean, arming, err
}

func bodyHash(thread string, msgs []message.Message, call *Call) (string, error) {
	h := sha256.New()
	err := json.NewEncoder(h).Encode(struct {
		Thread   string
		Messages []message.Message
		Metadata store.Metadata
		Expires  time.Time `json:",omitzero"`
	}{thread, msgs, call.Metadata, call.ExpiresAt})
	if err != nil {
		return "", store.Invalid("messages", "such that JSON can hold them", "")
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (g *Ingester) replay(ctx context.Context, sc store.Scope, key, hash string) (*Result, error) {
	r, err := g.ledger.Reply(ctx, sc, key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil //nolint:nilnil // no earlier answer is not an error
	case err != nil:
		return nil, fmt.Errorf("look up idempotency key: %w", err)
	case r.BodyHash != hash:
		return nil, fmt.Errorf("%w: the idempotency key was used with other messages", store.ErrConflict)
	}
	res := new(Result)
	if err := json.Unmarshal(r.Body, res); err != nil {
		return nil, fmt.Errorf("%w: remembered answer: %w", store.ErrCorrupt, err)
	}
	res.Replayed = true
	return res, nil
}

// plan decides, under the scope's lock, what a call writes: nil for nothing at all.
func (g *Ingester) plan(ctx context.Context, sc store.Scope, thread string, msgs []message.Message, call *Call, arming store.Arming) (*store.Write, *Result, error) {
	filter, err := g.filter(ctx, sc, msgs, call)
	if err != nil {
		return nil, nil, err
	}
	turns, dropped := Filter(msgs, filter)
	turns, again, err := g.unstored(ctx, sc, thread, turns)
	if err != nil {
		return nil, nil, err
	}
	turns, gone, err := g.unerased(ctx, sc, thread, turns, call, arming.Now)
	if err != nil {
		return nil, nil, err
	}
	if len(turns) == 0 && len(gone) > 0 {
		return nil, erasedResult(thread, mergeDropped(mergeDropped(dropped, again), gone)), nil
	}
	st, err := g.thread(ctx, sc, thread)
	if err != nil {
		return nil, nil, err
	}
	if st.Next > math.MaxInt32-len(turns) {
		return nil, nil, store.Invalid("thread", "shorter than 2147483647 turns (begin another)", "")
	}
	res := &Result{Event: g.opts.NewID(), Thread: thread, Turns: []TurnRef{}, Dropped: mergeDropped(mergeDropped(dropped, again), gone)}
	w := &store.Write{ID: g.opts.NewID(), Scope: sc}
	for i, t := range turns {
		it := g.item(t, thread, st.Next+i, call, arming.Now)
		if err := it.Prepare(store.Limits{}); err != nil {
			return nil, nil, fmt.Errorf("messages[%d]: %w", t.Index, err)
		}
		w.Put = append(w.Put, it)
		w.Embed = append(w.Embed, it.ID)
		res.Turns = append(res.Turns, TurnRef{Index: t.Index, ID: it.ID, Position: it.Turn.Position})
	}
	next := st
	next.Next += len(turns)
	ev := &store.Event{ID: res.Event, Scope: sc, Thread: thread, From: st.Next, UpTo: next.Next, State: store.EventNothing, Note: noteNoTurn, CreatedAt: arming.Now}
	if len(turns) > 0 {
		w.Thread = &next
		if ev.Note, err = g.lacks(ctx, sc, st, turns, arming.Now); err != nil {
			return nil, nil, err
		}
		if ev.Note == "" {
			ev.State, w.Arm = store.EventPending, &arming
		}
	}
	if ev.State != store.EventPending {
		ev.DoneAt = arming.Now
	}
	w.Event, res.State, res.Note = ev, ev.State, ev.Note
	return w, res, nil
}

func (g *Ingester) item(t Turn, thread string, position int, call *Call, now time.Time) store.Item {
	m := t.Message
	it := store.Item{
		ID: m.ID, Kind: store.Episodic, Content: t.Content, Metadata: call.Metadata.Clone(),
		Importance: 0.5, Confidence: 1, ValidFrom: m.Time, RecordedAt: now, ExpiresAt: call.ExpiresAt,
		Turn:       store.Turn{Thread: thread, Session: thread, Position: position, Speaker: m.Name, Role: string(m.Role)},
		Provenance: store.Provenance{Origin: "turn"},
		ContentKey: store.ContentKey(store.Episodic, t.Content),
	}
	if it.ID == "" {
		it.ID = g.opts.NewID()
	}
	if it.Turn.Speaker == "" {
		it.Turn.Speaker = it.Turn.Role
	}
	if it.ValidFrom.IsZero() {
		it.ValidFrom = now
	}
	return it
}

// mergeDropped joins two lists that are each in the order of the messages.
func mergeDropped(a, b []Dropped) []Dropped {
	out := make([]Dropped, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].Index < b[0].Index {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
