package evoke

import (
	"context"
	"fmt"
	"time"

	"evoke/store"
)

const (
	mostNeighbours = 8   // items that a statement is compared with for what they mean
	leastNearness  = 0.3 // inner product below which an item means something else, whatever its rank
	// nearWithin bounds what a write waits for the vector of its statement. It is written without when that takes longer.
	nearWithin = 250 * time.Millisecond
)

// neighbours returns the current facts that mean nearly what a text says, by their vectors; none without an embedder.
// That they are near decides nothing: see extract.Form.Near.
func (e *engine) neighbours(ctx context.Context, sc store.Scope, text string) ([]store.Item, error) {
	embedder := e.dense()
	if embedder == nil {
		return nil, nil
	}
	vectors, err := embedder.EmbedPassages(ctx, []string{text})
	if err != nil {
		return nil, fmt.Errorf("neighbours: %w", err)
	}
	if len(vectors) != 1 {
		return nil, fmt.Errorf("neighbours: %w: %d vectors for one text", store.ErrUnavailable, len(vectors))
	}
	found, err := e.store.Search(ctx, sc, store.Query{
		Filter: store.Filter{Kinds: []store.Kind{store.Semantic, store.Procedural}}, View: store.Current(e.now()), Vector: vectors[0], Dense: mostNeighbours,
	})
	if err != nil {
		return nil, fmt.Errorf("neighbours: %w", err)
	}
	var out []store.Item
	for i := range found.Records {
		if r := &found.Records[i]; r.Embedded && r.Dense >= leastNearness {
			out = append(out, r.Item)
		}
	}
	return out, nil
}

// near returns the ids of a text's neighbours, or none when they cannot be had in time.
func (m *Memory) near(ctx context.Context, sc store.Scope, text string) []string {
	c, cancel := context.WithTimeout(ctx, nearWithin)
	defer cancel()
	items, err := m.neighbours(c, sc, text)
	if err != nil {
		return nil // compared by its words alone
	}
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	return ids
}
