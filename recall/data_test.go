package recall

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"evoke/store"
	"evoke/store/sqlitestore"
)

// readLines reads a file of the data folder, or skips the test.
func readLines[T any](t *testing.T, name string) []T {
	t.Helper()
	dir := os.Getenv("EVOKE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("no evaluation data (set EVOKE_DATA to its folder): %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	var out []T
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Without any model, recall on long conversations stays above a floor: a fault in an arm, a view or a term costs more
// than the two points that lie between. Full quality is measured by the benchmarks.
func TestLexicalRecallOnConversations(t *testing.T) {
	if testing.Short() {
		t.Skip("ranks whole data sets; it runs without -short")
	}
	type line struct {
		NS, ID, Text, Speaker, Query, Category string
		Time                                   time.Time
		Relevant                               []string
		Meta                                   struct{ Session, Seq int }
	}
	items := readLines[line](t, "locomo/locomo.items.jsonl.gz")
	db, err := sqlitestore.OpenMemory(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	changes, clock := map[string]*store.Change{}, map[string]time.Time{}
	for _, l := range items {
		it := store.Item{ID: l.ID, Kind: store.Episodic, Content: l.Text, Importance: 0.5, Confidence: 1, ValidFrom: l.Time, RecordedAt: l.Time}
		it.Turn = store.Turn{Thread: l.NS, Session: fmt.Sprint(l.Meta.Session), Position: l.Meta.Seq, Speaker: l.Speaker}
		if err := it.Prepare(store.Limits{}); err != nil {
			t.Fatal(err)
		}
		if changes[l.NS] == nil {
			changes[l.NS] = &store.Change{}
		}
		changes[l.NS].Put = append(changes[l.NS].Put, it)
		if l.Time.After(clock[l.NS]) {
			clock[l.NS] = l.Time
		}
	}
	scope := func(ns string) store.Scope { return store.Scope{Tenant: "data", User: ns} }
	for ns, c := range changes {
		if err := db.Apply(t.Context(), scope(ns), *c); err != nil {
			t.Fatal(err)
		}
	}
	var at time.Time
	e := engine(t, db, nil, Options{Clock: func() time.Time { return at }})
	var at5, at10, n float64
	for _, q := range readLines[line](t, "locomo/locomo.queries.jsonl.gz") {
		if len(q.Relevant) == 0 || q.Category == "adversarial" {
			continue
		}
		at = clock[q.NS]
		res, err := e.Recall(t.Context(), []store.Scope{scope(q.NS)}, Request{Query: q.Query, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		n++
		for i, h := range res.Hits {
			if slices.Contains(q.Relevant, h.Item.ID) {
				at10 += 1 / float64(len(q.Relevant))
				if i < 5 {
					at5 += 1 / float64(len(q.Relevant))
				}
			}
		}
	}
	t.Logf("%.0f questions: recall@5 %.3f, recall@10 %.3f", n, at5/n, at10/n)
	if n < 700 || at5/n < 0.68 || at10/n < 0.74 {
		t.Errorf("%.0f questions: recall@5 %.3f (floor 0.68), recall@10 %.3f (floor 0.74)", n, at5/n, at10/n)
	}
}
