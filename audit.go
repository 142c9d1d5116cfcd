package evoke

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// Actor is on whose behalf a call is made, for the audit log.
type Actor struct {
	Name    string // of the credential; never the credential itself
	Request string // id of the request
}

type actorKey struct{}

// WithActor says on whose behalf calls with the context are made.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

func actorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}

// AuditRequest selects a page of the tenant's audit log, newest first.
type AuditRequest struct {
	Verb   string    // "" for all
	User   string    // whose memory it was done to; "" for all
	From   time.Time // zero: from the beginning
	To     time.Time // exclusive; zero: up to now
	Limit  int       // 1–1000; 0 means 100
	Cursor string
}

// AuditResult is one page of the audit log.
type AuditResult struct {
	Entries []store.Audit `json:"entries"`
	Next    string        `json:"next,omitempty"` // cursor of the next page; "" on the last
}

// Audit lists who did what, and to how many: names of credentials, verbs, ids and counts, never content.
func (m *Memory) Audit(ctx context.Context, r AuditRequest) (AuditResult, error) {
	if err := errors.Join(store.ValidateName("verb", r.Verb), store.ValidateName("user", r.User)); err != nil {
		return AuditResult{}, err
	}
	page, err := m.ledger.ListAudit(ctx, m.tenant, store.AuditQuery{Verb: r.Verb, User: r.User, From: r.From, To: r.To, Limit: r.Limit, Cursor: r.Cursor})
	if err != nil {
		return AuditResult{}, fmt.Errorf("list the audit log: %w", err)
	}
	if page.Entries == nil {
		page.Entries = []store.Audit{}
	}
	return AuditResult{Entries: page.Entries, Next: page.Next}, nil
}

// maxAudited is how many ids an entry of the log names; Counts tells of how many there were.
const maxAudited = 100

// audit puts a deed on record, with who did it. The deed is done by then, whether this succeeds or not: a failure is
// logged, and the caller's answer stands. It outlives the call, so that one that was given up is on record as well.
func (m *Memory) audit(ctx context.Context, a store.Audit) {
	if a.Error == classInvalid {
		return // no deed: the call could mean nothing
	}
	by := actorOf(ctx)
	a.At, a.Tenant, a.By, a.Request = m.now(), m.tenant, by.Name, by.Request
	ctx = context.WithoutCancel(ctx)
	if err := m.ledger.AppendAudit(ctx, a); err != nil {
		m.log.ErrorContext(ctx, "a deed is missing in the audit log", "verb", a.Verb, "error", err)
	}
}

// deed is an entry about a memory; ids that are "" or repeat are left out.
func deed(verb string, w Who, err error, counts map[string]int, ids ...string) store.Audit {
	a := store.Audit{Verb: verb, User: w.User, Agent: w.Agent, Counts: counts, Error: classOf(err)}
	for _, id := range ids {
		if id != "" && len(a.IDs) < maxAudited && !slices.Contains(a.IDs, id) {
			a.IDs = append(a.IDs, id)
		}
	}
	return a
}

// onRecord are ids of a call as its entry names them. Once something was erased here, what names nothing stands as a keyed
// hash: a call that comes late with the name of what is gone must not bring it back.
func (m *Memory) onRecord(ctx context.Context, w Who, ids ...string) []string {
	ctx = context.WithoutCancel(ctx)
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" })
	at, err := m.place(w)
	if err != nil || !at.ok || len(ids) == 0 || checkIDs(ids) != nil { // nothing was done then, and the entry is of that alone
		return ids
	}
	marks, err := m.marks(ctx, false)
	if err != nil || marks == nil {
		return ids
	}
	there := map[string]bool{}
	for _, sc := range at.read {
		items, _ := m.store.Get(ctx, sc, ids) // what cannot be looked for is named by hashes, too
		for i := range items {
			there[items[i].ID] = true
		}
	}
	for i, id := range ids {
		if !there[id] {
			ids[i] = marks.Pseudonym(at.write, id)
		}
	}
	return ids
}

const classInvalid = "invalid"

func (r *ImportResult) counts() map[string]int {
	return map[string]int{"imported": r.Imported, "same": r.Same, "erased": r.Erased, "failed": r.FailedN}
}

// classOf names the class of a failure, "" for none. The text of an error is not kept: it may name what the caller gave.
func classOf(err error) string {
	for _, c := range []struct {
		is   error
		name string
	}{
		{store.ErrNotFound, "not_found"}, {store.ErrConflict, "conflict"}, {store.ErrInvalid, classInvalid}, {store.ErrTenant, "tenant"},
		{store.ErrUnavailable, "unavailable"}, {store.ErrCorrupt, "corrupt"}, {context.Canceled, "canceled"}, {lifecycle.ErrCanceled, "canceled"}, {context.DeadlineExceeded, "timeout"},
	} {
		if errors.Is(err, c.is) {
			return c.name
		}
	}
	if err != nil {
		return "internal"
	}
	return ""
}
