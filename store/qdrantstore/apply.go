package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/qdrant/go-client/qdrant"

	"evoke/store"
)

// How much one update carries at most.
const (
	updatePoints = 256
	updateBytes  = 16 << 20
)

// Apply makes a change of one scope: first what it puts, then what it deletes. Everything is checked before anything is sent.
// When it fails in the middle a part may be there; applying the same change again completes it.
func (db *DB) Apply(ctx context.Context, sc store.Scope, c store.Change) error {
	if err := db.enterScope(ctx, sc); err != nil {
		return err
	}
	defer db.leave()
	ps, err := db.prepareChange(sc, c)
	if err != nil || len(ps)+len(c.Delete) == 0 {
		return err
	}
	defer db.writing(sc)()
	known, err := db.textKeys(ctx, sc, idsOf(ps))
	if err != nil {
		return err
	}
	var u updates
	for _, p := range ps {
		if known[p.item.ID] == p.textKey {
			u.add(db.keepText(p), p.bytes())
			continue
		}
		u.put(within(sc), p.point(db.bm25), p.bytes())
	}
	for chunk := range slices.Chunk(c.Delete, updatePoints) {
		u.add(qdrant.NewPointsUpdateDeletePoints(&qdrant.PointsUpdateOperation_DeletePoints{
			Points: qdrant.NewPointsSelectorFilter(within(sc, qdrant.NewHasID(pointIDs(sc, chunk)...)))}), 64*len(chunk))
	}
	for _, ops := range u.batches {
		if err := db.update(ctx, "write items", ops); err != nil {
			return err
		}
	}
	return nil
}

// prepareChange checks every item. Of several puts of one id the last counts; what is deleted as well is not put.
func (db *DB) prepareChange(sc store.Scope, c store.Change) ([]*prepared, error) {
	last := make(map[string]int, len(c.Put))
	all := make([]*prepared, len(c.Put))
	for i := range c.Put {
		p, err := prepare(sc, c.Put[i], db.set.Limits)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		all[i] = p
		last[p.item.ID] = i
	}
	for _, id := range c.Delete {
		delete(last, id)
	}
	ps := make([]*prepared, 0, len(last))
	for i, p := range all {
		if at, ok := last[p.item.ID]; ok && at == i {
			ps = append(ps, p)
		}
	}
	return ps, nil
}

func idsOf(ps []*prepared) []string {
	ids := make([]string, len(ps))
	for i, p := range ps {
		ids[i] = p.item.ID
	}
	return ids
}

// textKeys reads which of the items exist, and with which text. A point of another scope under one of their ids refuses them.
func (db *DB) textKeys(ctx context.Context, sc store.Scope, ids []string) (map[string]string, error) {
	keys := make(map[string]string, len(ids))
	err := db.retrieve(ctx, pointIDs(sc, ids), qdrant.NewWithPayloadInclude(fieldScope, fieldID, fieldTextKey), func(p *qdrant.RetrievedPoint) error {
		if p.GetPayload()[fieldScope].GetStringValue() != sc.Key() {
			return fmt.Errorf("%w: the id of an item is taken by a point of another scope", store.ErrConflict)
		}
		keys[p.GetPayload()[fieldID].GetStringValue()] = p.GetPayload()[fieldTextKey].GetStringValue()
		return nil
	})
	return keys, err
}

// keepText replaces an item's payload and leaves its vectors, provided that its text is still the same.
func (db *DB) keepText(p *prepared) *qdrant.PointsUpdateOperation {
	return qdrant.NewPointsUpdateOverwritePayload(&qdrant.PointsUpdateOperation_OverwritePayload{
		Payload: p.payload(),
		PointsSelector: qdrant.NewPointsSelectorFilter(within(p.scope, qdrant.NewHasID(pointID(p.scope, p.item.ID)),
			qdrant.NewMatchKeyword(fieldTextKey, p.textKey)))})
}

// updates collects operations into requests of bounded size.
type updates struct {
	batches [][]*qdrant.PointsUpdateOperation
	bytes   int
	points  int
	upsert  *qdrant.PointsUpdateOperation_PointStructList // the last operation, when points can join it
}

func (u *updates) add(op *qdrant.PointsUpdateOperation, bytes int) {
	if len(u.batches) == 0 || u.bytes+bytes > updateBytes || u.points == updatePoints {
		u.batches = append(u.batches, nil)
		u.bytes, u.points = 0, 0
	}
	last := &u.batches[len(u.batches)-1]
	*last = append(*last, op)
	u.bytes += bytes
	u.points++
	u.upsert = nil
}

func (u *updates) put(guard *qdrant.Filter, p *qdrant.PointStruct, bytes int) {
	if u.upsert != nil && u.bytes+bytes <= updateBytes && u.points < updatePoints {
		u.upsert.Points = append(u.upsert.Points, p)
		u.bytes += bytes
		u.points++
		return
	}
	list := &qdrant.PointsUpdateOperation_PointStructList{Points: []*qdrant.PointStruct{p}, UpdateFilter: guard}
	u.add(qdrant.NewPointsUpdateUpsert(list), bytes)
	u.upsert = list
}

func (db *DB) update(ctx context.Context, op string, ops []*qdrant.PointsUpdateOperation) error {
	rs, err := call(ctx, db, op, func(ctx context.Context) ([]*qdrant.UpdateResult, error) {
		return db.client.UpdateBatch(ctx, &qdrant.UpdateBatchPoints{CollectionName: db.set.Collection, Wait: qdrant.PtrOf(true), Operations: ops})
	})
	if err != nil {
		return err
	}
	if len(rs) != len(ops) {
		return fmt.Errorf("%s: %w: the server answered %d of %d operations: repeat it", op, store.ErrUnavailable, len(rs), len(ops))
	}
	return completed(op, rs...)
}

// retrievePage is how many points are read by id at a time.
const retrievePage = 256

// retrieve reads points by id, in no order; unknown ids are passed over. A page whose reply would be too large is asked for
// in smaller ones.
func (db *DB) retrieve(ctx context.Context, ids []*qdrant.PointId, payload *qdrant.WithPayloadSelector, f func(*qdrant.RetrievedPoint) error) error {
	page := retrievePage
	for len(ids) > 0 {
		n := min(page, len(ids))
		ps, err := call(ctx, db, "read points", func(ctx context.Context) ([]*qdrant.RetrievedPoint, error) {
			return db.client.Get(ctx, &qdrant.GetPoints{CollectionName: db.set.Collection, Ids: ids[:n], WithPayload: payload})
		})
		if errors.Is(err, errTooLarge) && n > 1 {
			page = max(n/4, 1)
			continue
		}
		if err != nil {
			return err
		}
		for _, p := range ps {
			if err := f(p); err != nil {
				return err
			}
		}
		ids = ids[n:]
	}
	return nil
}
