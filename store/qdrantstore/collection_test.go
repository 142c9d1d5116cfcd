package qdrantstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"evoke/scoring"
	"evoke/store"
)

func behind(t *testing.T, db *DB) string {
	t.Helper()
	name, err := db.behindAlias(context.Background())
	must(t, err)
	return name
}

// reopen opens another store on the same collection.
func reopen(t *testing.T, db *DB) *DB {
	t.Helper()
	o := db.set.Options
	again, err := Open(context.Background(), &o)
	must(t, err)
	t.Cleanup(func() { _ = again.Close() })
	return again
}

func everything(t *testing.T, db *DB, sc store.Scope) []store.Item {
	t.Helper()
	page, err := db.List(context.Background(), sc, store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: 10000})
	must(t, err)
	return page.Items
}

// TestFirstModel: the items that were there before a model was known are all there afterwards, under the same alias.
func TestFirstModel(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		ctx := context.Background()
		db := openAt(t, addr, nil)
		items := facts(300)
		put(t, db, alice, items...)
		put(t, db, bob, items[:5]...)
		before, old := everything(t, db, alice), behind(t, db)
		must(t, db.SetModel(ctx, model, dim))
		if diff := cmp.Diff(before, everything(t, db, alice)); diff != "" {
			t.Errorf("items (-before +after):\n%s", diff)
		}
		if n := len(everything(t, db, bob)); n != 5 {
			t.Errorf("bob has %d items", n)
		}
		if behind(t, db) == old {
			t.Error("the alias did not move")
		}
		if exists, err := db.client.CollectionExists(ctx, old); err != nil || exists {
			t.Errorf("the replaced collection is still there: %v", err)
		}
		r := rand.New(rand.NewPCG(7, 7))
		must(t, db.SetEmbeddings(ctx, alice, embed(r, items)))
		again := reopen(t, db)
		if id, err := again.Model(ctx); err != nil || id != model {
			t.Errorf("model %q, %v", id, err)
		}
		wantErr(t, "another model", again.SetModel(ctx, "other", dim), store.ErrConflict)
		c, err := again.Search(ctx, alice, store.Query{View: store.Current(now), Vector: unit(r), Dense: 10, Terms: scoring.QueryTerms("number7"), Lexical: 1})
		must(t, err)
		if len(ranked(c, store.DenseArm)) != 10 || len(ranked(c, store.LexicalArm)) != 1 || c.Pending != 0 {
			t.Errorf("dense %v, lexical %v, %d pending", ranked(c, store.DenseArm), ranked(c, store.LexicalArm), c.Pending)
		}
	})
}

// TestModelClaimedElsewhere: a store that knew of no model finds the one that another claimed.
func TestModelClaimedElsewhere(t *testing.T) {
	ctx := context.Background()
	db := openAt(t, startStandin(t).Addr(), nil)
	other := reopen(t, db)
	must(t, other.SetModel(ctx, model, dim))
	items := facts(3)
	put(t, db, alice, items...)
	must(t, db.SetEmbeddings(ctx, alice, embed(rand.New(rand.NewPCG(8, 8)), items)))
	wantErr(t, "another model", db.SetModel(ctx, "other", dim), store.ErrConflict)
}

// TestInterruptedCopy: whatever step of the replacement fails, the old collection stays in use, and the next try succeeds.
func TestInterruptedCopy(t *testing.T) {
	ctx := context.Background()
	broken := status.Error(codes.Internal, "broken")
	for name, method := range map[string]string{
		"create": "/qdrant.Collections/Create", "index": "/qdrant.Points/CreateFieldIndex", "copy": upsert, "count": count,
		"alias": "/qdrant.Collections/UpdateAliases",
	} {
		t.Run(name, func(t *testing.T) {
			srv := startStandin(t)
			db := openAt(t, srv.Addr(), nil)
			put(t, db, alice, facts(10)...)
			srv.Fail(method, broken)
			wantErr(t, "the replacement", db.SetModel(ctx, model, dim), store.ErrUnavailable)
			if n := len(everything(t, db, alice)); n != 10 {
				t.Fatalf("%d items are in use", n)
			}
			if id, err := db.Model(ctx); err != nil || id != "" {
				t.Errorf("model %q, %v", id, err)
			}
			must(t, db.SetModel(ctx, model, dim))
			if n := len(everything(t, db, alice)); n != 10 {
				t.Errorf("%d items after the second try", n)
			}
		})
	}
}

// TestOlderAnalyzer: a collection whose texts an older analyzer took apart is copied; vectors stay.
func TestOlderAnalyzer(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		ctx := context.Background()
		db := openAt(t, addr, nil)
		must(t, db.SetModel(ctx, model, dim))
		items := facts(5)
		put(t, db, alice, items...)
		r := rand.New(rand.NewPCG(9, 9))
		es := embed(r, items)
		must(t, db.SetEmbeddings(ctx, alice, es))
		must(t, db.client.UpdateCollection(ctx, &qdrant.UpdateCollection{CollectionName: db.set.Collection,
			Metadata: map[string]*qdrant.Value{metaAnalyzer: qdrant.NewValueInt(scoring.AnalyzerVersion - 1)}}))
		old := behind(t, db)
		again := reopen(t, db)
		if behind(t, again) == old {
			t.Fatal("the collection was not replaced")
		}
		q := unit(r)
		c, err := again.Search(ctx, alice, store.Query{View: store.Current(now), Vector: q, Dense: 5})
		must(t, err)
		if diff := cmp.Diff(nearest(es, q, 5), ranked(c, store.DenseArm)); diff != "" {
			t.Errorf("nearest (-want +got):\n%s", diff)
		}
	})
}

// TestForeignCollections: what is not ours, newer, or damaged is reported and left alone.
func TestForeignCollections(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		ctx := context.Background()
		db := openAt(t, addr, nil)
		put(t, db, alice, facts(2)...)
		set := func(schema int64) {
			must(t, db.client.UpdateCollection(ctx, &qdrant.UpdateCollection{CollectionName: db.set.Collection,
				Metadata: map[string]*qdrant.Value{metaSchema: qdrant.NewValueInt(schema)}}))
		}
		o := db.set.Options
		for _, schema := range []int64{schemaVersion + 1, 0} {
			set(schema)
			_, err := Open(ctx, &o)
			wantErr(t, "another layout", err, store.ErrConflict)
		}
		set(schemaVersion)
		name := behind(t, db)
		must(t, db.client.DeleteAlias(ctx, db.set.Collection))
		_, err := Open(ctx, &o)
		wantErr(t, "points without an alias", err, store.ErrConflict)
		must(t, db.client.CreateAlias(ctx, db.set.Collection, name))
		if n := len(everything(t, reopen(t, db), alice)); n != 2 {
			t.Errorf("%d items left", n)
		}
		o.Collection = name // a collection, not an alias
		_, err = Open(ctx, &o)
		wantErr(t, "the name of a collection", err, store.ErrConflict)
	})
}

// TestLeftover: an empty collection that an interrupted first Open left is made anew.
func TestLeftover(t *testing.T) {
	ctx := context.Background()
	srv := startStandin(t)
	srv.Fail("/qdrant.Points/CreateFieldIndex", nil, nil, errors.New("broken"))
	o := &Options{URL: "qdrant://" + srv.Addr()}
	if _, err := Open(ctx, o); err == nil {
		t.Fatal("a collection without its indexes was accepted")
	}
	db := openAt(t, srv.Addr(), func(o *Options) { o.Collection = "" })
	put(t, db, alice, facts(1)...)
}
