package evoke

import (
	"context"
	"fmt"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// Changes tells the life of an item, whichever version of it is named: who did what to it, on what grounds and when, oldest
// first. An erased version leaves a gap.
func (m *Memory) Changes(ctx context.Context, w Who, id string) ([]lifecycle.Change, error) {
	versions, err := m.History(ctx, w, id)
	if err != nil {
		return nil, err
	}
	return lifecycle.Changes(versions), nil
}

// DiffRequest selects a page of the differences between two moments.
type DiffRequest struct {
	Who
	From   time.Time // needed
	To     time.Time // zero: now
	Limit  int       // 1–1000; 0 means 100
	Cursor string
}

// DiffResult is one page of differences, which may be short or empty before the last.
type DiffResult struct {
	Differences []lifecycle.Difference `json:"differences"`
	Next        string                 `json:"next,omitempty"` // cursor of the next page; "" on the last
}

// Diff tells what became of a memory's items between two moments, on both times: what was known and true at From against
// what was known and true at To, sections of the profile included. For further pages give the To of the first.
func (m *Memory) Diff(ctx context.Context, r DiffRequest) (DiffResult, error) {
	sc, err := m.memory(r.Who)
	if err != nil {
		return DiffResult{}, err
	}
	if r.Limit < 0 || r.Limit > 1000 {
		return DiffResult{}, store.Invalid("limit", "from 1 to 1000", fmt.Sprint(r.Limit))
	}
	if r.To.IsZero() {
		r.To = m.now()
	}
	if r.From.IsZero() || r.From.After(r.To) {
		return DiffResult{}, store.Invalid("from", "given, and no later than to", "")
	}
	if r.Limit == 0 {
		r.Limit = 100
	}
	page, err := lifecycle.Diff(ctx, m.store, sc, lifecycle.DiffQuery{From: r.From, To: r.To, Limit: r.Limit, Cursor: r.Cursor})
	if err != nil {
		return DiffResult{}, err
	}
	return DiffResult{Differences: page.Differences, Next: page.Next}, nil
}
