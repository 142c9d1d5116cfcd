package evoke

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
	"evoke/store/sqlitestore"
)

// keeper is an item store that removes nothing: with hides it only leaves out of listings what it was told to remove.
type keeper struct {
	store.Store
	hides bool
	told  map[string]bool
}

func (k *keeper) Apply(ctx context.Context, sc store.Scope, c store.Change) error {
	for _, id := range c.Delete {
		k.told[id] = true
	}
	c.Delete = nil
	return k.Store.Apply(ctx, sc, c)
}

func (k *keeper) List(ctx context.Context, sc store.Scope, q store.ListQuery) (store.Page, error) {
	page, err := k.Store.List(ctx, sc, q)
	page.Items = slices.DeleteFunc(page.Items, func(it store.Item) bool { return k.hides && k.told[it.ID] })
	return page, err
}

// blind is a ledger that erases no traces.
type blind struct{ store.Ledger }

func (blind) EraseTraces(context.Context, store.Traced) error { return nil }

// twoDBs are an item store and a ledger in memory.
func twoDBs(t *testing.T) (items, ledger *sqlitestore.DB) {
	t.Helper()
	for _, db := range []**sqlitestore.DB{&items, &ledger} {
		opened, err := sqlitestore.OpenMemory(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { opened.Close() })
		*db = opened
	}
	return items, ledger
}

// quillon says something of which facts are made, under an idempotency key.
func quillon(t *testing.T, m *Memory, thread string) {
	t.Helper()
	who := Who{User: "ann", Thread: thread}
	_, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("My name is Quillon. I live in Quillon harbour.", "Hello Quillon of the harbour."), IdempotencyKey: "key " + thread})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Flush(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
}

// probesOf are what the receipt of an erasure says was found, by place.
func probesOf(t *testing.T, m *Memory, id string) (r lifecycle.Receipt, found map[string]int) {
	t.Helper()
	signed, err := m.Receipt(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = m.VerifyReceipt(t.Context(), signed); err != nil {
		t.Fatal(err)
	}
	found = map[string]int{}
	for _, p := range r.Probes {
		found[p.Place] = p.Found
	}
	return r, found
}

// The probes of an erasure find what is there: where something that should remove does not, the receipt counts what was
// found in which place and is not clean; where the erasure cannot come to its end there is none.
func TestProbesFindWhatIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		open func(t *testing.T) *Memory
		want []string // places where something is found
		none bool     // it fails, and there is no receipt
	}{
		"a sound store": {func(t *testing.T) *Memory {
			items, ledger := twoDBs(t)
			return open(t, &Options{Store: items, Ledger: ledger, Embedder: &bagEmbedder{}})
		}, nil, false},
		"deletes that do nothing": {func(t *testing.T) *Memory {
			items, ledger := twoDBs(t)
			return open(t, &Options{Store: &keeper{Store: items, told: map[string]bool{}}, Ledger: ledger})
		}, nil, true},
		"deletes that only hide from listings": {func(t *testing.T) *Memory {
			items, ledger := twoDBs(t)
			return open(t, &Options{Store: &keeper{Store: items, hides: true, told: map[string]bool{}}, Ledger: ledger, Embedder: &bagEmbedder{}})
		}, []string{"get", "recall, lexical", "recall, dense", "context"}, false},
		"a ledger that keeps traces": {func(t *testing.T) *Memory {
			items, ledger := twoDBs(t)
			return open(t, &Options{Store: items, Ledger: blind{ledger}})
		}, []string{"replies", "events", "threads"}, false},
		"a file that keeps bytes": {func(t *testing.T) *Memory {
			dir := t.TempDir()
			m := open(t, &Options{Path: dir})
			if err := os.WriteFile(filepath.Join(dir, "evoke.db-old"), []byte("\x00\x01My name is Quillon. I live in Quillon harbour.\xff"), 0o600); err != nil {
				t.Fatal(err)
			}
			return m
		}, []string{"files"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := c.open(t)
			quillon(t, m, "harbour")
			op, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
			if err != nil {
				t.Fatal(err)
			}
			op, _ = erased(t, m, op.ID)
			if c.none {
				_, err := m.Receipt(t.Context(), op.ID)
				if op.State != store.OperationFailed || !strings.Contains(op.Note, "still lists what was removed") || !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s (%s), receipt: %v", op.State, op.Note, err)
				}
				return
			}
			if op.State != store.OperationDone {
				t.Fatalf("%s (%s)", op.State, op.Note)
			}
			receipt, found := probesOf(t, m, op.ID)
			if receipt.Clean != (len(c.want) == 0) {
				t.Errorf("clean: %t, %+v", receipt.Clean, receipt.Probes)
			}
			for place, n := range found {
				if want := slices.Contains(c.want, place); want != (n > 0) {
					t.Errorf("%s: %d found", place, n)
				}
			}
			if n := receipt.Removed["items"]; name == "deletes that only hide from listings" && found["get"] < n {
				t.Errorf("%d found of %d", found["get"], n)
			}
		})
	}
}

// What an erasure cannot reach the receipt names, with what it is and until when: the exports and backups that were taken
// out, and the names under which it was asked for.
func TestReceiptNamesWhatIsOutOfReach(t *testing.T) {
	m := open(t, nil)
	quillon(t, m, "harbour")
	var out strings.Builder
	if n, err := m.Export(t.Context(), Who{}, &out); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	op, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	erased(t, m, op.ID)
	receipt, _ := probesOf(t, m, op.ID)
	for place, words := range map[string][2]string{
		"copies": {"exports and backups", "whoever took them"}, "names": {"names of the user and the agent", "audit log is pruned"},
	} {
		i := slices.IndexFunc(receipt.Residual, func(r lifecycle.Residual) bool { return r.Place == place })
		if i < 0 {
			t.Errorf("%s is not named: %+v", place, receipt.Residual)
			continue
		}
		if r := receipt.Residual[i]; !strings.Contains(r.What, words[0]) || !strings.Contains(r.Until, words[1]) {
			t.Errorf("%s: %+v", place, r)
		}
	}
	if !strings.Contains(out.String(), "Quillon harbour") {
		t.Error("the export was altered")
	}
	if res, err := m.Import(t.Context(), Who{}, strings.NewReader(out.String()), nil); err != nil || res.Imported != 0 || res.Erased == 0 {
		t.Errorf("what was handed out comes back: %+v, %v", res, err)
	}
}

// failing is an item store that is out of reach for reads and writes.
type failing struct {
	store.Store
	down  atomic.Bool
	after atomic.Int64 // how many more calls it takes until it is
	asked atomic.Int64 // calls that were refused
}

func (f *failing) away() error {
	if f.down.Load() || f.after.Add(-1) == 0 {
		f.down.Store(true)
		f.asked.Add(1)
		return fmt.Errorf("items: %w", store.ErrUnavailable)
	}
	return nil
}

func (f *failing) Apply(ctx context.Context, sc store.Scope, c store.Change) error {
	if err := f.away(); err != nil {
		return err
	}
	return f.Store.Apply(ctx, sc, c)
}

func (f *failing) Get(ctx context.Context, sc store.Scope, ids []string) ([]store.Item, error) {
	if err := f.away(); err != nil {
		return nil, err
	}
	return f.Store.Get(ctx, sc, ids)
}

func (f *failing) List(ctx context.Context, sc store.Scope, q store.ListQuery) (store.Page, error) {
	if err := f.away(); err != nil {
		return store.Page{}, err
	}
	return f.Store.List(ctx, sc, q)
}

// An erasure that comes upon an outage of the item store, wherever it is, goes on once the store is back, counts everything
// once, and its receipt is clean.
func TestEraseGoesOnAfterAnOutage(t *testing.T) {
	for _, after := range []int64{2, 5, 9, 14} { // calls of the item store
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			t.Parallel()
			items, ledger := twoDBs(t)
			f := &failing{Store: items}
			m := open(t, &Options{Store: f, Ledger: ledger})
			lines(t, m, Who{User: "ann"}, 450)
			lines(t, m, Who{User: "bob"}, 3)
			f.after.Store(after)
			op, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
			if err != nil {
				t.Fatal(err)
			}
			for f.asked.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(20 * time.Millisecond)
			if now, err := m.Operation(t.Context(), op.ID); err != nil || now.State.Ended() {
				t.Fatalf("during the outage: %s (%s), %v", now.State, now.Note, err)
			}
			f.down.Store(false)
			op, sum := erased(t, m, op.ID)
			if op.State != store.OperationDone || sum != (Erased{Memories: 1, Items: 450, Tombstones: 900}) {
				t.Errorf("%s (%s), %+v", op.State, op.Note, sum)
			}
			if receipt, _ := probesOf(t, m, op.ID); !receipt.Clean || receipt.Resumed == 0 && after > 2 { // before, nothing was begun
				t.Errorf("%+v", receipt)
			}
			if n := held(t, m); n != 3 {
				t.Errorf("%d left", n)
			}
			log, err := m.Audit(t.Context(), AuditRequest{Verb: "erase"})
			if err != nil || len(log.Entries) != 1 || log.Entries[0].Error != "" {
				t.Errorf("the audit log has each attempt: %+v, %v", log.Entries, err)
			}
		})
	}
}
