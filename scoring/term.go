package scoring

import (
	"cmp"
	"math"
	"slices"
)

// Term is the 32-bit FNV-1a hash of an analysed token. The mapping never changes: terms are stored.
type Term uint32

// HashTerm maps a token to its term.
func HashTerm(token string) Term {
	h := uint32(2166136261)
	for i := range len(token) {
		h = (h ^ uint32(token[i])) * 16777619
	}
	return Term(h)
}

// TermFreq is a term and how often it occurs (at least 1, saturating at 65535). Slices of TermFreq are sorted by Term
// and hold each term once.
type TermFreq struct {
	Term Term
	N    uint16
}

// QueryTerm is a term of a query with the token it came from and how often the query says it.
type QueryTerm struct {
	Term  Term
	Token string
	N     int
	Known bool // a word of the language: [CorrectTypos] leaves it alone, whether items have it or not
}

// Terms analyses text into sorted, unique term frequencies. It returns nil for text without a term.
func Terms(text string) []TermFreq {
	return countTokens(Tokens(text))
}

// QueryTerms analyses a query into unique terms sorted by Term.
func QueryTerms(text string) []QueryTerm {
	tokens := Tokens(text)
	if len(tokens) == 0 {
		return nil
	}
	out := make([]QueryTerm, 0, len(tokens))
	for _, tok := range tokens {
		out = append(out, QueryTerm{Term: HashTerm(tok), Token: tok, N: 1})
	}
	return mergeQuery(out)
}

// mergeQuery sorts in place and adds up equal terms.
func mergeQuery(out []QueryTerm) []QueryTerm {
	if len(out) == 0 {
		return nil
	}
	slices.SortStableFunc(out, func(a, b QueryTerm) int { return cmp.Compare(a.Term, b.Term) })
	w := 0
	for _, t := range out[1:] {
		if t.Term == out[w].Term {
			out[w].N += t.N
			continue
		}
		w++
		out[w] = t
	}
	return out[:w+1]
}

func countTokens(tokens []string) []TermFreq {
	if len(tokens) == 0 {
		return nil
	}
	out := make([]TermFreq, 0, len(tokens))
	for _, tok := range tokens {
		out = append(out, TermFreq{HashTerm(tok), 1})
	}
	return mergeFreqs(out)
}

// mergeFreqs sorts in place and adds up equal terms.
func mergeFreqs(fs []TermFreq) []TermFreq {
	if len(fs) == 0 {
		return nil
	}
	slices.SortFunc(fs, func(a, b TermFreq) int { return cmp.Compare(a.Term, b.Term) })
	w := 0
	for _, f := range fs[1:] {
		if f.Term == fs[w].Term {
			fs[w].N = addSaturating(fs[w].N, f.N)
			continue
		}
		w++
		fs[w] = f
	}
	return fs[:w+1]
}

func addSaturating(a, b uint16) uint16 {
	if s := uint32(a) + uint32(b); s < math.MaxUint16 {
		return uint16(s)
	}
	return math.MaxUint16
}

// freqOf is how often t occurs in fs, by binary search.
func freqOf(fs []TermFreq, t Term) int {
	lo, hi := 0, len(fs)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if fs[m].Term < t {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(fs) && fs[lo].Term == t {
		return int(fs[lo].N)
	}
	return 0
}

// length is the number of tokens counted in fs.
func length(fs []TermFreq) int {
	n := 0
	for _, f := range fs {
		n += int(f.N)
	}
	return n
}
