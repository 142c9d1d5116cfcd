package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"evoke/extract"
	"evoke/store"
)

// ReviewFilter selects entries that wait for review. Zero fields select all.
type ReviewFilter struct {
	Who                      // without a user and an agent those of all memories
	Extractor string         // name and version: "llm/2"
	Reason    string         // "review_all", "ungrounded"
	Category  store.Category // of what would be stored
	Before    time.Time      // proposed earlier
}

// mostReviewed is how many entries one call of ApproveAll or RejectAll decides on.
const mostReviewed = 1000

// ReviewAllRequest decides on the entries that a filter selects.
type ReviewAllRequest struct {
	Filter ReviewFilter
	Limit  int    // 1–1000; 0 means 1000
	Cursor string // Next of the call before
}

// ApproveAll approves what a filter selects, the oldest of a call first, as Approve does. ApproveResult.Next continues with
// what is left. A filter of nothing is refused.
func (m *Memory) ApproveAll(ctx context.Context, r ReviewAllRequest) (res ApproveResult, err error) {
	defer func() {
		m.audit(ctx, deed("approve", r.Filter.Who, err, map[string]int{"approved": res.Approved, "refused": len(res.Refused)}))
	}()
	res.Items = []store.Item{}
	ids, next, err := m.proposals(ctx, r)
	if err != nil {
		return res, err
	}
	if err := m.approve(ctx, ids, &res); err != nil {
		return res, err
	}
	res.Unknown, res.Next = nil, next // another decided on those meanwhile
	return res, nil
}

// RejectAll rejects what a filter selects. RejectResult.Next continues with what is left. A filter of nothing is refused.
func (m *Memory) RejectAll(ctx context.Context, r ReviewAllRequest) (res RejectResult, err error) {
	defer func() { m.audit(ctx, deed("reject", r.Filter.Who, err, map[string]int{"rejected": res.Rejected})) }()
	ids, next, err := m.proposals(ctx, r)
	if err != nil {
		return res, err
	}
	if res.Rejected, err = m.ledger.DropQuarantined(ctx, m.tenant, ids); err != nil {
		return res, fmt.Errorf("reject: %w", err)
	}
	res.Next = next
	return res, nil
}

// proposals are the entries of a call, the oldest first: what was said last has the last word.
func (m *Memory) proposals(ctx context.Context, r ReviewAllRequest) (ids []string, next string, err error) {
	if r.Filter == (ReviewFilter{}) {
		return nil, "", store.Invalid("filter", "told: a user, an agent, a thread, an extractor, a reason, a category or a time", "")
	}
	if r.Limit == 0 {
		r.Limit = mostReviewed
	}
	page, err := m.Quarantined(ctx, QuarantineRequest{
		Who: r.Filter.Who, Extractor: r.Filter.Extractor, Reason: r.Filter.Reason, Category: r.Filter.Category, Before: r.Filter.Before, Limit: r.Limit, Cursor: r.Cursor,
	})
	for i := range slices.Backward(page.Entries) {
		ids = append(ids, page.Entries[i].ID)
	}
	return ids, page.Next, err
}

// refused tells whether an approval failed for what the entry is, and not for the store's sake.
func refused(err error) bool {
	return errors.Is(err, store.ErrInvalid) || errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrConflict)
}

// EditProposalRequest changes what an entry of the quarantine would store. nil fields stay.
type EditProposalRequest struct {
	ID         string
	Content    *string
	Category   *store.Category // "" takes it away
	Importance *float64        // 0–1
}

// EditProposal puts words of a person in the place of an entry's. It waits on, to be approved or rejected, and what it then
// stores counts as edited. An entry that would store nothing is ErrInvalid, an unknown one ErrNotFound.
func (m *Memory) EditProposal(ctx context.Context, r EditProposalRequest) (_ QuarantineEntry, err error) {
	defer func() { m.audit(ctx, deed("edit proposal", Who{}, err, nil, r.ID)) }()
	if r.Content == nil && r.Category == nil && r.Importance == nil {
		return QuarantineEntry{}, store.Invalid("edit", "told what to change: content, category or importance", "")
	}
	if err := checkIDs([]string{r.ID}); err != nil {
		return QuarantineEntry{}, err
	}
	q, err := m.ledger.GetQuarantined(ctx, m.tenant, r.ID)
	if err != nil {
		return QuarantineEntry{}, fmt.Errorf("edit proposal: %w", err)
	}
	unlock, err := m.hold(ctx, q.Scope)
	if err != nil {
		return QuarantineEntry{}, err
	}
	defer unlock()
	if q, err = m.ledger.GetQuarantined(ctx, m.tenant, r.ID); err != nil { // another may have decided meanwhile
		return QuarantineEntry{}, fmt.Errorf("edit proposal: %w", err)
	}
	if q.Operation, q.Key, err = m.edited(q.Operation, &r); err != nil {
		return QuarantineEntry{}, err
	}
	if err := m.ledger.EditQuarantined(ctx, m.tenant, q); err != nil {
		return QuarantineEntry{}, fmt.Errorf("edit proposal: %w", err)
	}
	q.Edited = true
	return entryOf(&q), nil
}

// edited is an operation with other words.
func (m *Memory) edited(b []byte, r *EditProposalRequest) (body []byte, key string, err error) {
	var p extract.Proposed
	if json.Unmarshal(b, &p) != nil || p.Action != extract.Add && p.Action != extract.Supersede {
		return nil, "", store.Invalid("id", "of an entry that would store something (reject this one)", "")
	}
	set, err := m.settings(m.tenant)
	if err != nil {
		return nil, "", err
	}
	if r.Content != nil {
		red := redaction{by: set.Redactor}
		if p.Content = red.text(store.CleanText(*r.Content)); red.err != nil {
			return nil, "", red.err
		}
	}
	if r.Category != nil {
		p.Category = *r.Category
	}
	if r.Importance != nil {
		p.Importance = *r.Importance
	}
	it := store.Item{ID: "x", Kind: p.Kind, Category: p.Category, Content: p.Content, Importance: p.Importance, Confidence: 1, RecordedAt: m.now()}
	if it.Kind == "" {
		it.Kind = store.Semantic
	}
	if err := it.Prepare(m.limits); err != nil {
		return nil, "", err
	}
	if body, err = json.Marshal(p); err != nil {
		return nil, "", fmt.Errorf("encode operation: %w", err)
	}
	return body, extract.ProposalKey(&p.Operation), nil
}
