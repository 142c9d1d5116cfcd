package evoke

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"evoke/store"
)

const eraseChild = "EVOKE_TEST_ERASE_CHILD"

// TestEraseChild is the victim of TestKilledDuringErase: it begins an erasure unless one is under way, and lives until that
// has ended or it is killed.
func TestEraseChild(t *testing.T) {
	dir := os.Getenv(eraseChild)
	if dir == "" {
		t.Log("run by TestKilledDuringErase only")
		return
	}
	m := open(t, &Options{Path: dir})
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

// TestKilledDuringErase kills a process at random moments while it erases. Each erasure ends after restarts with nothing
// left of the user and everything of others, and counts what there was, once.
func TestKilledDuringErase(t *testing.T) {
	kills, own, pair := 20, 1500, 700
	skipKills(t)
	if os.Getenv("EVOKE_SOAK") != "" {
		kills = 300
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(6, 20261130))
	done, erasures := 0, 0
	for ; done < kills; erasures++ {
		m, err := Open(t.Context(), &Options{Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		lines(t, m, Who{User: "ann"}, own)
		lines(t, m, Who{User: "ann", Agent: "helper"}, pair)
		if erasures == 0 {
			lines(t, m, Who{User: "bob"}, 7)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		id, ended := "", false
		for lives := 1; !ended; lives++ { // each may live longer: where a step takes long none would be made otherwise
			if id, ended = eraseOnce(t, dir, id, time.Duration(r.IntN(100*lives*lives))*time.Millisecond); !ended {
				done++
			}
		}
		m, err = Open(t.Context(), &Options{Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		op, sum := erased(t, m, id)
		if op.State != store.OperationDone || sum != (Erased{Memories: 2, Items: own + pair, Tombstones: 2 * (own + pair)}) || op.Done != sum.Items {
			t.Errorf("after %d kills: %s (%s), %+v, %d done", done, op.State, op.Note, sum, op.Done)
		}
		if n := held(t, m); n != 7 {
			t.Errorf("after %d kills %d items are left", done, n)
		}
		signed, err := m.Receipt(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		receipt, err := m.VerifyReceipt(t.Context(), signed)
		if err != nil || !receipt.Clean || receipt.Removed["items"] != own+pair || receipt.Tombstones != sum.Tombstones {
			t.Errorf("after %d kills: %s, %v", done, signed.Receipt, err)
		}
		if n, err := m.LiftErasure(t.Context(), id); err != nil || n != sum.Tombstones { // the next fill brings the same
			t.Errorf("after %d kills: %d tombstones of %d, %v", done, n, sum.Tombstones, err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("soak: kill -9 during erase | %d kills over %d erasures, all ended with a clean receipt, 0 items left, 0 counted twice", done, erasures)
}

// eraseOnce lets a child live for so long after it began an erasure, or took up the one of the id given, and tells whether
// that ended.
func eraseOnce(t *testing.T, dir, known string, after time.Duration) (id string, ended bool) {
	t.Helper()
	return oneLife(t, "TestEraseChild", after, eraseChild+"="+dir, eraseChild+"_ID="+known)
}
