package evoke

import (
	"context"
	"log/slog"
	"time"

	"evoke/store"
)

// replayEvery is how often writes that an outage left unapplied are tried again.
const replayEvery = 5 * time.Second

// startReplay runs a loop that applies what an outage of the item store left in the ledger. A store that commits both
// halves of a write in one transaction leaves nothing.
func (e *engine) startReplay(log *slog.Logger) {
	if _, joint := e.ledger.(store.Joint); joint && any(e.store) == any(e.ledger) {
		return
	}
	e.background(func(ctx context.Context) {
		t := time.NewTicker(replayEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				if err := e.replay(ctx); err != nil && ctx.Err() == nil {
					log.WarnContext(ctx, "writes wait for the item store", "error", err)
				}
			}
		}
	})
}

// replay applies leftovers scope by scope. Under a scope's lock none of its writes is under way.
func (e *engine) replay(ctx context.Context) error {
	ws, err := e.ledger.Unapplied(ctx)
	if err != nil {
		return err
	}
	seen := map[store.Scope]bool{}
	for _, w := range ws {
		if seen[w.Scope] {
			continue
		}
		seen[w.Scope] = true
		if err := e.replayScope(ctx, w.Scope); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) replayScope(ctx context.Context, sc store.Scope) error {
	unlock, err := e.locks.LockContext(ctx, sc)
	if err != nil {
		return err
	}
	defer unlock()
	return store.ReplayScope(ctx, e.store, e.ledger, sc)
}
