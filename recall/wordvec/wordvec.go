// Package wordvec compares a query with an item word by word: late interaction at
// the level of words.
//
// A query's words have the vectors that the model gave them in their sentence.
// A word of an item stands for all its occurrences: it has one constant vector,
// that of the word alone, whatever item it is of. These vectors are constants of
// the program, computed once for each model over the words of the model's own
// vocabulary (cmd/internal/fitwords). So nothing is stored of an item, nothing
// remains of one that is erased, no tenant's words say anything about another's,
// and every backend sees the same.
//
// Words are known by their analysed terms (scoring.Tokens), which the lexical
// arm has of every item. A word without a vector, a rare name say, meets only
// itself.
package wordvec

import (
	"embed"
	"math"
	"slices"
	"strings"
	"sync"

	"evoke/embed/centre"
	"evoke/scoring"
)

// data holds a table per model, named after it.
//
//go:embed data/*.bin
var data embed.FS

// Table holds the vectors of words in the space of one model. It is immutable
// and safe for concurrent use.
type Table struct {
	version string
	dim     int // components of the model's vectors
	axes    [][]float32
	means   [centre.Scripts][]float32 // of words in queries, by the script of the word
	terms   []scoring.Term            // ascending
	rows    []int8                    // of terms, len(axes) numbers each
	scales  []float32                 // a row times its scale has unit length
}

// tables are the embedded tables by model, read when one is first asked for. One
// that cannot be read is left out; a test reads every file.
var tables = sync.OnceValue(func() map[string]*Table {
	all := map[string]*Table{}
	files, err := data.ReadDir("data")
	if err != nil {
		return all
	}
	for _, f := range files {
		raw, err := data.ReadFile("data/" + f.Name())
		if err != nil {
			continue
		}
		if t, err := Parse(raw); err == nil {
			all[strings.TrimSuffix(f.Name(), ".bin")] = t
		}
	}
	return all
})

// For returns the table of a model, nil if there is none.
func For(model string) *Table { return tables()[model] }

// Version names the table, such as "w1".
func (t *Table) Version() string { return t.version }

// Len is the number of words.
func (t *Table) Len() int { return len(t.terms) }

// row finds a term's place; ok is false when the table has no vector for it.
func (t *Table) row(term scoring.Term) (i int, ok bool) { return slices.BinarySearch(t.terms, term) }

// Term is how words are known.
type Term = scoring.Term

// TermOf is the term of a single word; ok is false for stop words, and for what
// the analyzer takes for no word or for several.
func TermOf(word string) (t Term, ok bool) {
	tokens := scoring.Tokens(word)
	if len(tokens) != 1 {
		return 0, false
	}
	return scoring.HashTerm(tokens[0]), true
}

// Has reports whether the table has a vector for a term: whether it is a word
// that the model's vocabulary knows.
func (t *Table) Has(term scoring.Term) bool {
	if t == nil {
		return false
	}
	_, ok := t.row(term)
	return ok
}

// Word is one word of a query.
type Word struct {
	Term   scoring.Term
	vector []int8
	scale  float32
}

// Word is a word of a query that stands for itself alone, with the table's vector
// of it, if it has one.
func (t *Table) Word(term scoring.Term) Word {
	w := Word{Term: term}
	if i, ok := t.row(term); ok {
		n := len(t.axes)
		w.vector, w.scale = t.rows[i*n:(i+1)*n], t.scales[i]
	}
	return w
}

// project centres a vector and turns it to the table's axes, unit length, as
// numbers times a scale. The mean is subtracted from the unit vector.
func (t *Table) project(v []float32, mean []float32) ([]int8, float32) {
	u := make([]float32, len(v))
	k := inverse(v)
	for i, x := range v {
		u[i] = x*k - mean[i]
	}
	out := make([]float32, len(t.axes))
	for i, axis := range t.axes {
		out[i] = scoring.Dot(axis, u)
	}
	k = inverse(out)
	for i := range out {
		out[i] *= k
	}
	return scoring.Quantize(out)
}

// inverse is 1 over the length of v; 0 for one without length.
func inverse(v []float32) float32 {
	n := float64(scoring.Dot(v, v))
	if !(n > 0) || math.IsInf(n, 1) {
		return 0
	}
	return float32(1 / math.Sqrt(n))
}

// sameWord is the cosine of a word with itself where the table has no vector for
// it: as a rule those that have one are about as close to themselves.
const sameWord = 0.7

// Matcher answers for one query how close its words come to those of items. It
// remembers what it computed and is for one goroutine.
type Matcher struct {
	table *Table
	words []Word
	known map[scoring.Term]int // place of a term's row in cosines
	// cosines of every term met with every word, len(words) numbers a term
	cosines []float32
}

// NewMatcher returns a Matcher for the words of a query; nil without any.
func (t *Table) NewMatcher(words []Word) *Matcher {
	if t == nil || len(words) == 0 {
		return nil
	}
	return &Matcher{table: t, words: words, known: make(map[scoring.Term]int, 1024)}
}

// Words are those of the query.
func (m *Matcher) Words() []Word { return m.words }

// Best raises each best[i] to the highest cosine of the query's word i with a
// term of fs, less the discount. It is as long as Words; what no term comes close
// to stays as it was.
func (m *Matcher) Best(best []float32, fs []scoring.TermFreq, discount float32) {
	n := len(m.words)
	for i := range fs {
		at, ok := m.known[fs[i].Term]
		if !ok {
			at = m.compute(fs[i].Term)
		}
		for j, c := range m.cosines[at : at+n] {
			best[j] = max(best[j], c-discount)
		}
	}
}

func (m *Matcher) compute(term scoring.Term) int {
	at := len(m.cosines)
	m.known[term] = at
	i, ok := m.table.row(term)
	for j := range m.words {
		w := &m.words[j]
		c := float32(0)
		switch {
		case ok:
			d := len(m.table.axes)
			c = float32(scoring.DotInt8(w.vector, m.table.rows[i*d:(i+1)*d])) * w.scale * m.table.scales[i]
		case w.Term == term:
			c = sameWord
		}
		m.cosines = append(m.cosines, c)
	}
	return at
}
