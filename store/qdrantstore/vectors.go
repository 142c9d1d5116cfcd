package qdrantstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/qdrant/go-client/qdrant"

	"evoke/scoring"
	"evoke/store"
)

// maxNumbers is how many numbers the server takes in all rows of one item.
const maxNumbers = 1 << 20

// SetEmbeddings stores the vectors of items that exist with the text that the vectors were made from. The server's own check
// would come after it has applied a part, and lets NaN through, so everything is checked first.
func (db *DB) SetEmbeddings(ctx context.Context, sc store.Scope, es []store.Embedding) error {
	if err := db.enterScope(ctx, sc); err != nil {
		return err
	}
	defer db.leave()
	if len(es) == 0 {
		return nil
	}
	defer db.writing(sc)()
	sp, err := db.vectorSpace(ctx)
	if err != nil {
		return err
	}
	rows := make([][][]float32, len(es))
	for i := range es {
		if es[i].Model != sp.model || sp.model == "" {
			return fmt.Errorf("%w: vectors of model %q, but the store's are of %q: embed again with the store's model, or re-embed the store (evoke reembed)",
				store.ErrConflict, es[i].Model, sp.model)
		}
		if rows[i], err = searchRows(&es[i], sp.dim); err != nil {
			return fmt.Errorf("embedding %d: %w", i, err)
		}
	}
	const tries = 3
	for n := 1; ; n++ {
		err := db.writeVectors(ctx, sc, es, rows, sp.dim)
		if n == tries || !errors.Is(err, errNotFound) { // an item went away after it was looked for
			return err
		}
	}
}

// writeVectors writes the vectors of those items that exist with the right text.
func (db *DB) writeVectors(ctx context.Context, sc store.Scope, es []store.Embedding, rows [][][]float32, dim int) error {
	ids := make([]string, len(es))
	for i := range es {
		ids[i] = es[i].ID
	}
	known, err := db.textKeys(ctx, sc, ids)
	if err != nil {
		return err
	}
	last := make(map[string]int, len(es))
	for i := range es {
		if key, ok := known[es[i].ID]; ok && key == es[i].TextKey {
			last[es[i].ID] = i
		}
	}
	var u updates
	for i := range es {
		if at, ok := last[es[i].ID]; !ok || at != i {
			continue
		}
		// One operation an item, so that each is guarded by its own text.
		u.add(qdrant.NewPointsUpdateUpdateVectors(&qdrant.PointsUpdateOperation_UpdateVectors{
			Points: []*qdrant.PointVectors{{Id: pointID(sc, es[i].ID),
				Vectors: qdrant.NewVectorsMap(map[string]*qdrant.Vector{denseVector: qdrant.NewVectorMulti(rows[i])})}},
			UpdateFilter: within(sc, qdrant.NewMatchKeyword(fieldTextKey, es[i].TextKey))}), 4*dim*len(rows[i])+256)
	}
	for _, ops := range u.batches {
		if err := db.update(ctx, "write vectors", ops); err != nil {
			return err
		}
	}
	return nil
}

// searchRows checks an item's vectors and makes what search compares with the query: each row as it is after quantisation, so
// that scores are those of sqlitestore.
func searchRows(e *store.Embedding, dim int) ([][]float32, error) {
	if len(e.Own) == 0 {
		return nil, store.Invalid("own", "one vector or more", "none")
	}
	if len(e.Own)*dim > maxNumbers {
		return nil, store.Invalid("own", fmt.Sprintf("at most %d vectors", maxNumbers/dim), fmt.Sprint(len(e.Own)))
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
	rows := e.Rows()
	q := make([]int8, dim)
	for _, row := range rows {
		scale := scoring.QuantizeInto(q, row)
		for i, n := range q {
			row[i] = float32(n) * scale
		}
	}
	return rows, nil
}
