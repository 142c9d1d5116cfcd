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
// When it fails after the write was recorded, the next Commit of the scope, or Replay, completes it first. The caller
// holds the scope's lock, so what an earlier write of the scope left unapplied is no longer under way.
func Commit(ctx context.Context, s Store, l Ledger, w Write) error {
	if err := w.Scope.Validate(); err != nil {
		return err
	}
	if j, ok := l.(Joint); ok && any(s) == any(l) {
		return j.CommitBoth(ctx, w)
	}
	if err := ReplayScope(ctx, s, l, w.Scope); err != nil {
		return err
	}
	if err := l.Record(ctx, w); err != nil {
		return fmt.Errorf("record write: %w", err)
	}
	return apply(ctx, s, l, w)
}

// Replay applies every recorded write that a crash left unapplied. Call it before serving, while nothing else writes.
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

// ReplayScope applies what earlier writes of one scope left unapplied, oldest first. The caller holds the scope's lock. A
// writer that decides by what it reads calls it first.
func ReplayScope(ctx context.Context, s Store, l Ledger, sc Scope) error {
	if _, ok := l.(Joint); ok && any(s) == any(l) {
		return nil // what is recorded is applied
	}
	ws, err := l.Unapplied(ctx)
	if err != nil {
		return fmt.Errorf("read intents: %w", err)
	}
	for _, w := range ws {
		if w.Scope != sc {
			continue
		}
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
