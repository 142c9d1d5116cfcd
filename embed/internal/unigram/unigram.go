// Package unigram splits text into the pieces of a SentencePiece unigram
// vocabulary, token for token as the Hugging Face tokenizer of XLM-RoBERTa
// models does: characters are normalised by a table, runs of spaces become one,
// each word gets the marker "▁" in front, and the split of a word with the
// highest sum of scores wins.
//
// One thing differs on purpose: names of special tokens in a text, such as
// "<s>", are text like any other, for texts come from strangers.
package unigram

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// marker stands for a space in pieces.
const marker = '\u2581'

// maxWord bounds the bytes of a word that are looked at. The longest sequence
// that a model reads is 512 pieces, which 16 KiB of one word exceed.
const maxWord = 16 << 10

// Vocabulary is what a model file says about its pieces. Piece i is
// Blob[Offsets[i]:Offsets[i+1]].
type Vocabulary struct {
	Blob    string
	Offsets []uint32
	Scores  []float32
	// Special are the ids that no text may produce by spelling them.
	Special []int32
	// Begin and End are put around every sequence, Unknown stands for
	// characters that are no piece.
	Begin, End, Unknown int32
	// Normal maps a character to its normalised form.
	Normal map[rune]string
}

// Tokenizer splits texts. It is safe for concurrent use.
type Tokenizer struct {
	v       Vocabulary
	sorted  []int32 // ids in the order of their pieces
	first   [257]int32
	unknown float64 // score of an unknown character
	pool    sync.Pool
}

// New checks a vocabulary and prepares it for look-ups.
func New(v Vocabulary) (*Tokenizer, error) {
	n := len(v.Scores)
	if n == 0 || len(v.Offsets) != n+1 {
		return nil, fmt.Errorf("vocabulary has %d scores and %d offsets", n, len(v.Offsets))
	}
	for i, o := range v.Offsets {
		if int(o) > len(v.Blob) || i > 0 && o < v.Offsets[i-1] {
			return nil, fmt.Errorf("vocabulary offset %d is out of order", i)
		}
	}
	for _, id := range append([]int32{v.Begin, v.End, v.Unknown}, v.Special...) {
		if id < 0 || int(id) >= n {
			return nil, fmt.Errorf("special token %d is not in the vocabulary of %d", id, n)
		}
	}
	t := &Tokenizer{v: v, sorted: make([]int32, 0, n)}
	t.pool.New = func() any { return new(lattice) }
	lowest := math.Inf(1)
	for i, s := range v.Scores {
		if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
			return nil, fmt.Errorf("score of piece %d is not finite", i)
		}
		lowest = min(lowest, float64(s))
		id := int32(i)
		if t.piece(id) != "" && id != v.Unknown && !slices.Contains(v.Special, id) {
			t.sorted = append(t.sorted, id)
		}
	}
	t.unknown = lowest - 10
	if len(t.sorted) == 0 {
		return nil, errors.New("vocabulary has no pieces")
	}
	t.sort()
	for i, id := range t.sorted {
		t.first[int(t.piece(id)[0])+1] = int32(i + 1)
	}
	for c := 1; c < len(t.first); c++ {
		t.first[c] = max(t.first[c], t.first[c-1])
	}
	return t, nil
}

// sort orders the ids by their pieces. Comparing the first bytes as one number
// makes it twice as fast, and it is a good part of the time a model takes to
// open.
func (t *Tokenizer) sort() {
	type entry struct {
		head uint64
		id   int32
	}
	entries := make([]entry, len(t.sorted))
	for i, id := range t.sorted {
		var head [8]byte
		copy(head[:], t.piece(id))
		entries[i] = entry{binary.BigEndian.Uint64(head[:]), id}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if c := cmp.Compare(a.head, b.head); c != 0 {
			return c
		}
		return strings.Compare(t.piece(a.id), t.piece(b.id))
	})
	for i, e := range entries {
		t.sorted[i] = e.id
	}
}

// piece is the text of an id.
func (t *Tokenizer) piece(id int32) string {
	return t.v.Blob[t.v.Offsets[id]:t.v.Offsets[id+1]]
}

// Piece is the text of an id, with "▁" for a space; empty for an id that is not
// in the vocabulary.
func (t *Tokenizer) Piece(id int32) string {
	if id < 0 || int(id) >= len(t.v.Scores) {
		return ""
	}
	return t.piece(id)
}

// Size is the number of ids.
func (t *Tokenizer) Size() int { return len(t.v.Scores) }

// Encode returns the ids of a text between the marks for begin and end, at most
// limit in all (limit ≥ 2). The text must be valid UTF-8.
func (t *Tokenizer) Encode(text string, limit int) []int32 {
	l := t.pool.Get().(*lattice)
	defer t.pool.Put(l)
	out := append(make([]int32, 0, min(limit, len(text)+3)), t.v.Begin)
	word := append(l.word[:0], string(marker)...)
	blank := false // the last normalised character was a space
	start := true
	put := func(r rune) {
		if r == ' ' || r == marker {
			if r == ' ' && blank {
				return
			}
			blank = r == ' '
			if !start && len(out) < limit-1 {
				out = t.word(l, out, word)
			}
			if !start {
				word = append(word[:0], string(marker)...)
			}
			start = false
			return
		}
		blank, start = false, false
		if len(word) < maxWord {
			word = utf8.AppendRune(word, r)
		}
	}
	t.normalise(text, func(r rune) bool {
		put(r)
		return len(out) < limit-1
	})
	if len(out) < limit-1 && !(start && text == "") {
		out = t.word(l, out, word)
	}
	l.word = word
	out = out[:min(len(out), limit-1)]
	return append(out, t.v.End)
}

// normalise feeds the normalised characters of text to yield until it says no.
func (t *Tokenizer) normalise(text string, yield func(rune) bool) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		s, mapped := t.v.Normal[r]
		if c, n := t.cluster(text[i:], r, size, mapped); n > 0 {
			r, size = c, n
			s, mapped = t.v.Normal[r]
		}
		i += size
		if !mapped {
			if !yield(r) {
				return
			}
			continue
		}
		for _, n := range s {
			if !yield(n) {
				return
			}
		}
	}
}

// shortCluster is the length in bytes from which the reference implementation
// looks at the characters of a grapheme cluster one by one.
const shortCluster = 6

// cluster handles what the reference implementation does to short clusters of a
// character and combining marks: the character is taken together with its first
// mark if the two compose, and the other marks are lost. It returns the
// character to go on with and the bytes it stands for, 0 for nothing special.
func (t *Tokenizer) cluster(text string, r rune, size int, mapped bool) (rune, int) {
	if len(text) == size || text[size] < utf8.RuneSelf {
		return 0, 0
	}
	mark, n := utf8.DecodeRuneInString(text[size:])
	if size+n >= shortCluster || mark < 0x300 || unicode.Is(unicode.M, r) {
		return 0, 0
	}
	window := text[:min(len(text), shortCluster+utf8.UTFMax)]
	whole, _, _, _ := uniseg.FirstGraphemeClusterInString(window, -1)
	if len(whole) == size || len(whole) >= shortCluster {
		return 0, 0
	}
	if mapped {
		return r, len(whole)
	}
	both := norm.NFC.String(text[:size+n])
	if c, n := utf8.DecodeRuneInString(both); n == len(both) {
		return c, len(whole)
	}
	return 0, 0
}

// lattice is the working memory of one word.
type lattice struct {
	word []byte
	best []float64 // score of the best split that ends here
	from []int32   // where its last piece begins
	id   []int32   // and which it is
	rev  []int32
}

// word appends the best split of a word.
func (t *Tokenizer) word(l *lattice, out []int32, word []byte) []int32 {
	n := len(word)
	l.best = slices.Grow(l.best[:0], n+1)[:n+1]
	l.from = slices.Grow(l.from[:0], n+1)[:n+1]
	l.id = slices.Grow(l.id[:0], n+1)[:n+1]
	for i := range l.from {
		l.from[i] = -1
	}
	l.best[0], l.from[0] = 0, 0
	for i := 0; i < n; {
		_, size := utf8.DecodeRune(word[i:])
		single := false
		lo, hi := int(t.first[word[i]]), int(t.first[int(word[i])+1])
		for d := 1; lo < hi; d++ {
			if id := t.sorted[lo]; len(t.piece(id)) == d {
				l.reach(i, i+d, l.best[i]+float64(t.v.Scores[id]), id)
				single = single || d == size
			}
			if i+d >= n {
				break
			}
			lo, hi = t.narrow(lo, hi, d, word[i+d])
		}
		if !single {
			l.reach(i, i+size, l.best[i]+t.unknown, t.v.Unknown)
		}
		i += size
	}
	l.rev = l.rev[:0]
	for i := n; i > 0; i = int(l.from[i]) {
		id := l.id[i]
		if id == t.v.Unknown && len(l.rev) > 0 && l.rev[len(l.rev)-1] == id {
			continue // neighbouring unknowns are one
		}
		l.rev = append(l.rev, id)
	}
	for i := len(l.rev) - 1; i >= 0; i-- {
		out = append(out, l.rev[i])
	}
	return out
}

// reach records a split that ends at end if it is the best so far.
func (l *lattice) reach(start, end int, score float64, id int32) {
	if l.from[end] < 0 || score > l.best[end] {
		l.best[end], l.from[end], l.id[end] = score, int32(start), id
	}
}

// narrow returns the part of sorted[lo:hi] whose byte d is c; all of the range
// share their first d bytes.
func (t *Tokenizer) narrow(lo, hi, d int, c byte) (int, int) {
	at := func(i int) int {
		if p := t.piece(t.sorted[i]); len(p) > d {
			return int(p[d])
		}
		return -1
	}
	if at(lo) == int(c) && at(hi-1) == int(c) {
		return lo, hi
	}
	return bound(lo, hi, int(c), at), bound(lo, hi, int(c)+1, at)
}

// bound is the first i in [lo, hi) with at(i) >= c, hi if there is none.
func bound(lo, hi, c int, at func(int) int) int {
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if at(mid) < c {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
