package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"evoke/store"
)

// AddTombstones adds hashes.
func (db *DB) AddTombstones(ctx context.Context, tenant string, ts []store.Tombstone) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := noTenant(tenant); err != nil || len(ts) == 0 {
		return err
	}
	return db.w.do(ctx, func(t *tx) error {
		for _, ts := range ts {
			err := t.exec(`INSERT INTO tombstones (tenant, hash, operation, at) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET operation = excluded.operation, at = excluded.at`, tenant, ts.Hash, ts.Operation, micros(ts.At))
			if err != nil {
				return wrap("add tombstones", err)
			}
		}
		return nil
	})
}

// Tombstoned returns those of the hashes that are there.
func (db *DB) Tombstoned(ctx context.Context, tenant string, hashes []string) (found []store.Tombstone, err error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.leave()
	if err := noTenant(tenant); err != nil || len(hashes) == 0 {
		return nil, err
	}
	list, err := json.Marshal(hashes)
	if err != nil {
		return nil, fmt.Errorf("encode hashes: %w", err)
	}
	err = db.rows(ctx, "read tombstones",
		"SELECT j.value, t.operation, t.at FROM json_each(?) j CROSS JOIN tombstones t ON t.tenant = ? AND t.hash = j.value ORDER BY j.key",
		[]any{string(list), tenant}, func(rows *sql.Rows) error {
			var ts store.Tombstone
			var at int64
			err := rows.Scan(&ts.Hash, &ts.Operation, &at)
			ts.At = fromMicros(at)
			found = append(found, ts)
			return err //nolint:wrapcheck // db.rows names the operation
		})
	return found, err
}

// DropTombstones removes hashes and returns how many there were.
func (db *DB) DropTombstones(ctx context.Context, tenant string, hashes []string) (int, error) {
	return db.drop(ctx, tenant, "DELETE FROM tombstones WHERE tenant = ? AND hash = ?", hashes)
}

// LiftTombstones removes those of an operation and returns how many there were.
func (db *DB) LiftTombstones(ctx context.Context, tenant, operation string) (int, error) {
	return db.drop(ctx, tenant, "DELETE FROM tombstones WHERE tenant = ? AND operation = ?", []string{operation})
}

func (db *DB) drop(ctx context.Context, tenant, query string, names []string) (total int, err error) {
	if err := db.enter(ctx); err != nil {
		return 0, err
	}
	defer db.leave()
	if err := noTenant(tenant); err != nil || len(names) == 0 {
		return 0, err
	}
	err = db.w.do(ctx, func(t *tx) error {
		total = 0
		for _, name := range names {
			n, err := t.execN(query, tenant, name)
			if err != nil {
				return wrap("drop tombstones", err)
			}
			total += n
		}
		return nil
	})
	return total, err
}
