package scoring

import "cmp"

// minTypoLetters is the shortest token worth correcting: of shorter ones too many are one letter apart.
const minTypoLetters = 4

// CorrectTypos replaces each query term that no item has by one that items have and that is one slip away from it: two
// letters swapped, one lost, one too many or one wrong, the first letter kept. df tells in how many items a term
// occurs; the most frequent correction is taken. Only tokens of at least four letters a–z are corrected. The query
// itself is left alone; the result is sorted by Term and unique. A query without such terms costs one df call a term.
func CorrectTypos(query []QueryTerm, df func(Term) int) []QueryTerm {
	out := make([]QueryTerm, 0, len(query))
	for _, q := range query {
		if df(q.Term) == 0 {
			if tok := correction(q.Token, df); tok != "" {
				q.Token, q.Term = tok, HashTerm(tok)
			}
		}
		out = append(out, q)
	}
	return mergeQuery(out)
}

// correction is the most frequent token one slip away, "" when no item has any; of equals the first in the alphabet.
func correction(token string, df func(Term) int) string {
	if len(token) < minTypoLetters {
		return ""
	}
	for i := range len(token) {
		if token[i] < 'a' || token[i] > 'z' {
			return ""
		}
	}
	best, most := "", 0
	try := func(candidate []byte) {
		tok := string(candidate)
		if n := df(HashTerm(tok)); n > 0 && tok != token && cmp.Or(cmp.Compare(n, most), cmp.Compare(best, tok)) > 0 {
			best, most = tok, n
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
		for c := byte('a'); c <= 'z'; c++ {
			try(append(append(append(b[:0], token[:i]...), c), token[i+1:]...))
		}
		if i+1 < len(token) {
			try(append(append(append(b[:0], token[:i]...), token[i+1], token[i]), token[i+2:]...))
		}
	}
	return best
}
