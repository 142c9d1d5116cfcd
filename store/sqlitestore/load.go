package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"evoke/scoring"
	"evoke/store"
)

// The queries of a scope's index; in the order of an index of the file, because it is about the order in which rows were
// written.
const (
	loadItemsQuery   = "SELECT n, doc, " + itemColumns + " FROM items WHERE scope = ? ORDER BY recorded_at DESC, id"
	loadVectorsQuery = `SELECT v.item, v.scale, v.row FROM items i CROSS JOIN vectors v ON v.item = i.n
WHERE i.scope = ? ORDER BY i.recorded_at DESC, i.id, i.n, v.seq`
)

// indexOf returns the index of a scope, reading it when it is not in memory.
func (db *DB) indexOf(ctx context.Context, scope int64) (*index, error) {
	//nolint:contextcheck // the reading is the store's, not the caller's: others may wait for it too
	return db.cache.get(ctx, scope, func() (*index, func(), error) {
		x, stale, err := db.loadIndex(context.Background(), scope)
		if err != nil || len(stale) == 0 {
			return x, nil, err
		}
		return x, func() { db.renew(stale) }, nil
	})
}

// renew stores the analysed text of items whose stored one was of another version, so that it is not made at each
// loading.
func (db *DB) renew(stale []loaded) {
	db.log.Info("analysed text of another version is stored anew", "items", len(stale))
	for part := range slices.Chunk(stale, 500) {
		err := db.w.do(context.Background(), func(t *tx) error {
			for i := range part {
				doc, err := part[i].doc.MarshalBinary()
				if err != nil {
					return fmt.Errorf("encode analysed text: %w", err)
				}
				err = t.exec("UPDATE items SET doc = ? WHERE n = ? AND text_key = ?", doc, part[i].n, part[i].item.TextKey())
				if err != nil {
					return wrap("store analysed text", err)
				}
			}
			return nil
		})
		if err != nil {
			db.log.Warn("analysed text could not be stored; it is made anew at the next loading", "error", err)
			return
		}
	}
}

// loaded is one item on its way from the database into an index.
type loaded struct {
	n       int64
	item    store.Item
	doc     *scoring.Doc
	stale   bool // doc was made from the text
	weights []scoring.TermWeight
	err     error
}

// loadIndex reads a scope in one read transaction. One goroutine reads and decodes rows while this one
// enters them into the index.
func (db *DB) loadIndex(ctx context.Context, scope int64) (x *index, stale []loaded, err error) {
	err = db.reading(func(r *sql.DB) (err error) {
		tx, err := r.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return wrap("read scope", err)
		}
		defer func() { err = errors.Join(err, tx.Rollback()) }()
		dim := 0
		if err := tx.QueryRowContext(ctx, "SELECT dim FROM space").Scan(&dim); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return wrap("read vector space", err)
		}
		x = newIndex(dim, db.opts.Lexical.OwnBM25())
		var slots map[int64]int32
		slots, stale, err = x.loadItems(ctx, tx, scope)
		if err != nil || len(slots) == 0 {
			return err
		}
		return x.loadVectors(ctx, tx, scope, slots)
	})
	if err != nil {
		return nil, nil, err
	}
	x.sortOrders()
	return x, stale, nil
}

func (x *index) loadItems(ctx context.Context, tx *sql.Tx, scope int64) (slots map[int64]int32, stale []loaded, err error) {
	rows, err := tx.QueryContext(ctx, loadItemsQuery, scope)
	if err != nil {
		return nil, nil, wrap("read scope", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	batches := make(chan []loaded, 4)
	go func() {
		defer close(batches)
		scanItems(ctx, rows, x.bm25, batches)
	}()
	defer func() {
		cancel()
		for range batches {
			continue // the goroutine above has to end before the rows are closed
		}
		err = errors.Join(err, wrap("read scope", rows.Close()))
	}()
	slots = map[int64]int32{}
	for batch := range batches {
		for i := range batch {
			l := &batch[i]
			if l.err != nil {
				return nil, nil, l.err
			}
			slots[l.n] = x.add(l.item, l.doc, l.weights)
			if l.stale {
				stale = append(stale, *l)
			}
		}
	}
	return slots, stale, wrap("read scope", rows.Err())
}

func scanItems(ctx context.Context, rows *sql.Rows, bm25 scoring.BM25, out chan<- []loaded) {
	const batchSize = 256
	batch := make([]loaded, 0, batchSize)
	send := func() bool {
		select {
		case out <- batch:
			batch = make([]loaded, 0, batchSize)
			return true
		case <-ctx.Done():
			return false
		}
	}
	for rows.Next() {
		l := scanItem(rows)
		if l.err == nil {
			l.weights = l.doc.Weights(bm25)
		}
		batch = append(batch, l)
		if (l.err != nil || len(batch) == batchSize) && !send() || l.err != nil {
			return
		}
	}
	if err := rows.Err(); err != nil {
		batch = append(batch, loaded{err: wrap("read scope", err)})
	}
	send()
}

func scanItem(rows *sql.Rows) loaded {
	var l loaded
	var row itemRow
	var doc sql.RawBytes
	if err := rows.Scan(append([]any{&l.n, &doc}, row.dest()...)...); err != nil {
		return loaded{err: wrap("read item", err)}
	}
	var err error
	if l.item, err = row.item(); err != nil {
		return loaded{err: err}
	}
	d, err := scoring.UnmarshalDoc(doc)
	if err != nil { // of another version, or damaged: it is made of the text
		l.doc, l.stale = newDoc(&l.item), true
		return l
	}
	l.doc = &d
	return l
}

func (x *index) loadVectors(ctx context.Context, tx *sql.Tx, scope int64, slots map[int64]int32) (err error) {
	rows, err := tx.QueryContext(ctx, loadVectorsQuery, scope)
	if err != nil {
		return wrap("read vectors", err)
	}
	defer func() { err = errors.Join(err, wrap("read vectors", rows.Close())) }()
	x.rows = make([]int8, 0, len(slots)*x.dim)
	var last int64
	var pending []vecRow // of one item; their numbers are in buf
	var buf []int8
	flush := func() {
		if len(pending) > 0 {
			x.setRows(slots[last], pending)
			pending, buf = pending[:0], buf[:0]
		}
	}
	for rows.Next() {
		var n int64
		var scale float64
		var blob sql.RawBytes
		if err := rows.Scan(&n, &scale, &blob); err != nil {
			return wrap("read vector", err)
		}
		if len(blob) != x.dim {
			return fmt.Errorf("%w: a stored vector has %d numbers, not %d", store.ErrCorrupt, len(blob), x.dim)
		}
		if n != last {
			flush()
			last = n
		}
		from := len(buf)
		buf = append(buf, int8sOf(blob)...)
		pending = append(pending, vecRow{q: buf[from:], scale: float32(scale)})
	}
	flush()
	return wrap("read vectors", rows.Err())
}
