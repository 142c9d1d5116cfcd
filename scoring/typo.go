package scoring

import "cmp"

// Shortest tokens worth correcting: of shorter ones too many are one slip apart. A wrong letter makes other words more
// easily than a lost or a doubled one does (horse, house), so that takes a longer token.
const (
	minTypoLetters  = 4
	minWrongLetters = 6
)

// CorrectTypos replaces each query term that no item has by one that items have and that is one slip away from it: two
// letters swapped, one lost, one too many or (in a token of six letters or more) one wrong, the first letter kept. df
// tells in how many items a term occurs; the most frequent correction is taken. Only tokens of at least four letters a–z
// are corrected, and none that is Known. The query itself is left alone; the result is sorted by Term and unique. A query without such terms
// costs one df call a term.
func CorrectTypos(query []QueryTerm, df func(Term) int) []QueryTerm {
	out := make([]QueryTerm, 0, len(query))
	for _, q := range query {
		if !q.Known && df(q.Term) == 0 {
			if tok := correction(q.Token, df); tok != "" {
				q.Token, q.Term = tok, HashTerm(tok)
			}
		}
		out = append(out, q)
	}
	return mergeQuery(out)
}

// TypoTerms are the terms that [CorrectTypos] would ask the frequency of to correct a token: for backends that count many
// at once. None for a token that is not corrected.
func TypoTerms(token string) []Term {
	var out []Term
	slips(token, func(candidate []byte) { out = append(out, HashTerm(string(candidate))) })
	return out
}

// correction is the most frequent token one slip away, "" when no item has any; of equals the first in the alphabet.
func correction(token string, df func(Term) int) string {
	best, most := "", 0
	slips(token, func(candidate []byte) {
		tok := string(candidate)
		if n := df(HashTerm(tok)); n > 0 && tok != token && cmp.Or(cmp.Compare(n, most), cmp.Compare(best, tok)) > 0 {
			best, most = tok, n
		}
	})
	return best
}

// slips calls try with everything one slip away from a token, some of it more than once. The bytes are used again.
func slips(token string, try func([]byte)) {
	if len(token) < minTypoLetters {
		return
	}
	for i := range len(token) {
		if token[i] < 'a' || token[i] > 'z' {
			return
		}
	}
	b := make([]byte, 0, len(token)+1)
	for i := 1; i <= len(token); i++ {
		for c := byte('a'); c <= 'z'; c++ {
			try(append(append(append(b[:0], token[:i]...), c), token[i:]...))
		}
		if i == len(token) {
			break
		}
		try(append(append(b[:0], token[:i]...), token[i+1:]...))
		for c := byte('a'); c <= 'z' && len(token) >= minWrongLetters; c++ {
			try(append(append(append(b[:0], token[:i]...), c), token[i+1:]...))
		}
		if i+1 < len(token) {
			try(append(append(append(b[:0], token[:i]...), token[i+1], token[i]), token[i+2:]...))
		}
	}
}
