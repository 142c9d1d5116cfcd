package store

import (
	"context"
	"fmt"
)

// Joint is a Ledger that is also the Store and can make both halves of a write true in one transaction.
type Joint interface {
	// CommitBoth records the write and applies its change atomically, durably.
	CommitBoth(ctx context.Context, w Write) error
}

// Commit makes a write durable and visible. When it returns nil the write survives a crash and is never made twice.
// When it fails after the write was recorded, Replay completes it.
func Commit(ctx context.Context, s Store, l Ledger, w Write) error {
	if err := w.Scope.Validate(); err != nil {
		return err
	}
	if j, ok := l.(Joint); ok && any(s) == any(l) {
		return j.CommitBoth(ctx, w)
	}
	if err := l.Record(ctx, w); err != nil {
		return fmt.Errorf("record write: %w", err)
	}
	return apply(ctx, s, l, w)
}

// Replay applies every recorded write that a crash or outage left unapplied. Call it before serving, and again
// whenever the store comes back.
func Replay(ctx context.Context, s Store, l Ledger) error {
	ws, err := l.Unapplied(ctx)
	if err != nil {
		return fmt.Errorf("read intents: %w", err)
	}
	for _, w := range ws {
		if err := apply(ctx, s, l, w); err != nil {
			return err
		}
	}
	return nil
}

func apply(ctx context.Context, s Store, l Ledger, w Write) error {
	if len(w.Put)+len(w.Delete) > 0 {
		if err := s.Apply(ctx, w.Scope, w.Change); err != nil {
			return fmt.Errorf("apply write: %w", err)
		}
	}
	if err := l.Applied(ctx, w.ID); err != nil {
		return fmt.Errorf("close intent: %w", err)
	}
	return nil
}
