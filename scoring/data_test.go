package scoring

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

type dataItem struct {
	NS, ID, Text, Speaker string
	Time                  *time.Time
	Meta                  struct {
		Session json.RawMessage
		Seq     *int
	}
}

type dataQuery struct {
	NS, ID, Query, Category string
	Relevant                []string
}

// dataSet reads a public data set, and skips the test where it is not at hand.
func dataSet(t testing.TB, name string) ([]dataItem, []dataQuery) {
	t.Helper()
	dir := os.Getenv("EVOKE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
		t.Skipf("data set %s is not at hand (set EVOKE_DATA to its folder's parent)", name)
	}
	return readLines[dataItem](t, filepath.Join(dir, name, name+".items.jsonl.gz")),
		readLines[dataQuery](t, filepath.Join(dir, name, name+".queries.jsonl.gz"))
}

func readLines[T any](t testing.TB, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		var v T
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// metrics are R@5, R@10 and NDCG@10 of one ranking.
func metrics(ranked []string, relevant []string) (m [3]float64) {
	ideal := 0.0
	for i := range min(10, len(relevant)) {
		ideal += 1 / math.Log2(float64(i+2))
	}
	for i, id := range ranked[:min(10, len(ranked))] {
		if !slices.Contains(relevant, id) {
			continue
		}
		if i < 5 {
			m[0] += 1 / float64(len(relevant))
		}
		m[1] += 1 / float64(len(relevant))
		m[2] += 1 / math.Log2(float64(i+2)) / ideal
	}
	return m
}

type hit struct {
	id    string
	score float64
	pos   int
}

// rank sorts by score, newest (last) first among equals.
func rank(hits []hit) []string {
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.pos, a.pos))
	})
	var out []string
	for _, h := range hits[:min(10, len(hits))] {
		out = append(out, h.id)
	}
	return out
}

// Published Lucene BM25 on the test claims is 0.679; the train claims give 0.693.
func TestSciFact(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 5,183 abstracts; it runs without -short")
	}
	items, queries := dataSet(t, "scifact")
	type posting struct{ doc, n int }
	index := map[Term][]posting{}
	lens := make([]float64, len(items))
	total := 0.0
	for i, it := range items {
		fs := Terms(it.Text)
		for _, f := range fs {
			index[f.Term] = append(index[f.Term], posting{i, int(f.N)})
		}
		lens[i] = float64(length(fs))
		total += lens[i]
	}
	m := BM25{K1: 0.9, B: 0.4, AvgLen: total / float64(len(items))}
	var sum [3]float64
	for _, q := range queries {
		scores := map[int]float64{}
		for _, qt := range QueryTerms(q.Query) {
			ps := index[qt.Term]
			idf := m.IDF(len(items), len(ps))
			for _, p := range ps {
				scores[p.doc] += float64(qt.N) * idf * m.Weight(float64(p.n), lens[p.doc])
			}
		}
		hits := make([]hit, 0, len(scores))
		for d, s := range scores {
			hits = append(hits, hit{items[d].ID, s, d})
		}
		r := metrics(rank(hits), q.Relevant)
		for i := range sum {
			sum[i] += r[i] / float64(len(queries))
		}
	}
	t.Logf("scifact, %d claims: R@5 %.3f R@10 %.3f NDCG@10 %.4f", len(queries), sum[0], sum[1], sum[2])
	if math.Abs(sum[2]-0.693) > 0.01 {
		t.Errorf("NDCG@10 = %.4f, want 0.693 ± 0.01", sum[2])
	}
}

// lexicalArm ranks every item of each scope by the lexical score alone.
func lexicalArm(t testing.TB, name string, params LexicalParams) (m [3]float64, queries int, avg [3]float64) {
	items, qs := dataSet(t, name)
	byNS := map[string][]int{}
	for i, it := range items {
		byNS[it.NS] = append(byNS[it.NS], i)
	}
	docs := make([]Doc, len(items))
	for i, it := range items {
		var at time.Time
		if it.Time != nil {
			at = *it.Time
		}
		docs[i] = NewDoc(it.Speaker, it.Text, at)
	}
	stats := map[string]LexicalStats{}
	prev := make([]int, len(items))
	views := 0
	for ns, ids := range byNS {
		st := LexicalStats{Docs: len(ids), DF: map[Term]int{}}
		for k, i := range ids {
			for _, f := range docs[i].Terms() {
				st.DF[f.Term]++
			}
			prev[i] = -1
			if k > 0 && items[i].Meta.Seq != nil && string(items[ids[k-1]].Meta.Session) == string(items[i].Meta.Session) {
				prev[i] = ids[k-1]
			}
			views++
			n := length(docs[i].Date) + length(docs[i].Chunks[0])
			avg[0] += float64(n)
			for v, p := 1, prev[i]; v < 3; v++ {
				if p >= 0 {
					n += length(docs[p].Head)
					p = prev[p]
				}
				avg[v] += float64(n)
			}
		}
		stats[ns] = st
	}
	for v := range avg {
		avg[v] /= float64(views)
	}
	for _, q := range qs {
		if len(q.Relevant) == 0 || q.Category == "adversarial" || q.Category == "abstention" {
			continue
		}
		lex := NewLexical(params, stats[q.NS], QueryTerms(q.Query))
		var hits []hit
		for k, i := range byNS[q.NS] {
			var p1, p2 *Doc
			if prev[i] >= 0 {
				p1 = &docs[prev[i]]
				if pp := prev[prev[i]]; pp >= 0 {
					p2 = &docs[pp]
				}
			}
			s, _ := lex.Score(&docs[i], p1, p2)
			hits = append(hits, hit{items[i].ID, s, k})
		}
		r := metrics(rank(hits), q.Relevant)
		for i := range m {
			m[i] += r[i]
		}
		queries++
	}
	for i := range m {
		m[i] = 100 * m[i] / float64(queries)
	}
	return m, queries, avg
}

// The floors are those of the reference prototype less two points.
func TestLexicalArmFloors(t *testing.T) {
	if testing.Short() {
		t.Skip("ranks whole data sets; it runs without -short")
	}
	for _, c := range []struct {
		set   string
		floor [3]float64
	}{
		{"locomo", [3]float64{61, 70, 53}},
		{"locomo-obs", [3]float64{63, 68.5, 58.5}},
		{"prefeval", [3]float64{62, 76.5, 56}},
		{"memorybank-en", [3]float64{74, 86, 58}},
		{"memorybank-zh", [3]float64{76, 92, 61}},
		{"cmrc-zh", [3]float64{98.5, 99, 97}},
		{"beam500k-user", [3]float64{44, 51, 41}},
		{"beam100k", [3]float64{42, 53, 39}},
	} {
		t.Run(c.set, func(t *testing.T) {
			m, n, avg := lexicalArm(t, c.set, LexicalParams{})
			t.Logf("n = %d: R@5 %.1f R@10 %.1f NDCG@10 %.1f; average view lengths %.1f", n, m[0], m[1], m[2], avg)
			for i := range m {
				if m[i] < c.floor[i] {
					t.Errorf("metric %d is %.1f, floor %.1f", i, m[i], c.floor[i])
				}
			}
		})
	}
}
