package evoke

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"evoke/store"
)

// LegalHold keeps memories from being removed: while it lasts, nothing that it covers is forgotten for good, erased, purged
// or taken by retention. Soft forgetting, which removes nothing, goes on. It covers what all of its fields name.
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

// covers reports whether the hold covers an item of a memory.
func (h *LegalHold) covers(sc store.Scope, it *store.Item) bool {
	return h.in(sc) && (h.Thread == "" || h.Thread == it.Turn.Thread)
}

// stops is the error of a removal that the hold stops.
func (h *LegalHold) stops() error {
	return fmt.Errorf("%w: the legal hold %s keeps what would go (%s): release it first, or leave out what it covers", store.ErrConflict, h.ID, h.Reason)
}

// AddHold places a legal hold. A name of its own in ID is taken; ErrConflict when there is one of it.
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
	return h, nil
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

// checkHeld refuses to remove items that a legal hold covers. Of the items their places are looked at.
func (m *Memory) checkHeld(ctx context.Context, sc store.Scope, items []store.Item) error {
	holds, err := m.holdsIn(ctx, sc)
	if err != nil {
		return err
	}
	for i := range items {
		if h := heldBy(holds, sc, &items[i]); h != nil {
			return h.stops()
		}
	}
	return nil
}

// holdsIn are the legal holds that cover something of a memory.
func (m *Memory) holdsIn(ctx context.Context, sc store.Scope) ([]LegalHold, error) {
	holds, err := m.Holds(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(holds, func(h LegalHold) bool { return !h.in(sc) }), nil
}

func heldBy(holds []LegalHold, sc store.Scope, it *store.Item) *LegalHold {
	for i := range holds {
		if holds[i].covers(sc, it) {
			return &holds[i]
		}
	}
	return nil
}

// checkErasable refuses an erasure of which a legal hold covers something, before anything is removed. A hold that is placed
// later stops it at its next step.
func (m *Memory) checkErasable(ctx context.Context, r *EraseRequest) error {
	holds, err := m.Holds(ctx)
	if err != nil || len(holds) == 0 {
		return err
	}
	scopes, err := m.store.Scopes(ctx, m.tenant)
	if err != nil {
		return fmt.Errorf("read memories: %w", err)
	}
	for _, sc := range scopes {
		for i := range holds {
			if h := &holds[i]; r.covers(sc) && h.in(sc) {
				some, err := m.selectsHeld(ctx, sc, r, h)
				if err != nil {
					return err
				}
				if some {
					return h.stops()
				}
			}
		}
	}
	return nil
}

// selectsHeld reports whether an erasure selects something in a memory that a hold covers.
func (m *Memory) selectsHeld(ctx context.Context, sc store.Scope, r *EraseRequest, h *LegalHold) (bool, error) {
	q := store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: 1}
	if r.Filter != nil {
		q.Filter = *r.Filter
	}
	q.Filter = narrow(narrow(q.Filter, r.Thread), h.Thread)
	page, err := m.store.List(ctx, sc, q)
	if err != nil {
		return false, fmt.Errorf("look for what is held: %w", err)
	}
	return len(page.Items) > 0, nil
}
