package evoke

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"evoke/store"
)

// LegalHold keeps memories from being removed: while it lasts, nothing that it covers is forgotten for good, erased, purged
// or taken by retention, nor is what that rests on: other turns that a fact, a summary or a section of the profile was made
// from. Soft forgetting, which removes nothing, goes on. It covers what all of its fields name.
type LegalHold struct {
	ID     string    `json:"id"`
	User   string    `json:"user,omitempty"`   // every memory of the user, also with agents
	Agent  string    `json:"agent,omitempty"`  // every memory of the agent
	Thread string    `json:"thread,omitempty"` // what was said in the thread, and what was taken from it
	Tenant bool      `json:"tenant,omitempty"` // every memory of the tenant
	Reason string    `json:"reason"`           // 1–500 bytes; it is shown to whom the hold stops
	By     string    `json:"by,omitempty"`     // name of the credential that placed it
	At     time.Time `json:"at"`
}

const (
	holdKind  = "hold"
	maxReason = 500
)

func (h *LegalHold) validate() error {
	h.Reason = store.CleanText(h.Reason)
	if h.Reason == "" || len(h.Reason) > maxReason {
		return store.Invalid("reason", fmt.Sprintf("a text of 1 to %d bytes", maxReason), "")
	}
	if h.Tenant == (h.User+h.Agent+h.Thread != "") {
		return store.Invalid("hold", "told what it covers: either tenant, or a user, an agent, a thread or several of these", "")
	}
	return errors.Join(store.ValidateName("id", h.ID), store.ValidateName("user", h.User), store.ValidateName("agent", h.Agent), store.ValidateName("thread", h.Thread))
}

// in reports whether the hold covers items of a memory; with a Thread, not all of them.
func (h *LegalHold) in(sc store.Scope) bool {
	return h.Tenant || (h.User == "" || h.User == sc.User) && (h.Agent == "" || h.Agent == sc.Agent)
}

// stops is the error of a removal that the hold stops.
func (h *LegalHold) stops() error {
	return fmt.Errorf("%w: the legal hold %s keeps what would go, or something that rests on it (%s): release it first, or leave out what it keeps", store.ErrConflict, h.ID, h.Reason)
}

// AddHold places a legal hold. A name of its own in ID is taken; ErrConflict when there is one of it. When it returns, nothing
// more goes of what the hold covers: it waits for whatever is at work in these memories, which may not have known of the hold.
// Should the context end while it waits, the hold is in force all the same.
func (m *Memory) AddHold(ctx context.Context, h LegalHold) (_ LegalHold, err error) {
	defer func() { m.audit(ctx, deed("add hold", Who{User: h.User, Agent: h.Agent}, err, nil, h.ID)) }()
	h.ID = cmp.Or(h.ID, newID())
	if err := h.validate(); err != nil {
		return LegalHold{}, err
	}
	h.By, h.At = actorOf(ctx).Name, m.now()
	value, err := json.Marshal(h)
	if err != nil {
		return LegalHold{}, fmt.Errorf("encode hold: %w", err)
	}
	if _, err := m.ledger.SaveSetting(ctx, store.Setting{Tenant: m.tenant, Kind: holdKind, Name: h.ID, Value: value, At: h.At}); err != nil {
		return LegalHold{}, fmt.Errorf("save hold: %w", err)
	}
	if err := m.afterWhatRuns(ctx, &h); err != nil {
		return h, fmt.Errorf("the hold %s is in force, but what began before it may still run: %w", h.ID, err)
	}
	return h, nil
}

// afterWhatRuns waits until what is at work in the memories of a hold is done. What begins later reads the hold.
func (m *Memory) afterWhatRuns(ctx context.Context, h *LegalHold) error {
	return m.eachMemory(ctx, func(sc store.Scope) error {
		if !h.in(sc) {
			return nil
		}
		unlock, err := m.locks.LockContext(ctx, sc)
		if err == nil {
			unlock()
		}
		return err
	})
}

// Holds lists the tenant's legal holds, by id.
func (m *Memory) Holds(ctx context.Context) ([]LegalHold, error) {
	list, err := m.ledger.Settings(ctx, m.tenant, holdKind)
	if err != nil {
		return nil, fmt.Errorf("read holds: %w", err)
	}
	holds := make([]LegalHold, len(list))
	for i := range list {
		if err := json.Unmarshal(list[i].Value, &holds[i]); err != nil {
			return nil, fmt.Errorf("read hold %s: %w", list[i].Name, store.ErrCorrupt)
		}
	}
	return holds, nil
}

// ReleaseHold ends a legal hold, or is ErrNotFound. What was due to go meanwhile goes with the next purge or retention.
func (m *Memory) ReleaseHold(ctx context.Context, id string) (err error) {
	defer func() { m.audit(ctx, deed("release hold", Who{}, err, nil, id)) }()
	if err := store.ValidateName("id", id); err != nil {
		return err
	}
	if err := m.ledger.DropSetting(ctx, m.tenant, holdKind, id); errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: no legal hold %q", store.ErrNotFound, id)
	} else if err != nil {
		return fmt.Errorf("release hold: %w", err)
	}
	return nil
}
