package evoke

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

const undoChild = "EVOKE_TEST_UNDO_CHILD"

// TestUndoChild is the victim of TestKilledDuringUndo: it begins an undo unless one is under way, and lives until that has
// ended or it is killed.
func TestUndoChild(t *testing.T) {
	dir := os.Getenv(undoChild)
	if dir == "" {
		t.Log("run by TestKilledDuringUndo only")
		return
	}
	m := open(t, &Options{Path: dir})
	id := os.Getenv(undoChild + "_ID")
	if id == "" {
		b := lifecycle.Batch{Thread: "b", Operation: os.Getenv(undoChild + "_OF")}
		if b.Operation != "" {
			b.Thread = ""
		}
		res, err := m.Undo(t.Context(), UndoRequest{Who: Who{User: "ann"}, Batch: b})
		if err != nil {
			t.Fatal(err)
		}
		id = res.Operation.ID
	}
	fmt.Println("begun " + id)
	if op, err := m.WaitOperation(t.Context(), id); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	fmt.Println("ended")
}

// pairs imports so many items of a thread a, each closed by one of a thread b, and as many of thread b that closed nothing.
func pairs(t *testing.T, m *Memory, n int) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	day := func(d int) time.Time { return time.Date(2026, 1, d, 9, 0, 0, 0, time.UTC) }
	for i := range n {
		was := store.Item{ID: fmt.Sprintf("was-%d", i), Kind: store.Semantic, Content: fmt.Sprintf("Shelf %d holds jam", i), Importance: 0.5, Confidence: 1,
			ValidFrom: day(1), RecordedAt: day(1), ValidTo: day(2), ClosedAt: day(2), SupersededBy: fmt.Sprintf("is-%d", i), Turn: store.Turn{Thread: "a"}}
		is := store.Item{ID: was.SupersededBy, Kind: store.Semantic, Content: fmt.Sprintf("Shelf %d holds honey", i), Importance: 0.5, Confidence: 1,
			ValidFrom: day(2), RecordedAt: day(2), Supersedes: was.ID, Turn: store.Turn{Thread: "b"}}
		more := store.Item{ID: fmt.Sprintf("more-%d", i), Kind: store.Semantic, Content: fmt.Sprintf("Box %d holds tea", i), Importance: 0.5, Confidence: 1,
			ValidFrom: day(2), RecordedAt: day(2), Turn: store.Turn{Thread: "b"}}
		for _, it := range []store.Item{was, is, more} {
			if err := enc.Encode(it); err != nil {
				t.Fatal(err)
			}
		}
	}
	res, err := m.Import(t.Context(), Who{User: "ann"}, &b, nil)
	if err != nil || res.FailedN > 0 {
		t.Fatalf("%+v, %v", res, err)
	}
}

// TestKilledDuringUndo kills a process at random moments while it undoes a batch, and then undoes the undo. Each ends after
// restarts, with what it should have left, and counts what there was, once.
func TestKilledDuringUndo(t *testing.T) {
	kills := 30
	skipKills(t)
	if os.Getenv("EVOKE_SOAK") != "" {
		kills = 300
	}
	r := rand.New(rand.NewPCG(6, 20261130))
	const n = 500
	done, undos := 0, 0
	for done < kills {
		dir := t.TempDir()
		reopened(t, dir, func(m *Memory) { pairs(t, m, n) })
		of := ""
		for _, want := range []undone{{n, 0, 0, 2 * n, n}, {0, n, n, n, 3 * n}} {
			id, ended := "", false
			for lives := 1; !ended; lives++ { // each may live longer: where a step takes long none would be made otherwise
				if id, ended = undoOnce(t, dir, id, of, time.Duration(r.IntN(60*lives*lives))*time.Millisecond); !ended {
					done++
				}
			}
			undos++
			of = id
			reopened(t, dir, func(m *Memory) {
				if got := undoneOf(t, m, id); got != want {
					t.Errorf("after %d kills: %+v, want %+v", done, got, want)
				}
			})
		}
	}
	t.Logf("soak: kill -9 during undo | %d kills over %d undos, all ended, nothing lost or counted twice", done, undos)
}

// reopened does something with the memory of a directory.
func reopened(t *testing.T, dir string, do func(m *Memory)) {
	t.Helper()
	m, err := Open(t.Context(), &Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	do(m)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// undone is what holds after an undo, and what that counts.
type undone struct{ jam, honey, tea, retracted, reopened int }

func undoneOf(t *testing.T, m *Memory, id string) (got undone) {
	t.Helper()
	op, err := m.Operation(t.Context(), id)
	var did lifecycle.UndoResult
	if err != nil || json.Unmarshal(op.Result, &did) != nil || did.Conflicts != 0 {
		t.Errorf("%s (%s), %+v, %v", op.State, op.Note, did, err)
	}
	got.retracted, got.reopened = did.Retracted, did.Reopened
	q := ListRequest{Who: Who{User: "ann"}, Limit: 1000}
	for {
		page, err := m.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			got.jam += strings.Count(it.Content, "jam")
			got.honey += strings.Count(it.Content, "honey")
			got.tea += strings.Count(it.Content, "tea")
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return got
		}
	}
}

// undoOnce lets a child live for so long after it began an undo, or took up the one of the id given, and tells whether that
// ended.
func undoOnce(t *testing.T, dir, known, of string, after time.Duration) (id string, ended bool) {
	t.Helper()
	return oneLife(t, "TestUndoChild", after, undoChild+"="+dir, undoChild+"_ID="+known, undoChild+"_OF="+of)
}
