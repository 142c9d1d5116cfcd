package evoke

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"evoke/store"
)

// When old entries of the ledger are dropped: soon after Open, and then once a day.
const (
	firstPrune = 10 * time.Minute
	pruneEvery = 24 * time.Hour
)

// startPrune runs a loop that drops what the ledger kept for Options.LedgerDays.
func (e *engine) startPrune(days int, log *slog.Logger) {
	e.background(func(ctx context.Context) {
		t := time.NewTimer(firstPrune)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			n, err := e.ledger.Prune(ctx, e.now().AddDate(0, 0, -days))
			switch {
			case err != nil && ctx.Err() == nil:
				log.WarnContext(ctx, "old entries of the ledger stay", "error", err)
			case n > 0:
				log.InfoContext(ctx, "old entries of the ledger were dropped", "entries", n)
			}
			t.Reset(pruneEvery)
		}
	})
}

func checkLedgerDays(days int) error {
	if days < 1 || days > 3650 {
		return store.Invalid("store.ledger_days", "from 1 to 3650", fmt.Sprint(days))
	}
	return nil
}
