package evoke

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"evoke/store"
	"evoke/store/qdrantstore"
	"evoke/store/qdrantstore/qdranttest"
	"evoke/store/sqlitestore"
)

// With the items on a server the backup has them in a file, made memory by memory while writers write; a restore into an empty
// collection brings back all that was acknowledged, has it wait for vectors, and gives no two turns of a conversation one place.
func TestBackupWithQdrant(t *testing.T) {
	addr, dir := qdrantServer.Address(t), t.TempDir()
	openOn := func(data, name string) (*Memory, *qdrantstore.DB) {
		qdranttest.DropAfter(t, addr, name)
		items, err := qdrantstore.Open(t.Context(), &qdrantstore.Options{URL: "qdrant://" + addr, Collection: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { items.Close() })
		if data == "" {
			return nil, items
		}
		ledger, err := sqlitestore.Open(t.Context(), data, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ledger.Close() })
		return open(t, &Options{Store: items, Ledger: ledger, Embedder: &bagEmbedder{}}), items
	}
	m, _ := openOn(filepath.Join(dir, "data"), fmt.Sprintf("backup_%d", os.Getpid()))
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	acked := []string{}
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			res, err := m.Ingest(context.WithoutCancel(ctx), IngestRequest{Who: Who{User: "u", Thread: "t"}, Messages: chat(fmt.Sprint("I like dish", i), "Noted")})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			acked = append(acked, res.Turns[0].ID, res.Turns[1].ID)
			mu.Unlock()
		}
	})
	seen := func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(acked) }
	waitUntil(t, func() bool { return len(seen()) >= 10 })
	known := seen()
	b, err := m.Backup(t.Context(), filepath.Join(dir, "backup"))
	if err != nil || !b.Apart || len(b.Files) != 2 {
		t.Fatalf("%+v, %v", b, err)
	}
	waitUntil(t, func() bool { return len(seen()) >= len(known)+4 })
	stop()
	writing.Wait()
	if _, err := RestoreBackup(t.Context(), filepath.Join(dir, "backup"), filepath.Join(dir, "new"), nil); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("into no server: %v", err)
	}
	name := fmt.Sprintf("restored_%d", os.Getpid())
	_, empty := openOn("", name)
	res, err := RestoreBackup(t.Context(), filepath.Join(dir, "backup"), filepath.Join(dir, "new"), &RestoreBackupOptions{Items: empty})
	if err != nil || res.Items < len(known) {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := RestoreBackup(t.Context(), filepath.Join(dir, "backup"), filepath.Join(dir, "new2"), &RestoreBackupOptions{Items: empty}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("into a collection that holds something: %v", err)
	}
	if err := empty.Close(); err != nil {
		t.Fatal(err)
	}
	re, _ := openOn(filepath.Join(dir, "new"), name)
	sc := store.Scope{Tenant: "default", User: "u"}
	if got, err := re.store.Get(t.Context(), sc, known); err != nil || len(got) != len(known) {
		t.Errorf("%d of %d acknowledged turns, %v", len(got), len(known), err)
	}
	if _, err := re.Ingest(t.Context(), IngestRequest{Who: Who{User: "u", Thread: "t"}, Messages: chat("I like bread", "Noted")}); err != nil {
		t.Fatal(err)
	}
	settle(t, re)
	places := map[int]int{}
	if err := re.eachItem(t.Context(), sc, func(it *store.Item) error {
		if it.Turn.IsTurn() {
			places[it.Turn.Position]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for at, n := range places {
		if n != 1 {
			t.Errorf("%d turns stand at place %d", n, at)
		}
	}
	if items, with := embedded(t, re); items != with || items < len(known)+2 {
		t.Errorf("%d of %d have vectors", with, items)
	}
}
