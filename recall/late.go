package recall

import (
	"cmp"
	"context"
	"math"
	"slices"

	"evoke/embed/centre"
	"evoke/recall/wordvec"
	"evoke/scoring"
	"evoke/store"
)

// lateScorer compares the words of a query with those of candidates: see package wordvec. It is for one scope.
type lateScorer struct {
	match *wordvec.Matcher
	idf   []float32 // of the query's words
	total float32
	best  []float32
}

// newLate prepares the query's words for a scope, weighed by the scope's statistics; nil when there is nothing to compare.
// asked are the terms of the query that take part.
func (p *plan) newLate(found *store.Candidates, asked []scoring.QueryTerm) *lateScorer {
	if p.table == nil || len(p.words) == 0 {
		return nil
	}
	l := &lateScorer{}
	stats := &found.Stats
	var kept []wordvec.Word
	for _, w := range p.words {
		i := slices.IndexFunc(asked, func(t scoring.QueryTerm) bool { return t.Term == w.Term })
		if i < 0 {
			continue // the analyzer reads the whole query otherwise than its words
		}
		if stats.DF[w.Term] == 0 {
			w = p.corrected(w, asked[i], found)
		}
		df := stats.DF[w.Term]
		idf := float32(scoring.BM25{}.IDF(max(stats.Docs, df), df))
		kept, l.idf = append(kept, w), append(l.idf, idf)
		l.total += idf
	}
	if l.total <= 0 {
		return nil
	}
	l.match, l.best = p.table.NewMatcher(kept), make([]float32, len(kept))
	return l
}

// corrected is a word that no item has as the one that was searched in its place.
func (p *plan) corrected(w wordvec.Word, asked scoring.QueryTerm, found *store.Candidates) wordvec.Word {
	took := scoring.CorrectTypos([]scoring.QueryTerm{asked}, func(t scoring.Term) int {
		if slices.ContainsFunc(found.Terms, func(q scoring.QueryTerm) bool { return q.Term == t }) {
			return found.Stats.DF[t]
		}
		return 0
	})
	if took[0].Term == w.Term {
		return w
	}
	return p.table.Word(took[0].Term)
}

// score is the mean over the query's words, by idf, of the best cosine with a word of the item or, less something, of the
// turns before it, brought to its ends: 0 for unrelated texts, 1 for one that says all that is asked for. Of several chunks
// the best one counts, less the penalty for many.
func (l *lateScorer) score(r *store.Record) float64 {
	doc := r.Doc
	late := 0.0
	for c := range max(len(doc.Chunks), 1) {
		clear(l.best)
		l.match.Best(l.best, doc.Date, 0)
		if c < len(doc.Chunks) {
			l.match.Best(l.best, doc.Chunks[c], 0)
		}
		if len(doc.Chunks) <= 1 && doc.Words <= contextWords {
			if r.Prev1 != nil {
				l.match.Best(l.best, r.Prev1.Head, latePrev1)
			}
			if r.Prev2 != nil {
				l.match.Best(l.best, r.Prev2.Head, latePrev2)
			}
		}
		sum := float32(0)
		for i, b := range l.best {
			sum += l.idf[i] * b
		}
		late = max(late, float64(sum/l.total))
	}
	late = (late-lateLow)/(lateHigh-lateLow) - chunkPenalty*math.Log(float64(max(len(doc.Chunks), 1)))
	return min(max(late, 0), 1)
}

// met is how well an item's own words meet those of the query: the mean, by idf, of the best cosines; in [0,1].
func (l *lateScorer) met(doc *scoring.Doc) float64 {
	if l == nil {
		return 0
	}
	clear(l.best)
	l.match.Best(l.best, doc.Date, 0)
	for _, c := range doc.Chunks {
		l.match.Best(l.best, c, 0)
	}
	sum := float32(0)
	for i, b := range l.best {
		sum += l.idf[i] * b
	}
	return float64(sum / l.total)
}

// comparable reports whether two texts are in one script of which the table has words. Words of two scripts come close less
// often than their meanings do: between them the comparison may help an item, and where it does not the vectors speak for it, so
// that nothing stands back for being in another language than the query.
func comparable(query, item centre.Script) bool {
	return query == item && (query == centre.Latin || query == centre.Han)
}

// scoreLate adds the comparison word by word to A0 of the best candidates by what is known so far; where there is none the
// rest decides alone. It reports false, and changes nothing, when its time was over before it was done.
func (p *plan) scoreLate(ctx context.Context, all []*candidate, found *store.Candidates, dense bool) bool {
	l := p.newLate(found, p.terms)
	if l == nil {
		return true
	}
	top := all
	if len(all) > lateDepth {
		top = slices.Clone(all)
		slices.SortFunc(top, func(a, b *candidate) int {
			if c := cmp.Compare(b.terms.sum, a.terms.sum); c != 0 {
				return c
			}
			return compareTies(a, b)
		})
		top = top[:lateDepth]
	}
	late := make([]float64, len(top))
	for i, c := range top {
		if i%lateStep == 0 && ctx.Err() != nil {
			return false
		}
		late[i] = l.score(c.record)
	}
	asks := centre.Of(p.req.Query)
	for i, c := range top {
		t := &c.terms
		t.late = late[i]
		if dense {
			with := weightLateLexical*t.lexical + weightLateDense*t.dense + weightLate*t.late
			if !comparable(asks, centre.Of(c.record.Item.Content)) {
				with = max(with, weightLateLexical*t.lexical+(weightLateDense+weightLate)*t.dense)
			}
			t.core = with
		} else {
			t.core += weightLate * (t.late*t.coreTop - t.core)
		}
	}
	return true
}
