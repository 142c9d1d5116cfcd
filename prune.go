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
	e.daily(func(ctx context.Context) {
		n, err := e.ledger.Prune(ctx, e.now().AddDate(0, 0, -days))
		switch {
		case err != nil && ctx.Err() == nil:
			log.WarnContext(ctx, "old entries of the ledger stay", "error", err)
		case n > 0:
			log.InfoContext(ctx, "old entries of the ledger were dropped", "entries", n)
		}
	})
}

// startAuditPrune runs a loop that drops entries of the audit log that were kept for Options.AuditDays.
func (e *engine) startAuditPrune(days int, log *slog.Logger) {
	if days < 0 {
		return
	}
	e.daily(func(ctx context.Context) {
		n, err := e.ledger.PruneAudit(ctx, e.now().AddDate(0, 0, -days))
		switch {
		case err != nil && ctx.Err() == nil:
			log.WarnContext(ctx, "old entries of the audit log stay", "error", err)
		case n > 0:
			log.InfoContext(ctx, "old entries of the audit log were dropped", "entries", n)
		}
	})
}

// daily does something soon after Open, and then once a day until Close.
func (e *engine) daily(do func(ctx context.Context)) {
	e.background(func(ctx context.Context) {
		t := time.NewTimer(firstPrune)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			do(ctx)
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
