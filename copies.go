package evoke

import (
	"context"
	"fmt"

	"evoke/store"
	"evoke/store/lifecycle"
)

// copies names what was taken out of the data directory and may hold what was erased: nothing here reaches it. The audit log
// knows how often that was, as far back as it goes.
func (x *eraser) copies(ctx context.Context) (lifecycle.Residual, error) {
	exports, err := x.handedOut(ctx, "export")
	if err != nil {
		return lifecycle.Residual{}, err
	}
	backups, err := x.handedOut(ctx, "backup")
	if err != nil {
		return lifecycle.Residual{}, err
	}
	return lifecycle.Residual{
		Place: "copies",
		What:  fmt.Sprintf("exports and backups that were taken out of the data directory; of those that may hold some of it the audit log lists exports: %d, backups: %d", exports, backups),
		Until: "whoever took them removes them; the tombstones keep them from coming back by import",
	}, nil
}

// handedOut counts the calls that took out what the erasure covers, or may have: one that failed may have written a part.
func (x *eraser) handedOut(ctx context.Context, verb string) (n int, err error) {
	q := store.AuditQuery{Verb: verb, Limit: pageItems}
	for {
		page, err := x.ledger.ListAudit(ctx, x.tenant, q)
		if err != nil {
			return 0, fmt.Errorf("count %ss: %w", verb, err)
		}
		for i := range page.Entries {
			e := &page.Entries[i]
			empty := verb == "export" && e.Error == "" && e.Counts["items"] == 0
			if !empty && (x.r.Tenant || x.r.User == "" || e.User == "" || e.User == x.r.User) {
				n++
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return n, nil
		}
	}
}
