package scoring

import "math"

// BM25 holds the constants of the ranking function. AvgLen is the length, in terms, that counts as average.
type BM25 struct {
	K1, B, AvgLen float64
}

// IDF is Lucene's: ln(1 + (n-df+.5)/(df+.5)) for a term in df of n documents. It is never negative; df is clamped to 0…n.
func (BM25) IDF(n, df int) float64 {
	n = max(n, 0)
	df = min(max(df, 0), n)
	return math.Log1p((float64(n-df) + 0.5) / (float64(df) + 0.5))
}

// Weight is the share of a term's idf that tf occurrences in a text of that length earn: 0 for none, below k1+1 always.
func (m BM25) Weight(tf, length float64) float64 {
	if tf <= 0 {
		return 0
	}
	return tf * (m.K1 + 1) / (tf + m.K1*m.norm(length))
}

func (m BM25) norm(length float64) float64 {
	if m.AvgLen <= 0 {
		return 1
	}
	return 1 - m.B + m.B*length/m.AvgLen
}

// TermWeight is a term with its weight in a document.
type TermWeight struct {
	Term   Term
	Weight float32
}

// Weights are the item's own terms, date included, each with its best BM25 weight over the chunks, sorted by term. Their
// product with a query's idf bounds the own-text score from above and equals it for items of one chunk: the vector of
// a sparse arm.
func (d Doc) Weights(m BM25) []TermWeight {
	terms := d.Terms()
	out := make([]TermWeight, 0, len(terms))
	date := length(d.Date)
	lens := make([]float64, len(d.Chunks))
	for i, c := range d.Chunks {
		lens[i] = float64(date + min(length(c), maxChunkTerms))
	}
	for _, t := range terms {
		own, best := freqOf(d.Date, t.Term), 0.0
		if len(d.Chunks) == 0 {
			best = m.Weight(float64(own), float64(date))
		}
		for i, c := range d.Chunks {
			best = max(best, m.Weight(float64(own+freqOf(c, t.Term)), lens[i]))
		}
		out = append(out, TermWeight{t.Term, float32(best)})
	}
	return out
}
