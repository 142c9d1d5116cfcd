package scoring

// Jaccard is the number of terms two lists share, divided by the number either has; frequencies do not count. Two empty
// lists give 0.
func Jaccard(a, b []TermFreq) float64 {
	shared := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].Term < b[j].Term:
			i++
		case a[i].Term > b[j].Term:
			j++
		default:
			shared++
			i++
			j++
		}
	}
	if union := len(a) + len(b) - shared; union > 0 {
		return float64(shared) / float64(union)
	}
	return 0
}

// Similarity is how alike the texts of two items are, in [0,1]: 1 for texts equal but for case, width, blanks and
// punctuation, otherwise the Jaccard similarity of their terms, dates left out. It is symmetric.
func Similarity(a, b *Doc) float64 {
	if a == nil || b == nil {
		return 0
	}
	if a.Print == b.Print && a.Print != 0 {
		return 1
	}
	return Jaccard(a.body(), b.body())
}

// minDuplicateTerms is how many terms both texts need before sharing them means anything: below it only equal texts are
// duplicates ("is it?" and "was it?" share all the terms they have).
const minDuplicateTerms = 4

// NearDuplicate reports whether two items say the same thing in nearly the same words: their texts are equal after
// normalisation, or at least threshold (0.9 when it is not positive) similar with the same numbers and as many
// negations and four terms or more, so that "I have two dogs, 3 cats" and its correction "… 5 cats" both stay.
func NearDuplicate(a, b *Doc, threshold float64) bool {
	if a == nil || b == nil {
		return false
	}
	if a.Print == b.Print && a.Print != 0 {
		return true
	}
	if !(threshold > 0) {
		threshold = 0.9
	}
	if a.Guard != b.Guard {
		return false
	}
	ba, bb := a.body(), b.body()
	// The shorter list bounds what can be shared.
	lo, hi := min(len(ba), len(bb)), max(len(ba), len(bb))
	if lo < minDuplicateTerms || float64(lo) < threshold*float64(hi) {
		return false
	}
	return Jaccard(ba, bb) >= threshold
}

// body is the item's terms without its date.
func (d *Doc) body() []TermFreq {
	if len(d.Chunks) == 1 {
		return d.Chunks[0]
	}
	return Doc{Chunks: d.Chunks}.Terms()
}
