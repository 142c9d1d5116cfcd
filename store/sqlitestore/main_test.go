package sqlitestore

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"evoke/store"
	"evoke/store/storetest"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(child(role))
	}
	goleak.VerifyTestMain(m)
}

// skipShort passes over tests that have little to do with concurrency and much with SQLite.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("more of SQLite than of threads: it runs without -short")
	}
}

func openT(t *testing.T, dir string, o *Options) *DB {
	t.Helper()
	db, err := Open(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

// places are where the suites run: the same code over a file and in memory. With -short, which the race detector is run
// with, only in memory: SQLite under the detector is some fifty times slower.
func places(t *testing.T, f func(*testing.T, func(*testing.T) *DB)) {
	if !testing.Short() {
		t.Run("file", func(t *testing.T) { f(t, func(t *testing.T) *DB { return openT(t, t.TempDir(), nil) }) })
	}
	t.Run("memory", func(t *testing.T) { f(t, func(t *testing.T) *DB { return openT(t, Memory, nil) }) })
}

func TestStore(t *testing.T) {
	places(t, func(t *testing.T, open func(*testing.T) *DB) {
		storetest.RunStore(t, func(t *testing.T) store.Store { return open(t) })
	})
	// A memory of nothing: every search reads its index anew.
	t.Run("no room for indexes", func(t *testing.T) {
		skipShort(t)
		storetest.RunStore(t, func(t *testing.T) store.Store {
			return uncached{openT(t, Memory, &Options{IndexBytes: 1})}
		})
	})
}

// uncached forgets all indexes before each search.
type uncached struct{ *DB }

func (u uncached) Search(ctx context.Context, sc store.Scope, q store.Query) (*store.Candidates, error) {
	u.cache.mu.Lock()
	for _, e := range u.cache.scopes {
		if e.loaded {
			u.cache.drop(e)
		}
	}
	u.cache.mu.Unlock()
	return u.DB.Search(ctx, sc, q)
}

func TestLedger(t *testing.T) {
	places(t, func(t *testing.T, open func(*testing.T) *DB) {
		storetest.RunLedger(t, func(t *testing.T) store.Ledger { return open(t) })
	})
}

func TestCommit(t *testing.T) {
	places(t, func(t *testing.T, open func(*testing.T) *DB) {
		storetest.RunCommit(t, func(t *testing.T) (store.Store, store.Ledger) {
			db := open(t)
			return db, db
		})
	})
	// The items elsewhere: what a ledger does for a store that is not its own.
	t.Run("apart", func(t *testing.T) {
		storetest.RunCommit(t, func(t *testing.T) (store.Store, store.Ledger) {
			return openT(t, Memory, nil), openT(t, t.TempDir(), nil)
		})
	})
}
