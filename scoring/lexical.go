package scoring

import (
	"cmp"
	"math"
	"slices"
)

// LexicalStats are the document frequencies of the scope that is searched: Docs items in all, DF[t] of them holding t in
// their own terms ([Doc.Terms]). Only the query's terms are looked up.
type LexicalStats struct {
	Docs int
	DF   map[Term]int
}

// LexicalParams are the constants of the lexical arm. The zero value of a field means its default.
type LexicalParams struct {
	K1, B        float64    // 0.9 and 0.4
	AvgLen       [3]float64 // average length in terms of the views: own, previous + own, two previous + own
	ChunkPenalty float64    // 0.08: taken times ln n from an item of n chunks; negative means none
	ContextWords int        // 80: longer items use their own text in every view; negative means no context at all
	AbsentShare  float64    // 0: share of the idf of query terms that no item has that counts in the greatest possible score
}

// Average view lengths: between those of chat turns (17, 31, 44) and of long messages; results hardly depend on them. Being
// constants, they keep a score independent of what else is stored.
var defaultAvgLen = [3]float64{20, 36, 50}

func (p LexicalParams) withDefaults() LexicalParams {
	if p.K1 <= 0 {
		p.K1 = 0.9
	}
	if p.B <= 0 {
		p.B = 0.4
	}
	for i := range p.AvgLen {
		if p.AvgLen[i] <= 0 {
			p.AvgLen[i] = defaultAvgLen[i]
		}
	}
	if p.ChunkPenalty == 0 {
		p.ChunkPenalty = 0.08
	}
	p.ChunkPenalty = max(p.ChunkPenalty, 0)
	if p.ContextWords == 0 {
		p.ContextWords = 80
	}
	return p
}

// OwnBM25 is the ranking function of the own-text view: what a sparse arm should index ([Doc.Weights]).
func (p LexicalParams) OwnBM25() BM25 {
	p = p.withDefaults()
	return BM25{p.K1, p.B, p.AvgLen[0]}
}

// Lexical scores candidates for one query. It is immutable after NewLexical and safe for concurrent use.
type Lexical struct {
	params LexicalParams
	views  [3]BM25
	terms  []weightedTerm // sorted by term
	scale  float64        // 1 / greatest possible score of a view
	known  float64        // idf of the query's terms that some item of the scope has
	all    float64        // … and of those that none has
}

type weightedTerm struct {
	term Term
	idf  float64 // times how often the query says it
}

// NewLexical prepares a query. Terms that no item of the scope has cannot score; AbsentShare decides whether they lower
// the others.
func NewLexical(params LexicalParams, stats LexicalStats, query []QueryTerm) *Lexical {
	params = params.withDefaults()
	l := &Lexical{params: params}
	for i := range l.views {
		l.views[i] = BM25{params.K1, params.B, params.AvgLen[i]}
	}
	// One order of summation, so that the same words in another order give the same score to the last bit.
	query = slices.SortedFunc(slices.Values(query), func(a, b QueryTerm) int { return cmp.Or(cmp.Compare(a.Term, b.Term), cmp.Compare(a.N, b.N)) })
	total := 0.0
	for _, q := range query {
		df := stats.DF[q.Term]
		idf := float64(max(q.N, 1)) * BM25{}.IDF(max(stats.Docs, df), df)
		l.all += idf
		if df <= 0 {
			total += idf * min(max(params.AbsentShare, 0), 1)
			continue
		}
		total += idf
		l.known += idf
		l.terms = append(l.terms, weightedTerm{q.Term, idf})
	}
	if total > 0 {
		l.scale = 1 / (total * (params.K1 + 1))
	}
	return l
}

// Coverage is the share, weighted by idf, of the query's terms that every one of the items holds in its own text, date
// included: in [0,1], and 0 for a query that has no terms. Terms that no item of the scope has count as not covered.
func (l *Lexical) Coverage(items ...*Doc) float64 {
	if l == nil || l.all <= 0 || len(items) == 0 {
		return 0
	}
	sum := 0.0
	for _, t := range l.terms {
		held := true
		for _, d := range items {
			held = held && d.Holds(t.term)
		}
		if held {
			sum += t.idf
		}
	}
	return min(sum/l.all, 1)
}

// Known is the share, weighted by idf, of the query's terms that any item of the scope holds; 0 for a query without terms.
func (l *Lexical) Known() float64 {
	if l == nil || l.all <= 0 {
		return 0
	}
	return l.known / l.all
}

// Holds reports whether the item has the term in its own text or date; nil has none.
func (d *Doc) Holds(t Term) bool {
	if d == nil {
		return false
	}
	if freqOf(d.Date, t) > 0 {
		return true
	}
	for _, c := range d.Chunks {
		if freqOf(c, t) > 0 {
			return true
		}
	}
	return false
}

// maxChunkTerms is the greatest length that a chunk is normalised by, here and in [Doc.Weights]. A chunk of Chinese or
// Japanese gives up to 170 terms, and the last one of a text beyond the fortieth holds all that the others do not; its
// words must stay findable.
const maxChunkTerms = 100

// faintShare is what the deduction for chunks leaves of a score at the least: a word found only in a long item must
// find it.
const faintShare = 0.4

// Score is the lexical score of an item in [0,1], and that of its three views: own text, previous turn + own, two
// previous turns + own. A view's score is that of its best chunk divided by the greatest score any text could reach;
// the total is their mean less ChunkPenalty·ln n for n chunks, but at least faintShare of it. prev1 and prev2 are the one and the two turns before of
// the same session; either may be nil. Items over ContextWords words or of several chunks have no context.
func (l *Lexical) Score(own, prev1, prev2 *Doc) (total float64, views [3]float64) {
	if own == nil || l.scale == 0 || len(l.terms) == 0 {
		return 0, views
	}
	if len(own.Chunks) > 1 || own.Words > l.params.ContextWords {
		prev1, prev2 = nil, nil
	}
	var h1, h2 []TermFreq
	if prev1 != nil {
		h1 = prev1.Head
	}
	if prev2 != nil {
		h2 = prev2.Head
	}
	date, len1, len2 := length(own.Date), length(h1), length(h2)
	for c := range max(len(own.Chunks), 1) {
		var chunk []TermFreq
		if c < len(own.Chunks) {
			chunk = own.Chunks[c]
		}
		n := date + min(length(chunk), maxChunkTerms)
		lens := [3]int{n, n + len1, n + len1 + len2}
		var norms, sums [3]float64
		for v := range l.views {
			norms[v] = l.views[v].K1 * l.views[v].norm(float64(lens[v]))
		}
		for _, t := range l.terms {
			tf := [3]int{freqOf(own.Date, t.term) + freqOf(chunk, t.term)}
			tf[1] = tf[0] + freqOf(h1, t.term)
			tf[2] = tf[1] + freqOf(h2, t.term)
			if tf[2] == 0 {
				continue
			}
			for v := range sums {
				f := float64(tf[v])
				sums[v] += t.idf * f / (f + norms[v])
			}
		}
		for v := range views {
			views[v] = max(views[v], sums[v])
		}
	}
	for v := range views {
		views[v] = min(views[v]*(l.params.K1+1)*l.scale, 1)
		total += views[v] / 3
	}
	if n := len(own.Chunks); n > 1 {
		total = max(total-l.params.ChunkPenalty*math.Log(float64(n)), faintShare*total)
	}
	return min(max(total, 0), 1), views
}
