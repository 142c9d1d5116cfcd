package wordvec

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"evoke/embed"
	"evoke/embed/centre"
	"evoke/scoring"
)

// Marks of vocabularies: of a piece that goes on (WordPiece), of one that begins
// a word (SentencePiece).
const (
	goesOn = "##"
	begins = "\u2581"
)

// Spelt is a term of a text with the sum of its pieces' vectors.
type Spelt struct {
	Term   scoring.Term
	Script centre.Script
	Vector []float32
}

// maxWords bounds the words of a query that are looked at: a question has a
// dozen.
const maxWords = 64

// Query returns the words of a query from the vectors of its pieces, in their
// order, each term once (as it stands first), stop words left out.
func (t *Table) Query(pieces []embed.Piece) []Word {
	if t == nil {
		return nil
	}
	var out []Word
	for _, s := range Spell(pieces) {
		if len(s.Vector) != t.dim || slices.ContainsFunc(out, func(w Word) bool { return w.Term == s.Term }) {
			continue
		}
		w := Word{Term: s.Term}
		w.vector, w.scale = t.project(s.Vector, t.means[s.Script])
		if out = append(out, w); len(out) == maxWords {
			break
		}
	}
	return out
}

// Spell puts the pieces of a text together to its analysed terms, in their
// order: a word's vector is the sum of its pieces', that of a pair of Chinese or
// Japanese characters of the pieces these stand in. Stop words and punctuation
// have none.
func Spell(pieces []embed.Piece) []Spelt {
	sentence := slices.ContainsFunc(pieces, func(p embed.Piece) bool { return strings.HasPrefix(p.Text, begins) })
	var out []Spelt
	var run stretch
	for i := range pieces {
		text := pieces[i].Text
		rest, again := strings.CutPrefix(text, goesOn)
		if sentence {
			rest, again = strings.CutPrefix(text, begins)
			again = !again
		}
		if !again {
			out = run.end(out)
		}
		for _, r := range rest {
			c := classOf(r)
			if c != run.class || c == other {
				out = run.end(out)
				run.class = c
			}
			if c != other {
				run.add(r, pieces[i].Vector)
			}
		}
	}
	return run.end(out)
}

// class parts what is written with blanks from what is not.
type class int

const (
	other class = iota
	alphabet
	dense // Han, kana, Hangul: analysed by pairs of characters
)

func classOf(r rune) class {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return dense
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return alphabet
	}
	return other
}

// stretch is a run of letters of one class with the vector of the piece that
// each is of.
type stretch struct {
	class   class
	text    []rune
	vectors [][]float32
}

func (s *stretch) add(r rune, v []float32) {
	s.text = append(s.text, r)
	s.vectors = append(s.vectors, v)
}

// end appends the terms of the stretch and empties it.
func (s *stretch) end(out []Spelt) []Spelt {
	if s.class == dense && len(s.text) > 1 {
		for i := range s.text[1:] {
			out = spell(out, s.text[i:i+2], s.vectors[i:i+2])
		}
	} else if len(s.text) > 0 {
		out = spell(out, s.text, s.vectors)
	}
	*s = stretch{class: s.class}
	return out
}

// spell appends the terms of one word, all with the sum of the vectors, each
// piece once.
func spell(out []Spelt, word []rune, vectors [][]float32) []Spelt {
	text := string(word)
	tokens := scoring.Tokens(text)
	if len(tokens) == 0 || !utf8.ValidString(text) {
		return out
	}
	sum := make([]float32, len(vectors[0]))
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(sum) || i > 0 && len(vectors[i-1]) > 0 && &v[0] == &vectors[i-1][0] {
			continue
		}
		for j, x := range v {
			sum[j] += x
		}
	}
	script := centre.Of(text)
	for _, tok := range tokens {
		out = append(out, Spelt{Term: scoring.HashTerm(tok), Script: script, Vector: sum})
	}
	return out
}

func sortedTerms(m map[scoring.Term][]float32) []scoring.Term { return slices.Sorted(maps.Keys(m)) }
