package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"evoke/store"
)

const insertItem = `INSERT INTO items (scope, ` + itemColumns + `, text_key, doc)
VALUES (?, ?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?, ?, ?) RETURNING n`

const updateItem = `UPDATE items SET (` + itemColumns + `, text_key, doc) =
(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?, ?, ?) WHERE n = ?`

// Apply makes a change of one scope in one transaction: first what it puts, then what it deletes.
func (db *DB) Apply(ctx context.Context, sc store.Scope, c store.Change) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := sc.Validate(); err != nil {
		return err
	}
	ps, err := db.prepareChange(c)
	if err != nil || len(ps)+len(c.Delete) == 0 {
		return err
	}
	return db.w.do(ctx, func(t *tx) error {
		n, err := t.scope(sc)
		if err != nil {
			return err
		}
		return db.applyChange(t, n, ps, c.Delete)
	})
}

// prepareChange checks and analyses every item before anything is written, several at a time when there are many.
func (db *DB) prepareChange(c store.Change) ([]*prepared, error) {
	ps := make([]*prepared, len(c.Put))
	errs := make([]error, len(c.Put))
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(ps); i = int(next.Add(1)) - 1 {
			ps[i], errs[i] = prepare(c.Put[i], db.opts.Limits)
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(ps)/parallelItems) {
		wg.Go(work)
	}
	work()
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
	}
	return ps, nil
}

// parallelItems is how many items are worth a goroutine to prepare.
const parallelItems = 32

// applyChange writes items and has the scope's index follow once it is committed.
func (db *DB) applyChange(t *tx, scope int64, ps []*prepared, del []string) error {
	delta := &indexDelta{del: del}
	for _, p := range ps {
		n, kept, err := t.putItem(scope, p)
		if err != nil {
			return err
		}
		delta.put = append(delta.put, indexPut{n: n, item: p.item, doc: p.doc, keepText: kept})
	}
	for _, id := range del {
		if err := t.deleteItem(scope, id); err != nil {
			return err
		}
	}
	t.after(func() { db.cache.apply(scope, delta) })
	return nil
}

// putItem inserts or replaces one item. kept is true when it existed with the same text, and so keeps its vectors.
func (t *tx) putItem(scope int64, p *prepared) (n int64, kept bool, err error) {
	var textKey string
	err = t.get("SELECT n, text_key FROM items WHERE scope = ? AND id = ?", []any{scope, p.item.ID}, &n, &textKey)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = t.get(insertItem, append([]any{scope}, p.values()...), &n)
		return n, false, wrap("insert item", err)
	case err != nil:
		return 0, false, wrap("find item", err)
	}
	if err := t.exec(updateItem, append(p.values(), n)...); err != nil {
		return 0, false, wrap("replace item", err)
	}
	if textKey == p.textKey {
		return n, true, nil
	}
	return n, false, wrap("drop vectors", t.exec("DELETE FROM vectors WHERE item = ?", n))
}

// deleteItem removes an item, its vectors (by the foreign key) and its wait for vectors.
func (t *tx) deleteItem(scope int64, id string) error {
	n, err := t.execN("DELETE FROM items WHERE scope = ? AND id = ?", scope, id)
	if err != nil {
		return wrap("delete item", err)
	}
	t.w.erased = t.w.erased || n > 0
	if err := t.dropResting(scope, id); err != nil {
		return err
	}
	return wrap("delete item", t.exec("DELETE FROM embeds WHERE scope = ? AND id = ?", scope, id))
}

// CommitBoth makes a write true in one transaction: items, thread, arming, event, reply, pending vectors.
func (db *DB) CommitBoth(ctx context.Context, w store.Write) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := checkWrite(&w); err != nil {
		return err
	}
	ps, err := db.prepareChange(w.Change)
	if err != nil {
		return err
	}
	return db.w.do(ctx, func(t *tx) error {
		scope, made, err := t.record(&w)
		if err != nil || made {
			return err
		}
		if len(ps)+len(w.Delete) == 0 {
			return nil
		}
		return db.applyChange(t, scope, ps, w.Delete)
	})
}
