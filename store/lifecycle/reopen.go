package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"evoke/store"
)

// ErrStands tells that a version of an item holds already, or that a later write stands in its place.
var ErrStands = errors.New(replacedLater)

// Reopen works out what brings items back that undos retracted, as of an operation or import: each holds again in a new
// version, as if the undo that retracted it was undone for it alone. left tells why others stay as they are: ErrStands, or
// store.ErrConflict when their subject has another value by now. The scope is locked, and the caller commits the change.
func (u *Undo) Reopen(ctx context.Context, sc store.Scope, op string, items []store.Item) (c store.Change, embed []string, left map[string]error, err error) {
	p := &plan{op: op, added: map[string]bool{}, retract: map[string]bool{}, reopen: map[string]bool{}, left: map[string]string{}}
	byUndo := map[string][]*store.Item{}
	for i := range items {
		it := &items[i]
		p.reopen[it.ID] = true
		byUndo[it.Provenance.EndedBy] = append(byUndo[it.Provenance.EndedBy], it)
	}
	s := u.step(sc, p)
	for of, its := range byUndo {
		p.batch = Batch{Operation: of}
		slices.SortFunc(its, oldestFirst)
		for _, it := range its {
			if known := s.known[it.ID]; known != nil {
				it = known
			}
			if err := s.reopen(ctx, it); err != nil {
				return c, nil, nil, err
			}
		}
	}
	left = map[string]error{}
	for id := range p.reopen {
		switch why := p.left[id]; {
		case why == otherValue:
			left[id] = fmt.Errorf("%w: %s (end that one first)", store.ErrConflict, why)
		case why != "" || !slices.Contains(s.reopened, id):
			left[id] = ErrStands
		}
	}
	for _, id := range s.order {
		c.Put = append(c.Put, *s.changed[id])
	}
	return c, s.embed, left, nil
}
