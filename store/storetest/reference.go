package storetest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"evoke/scoring"
	"evoke/store"
)

// reference answers queries by looking at every item: what a backend must answer.
type reference struct {
	items []store.Item
	docs  map[string]*scoring.Doc
	rows  map[string][][]float32 // dequantised
}

func newReference(items []store.Item, es []store.Embedding) *reference {
	ref := &reference{items: items, docs: map[string]*scoring.Doc{}, rows: map[string][][]float32{}}
	for i := range items {
		it := &items[i]
		d := scoring.NewDoc(it.Turn.Speaker, it.Content, it.Local())
		ref.docs[it.ID] = &d
	}
	for i := range es {
		for _, v := range es[i].Rows() {
			q, scale := scoring.Quantize(v)
			row := make([]float32, len(q))
			for j, n := range q {
				row[j] = float32(n) * scale
			}
			ref.rows[es[i].ID] = append(ref.rows[es[i].ID], row)
		}
	}
	return ref
}

func (ref *reference) stats(terms []scoring.QueryTerm) scoring.LexicalStats {
	st := scoring.LexicalStats{DF: map[scoring.Term]int{}}
	for i := range ref.items {
		it := &ref.items[i]
		if !it.Counted() {
			continue
		}
		st.Docs++
		own := ref.docs[it.ID].Terms()
		for _, t := range terms {
			if slices.ContainsFunc(own, func(f scoring.TermFreq) bool { return f.Term == t.Term }) {
				st.DF[t.Term]++
			}
		}
	}
	return st
}

func (ref *reference) pending() int {
	n := 0
	for i := range ref.items {
		it := &ref.items[i]
		if it.Counted() && ref.rows[it.ID] == nil {
			n++
		}
	}
	return n
}

func (ref *reference) dense(id string, query []float32) float64 {
	best := math.Inf(-1)
	for _, row := range ref.rows[id] {
		sum := 0.0
		for i, x := range row {
			sum += float64(x) * float64(query[i])
		}
		best = max(best, sum)
	}
	return best
}

func (ref *reference) lexical(id string, terms []scoring.QueryTerm, st scoring.LexicalStats) float64 {
	bm := scoring.LexicalParams{}.OwnBM25()
	weights := ref.docs[id].Weights(bm)
	sum := 0.0
	for _, t := range terms {
		i, ok := slices.BinarySearchFunc(weights, t.Term, func(w scoring.TermWeight, t scoring.Term) int { return cmp.Compare(w.Term, t) })
		if ok {
			df := st.DF[t.Term]
			sum += float64(max(t.N, 1)) * bm.IDF(max(st.Docs, df), df) * float64(weights[i].Weight)
		}
	}
	return sum
}

// armScores returns, for each arm that orders by a number, that number for every item that may be nominated.
func (ref *reference) armScores(q store.Query) map[store.Arm]map[string]float64 {
	st := ref.stats(q.Terms)
	out := map[store.Arm]map[string]float64{store.DenseArm: {}, store.LexicalArm: {}, store.RecentArm: {}, store.ImportantArm: {}}
	for i := range ref.items {
		it := &ref.items[i]
		if !q.View.Sees(it) || !q.Filter.Match(it) {
			continue
		}
		if q.Vector != nil && ref.rows[it.ID] != nil {
			out[store.DenseArm][it.ID] = ref.dense(it.ID, q.Vector)
		}
		if s := ref.lexical(it.ID, q.Terms, st); s > 0 {
			out[store.LexicalArm][it.ID] = s
		}
		at := it.ValidFrom
		if at.IsZero() {
			at = it.RecordedAt
		}
		out[store.RecentArm][it.ID] = float64(at.UnixMicro())
		out[store.ImportantArm][it.ID] = it.Importance
	}
	return out
}

// check compares a backend's answer with the reference.
func (ref *reference) check(t *testing.T, q store.Query, c *store.Candidates) {
	t.Helper()
	for arm, err := range c.Failed {
		t.Errorf("arm %s failed: %v", arm, err)
	}
	scores := ref.armScores(q)
	for arm, n := range map[store.Arm]int{store.DenseArm: q.Dense, store.LexicalArm: q.Lexical, store.RecentArm: q.Recent, store.ImportantArm: q.Important} {
		checkArm(t, arm, n, scores[arm], c.Records)
	}
	ref.checkStats(t, q, c)
	seen := map[string]bool{}
	for i := range c.Records {
		r := &c.Records[i]
		if seen[r.Item.ID] {
			t.Errorf("item %s twice", r.Item.ID)
		}
		seen[r.Item.ID] = true
		ref.checkRecord(t, q, r)
	}
}

func (ref *reference) checkStats(t *testing.T, q store.Query, c *store.Candidates) {
	t.Helper()
	st := ref.stats(q.Terms)
	if c.Stats.Docs != st.Docs {
		t.Errorf("statistics over %d items, want %d", c.Stats.Docs, st.Docs)
	}
	for _, term := range q.Terms {
		if c.Stats.DF[term.Term] != st.DF[term.Term] {
			t.Errorf("term %q in %d items, want %d", term.Token, c.Stats.DF[term.Term], st.DF[term.Term])
		}
	}
	if want := ref.pending(); c.Pending != want {
		t.Errorf("%d items pending, want %d", c.Pending, want)
	}
}

// checkArm holds an arm's nominations against the scores: as many as there should be, ranked from 1 without gaps, each
// with a score that deserves its rank.
func checkArm(t *testing.T, arm store.Arm, n int, scores map[string]float64, rs []store.Record) {
	t.Helper()
	got := map[int]string{}
	for i := range rs {
		if rank, ok := rs[i].Ranks[arm]; ok {
			if other, taken := got[rank]; taken {
				t.Errorf("%s: rank %d held by %s and %s", arm, rank, other, rs[i].Item.ID)
			}
			got[rank] = rs[i].Item.ID
		}
	}
	want := make([]float64, 0, len(scores))
	for _, s := range scores {
		want = append(want, s)
	}
	slices.Sort(want)
	slices.Reverse(want)
	if len(want) > n {
		want = want[:n]
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d nominated, want %d", arm, len(got), len(want))
		return
	}
	for i, w := range want {
		id, ok := got[i+1]
		if !ok {
			t.Errorf("%s: nobody has rank %d", arm, i+1)
			continue
		}
		if s, eligible := scores[id]; !eligible || math.Abs(s-w) > Tolerance {
			t.Errorf("%s: rank %d is %s (score %v, eligible %t), want a score of %v", arm, i+1, id, s, eligible, w)
		}
	}
}

// checkRecord holds what a record says against the reference.
func (ref *reference) checkRecord(t *testing.T, q store.Query, r *store.Record) {
	t.Helper()
	id := r.Item.ID
	if len(r.Ranks) == 0 {
		t.Errorf("%s: nominated by no arm", id)
	}
	if !q.View.Sees(&r.Item) || !q.Filter.Match(&r.Item) {
		t.Errorf("%s: outside the view or the filter", id)
	}
	if r.Doc == nil || r.Doc.Print != ref.docs[id].Print || len(r.Doc.Chunks) != len(ref.docs[id].Chunks) {
		t.Errorf("%s: not the item's analysed text", id)
	}
	if want := q.Vector != nil && ref.rows[id] != nil; r.Embedded != want {
		t.Errorf("%s: embedded %t, want %t", id, r.Embedded, want)
	} else if want && math.Abs(r.Dense-ref.dense(id, q.Vector)) > Tolerance {
		t.Errorf("%s: dense %v, want %v", id, r.Dense, ref.dense(id, q.Vector))
	}
	for back, got := range map[int]*scoring.Doc{1: r.Prev1, 2: r.Prev2} {
		want := ref.previous(q.View, &r.Item, back)
		switch {
		case (got == nil) != (want == nil):
			t.Errorf("%s: previous turn %d: have one %t, want one %t", id, back, got != nil, want != nil)
		case got != nil && got.Print != want.Print:
			t.Errorf("%s: previous turn %d is another text", id, back)
		}
	}
}

func (ref *reference) previous(v store.View, it *store.Item, back int) *scoring.Doc {
	if !it.Turn.IsTurn() {
		return nil
	}
	var best *store.Item
	for i := range ref.items {
		c := &ref.items[i]
		if c.Turn.Session != it.Turn.Session || c.Turn.Position != it.Turn.Position-back || !v.Sees(c) {
			continue
		}
		if best == nil || precedes(c, best) {
			best = c
		}
	}
	if best == nil {
		return nil
	}
	return ref.docs[best.ID]
}

func precedes(a, b *store.Item) bool {
	if (a.Kind == store.Episodic) != (b.Kind == store.Episodic) {
		return a.Kind == store.Episodic
	}
	return strings.Compare(a.ID, b.ID) < 0
}
