package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"evoke/extract"
	"evoke/store"
)

// QuarantineRequest selects a page of what waits for review, newest first. Without a user and an agent it is of all
// memories.
type QuarantineRequest struct {
	Who
	Extractor string         // name and version, "llm/2"; "" for all
	Reason    string         // "" for all
	Category  store.Category // of what would be stored; "" for all
	Before    time.Time      // proposed earlier; zero: whenever
	Limit     int            // 1–1000; 0 means 100
	Cursor    string
}

// QuarantineResult is one page of what waits for review.
type QuarantineResult struct {
	Entries []QuarantineEntry `json:"entries"`
	Next    string            `json:"next,omitempty"` // cursor of the next page; "" on the last
}

// QuarantineEntry is an operation that an extractor proposed and that was not stored, and why: it could not be, or the
// ReviewPolicy wants a person to see it first.
type QuarantineEntry struct {
	ID        string    `json:"id"`
	User      string    `json:"user,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	Thread    string    `json:"thread,omitempty"`
	Event     string    `json:"event,omitempty"` // the event it came of
	Turn      string    `json:"turn"`            // the turn it claims to rest on; the entry goes with it
	Extractor string    `json:"extractor"`
	Reason    string    `json:"reason"`
	At        time.Time `json:"at"`
	Times     int       `json:"times,omitempty"`  // how often the same was proposed; all count as this one
	Edited    bool      `json:"edited,omitempty"` // a person changed the words (EditProposal)
	Operation Proposal  `json:"operation"`
}

// Proposal is what a quarantined operation would do.
type Proposal struct {
	Action     extract.Action   `json:"action"`
	Target     string           `json:"target,omitempty"`   // the item that it changes
	Replaces   string           `json:"replaces,omitempty"` // the item in whose place it would have been put when it was proposed
	Kind       store.Kind       `json:"kind,omitempty"`
	Category   store.Category   `json:"category,omitempty"`
	Content    string           `json:"content,omitempty"`
	Quote      string           `json:"quote,omitempty"` // the span of the turn that it claims
	Speaker    string           `json:"speaker,omitempty"`
	Subject    string           `json:"subject,omitempty"`
	Modality   extract.Modality `json:"modality,omitempty"`
	Confidence float64          `json:"confidence"`
	Importance float64          `json:"importance"`
}

// ApproveResult tells what became of entries that were approved.
type ApproveResult struct {
	Approved int          `json:"approved"`
	Items    []store.Item `json:"items"`             // what was added, confirmed or closed, once each
	Unknown  []string     `json:"unknown,omitempty"` // ids that the tenant has no entry of
	Refused  []Refusal    `json:"refused,omitempty"` // entries that nothing can be made of; they stay
	Next     string       `json:"next,omitempty"`    // of ApproveAll: continues with what is left; "" when nothing is
}

// Refusal names an entry and says what is wrong with it.
type Refusal struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// RejectResult counts the entries that were removed.
type RejectResult struct {
	Rejected int      `json:"rejected"`
	Unknown  []string `json:"unknown,omitempty"`
	Next     string   `json:"next,omitempty"` // of RejectAll, alike
}

// Quarantined lists what an extractor proposed and what was not stored. It is never recalled.
func (m *Memory) Quarantined(ctx context.Context, r QuarantineRequest) (QuarantineResult, error) {
	part, err := m.partOf(r.Who)
	if err != nil {
		return QuarantineResult{}, err
	}
	if err := errors.Join(store.ValidateName("extractor", r.Extractor), store.ValidateName("reason", r.Reason), r.Category.Validate()); err != nil {
		return QuarantineResult{}, err
	}
	page, err := m.ledger.ListQuarantined(ctx, m.tenant, store.QuarantineQuery{
		Scope: part, Thread: r.Thread, Extractor: r.Extractor, Reason: r.Reason, Category: r.Category, Before: r.Before, Limit: r.Limit, Cursor: r.Cursor,
	})
	if err != nil {
		return QuarantineResult{}, fmt.Errorf("list quarantine: %w", err)
	}
	if page.Entries, err = m.withoutForgotten(ctx, page.Entries); err != nil {
		return QuarantineResult{}, fmt.Errorf("list quarantine: %w", err)
	}
	res := QuarantineResult{Entries: make([]QuarantineEntry, len(page.Entries)), Next: page.Next}
	for i := range page.Entries {
		res.Entries[i] = entryOf(&page.Entries[i])
	}
	return res, nil
}

func entryOf(q *store.Quarantined) QuarantineEntry {
	return QuarantineEntry{
		ID: q.ID, User: q.Scope.User, Agent: q.Scope.Agent, Thread: q.Thread, Event: q.Event, Turn: q.Turn, Extractor: q.Extractor, Reason: q.Reason,
		At: q.At, Times: q.Times, Edited: q.Edited, Operation: proposal(q.Operation),
	}
}

// proposal shows an operation; one that cannot be read is shown empty, and can only be rejected.
func proposal(b []byte) Proposal {
	var op extract.Proposed
	if json.Unmarshal(b, &op) != nil {
		return Proposal{}
	}
	return Proposal{
		Action: op.Action, Target: op.Target, Replaces: op.Replaces, Kind: op.Kind, Category: op.Category, Content: op.Content, Quote: op.Quote, Speaker: op.Speaker,
		Subject: op.Subject, Modality: op.Modality, Confidence: op.Confidence, Importance: op.Importance,
	}
}

// Approve stores quarantined operations that a person vouches for, each through the same reconciliation as what is
// extracted; what they add has the origin "review". An entry whose turn is gone, of which nothing can be made, or whose
// matter changed since it was proposed, is refused and stays.
func (m *Memory) Approve(ctx context.Context, ids []string) (res ApproveResult, err error) {
	defer func() {
		m.audit(ctx, deed("approve", Who{}, err, map[string]int{"approved": res.Approved, "refused": len(res.Refused)}, ids...))
	}()
	res.Items = []store.Item{}
	if err := checkIDs(ids); err != nil {
		return res, err
	}
	return res, m.approve(ctx, ids, &res)
}

func (m *Memory) approve(ctx context.Context, ids []string, res *ApproveResult) error {
	at := map[string]int{}
	for _, id := range ids {
		items, err := m.worker.Approve(ctx, m.tenant, id)
		switch {
		case err == nil:
			res.Approved++
		case errors.Is(err, store.ErrNotFound):
			res.Unknown = append(res.Unknown, id)
		case refused(err):
			res.Refused = append(res.Refused, Refusal{id, err.Error()})
		default:
			return fmt.Errorf("approve: %w", err)
		}
		for _, it := range items {
			if i, was := at[it.ID]; was {
				res.Items[i] = it // as the later of two left it
				continue
			}
			at[it.ID] = len(res.Items)
			res.Items = append(res.Items, it)
		}
	}
	return nil
}

// Reject removes entries of the quarantine.
func (m *Memory) Reject(ctx context.Context, ids []string) (res RejectResult, err error) {
	defer func() { m.audit(ctx, deed("reject", Who{}, err, map[string]int{"rejected": res.Rejected}, ids...)) }()
	if err := checkIDs(ids); err != nil {
		return RejectResult{}, err
	}
	for _, id := range ids {
		n, err := m.ledger.DropQuarantined(ctx, m.tenant, []string{id})
		if err != nil {
			return res, fmt.Errorf("reject: %w", err)
		}
		if res.Rejected += n; n == 0 {
			res.Unknown = append(res.Unknown, id)
		}
	}
	return res, nil
}
