package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

	"evoke/store"
)

// Check reads the whole database and fails with store.ErrCorrupt when something in it does not fit. It takes about a
// second for some 100 MB and does not hinder writers of a file.
func (db *DB) Check(ctx context.Context) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	return db.reading(func(r *sql.DB) error {
		var verdict string
		if err := r.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
			return wrap("check database", err)
		}
		if verdict != "ok" {
			return fmt.Errorf("%w: %s", store.ErrCorrupt, verdict)
		}
		return nil
	})
}
