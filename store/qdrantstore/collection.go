package qdrantstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/qdrant/go-client/qdrant"

	"evoke/scoring"
	"evoke/store"
)

// prepareCollection finds the collection behind the alias, or makes the first; one of an older layout is replaced.
func (db *DB) prepareCollection(ctx context.Context) error {
	name, err := db.behindAlias(ctx)
	if err != nil {
		return err
	}
	if name == "" {
		return db.firstCollection(ctx)
	}
	info, err := db.info(ctx, name)
	if err != nil {
		return err
	}
	l, err := layoutOf(name, info)
	if err != nil {
		return err
	}
	if l.schema < schemaVersion || l.analyzer != scoring.AnalyzerVersion {
		db.set.Logger.InfoContext(ctx, "the collection is of an older version and is copied", "collection", name)
		return db.replaceCollection(ctx, name, l.space)
	}
	if err := checkIndexes(name, info); err != nil {
		return err
	}
	db.setSpace(l.space)
	return nil
}

// behindAlias returns the collection that the alias stands for, "" when there is no alias.
func (db *DB) behindAlias(ctx context.Context) (string, error) {
	list, err := call(ctx, db, "list aliases", db.client.ListAliases)
	if err != nil {
		return "", err
	}
	for _, a := range list {
		if a.GetAliasName() == db.set.Collection {
			return a.GetCollectionName(), nil
		}
	}
	return "", nil
}

// firstCollection makes the collection of a new store: without dense vectors, whose size is not known yet.
func (db *DB) firstCollection(ctx context.Context) error {
	name := db.set.Collection + "_1"
	for _, taken := range []string{db.set.Collection, name} {
		exists, err := call(ctx, db, "look for the collection", func(ctx context.Context) (bool, error) { return db.client.CollectionExists(ctx, taken) })
		if err != nil {
			return err
		}
		if !exists {
			continue
		}
		n, err := db.countAll(ctx, taken)
		if err != nil {
			return err
		}
		if taken == db.set.Collection || n > 0 {
			return fmt.Errorf("%w: there is a collection %q but no alias %q: choose another collection name, or make the alias again", store.ErrConflict, taken, db.set.Collection)
		}
		if err := db.dropCollection(ctx, taken); err != nil { // what an interrupted Open left
			return err
		}
	}
	if err := db.makeCollection(ctx, name, space{}, ""); err != nil {
		return err
	}
	return db.pointAlias(ctx, name)
}

func (db *DB) pointAlias(ctx context.Context, name string) error {
	_, err := call(ctx, db, "switch alias", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, db.client.UpdateAliases(ctx, []*qdrant.AliasOperations{qdrant.NewAliasCreate(db.set.Collection, name)})
	})
	return err
}

func (db *DB) dropCollection(ctx context.Context, name string) error {
	return db.once(ctx, "drop collection", func(ctx context.Context) error { return db.client.DeleteCollection(ctx, name) })
}

func (db *DB) countAll(ctx context.Context, name string) (uint64, error) {
	return call(ctx, db, "count points", func(ctx context.Context) (uint64, error) {
		return db.client.Count(ctx, &qdrant.CountPoints{CollectionName: name, Exact: qdrant.PtrOf(true)})
	})
}

// successor is the name that follows: evoke_2 after evoke_1.
func (db *DB) successor(name string) string {
	n, err := strconv.Atoi(strings.TrimPrefix(name, db.set.Collection+"_"))
	if err != nil || n < 1 {
		n = 1
	}
	return db.set.Collection + "_" + strconv.Itoa(n+1)
}

// replaceCollection copies all points into a new collection of the given space, built anew from their items, and moves the
// alias to it. Vectors come along when the space is the same. The old collection goes only when the new one was seen to
// hold as many points. A copy that was interrupted is thrown away by the next.
func (db *DB) replaceCollection(ctx context.Context, old string, sp space) error {
	db.replace.Lock()
	defer db.replace.Unlock()
	name := db.successor(old)
	if err := db.dropUnfinished(ctx, name, old); err != nil {
		return err
	}
	if err := db.makeCollection(ctx, name, sp, old); err != nil {
		return err
	}
	if err := db.copyPoints(ctx, old, name, sp); err != nil {
		return err
	}
	before, err := db.countAll(ctx, old)
	if err != nil {
		return err
	}
	after, err := db.countAll(ctx, name)
	if err != nil {
		return err
	}
	if before != after {
		return fmt.Errorf("%w: the copy of %q has %d of %d points (does another process write to it?): repeat with one process", store.ErrConflict, old, after, before)
	}
	if err := db.pointAlias(ctx, name); err != nil {
		return err
	}
	db.setSpace(sp)
	if err := db.dropCollection(ctx, old); err != nil {
		db.set.Logger.WarnContext(ctx, "the replaced collection could not be dropped", "collection", old, "error", err)
	}
	return nil
}

// dropUnfinished removes what an interrupted copy left under the name.
func (db *DB) dropUnfinished(ctx context.Context, name, old string) error {
	info, err := db.info(ctx, name)
	if errors.Is(err, errNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if l, err := layoutOf(name, info); err != nil || l.copyOf != old {
		return fmt.Errorf("%w: collection %q is in the way of a copy of %q and is none of it", store.ErrConflict, name, old)
	}
	return db.dropCollection(ctx, name)
}

// copyPage is how many points are copied at a time.
const copyPage = 128

func (db *DB) copyPoints(ctx context.Context, from, to string, sp space) error {
	vectors := qdrant.NewWithVectors(false)
	if l, err := db.info(ctx, from); err != nil {
		return err
	} else if was, err := layoutOf(from, l); err == nil && was.space == sp && sp.dim > 0 {
		vectors = qdrant.NewWithVectorsInclude(denseVector)
	}
	req := &qdrant.ScrollPoints{CollectionName: from, WithVectors: vectors, WithPayload: qdrant.NewWithPayloadInclude(fieldItem, fieldScope)}
	return db.scroll(ctx, req, copyPage, func(ps []*qdrant.RetrievedPoint) error {
		points := make([]*qdrant.PointStruct, len(ps))
		for i, p := range ps {
			sc, err := parseScope(p.GetPayload()[fieldScope].GetStringValue())
			if err != nil {
				return err
			}
			it, err := itemOf(p.GetPayload())
			if err != nil {
				return err
			}
			r, err := newPrepared(sc, &it)
			if err != nil {
				return err
			}
			points[i] = r.point(db.bm25)
			if rows := rowsOf(p.GetVectors()); rows != nil {
				points[i].Vectors.GetVectors().Vectors[denseVector] = qdrant.NewVectorMulti(rows)
			}
		}
		res, err := call(ctx, db, "copy points", func(ctx context.Context) (*qdrant.UpdateResult, error) {
			return db.client.Upsert(ctx, &qdrant.UpsertPoints{CollectionName: to, Wait: qdrant.PtrOf(true), Points: points})
		})
		if err != nil {
			return err
		}
		return completed("copy points", res)
	})
}

// rowsOf are the dense rows of a point that was read with its vectors.
func rowsOf(v *qdrant.VectorsOutput) [][]float32 {
	var rows [][]float32
	for _, r := range v.GetVectors().GetVectors()[denseVector].GetMultiVector().GetVectors() {
		rows = append(rows, r.GetData())
	}
	return rows
}

// scroll hands over all points that a request selects, page by page in the order of their ids. A page whose reply would be
// too large is asked for in smaller ones.
func (db *DB) scroll(ctx context.Context, req *qdrant.ScrollPoints, page int, f func([]*qdrant.RetrievedPoint) error) error {
	type answer struct {
		points []*qdrant.RetrievedPoint
		next   *qdrant.PointId
	}
	for {
		req.Limit = qdrant.PtrOf(uint32(page))
		a, err := call(ctx, db, "read points", func(ctx context.Context) (answer, error) {
			ps, next, err := db.client.ScrollAndOffset(ctx, req)
			return answer{ps, next}, err //nolint:wrapcheck // call does
		})
		if errors.Is(err, errTooLarge) && page > 1 {
			page = max(page/4, 1)
			continue
		}
		if err != nil {
			return err
		}
		if len(a.points) > 0 {
			if err := f(a.points); err != nil {
				return err
			}
		}
		if a.next == nil {
			return nil
		}
		req.Offset = a.next
	}
}

func (db *DB) setSpace(sp space) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.space = sp
}

// vectorSpace returns the space of the collection. While none is known it looks again: another process may have claimed it.
func (db *DB) vectorSpace(ctx context.Context) (space, error) {
	db.mu.Lock()
	sp := db.space
	db.mu.Unlock()
	if sp.dim > 0 {
		return sp, nil
	}
	info, err := db.info(ctx, db.set.Collection)
	if err != nil {
		return space{}, err
	}
	l, err := layoutOf(db.set.Collection, info)
	if err != nil {
		return space{}, err
	}
	if l.dim > 0 {
		db.setSpace(l.space)
	}
	return l.space, nil
}

// Model returns the id of the vector space; "" before one is claimed.
func (db *DB) Model(ctx context.Context) (string, error) {
	if err := db.enter(ctx); err != nil {
		return "", err
	}
	defer db.leave()
	sp, err := db.vectorSpace(ctx)
	return sp.model, err
}

// SetModel claims the vector space. The first claim replaces the collection by one that can hold vectors; claiming the same
// again is no change.
func (db *DB) SetModel(ctx context.Context, id string, dim int) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := store.ValidateSpace(id, dim); err != nil {
		return err
	}
	db.claim.Lock()
	defer db.claim.Unlock()
	has, err := db.vectorSpace(ctx)
	if err != nil {
		return err
	}
	want := space{id, dim}
	if has.dim == 0 {
		name, err := db.behindAlias(ctx)
		if err != nil {
			return err
		}
		return db.replaceCollection(ctx, name, want)
	}
	if has != want {
		return fmt.Errorf("%w: the store's vectors are of model %q with %d dimensions, not of %q with %d: use that model, or re-embed the store (evoke reembed)",
			store.ErrConflict, has.model, has.dim, id, dim)
	}
	return nil
}

// ReplaceModel makes another vector space the store's: the items are copied into a collection of it, without vectors, and
// the alias moves there. Writes wait for the copy; reads do not.
func (db *DB) ReplaceModel(ctx context.Context, id string, dim int) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if err := store.ValidateSpace(id, dim); err != nil {
		return err
	}
	db.claim.Lock()
	defer db.claim.Unlock()
	has, err := db.vectorSpace(ctx)
	if err != nil || has == (space{id, dim}) {
		return err
	}
	name, err := db.behindAlias(ctx)
	if err != nil {
		return err
	}
	return db.replaceCollection(ctx, name, space{id, dim})
}
