package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"unsafe"

	"evoke/scoring"
	"evoke/store"
)

// vecRow is one search row: int8 numbers, each times scale.
type vecRow struct {
	q     []int8
	scale float32
}

// SetEmbeddings stores the vectors of items that exist with the text that the vectors were made from, in one transaction.
func (db *DB) SetEmbeddings(ctx context.Context, sc store.Scope, es []store.Embedding) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := sc.Validate(); err != nil {
		return err
	}
	if len(es) == 0 {
		return nil
	}
	model, dim, err := db.space(ctx)
	if err != nil {
		return err
	}
	rows := make([][]vecRow, len(es))
	for i := range es {
		if es[i].Model != model || model == "" {
			return otherModel(es[i].Model, model)
		}
		if rows[i], err = searchRows(&es[i], dim); err != nil {
			return fmt.Errorf("embedding %d: %w", i, err)
		}
	}
	scope, ok, err := db.scopeID(ctx, sc)
	if err != nil || !ok {
		return err
	}
	return db.w.do(ctx, func(t *tx) error {
		var now string
		if err := t.get("SELECT model FROM space", nil, &now); err != nil {
			return wrap("read vector space", err)
		}
		if now != model { // it was replaced meanwhile
			return otherModel(model, now)
		}
		delta := &indexDelta{}
		for i := range es {
			stored, err := t.setVectors(scope, &es[i], rows[i])
			if err != nil {
				return err
			}
			if stored {
				delta.vectors = append(delta.vectors, indexVectors{id: es[i].ID, rows: rows[i]})
			}
		}
		t.after(func() { db.cache.apply(scope, delta) })
		return nil
	})
}

func otherModel(given, has string) error {
	return fmt.Errorf("%w: vectors of model %q, but the store's are of %q: embed again with the store's model, or re-embed the store (evoke reembed)",
		store.ErrConflict, given, has)
}

// searchRows checks an item's vectors and quantises what search compares with the query.
func searchRows(e *store.Embedding, dim int) ([]vecRow, error) {
	if len(e.Own) == 0 {
		return nil, store.Invalid("own", "one vector or more", "none")
	}
	for _, v := range e.Own {
		if err := store.ValidateVector("own", v, dim); err != nil {
			return nil, err
		}
	}
	if e.Context != nil {
		if err := store.ValidateVector("context", e.Context, dim); err != nil {
			return nil, err
		}
	}
	rows := make([]vecRow, 0, len(e.Own))
	for _, v := range e.Rows() {
		q, scale := scoring.Quantize(v)
		rows = append(rows, vecRow{q: q, scale: scale})
	}
	return rows, nil
}

// setVectors replaces an item's rows; stored is false when the item is gone or its text has changed.
func (t *tx) setVectors(scope int64, e *store.Embedding, rows []vecRow) (stored bool, err error) {
	var n int64
	err = t.get("SELECT n FROM items WHERE scope = ? AND id = ? AND text_key = ?", []any{scope, e.ID, e.TextKey}, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, wrap("find item", err)
	}
	if err := t.exec("DELETE FROM vectors WHERE item = ?", n); err != nil {
		return false, wrap("drop vectors", err)
	}
	for i, r := range rows {
		if err := t.exec("INSERT INTO vectors (item, seq, scale, row) VALUES (?, ?, ?, ?)", n, i, float64(r.scale), bytesOf(r.q)); err != nil {
			return false, wrap("store vector", err)
		}
	}
	return true, nil
}

// bytesOf views int8 numbers as bytes.
func bytesOf(q []int8) []byte {
	if len(q) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&q[0])), len(q))
}

// int8sOf views bytes as int8 numbers.
func int8sOf(b []byte) []int8 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*int8)(unsafe.Pointer(&b[0])), len(b))
}

// space reads the vector space; "" and 0 before one is claimed.
func (db *DB) space(ctx context.Context) (model string, dim int, err error) {
	err = db.reading(func(r *sql.DB) error {
		return r.QueryRowContext(ctx, "SELECT model, dim FROM space").Scan(&model, &dim)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", 0, nil
	}
	return model, dim, wrap("read vector space", err)
}

// Model returns the id of the vector space the store's vectors are in; "" before the first is claimed.
func (db *DB) Model(ctx context.Context) (string, error) {
	if err := db.enter(ctx); err != nil {
		return "", err
	}
	defer db.leave()
	model, _, err := db.space(ctx)
	return model, err
}

// SetModel claims the vector space. Claiming the same again is no change.
func (db *DB) SetModel(ctx context.Context, id string, dim int) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := store.ValidateSpace(id, dim); err != nil {
		return err
	}
	return db.w.do(ctx, func(t *tx) error {
		if err := t.exec("INSERT INTO space (one, model, dim) VALUES (1, ?, ?) ON CONFLICT DO NOTHING", id, dim); err != nil {
			return wrap("claim vector space", err)
		}
		var has string
		var hasDim int
		if err := t.get("SELECT model, dim FROM space", nil, &has, &hasDim); err != nil {
			return wrap("read vector space", err)
		}
		if has != id || hasDim != dim {
			return fmt.Errorf("%w: the store's vectors are of model %q with %d dimensions, not of %q with %d: use that model, or re-embed the store (evoke reembed)",
				store.ErrConflict, has, hasDim, id, dim)
		}
		return nil
	})
}

// ReplaceModel makes another vector space the store's and drops all vectors, in one transaction.
func (db *DB) ReplaceModel(ctx context.Context, id string, dim int) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := store.ValidateSpace(id, dim); err != nil {
		return err
	}
	return db.w.do(ctx, func(t *tx) error {
		n, err := t.execN(`INSERT INTO space (one, model, dim) VALUES (1, ?, ?)
ON CONFLICT DO UPDATE SET model = excluded.model, dim = excluded.dim WHERE model <> excluded.model OR dim <> excluded.dim`, id, dim)
		if err != nil || n == 0 {
			return wrap("replace vector space", err)
		}
		if err := t.exec("DELETE FROM vectors"); err != nil {
			return wrap("drop vectors", err)
		}
		t.after(db.cache.reset)
		return nil
	})
}
