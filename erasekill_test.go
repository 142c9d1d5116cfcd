package evoke

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/qdrantstore"
	"evoke/store/qdrantstore/qdranttest"
	"evoke/store/sqlitestore"
)

const eraseChild = "EVOKE_TEST_ERASE_CHILD"

// TestEraseChild is the victim of the kills during an erasure: it begins one unless one is under way, and lives until that has
// ended or it is killed.
func TestEraseChild(t *testing.T) {
	dir := os.Getenv(eraseChild)
	if dir == "" {
		t.Log("run by TestKilledDuringErase only")
		return
	}
	k := eraseKills{T: t, dir: dir, qdrant: os.Getenv(eraseChild + "_QDRANT"), collection: os.Getenv(eraseChild + "_COLLECTION")}
	m, shut := k.open()
	defer shut()
	id := os.Getenv(eraseChild + "_ID")
	if id == "" {
		op, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		id = op.ID
	}
	fmt.Println("begun " + id)
	if op, err := m.WaitOperation(t.Context(), id); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	fmt.Println("ended")
}

// eraseKills is where processes are killed while they erase.
type eraseKills struct {
	*testing.T
	dir        string
	qdrant     string // address; "": the items are in SQLite, too
	collection string
	own, pair  int // plain turns of ann, and of ann with an agent
	rich       richHold
}

// open opens the memory. What is said there waits for minutes before anything is taken of it.
func (k *eraseKills) open() (m *Memory, shut func()) {
	k.Helper()
	o := &Options{Path: k.dir, Memory: MemoryOptions{Debounce: 5 * time.Minute, MaxWait: time.Hour}}
	var items *qdrantstore.DB
	var ledger *sqlitestore.DB
	if k.qdrant != "" {
		ctx := context.WithoutCancel(k.Context())
		var err error
		if items, err = qdrantstore.Open(ctx, &qdrantstore.Options{URL: "qdrant://" + k.qdrant, Collection: k.collection, Timeout: 30 * time.Second}); err != nil {
			k.Fatal(err)
		}
		if ledger, err = sqlitestore.Open(ctx, k.dir, nil); err != nil {
			k.Fatal(err)
		}
		o.Path, o.Store, o.Ledger = "", items, ledger
	}
	m, err := Open(k.Context(), o)
	if err != nil {
		k.Fatal(err)
	}
	return m, func() {
		if err := m.Close(); err != nil {
			k.Error(err)
		}
		if items != nil {
			items.Close()
			ledger.Close()
		}
	}
}

// TestKilledDuringErase kills a process at random moments while it erases. Each erasure ends after restarts with nothing
// left of the user and everything of others, and counts what there was, once: turns, a summary with what it stands for, a fact,
// an event that waits, replies that are kept.
func TestKilledDuringErase(t *testing.T) {
	skipKills(t)
	k := &eraseKills{T: t, dir: t.TempDir(), own: 1500, pair: 700}
	kills := 30
	if os.Getenv("EVOKE_SOAK") != "" {
		kills = 300
	}
	done, erasures := k.run(kills)
	t.Logf("soak: kill -9 during erase | %d kills over %d erasures, all ended with a clean receipt, 0 items left, 0 counted twice", done, erasures)
}

// TestKilledDuringEraseInQdrant is the same with items in Qdrant.
func TestKilledDuringEraseInQdrant(t *testing.T) {
	skipKills(t)
	addr, name := qdrantServer.Address(t), fmt.Sprintf("erasekills_%d", os.Getpid())
	qdranttest.DropAfter(t, addr, name)
	k := &eraseKills{T: t, dir: t.TempDir(), qdrant: addr, collection: name, own: 500, pair: 250}
	kills := 5
	if os.Getenv("EVOKE_SOAK") != "" {
		kills = 300
	}
	done, erasures := k.run(kills)
	t.Logf("soak: kill -9 during erase, items in Qdrant | %d kills over %d erasures, all ended with a clean receipt, 0 items left, 0 counted twice", done, erasures)
}

// run kills so many times at least, until the erasure that was begun last has ended.
func (k *eraseKills) run(kills int) (done, erasures int) {
	k.Helper()
	r := rand.New(rand.NewPCG(6, 20261130))
	var want Erased // of every erasure: each is of the same
	for ; done < kills; erasures++ {
		items := k.fill(erasures == 0)
		id, ended := "", false
		for lives := 1; !ended; lives++ { // each may live longer: where a step takes long none would be made otherwise
			after := time.Duration(r.IntN(100*lives*lives)) * time.Millisecond
			if id, ended = k.once(id, after); !ended {
				done++
			}
		}
		if erasures == 0 {
			want = Erased{Memories: 3, Items: items}
		}
		k.check(done, id, &want)
	}
	return done, erasures
}

// fill has ann say things again; bob does once.
func (k *eraseKills) fill(first bool) (items int) {
	k.Helper()
	m, shut := k.open()
	defer shut()
	lines(k.T, m, Who{User: "ann"}, k.own)
	lines(k.T, m, Who{User: "ann", Agent: "helper"}, k.pair)
	if first {
		lines(k.T, m, Who{User: "bob"}, 7)
	}
	if k.rich = fillRich(k.T, m); len(k.onDisk()) == 0 {
		k.Error("what is to be erased is in no file")
	}
	for _, agent := range []string{"", "helper", richAgent} {
		st, err := m.store.Stats(k.Context(), store.Scope{Tenant: m.tenant, User: "ann", Agent: agent}, store.View{All: true})
		if err != nil {
			k.Fatal(err)
		}
		items += st.Total
	}
	return items
}

// once lets a child live for so long after it began an erasure, or took up the one of the id given, and tells whether that
// ended.
func (k *eraseKills) once(known string, after time.Duration) (id string, ended bool) {
	k.Helper()
	return oneLife(k.T, "TestEraseChild", after, eraseChild+"="+k.dir, eraseChild+"_ID="+known, eraseChild+"_QDRANT="+k.qdrant, eraseChild+"_COLLECTION="+k.collection)
}

// check looks at what an erasure left and what it counted.
func (k *eraseKills) check(done int, id string, want *Erased) {
	k.Helper()
	m, shut := k.open()
	defer shut()
	op, sum := erased(k.T, m, id)
	if want.Tombstones == 0 { // the first says how many; a lift finds them below
		want.Tombstones = sum.Tombstones
	}
	if op.State != store.OperationDone || sum != *want || op.Done != sum.Items || sum.Tombstones < 2*sum.Items {
		k.Errorf("after %d kills: %s (%s), %+v, want %+v, %d done", done, op.State, op.Note, sum, *want, op.Done)
	}
	if n := held(k.T, m); n != 7 {
		k.Errorf("after %d kills %d items are left", done, n)
	}
	receipt, _ := probesOf(k.T, m, id)
	if !receipt.Clean || receipt.Removed["items"] != sum.Items || receipt.Tombstones != sum.Tombstones {
		k.Errorf("after %d kills: %+v", done, receipt)
	}
	k.rich.gone(k.T, m, id)
	if with := k.onDisk(); len(with) > 0 {
		k.Errorf("after %d kills: it is left in %q", done, with)
	}
	if n, err := m.LiftErasure(k.Context(), id); err != nil || n != sum.Tombstones+k.rich.keys { // the next fill brings the same
		k.Errorf("after %d kills: %d tombstones of %d, %v", done, n, sum.Tombstones+k.rich.keys, err)
	}
}

// onDisk are the files that hold the word that all of the rich memory has in it.
func (k *eraseKills) onDisk() (with []string) {
	k.Helper()
	err := filepath.WalkDir(k.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), richWord[1:]) { // in capitals or not
			with = append(with, d.Name())
		}
		return err
	})
	if err != nil {
		k.Error(err)
	}
	return with
}
