package evoke

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/lifecycle/foreign"
)

// writeExport writes an export of n items, one of them broken, and returns its name and what it holds.
func writeExport(t *testing.T, n int) (file string, of ExportSummary) {
	t.Helper()
	m := open(t, nil)
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	w := store.Write{ID: newID(), Scope: store.Scope{Tenant: m.Tenant(), User: "ann"}}
	for i := range n {
		it := store.Item{ID: fmt.Sprintf("%05d", i), Kind: store.Semantic, Content: fmt.Sprint("Statement ", i), RecordedAt: at}
		if err := it.Prepare(m.limits); err != nil {
			t.Fatal(err)
		}
		w.Put = append(w.Put, it)
	}
	if err := store.Commit(t.Context(), m.store, m.ledger, w); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := m.Export(t.Context(), Who{}, &out); err != nil {
		t.Fatal(err)
	}
	of, err := m.Checksum(t.Context(), Who{})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "export.jsonl")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, of
}

// An import of a file that is stopped again and again goes on by itself at the next opening, at the line that it came to; in
// the end all is there once, and the counts are those of an import without interruption.
func TestImportFileGoesOn(t *testing.T) {
	oneByOne(t)
	const n = 1500
	file, want := writeExport(t, n)
	dir, opened := t.TempDir(), 0
	var id string
	for last := -1; ; opened++ {
		m, err := Open(t.Context(), &Options{Path: dir, Durability: "normal"})
		if err != nil {
			t.Fatal(err)
		}
		op, err := m.ImportFile(t.Context(), Who{}, file, "")
		if err != nil {
			t.Fatal(err)
		}
		if id == "" {
			id = op.ID
		}
		for !op.State.Ended() && op.Done <= last && op.ID == id {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			op, err = m.WaitOperation(ctx, id)
			if cancel(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		last = max(last, op.Done)
		if op, err = m.Operation(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if op.State.Ended() {
			var res ImportResult
			if err := json.Unmarshal(op.Result, &res); err != nil || op.State != store.OperationDone {
				t.Fatal(op.State, op.Note, err)
			}
			got, err := m.Checksum(t.Context(), Who{})
			if err != nil || got != want || res.Imported+res.Same != n || res.FailedN > 0 {
				t.Errorf("%+v, want %+v; %+v, %v", got, want, res, err)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			break
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if opened < 2 {
		t.Errorf("the import was stopped %d times only", opened)
	}
}

// A file that changed since its import began is not read on; one that is no file, or of another format, is refused.
func TestImportFileLooksAtTheFile(t *testing.T) {
	file, _ := writeExport(t, 3)
	m := open(t, nil)
	for name, call := range map[string]func() (store.Operation, error){
		"missing":   func() (store.Operation, error) { return m.ImportFile(t.Context(), Who{}, file+"x", "") },
		"directory": func() (store.Operation, error) { return m.ImportFile(t.Context(), Who{}, filepath.Dir(file), "") },
		"format":    func() (store.Operation, error) { return m.ImportFile(t.Context(), Who{}, file, "mem1") },
	} {
		if op, err := call(); !errors.Is(err, store.ErrInvalid) || op.ID != "" {
			t.Errorf("%s: %+v, %v", name, op, err)
		}
	}
	a := importArgs{File: file, Size: 1}
	if f, err := a.open(); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a changed file: %v, %v", f, err)
	}
	deer := filepath.Join(t.TempDir(), "memory.json")
	if err := os.WriteFile(deer, []byte(deerFile), 0o600); err != nil {
		t.Fatal(err)
	}
	op, err := m.ImportFile(t.Context(), Who{User: "alice"}, deer, foreign.DeerFlow)
	if err != nil {
		t.Fatal(err)
	}
	if op, err = m.WaitOperation(t.Context(), op.ID); err != nil || op.State != store.OperationDone {
		t.Fatal(op.State, op.Note, err)
	}
	var res ImportResult
	if err := json.Unmarshal(op.Result, &res); err != nil || res.Imported != 3 || res.FailedN != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

// A conversation that came in goes on behind its last turn.
func TestImportedConversationsGoOn(t *testing.T) {
	from, to := open(t, nil), open(t, nil)
	who := Who{User: "ann", Thread: "trip"}
	if _, err := from.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("I live in Oslo", "Noted", "And I sail", "Noted")}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := from.Export(t.Context(), Who{}, &out); err != nil {
		t.Fatal(err)
	}
	if res, err := to.Import(t.Context(), Who{}, &out, nil); err != nil || res.Imported != 4 {
		t.Fatalf("%+v, %v", res, err)
	}
	res, err := to.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("Where do I live?", "In Oslo")})
	if err != nil {
		t.Fatal(err)
	}
	if it, err := to.Get(t.Context(), who, res.Turns[0].ID); err != nil || it.Turn.Position != 4 {
		t.Errorf("the next turn stands at %d, %v", it.Turn.Position, err)
	}
	if _, err := to.Flush(t.Context(), who); err != nil {
		t.Fatal(err)
	}
	if st, err := to.Stats(t.Context(), who); err != nil || st.Semantic != 0 {
		t.Errorf("something was distilled from what came in: %+v, %v", st, err)
	}
}
