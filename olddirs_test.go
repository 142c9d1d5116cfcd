package evoke

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
)

// oldWant is what the program that wrote an old directory knew to be in it.
type oldWant struct {
	Items    map[string]string        `json:"items"`  // by tenant, as it exported them
	Events   map[store.EventState]int `json:"events"` // of tenant default
	Embedded int                      `json:"embedded"`
	Total    int                      `json:"total"`
	Pending  []string                 `json:"pending"` // events whose extraction waits

	// Of tenant default, from schema 8 on.
	Forgotten  []string                        `json:"forgotten,omitempty"` // ids of what ann can have restored
	Operations map[string]store.OperationState `json:"operations,omitempty"`

	// From schema 10 on.
	Waiting   []string                 `json:"waiting,omitempty"` // what waits for review
	Erased    string                   `json:"erased,omitempty"`  // line of an export, of what was forgotten for good since
	Receipt   *lifecycle.SignedReceipt `json:"receipt,omitempty"` // of an erasure
	Holds     []string                 `json:"holds,omitempty"`
	Schedules []string                 `json:"schedules,omitempty"`
}

// oldDirs holds a directory of every schema before the newest. That of this schema is written, before the next migration is
// added, by TestWriteAnOldDirectory: see oldDirEnv.
const oldDirs = "store/sqlitestore/testdata/old"

func unpack(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(oldDirs, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Data directories that programs of every schema so far wrote, made by the builds of then, open: every item is as it was, with
// its vectors and its past; events too; what waited goes on; it is found and can be written to.
func TestOldDirectoriesOpen(t *testing.T) {
	newest, err := filepath.Glob("store/sqlitestore/migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for schema := 1; schema <= len(newest); schema++ {
		if _, err := os.Stat(filepath.Join(oldDirs, fmt.Sprintf("schema%d.db.gz", schema))); schema == len(newest) && errors.Is(err, fs.ErrNotExist) {
			continue // it is wanted when the next migration comes
		}
		t.Run(fmt.Sprint("schema", schema), func(t *testing.T) {
			t.Parallel()
			var want oldWant
			if err := json.Unmarshal(unpack(t, fmt.Sprintf("schema%d.json.gz", schema)), &want); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "evoke.db"), unpack(t, fmt.Sprintf("schema%d.db.gz", schema)), 0o600); err != nil {
				t.Fatal(err)
			}
			clock := clockAt(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)) // when nothing in them was due
			m := open(t, &Options{Path: dir, Embedder: &bagEmbedder{revision: "old"}, Clock: clock.now})
			if why := m.noDense(); why != "" {
				t.Error(why)
			}
			for tenant, lines := range want.Items {
				of, err := m.ForTenant(tenant)
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(lines) {
					var r record
					if err := json.Unmarshal([]byte(line), &r); err != nil {
						t.Fatal(err)
					}
					got, err := of.store.Get(t.Context(), store.Scope{Tenant: tenant, User: r.User, Agent: r.Agent}, []string{r.ID})
					if err != nil || len(got) != 1 {
						t.Fatalf("%s: %d items, %v", r.ID, len(got), err)
					}
					if diff := cmp.Diff(r.Item, got[0], cmp.AllowUnexported(store.Value{})); diff != "" {
						t.Errorf("(-then +now):\n%s", diff)
					}
				}
			}
			items, with := 0, 0
			if err := m.eachScope(t.Context(), func(sc store.Scope) error {
				st, err := m.store.Stats(t.Context(), sc, store.View{All: true})
				items, with = items+st.Total, with+st.Embedded
				return err
			}); err != nil {
				t.Fatal(err)
			}
			want.control(t, m)
			if items != want.Total || with != want.Embedded {
				t.Errorf("%d items, %d with vectors; were %d, %d", items, with, want.Total, want.Embedded)
			}
			if n, err := m.ledger.CountEvents(t.Context(), "default"); err != nil || n[store.EventPending] != want.Events[store.EventPending] || n[store.EventStored] != want.Events[store.EventStored] {
				t.Errorf("events %v, were %v, %v", n, want.Events, err)
			}
			if _, err := m.Flush(t.Context(), Who{User: "cyd"}); err != nil {
				t.Fatal(err)
			}
			for _, id := range want.Pending {
				waitUntil(t, func() bool {
					ev, err := m.Event(t.Context(), id, 0)
					return err == nil && ev.State == store.EventStored
				})
			}
			res, err := m.Recall(t.Context(), RecallRequest{Who: Who{User: "ann"}, Request: recall.Request{Query: "Which seats does she prefer?"}})
			if err != nil || len(res.Hits) == 0 || len(res.Degraded) > 0 {
				t.Errorf("recall: %+v, %v", res.Response, err)
			}
			if _, err := m.Remember(t.Context(), RememberRequest{Who: Who{User: "ann"}, Content: "Likes the new release"}); err != nil {
				t.Error(err)
			}
		})
	}
}

// control looks at what stands beside the items of an old directory: what is forgotten softly can be restored, what was
// forgotten for good stays away, operations, receipts, holds, schedules and proposals are as they were.
func (want *oldWant) control(t *testing.T, m *Memory) {
	t.Helper()
	ctx, ann := t.Context(), Who{User: "ann"}
	for id, state := range want.Operations {
		if op, err := m.Operation(ctx, id); err != nil || op.State != state {
			t.Errorf("operation %s is %s, was %s, %v", id, op.State, state, err)
		}
	}
	waiting, err := m.Quarantined(ctx, QuarantineRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var now []string
	for _, e := range waiting.Entries {
		now = append(now, e.Operation.Content)
	}
	holds, err := m.Holds(ctx)
	if err != nil {
		t.Fatal(err)
	}
	schedules, err := m.Schedules(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var held, scheduled []string
	for _, h := range holds {
		held = append(held, h.ID)
	}
	for _, s := range schedules {
		if slices.Contains(want.Schedules, s.Name) {
			scheduled = append(scheduled, s.Name)
		}
	}
	if diff := cmp.Diff([][]string{want.Waiting, want.Holds, want.Schedules}, [][]string{now, held, scheduled}); diff != "" {
		t.Errorf("what waits for review, holds and schedules (-then +now):\n%s", diff)
	}
	if want.Receipt != nil {
		if r, err := m.VerifyReceipt(ctx, *want.Receipt); err != nil || !r.Clean {
			t.Errorf("the receipt: %+v, %v", r, err)
		}
	}
	if want.Erased != "" {
		if r, err := m.Import(ctx, Who{}, strings.NewReader(want.Erased), nil); err != nil || r.Erased != 1 || r.Imported != 0 {
			t.Errorf("what was forgotten for good is imported: %+v, %v", r, err)
		}
	}
	if len(want.Forgotten) == 0 {
		return
	}
	if r, err := m.Restore(ctx, RestoreRequest{Who: ann, All: true}); err != nil || r.Restored != len(want.Forgotten) {
		t.Errorf("restored %+v of %v, %v", r, want.Forgotten, err)
	}
	for _, id := range want.Forgotten {
		if _, err := m.Get(ctx, ann, id); err != nil {
			t.Errorf("%s is not back: %v", id, err)
		}
	}
}
