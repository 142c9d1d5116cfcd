package evoke

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"evoke/store"
)

const importChild = "EVOKE_TEST_IMPORT_CHILD"

// TestImportChild is the victim of TestKilledDuringImport: it begins the import of a file, or finds it under way, and lives
// until that has ended or it is killed.
func TestImportChild(t *testing.T) {
	dir := os.Getenv(importChild)
	if dir == "" {
		t.Log("run by TestKilledDuringImport only")
		return
	}
	m := open(t, &Options{Path: filepath.Join(dir, "store")})
	op := store.Operation{ID: os.Getenv(importChild + "_ID")}
	if op.ID == "" {
		var err error
		if op, err = m.ImportFile(t.Context(), Who{User: "ann"}, filepath.Join(dir, "file"), ""); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Println("begun " + op.ID)
	if op, err := m.WaitOperation(t.Context(), op.ID); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	fmt.Println("ended")
}

// TestKilledDuringImport kills a process at random moments while it imports a file. Each import ends after restarts with every
// item there once, and counts them once.
func TestKilledDuringImport(t *testing.T) {
	kills, n := 30, 4000
	skipKills(t)
	if os.Getenv("EVOKE_SOAK") != "" {
		kills = 300
	}
	r := rand.New(rand.NewPCG(6, 20261130))
	done, imports := 0, 0
	for ; done < kills; imports++ {
		dir := t.TempDir()
		f, err := os.Create(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			fmt.Fprintf(f, `{"id": "i%d", "kind": "semantic", "content": "Shelf %d holds jam"}`+"\n", i, i)
		}
		fmt.Fprintln(f, "no line")
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		id, ended := "", false
		for lives := 1; !ended; lives++ {
			if id, ended = importOnce(t, dir, id, time.Duration(r.IntN(60*lives*lives))*time.Millisecond); !ended {
				done++
			}
		}
		reopened(t, filepath.Join(dir, "store"), func(m *Memory) {
			op, err := m.Operation(t.Context(), id)
			var res ImportResult
			if err != nil || json.Unmarshal(op.Result, &res) != nil || res.ID != id || res.Imported != n || res.Same != 0 || res.FailedN != 1 {
				t.Errorf("after %d kills: %s (%s), %+v, %v", done, op.State, op.Note, res, err)
			}
			if st, err := m.Stats(t.Context(), Who{User: "ann"}); err != nil || st.Total != n {
				t.Errorf("after %d kills: %+v, %v", done, st, err)
			}
		})
	}
	t.Logf("soak: kill -9 during import | %d kills over %d imports of %d items, all ended, none lost, stored or counted twice", done, imports, n)
}

// importOnce lets a child live for so long after it began an import, or took up the one of the id given, and tells whether
// that ended.
func importOnce(t *testing.T, dir, known string, after time.Duration) (id string, ended bool) {
	t.Helper()
	return oneLife(t, "TestImportChild", after, importChild+"="+dir, importChild+"_ID="+known)
}
