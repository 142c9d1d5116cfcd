package sqlitestore

import (
	"context"
	"time"

	"evoke/store"
)

// pruneStep is how many entries one transaction drops at most, so that other writes need not wait for long.
const pruneStep = 500

// pruneQueries drop up to ?2 entries of before ?1. The mark of a write stays as long as its intent.
var pruneQueries = [...]string{
	"DELETE FROM replies WHERE (scope, key) IN (SELECT scope, key FROM replies WHERE at < ?1 LIMIT ?2)",
	`DELETE FROM events WHERE (tenant, id) IN (SELECT tenant, id FROM events WHERE done_at < ?1 AND state <> 'pending' AND state <> 'dead' LIMIT ?2)`,
	"DELETE FROM writes WHERE id IN (SELECT w.id FROM writes w WHERE w.at < ?1 AND NOT EXISTS (SELECT 1 FROM intents i WHERE i.id = w.id) LIMIT ?2)",
}

// Prune drops replies, ended events and marks of writes of before a time.
func (db *DB) Prune(ctx context.Context, before time.Time) (total int, err error) {
	if err := db.enter(ctx); err != nil {
		return 0, err
	}
	defer db.leave()
	if before.IsZero() {
		return 0, store.Invalid("prune before", "a time", "")
	}
	return db.prune(ctx, pruneQueries[:], before)
}

// PruneAudit drops entries of the audit log of before a time.
func (db *DB) PruneAudit(ctx context.Context, before time.Time) (int, error) {
	if err := db.enter(ctx); err != nil {
		return 0, err
	}
	defer db.leave()
	if before.IsZero() {
		return 0, store.Invalid("prune before", "a time", "")
	}
	return db.prune(ctx, []string{"DELETE FROM audit WHERE n IN (SELECT n FROM audit WHERE at < ?1 LIMIT ?2)"}, before)
}

func (db *DB) prune(ctx context.Context, queries []string, before time.Time) (total int, err error) {
	for _, query := range queries {
		for n := pruneStep; n == pruneStep; total += n {
			err := db.w.do(ctx, func(t *tx) (err error) {
				n, err = t.execN(query, micros(before), pruneStep)
				return wrap("prune", err)
			})
			if err != nil {
				return total, err
			}
		}
	}
	return total, nil
}
