package qdrantstore

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"evoke/store"
	"evoke/store/qdrantstore/internal/standin"
	"evoke/store/qdrantstore/qdranttest"
	"evoke/store/sqlitestore"
	"evoke/store/storetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	live.Stop()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// live is the real server of this run, started when first asked for.
var live qdranttest.Server

func startStandin(t *testing.T) *standin.Server {
	t.Helper()
	s, err := standin.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// names makes collections that no two tests share.
var names atomic.Int64

func openAt(t *testing.T, addr string, change func(*Options)) *DB {
	t.Helper()
	o := &Options{URL: "qdrant://" + addr, Collection: fmt.Sprintf("test_%d_%d", os.Getpid(), names.Add(1)), Timeout: 30 * time.Second}
	if change != nil {
		change(o)
	}
	db, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { discard(t, o) })
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

// discard drops the collection behind an alias, so that a server that outlives the tests keeps nothing of them.
func discard(t *testing.T, o *Options) {
	t.Helper()
	set, err := o.check()
	if err != nil {
		t.Fatal(err)
	}
	client := dial(t, set)
	ctx := context.Background()
	list, err := client.ListAliases(ctx)
	if err != nil {
		t.Logf("collections stay: %v", err)
		return
	}
	for _, a := range list {
		if a.GetAliasName() == set.Collection {
			if err := client.DeleteCollection(ctx, a.GetCollectionName()); err != nil {
				t.Logf("a collection stays: %v", err)
			}
		}
	}
}

// servers are where the suites run.
func servers(t *testing.T, f func(*testing.T, string)) {
	t.Run("standin", func(t *testing.T) { f(t, startStandin(t).Addr()) })
	t.Run("real", func(t *testing.T) { f(t, live.Address(t)) })
}

func TestStore(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		storetest.RunStore(t, func(t *testing.T) store.Store { return openAt(t, addr, nil) })
	})
}

// TestCommit: with the ledger in SQLite, as a node has it.
func TestCommit(t *testing.T) {
	servers(t, func(t *testing.T, addr string) {
		storetest.RunCommit(t, func(t *testing.T) (store.Store, store.Ledger) {
			l, err := sqlitestore.Open(context.Background(), t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return openAt(t, addr, nil), l
		})
	})
}
