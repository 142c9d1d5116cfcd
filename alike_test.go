package evoke

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"evoke/recall"
	"evoke/store"
)

// goldenRows reads a file of the golden set of package recall.
func goldenRows(t *testing.T, name string) [][]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("recall", "testdata", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\n"); line != "" && line[0] != '#' {
			out = append(out, strings.Split(line, "\t"))
		}
	}
	return out
}

// The golden set on SQLite and on a Qdrant server: the same hits with the same scores within a hundredth, and one order but
// for hits that are no further apart.
func TestBothBackendsRankAlike(t *testing.T) {
	const tolerance = 0.01
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	there := inQdrant(t, "alike")
	there.Embedder, there.Clock = &bagEmbedder{}, clock
	both := []*Memory{open(t, &Options{Path: t.TempDir(), Embedder: &bagEmbedder{}, Clock: clock}), open(t, there)}
	byUser := map[string][]store.Item{}
	position := map[string]int{}
	for _, r := range goldenRows(t, "items.tsv") {
		at, err := time.Parse(time.RFC3339, r[4])
		if err != nil {
			t.Fatal(err)
		}
		it := store.Item{ID: r[0], Kind: store.Semantic, Content: r[5], Confidence: 1, Importance: 0.5, ValidFrom: at, RecordedAt: at}
		it.Turn.Speaker = r[3]
		if r[2] != "" {
			it.Kind, it.Turn.Thread, it.Turn.Session, it.Turn.Position = store.Episodic, r[1], r[1]+"/"+r[2], position[r[1]+r[2]]
			position[r[1]+r[2]]++
		}
		byUser[r[1]] = append(byUser[r[1]], it)
	}
	for _, m := range both {
		for user, list := range byUser {
			putAll(t, m, Who{User: user}, list)
		}
		settle(t, m)
	}
	questions := goldenRows(t, "questions.tsv")
	for _, q := range questions {
		var hits [2][]recall.Hit
		for i, m := range both {
			res, err := m.Recall(t.Context(), RecallRequest{Who: Who{User: q[0]}, Request: recall.Request{Query: q[1], Limit: 10, MinScore: new(float64)}})
			if err != nil || res.Embedder == "none" || len(res.Degraded) > 0 {
				t.Fatalf("%q: %+v, %v", q[1], res, err)
			}
			hits[i] = res.Hits
		}
		alike(t, q[1], hits[0], hits[1], tolerance)
	}
	if len(questions) < 20 {
		t.Errorf("%d questions", len(questions))
	}
}

// alike reports where two rankings differ by more than scores that are next to equal allow.
func alike(t *testing.T, question string, a, b []recall.Hit, tolerance float64) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%q: %d and %d hits", question, len(a), len(b))
		return
	}
	scores := map[string]float64{}
	for _, h := range a {
		scores[h.Item.ID] = h.Score
	}
	for i, h := range b {
		of, found := scores[h.Item.ID]
		switch {
		case !found && math.Abs(h.Score-a[len(a)-1].Score) > tolerance:
			t.Errorf("%q: %s is on one page only", question, h.Item.ID)
		case found && math.Abs(of-h.Score) > tolerance:
			t.Errorf("%q: %s has %.4f and %.4f", question, h.Item.ID, of, h.Score)
		case h.Item.ID != a[i].Item.ID && math.Abs(h.Score-a[i].Score) > tolerance:
			t.Errorf("%q: at %d stand %s (%.4f) and %s (%.4f)", question, i+1, a[i].Item.ID, a[i].Score, h.Item.ID, h.Score)
		}
	}
}
