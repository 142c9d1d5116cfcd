package evoke

import (
	"context"
	"fmt"

	"evoke/store"
)

// EraseCount tells how much an erasure would select.
type EraseCount struct {
	Memories int `json:"memories"` // that hold something of it
	// Items are those selected, every version of them; what was distilled from nothing else goes beside them.
	Items int `json:"items"`
}

// CountErasable counts what Erase would select now, and removes nothing. A legal hold that would stop the erasure is an error
// here, too.
func (m *Memory) CountErasable(ctx context.Context, r EraseRequest) (EraseCount, error) {
	if err := r.validate(); err != nil {
		return EraseCount{}, err
	}
	x := &eraser{Memory: m, r: r}
	var n EraseCount
	err := m.eachMemory(ctx, r, "", func(sc store.Scope) error {
		if err := x.free(ctx, sc); err != nil {
			return err
		}
		items := 0
		q := x.query()
		q.Limit = pageItems
		for _, err := range store.Items(ctx, m.store, sc, q) {
			if err != nil {
				return fmt.Errorf("read what would go: %w", err)
			}
			items++
		}
		if n.Items += items; items > 0 {
			n.Memories++
		}
		return nil
	})
	if err != nil {
		return EraseCount{}, fmt.Errorf("erase: %w", err)
	}
	return n, nil
}
