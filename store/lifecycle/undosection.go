package lifecycle

import (
	"context"
	"fmt"

	"evoke/store"
)

// sections looks for what a batch means for the profile, whose sections belong to no thread: one that rests on nothing but
// turns that the batch takes back goes with them, one that rests on others, too, stays and is named.
func (u *Undo) sections(ctx context.Context, sc store.Scope, p *plan) error {
	q := store.ListQuery{Filter: store.Filter{ContentKeys: store.ProfileKeys()}, View: store.View{All: true}, Order: store.ByID, Limit: readItems}
	for it, err := range store.Items(ctx, u.Store, sc, q) {
		if err != nil {
			return fmt.Errorf("undo: %w", err)
		}
		of := 0
		for _, id := range it.Provenance.Turns {
			if p.added[id] {
				of++
			}
		}
		switch {
		case of == 0 || p.added[it.ID] || it.Provenance.By == p.op || it.Provenance.EndedBy == p.op:
		case of == len(it.Provenance.Turns):
			p.matched++
			p.added[it.ID] = true
			p.retract[it.ID] = it.RetractedAt.IsZero()
		case !it.Closed():
			p.left[it.ID] = tellsOfIt
		}
	}
	return nil
}
