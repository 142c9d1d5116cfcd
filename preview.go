package evoke

import (
	"context"
	"fmt"

	"evoke/recall"
	"evoke/store"
)

// Limits of what a dry run shows.
const (
	previewItems = 100
	previewRunes = 200
	previewHits  = 20
)

// preview shows what a query finds in a memory, as a dry run of forgetting it.
func (m *Memory) preview(ctx context.Context, sc store.Scope, r ForgetRequest) (ForgetResult, error) {
	found, err := m.recall.Recall(ctx, []store.Scope{sc}, recall.Request{Query: r.Query, Limit: previewHits, Filter: narrow(store.Filter{}, r.Thread)})
	if err != nil {
		return ForgetResult{}, fmt.Errorf("forget: %w", err)
	}
	if r.Query = ""; len(found.Hits) == 0 {
		return ForgetResult{DryRun: true}, nil
	}
	score := map[string]float64{}
	for _, h := range found.Hits {
		r.IDs = append(r.IDs, h.Item.ID)
		score[h.Item.ID] = h.Score
	}
	res, err := m.forget(ctx, sc, r)
	if err != nil {
		return ForgetResult{}, err
	}
	byID := map[string]ForgetItem{}
	for _, it := range res.Items {
		it.Score = score[it.ID]
		byID[it.ID] = it
	}
	res.Items = nil
	for _, id := range r.IDs { // best first
		if it, ok := byID[id]; ok {
			res.Items = append(res.Items, it)
		}
	}
	return res, nil
}

// shown reads again what a dry run shows of items.
func (m *Memory) shown(ctx context.Context, sc store.Scope, items []store.Item) ([]ForgetItem, error) {
	ids := make([]string, min(previewItems, len(items)))
	if len(ids) == 0 {
		return nil, nil
	}
	for i := range ids {
		ids[i] = items[i].ID
	}
	whole, err := m.store.Get(ctx, sc, ids)
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	out := make([]ForgetItem, len(whole))
	for i, it := range whole {
		out[i] = ForgetItem{ID: it.ID, Kind: it.Kind, Category: it.Category, Content: clipRunes(it.Content, previewRunes), At: it.ValidFrom}
	}
	return out, nil
}

// clipRunes is the beginning of a text.
func clipRunes(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
