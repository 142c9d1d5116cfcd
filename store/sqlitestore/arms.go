package sqlitestore

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"evoke/scoring"
	"evoke/store"
)

// scored is a slot with a score.
type scored struct {
	slot  int32
	score float32
}

// top keeps the n best selected slots. Its first element is the worst of them.
type top struct {
	n    int
	heap []scored
	x    *index
}

// worse orders by score, then by id, so that equal scores rank the same on every load.
func (t *top) worse(a, b scored) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return t.x.entries[a.slot].item.ID > t.x.entries[b.slot].item.ID
}

// wants reports whether a slot with that score could enter.
func (t *top) wants(s scored) bool { return len(t.heap) < t.n || t.worse(t.heap[0], s) }

func (t *top) add(s scored) {
	if len(t.heap) < t.n {
		t.heap = append(t.heap, s)
		for i := len(t.heap) - 1; i > 0; {
			parent := (i - 1) / 2
			if !t.worse(t.heap[i], t.heap[parent]) {
				return
			}
			t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
			i = parent
		}
		return
	}
	t.heap[0] = s
	for i := 0; ; {
		c := 2*i + 1
		if c >= t.n {
			return
		}
		if c+1 < t.n && t.worse(t.heap[c+1], t.heap[c]) {
			c++
		}
		if !t.worse(t.heap[c], t.heap[i]) {
			return
		}
		t.heap[i], t.heap[c] = t.heap[c], t.heap[i]
		i = c
	}
}

// sorted returns what was kept, best first.
func (t *top) sorted() []scored {
	slices.SortFunc(t.heap, func(a, b scored) int {
		switch {
		case t.worse(b, a):
			return -1
		case t.worse(a, b):
			return 1
		}
		return 0
	})
	return t.heap
}

// dense nominates the items with the greatest product of the query with one of their rows. Products with the quantised
// query find all that can be among them, because the error of the quantisation is bounded; the true products decide.
func (s *search) dense() {
	x := s.x
	if len(x.rowSlot) == 0 || s.q.Dense == 0 {
		return
	}
	q, scale := scoring.Quantize(s.q.Vector)
	approx := s.products
	x.scan(q, scale, approx)
	slack := 2 * quantError(s.q.Vector, q, scale) * x.maxNorm
	best := top{n: s.q.Dense, x: x}
	x.eachGroup(approx, func(slot int32, score float32) {
		if c := (scored{slot, score}); best.wants(c) && s.selected(slot) {
			best.add(c)
		}
	})
	floor := float32(math.Inf(-1))
	if len(best.heap) == best.n {
		floor = best.heap[0].score - slack
	}
	exact := top{n: s.q.Dense, x: x}
	x.eachGroup(approx, func(slot int32, score float32) {
		if score < floor || !s.selected(slot) {
			return
		}
		if c := (scored{slot, float32(x.exact(slot, s.q.Vector))}); exact.wants(c) {
			exact.add(c)
		}
	})
	for i, c := range exact.sorted() {
		s.nominate(store.DenseArm, c.slot, i+1)
	}
}

// parallelRows is from how many rows on a scan is worth two goroutines.
const parallelRows = 16384

// scan fills out with the product of a quantised query with every row.
func (x *index) scan(q []int8, scale float32, out []float32) {
	if len(out) < parallelRows {
		x.scanPart(q, scale, 0, out)
		return
	}
	var wg sync.WaitGroup
	half := len(out) / 2
	wg.Go(func() { x.scanPart(q, scale, 0, out[:half]) })
	x.scanPart(q, scale, half, out[half:])
	wg.Wait()
}

// scanPart fills out with the products of the rows from first on.
func (x *index) scanPart(q []int8, scale float32, first int, out []float32) {
	var buf [1024]int32
	for at := 0; at < len(out); at += len(buf) {
		n := min(len(buf), len(out)-at)
		row := first + at
		scoring.ScanInt8(q, x.rows[row*x.dim:(row+n)*x.dim], x.dim, buf[:n])
		scales := x.scales[row : row+n]
		for i, v := range buf[:n] {
			out[at+i] = float32(v) * scale * scales[i]
		}
	}
}

// eachGroup calls f once for every item with rows, with the greatest product of its rows.
func (x *index) eachGroup(products []float32, f func(slot int32, best float32)) {
	for i := 0; i < len(products); {
		slot, best := x.rowSlot[i], products[i]
		for i++; i < len(products) && x.rowSlot[i] == slot && slot >= 0; i++ {
			best = max(best, products[i])
		}
		if slot >= 0 {
			f(slot, best)
		}
	}
}

// exact is the greatest product of the query with an item's rows, as numbers times scale.
func (x *index) exact(slot int32, query []float32) float64 {
	e := &x.entries[slot]
	best := math.Inf(-1)
	for r := int(e.row); r < int(e.row+e.nrows); r++ {
		row := x.rows[r*x.dim : (r+1)*x.dim]
		var a, b, c, d float32
		i := 0
		for ; i+4 <= len(row) && i+4 <= len(query); i += 4 {
			a += query[i] * float32(row[i])
			b += query[i+1] * float32(row[i+1])
			c += query[i+2] * float32(row[i+2])
			d += query[i+3] * float32(row[i+3])
		}
		for ; i < len(row); i++ {
			a += query[i] * float32(row[i])
		}
		best = max(best, float64(a+b+c+d)*float64(x.scales[r]))
	}
	return best
}

// quantError is the length of what quantisation took from or added to the query.
func quantError(v []float32, q []int8, scale float32) float32 {
	sum := 0.0
	for i, f := range v {
		d := float64(f - float32(q[i])*scale)
		sum += d * d
	}
	return float32(math.Sqrt(sum))
}

func norm(r vecRow) float32 {
	return float32(math.Sqrt(float64(scoring.DotInt8(r.q, r.q)))) * r.scale
}

// lexical nominates the items whose own text has the greatest BM25 score, and as context what follows them in their
// sessions.
func (s *search) lexical(stats *scoring.LexicalStats) {
	x := s.x
	scores, touched := s.scores, s.touched[:0]
	for _, t := range s.q.Terms {
		l := x.terms[t.Term]
		if l == nil {
			continue
		}
		df := stats.DF[t.Term]
		idf := float32(float64(max(t.N, 1)) * x.bm25.IDF(max(stats.Docs, df), df))
		for _, p := range l.postings {
			if scores[p.slot] == 0 {
				touched = append(touched, p.slot)
			}
			scores[p.slot] += idf * p.weight
		}
	}
	best := top{n: s.q.Lexical, x: x}
	for _, slot := range touched {
		if c := (scored{slot, scores[slot]}); best.wants(c) && s.selected(slot) {
			best.add(c)
		}
		scores[slot] = 0
	}
	s.touched = touched
	hits := best.sorted()
	for i, c := range hits {
		s.nominate(store.LexicalArm, c.slot, i+1)
	}
	s.context(hits)
}

// context nominates the items one and two positions behind lexical hits.
func (s *search) context(hits []scored) {
	rank := 0
	seen := map[int32]bool{}
	for _, h := range hits {
		t := s.x.entries[h.slot].item.Turn
		if !t.IsTurn() {
			continue
		}
		for ahead := 1; ahead <= 2; ahead++ {
			places := s.x.at(t.Session, t.Position+ahead)
			byID := slices.SortedFunc(slices.Values(places), func(a, b place) int {
				return cmp.Compare(s.x.entries[a.slot].item.ID, s.x.entries[b.slot].item.ID)
			})
			for _, p := range byID {
				if !seen[p.slot] && s.selected(p.slot) {
					seen[p.slot] = true
					rank++
					s.nominate(store.ContextArm, p.slot, rank)
				}
			}
		}
	}
}
