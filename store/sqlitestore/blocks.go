package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"evoke/store"
)

// NoteBlock records a block that was made.
func (db *DB) NoteBlock(ctx context.Context, b store.ShownBlock) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := noTenant(b.Tenant); err != nil {
		return err
	}
	if b.Hash == "" {
		return store.Invalid("hash", "given", "")
	}
	items, err := json.Marshal(b.Items)
	if err != nil {
		return fmt.Errorf("encode items of a block: %w", err)
	}
	return db.w.do(ctx, func(t *tx) error {
		return wrap("note block", t.exec(`INSERT INTO blocks (tenant, user, agent, hash, thread, first, last, times, shape, tokens, items)
VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?)
ON CONFLICT DO UPDATE SET thread = excluded.thread, last = max(last, excluded.last), times = times + 1`,
			b.Tenant, b.User, b.Agent, b.Hash, b.Thread, micros(b.Last), micros(b.Last), b.Shape, b.Tokens, items))
	})
}

// ShownBlock returns the record of a block.
func (db *DB) ShownBlock(ctx context.Context, tenant, user, agent, hash string) (b store.ShownBlock, err error) {
	if err := db.enter(ctx); err != nil {
		return b, err
	}
	defer db.leave()
	if err := noTenant(tenant); err != nil {
		return b, err
	}
	var first, last int64
	var items []byte
	err = db.reading(func(r *sql.DB) error {
		b = store.ShownBlock{Tenant: tenant, User: user, Agent: agent, Hash: hash}
		return r.QueryRowContext(ctx, "SELECT thread, first, last, times, shape, tokens, items FROM blocks WHERE tenant = ? AND user = ? AND agent = ? AND hash = ?",
			tenant, user, agent, hash).Scan(&b.Thread, &first, &last, &b.Times, &b.Shape, &b.Tokens, &items)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return store.ShownBlock{}, fmt.Errorf("%w: no such block is on record", store.ErrNotFound)
	}
	if err == nil {
		err = json.Unmarshal(items, &b.Items)
	}
	b.First, b.Last = fromMicros(first), fromMicros(last)
	return b, wrap("read block", err)
}

// PruneBlocks drops the blocks last made before a time.
func (db *DB) PruneBlocks(ctx context.Context, before time.Time) (total int, err error) {
	if err := db.enter(ctx); err != nil {
		return 0, err
	}
	defer db.leave()
	if before.IsZero() {
		return 0, store.Invalid("prune before", "a time", "")
	}
	for n := pruneStep; n == pruneStep; total += n {
		err := db.w.do(ctx, func(t *tx) (err error) {
			n, err = t.execN("DELETE FROM blocks WHERE (tenant, user, agent, hash) IN (SELECT tenant, user, agent, hash FROM blocks WHERE last < ? LIMIT ?)", micros(before), pruneStep)
			return wrap("prune blocks", err)
		})
		if err != nil {
			return total, err
		}
	}
	return total, nil
}
