package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"evoke/store"
)

// grounding finds quotes in one turn. A quote counts whatever its case, width, spacing and punctuation; what is
// returned is the turn's own text.
type grounding struct {
	text   string
	folded string // store.FoldText of text
	from   []int  // for each byte of folded: where in text its character begins
	to     []int  // and ends
}

func newGrounding(text string) *grounding {
	g := &grounding{text: text, folded: store.FoldText(text)}
	g.from, g.to = make([]int, len(g.folded)), make([]int, len(g.folded))
	g.align()
	return g
}

// align walks both texts side by side: the folded one is the normalised one with some characters left out and blanks
// put in, so that each of its characters is the next equal one there.
func (g *grounding) align() {
	var it norm.Iter
	it.InitString(norm.NFKC, g.text)
	at, last := 0, 0 // in folded; end of the source read so far
	for !it.Done() && at < len(g.folded) {
		begin := it.Pos()
		piece := strings.ToLower(string(it.Next()))
		end := it.Pos()
		for _, r := range piece {
			for at < len(g.folded) && g.folded[at] == ' ' && r != ' ' {
				g.from[at], g.to[at] = last, begin
				at++
			}
			if at >= len(g.folded) {
				return
			}
			if want, n := utf8.DecodeRuneInString(g.folded[at:]); want == r {
				for i := range n {
					g.from[at+i], g.to[at+i] = begin, end
				}
				at += n
				last = end
			}
		}
	}
}

// find returns the span of the turn that a quote is, or "".
func (g *grounding) find(quote string) string {
	want := store.FoldText(quote)
	if want == "" {
		return "" // a full stop is in every turn
	}
	if q := strings.TrimSpace(quote); index(g.text, q) >= 0 {
		return q
	}
	i := index(g.folded, want)
	if i < 0 {
		return ""
	}
	from, to := g.from[i], g.to[i+len(want)-1]
	if from >= to || to > len(g.text) {
		return ""
	}
	span := strings.TrimSpace(g.text[from:to])
	if !strings.Contains(store.FoldText(span), want) {
		return ""
	}
	return span
}

// carries reports whether a span is enough for a statement to rest on: more than a pronoun, unless the turn says no more.
func (g *grounding) carries(span string) bool {
	const least = 3
	folded := store.FoldText(span)
	n := 0
	for _, r := range folded {
		switch {
		case r == ' ':
		case unicode.IsDigit(r), !isSpelled(r): // a Chinese character says as much as a short word
			n += 2
		default:
			n++
		}
	}
	return n >= least || n == 2 && strings.ContainsFunc(folded, unicode.IsDigit) || folded == g.folded
}

// index is where a quote stands in a text, not within a word: "art" is not in "party".
func index(text, quote string) int {
	for from := 0; from < len(text); {
		i := strings.Index(text[from:], quote)
		if i < 0 {
			return -1
		}
		i += from
		if isEdge(text[:i], quote) && isEdge(text[:i+len(quote)], text[i+len(quote):]) {
			return i
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		from = i + n
	}
	return -1
}

// isEdge reports whether a word can end at the end of before and another begin at the beginning of after.
func isEdge(before, after string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	return before == "" || after == "" || !isSpelled(a) || !isSpelled(b)
}

// isSpelled reports whether a character is of a script that puts blanks between words.
func isSpelled(r rune) bool {
	return unicode.IsDigit(r) || unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Georgian, unicode.Hebrew, unicode.Arabic, unicode.Devanagari)
}
