package lifecycle

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"evoke/scoring"
)

// Holds reports whether a summary stands for a text: it has HeldShare of its content words or more, every number and name of
// it, and says nothing of it with a negation more or less.
func Holds(summary, text string) bool {
	have, want := newHolder(summary), newHolder(text)
	return have.holds(&want)
}

// holder is a text prepared for that.
type holder struct {
	terms     []scoring.TermFreq
	values    []scoring.Term // of its numbers and names
	sentences []heldSentence
}

type heldSentence struct {
	terms   []scoring.TermFreq
	negated bool
}

func newHolder(text string) holder {
	h := holder{terms: scoring.Terms(text)}
	for _, s := range scoring.Sentences(text) {
		if t := scoring.Terms(s); len(t) >= leastSaid {
			h.sentences = append(h.sentences, heldSentence{t, negated(s)})
		}
		h.values = append(h.values, valuesOf(s)...)
	}
	return h
}

// leastSaid is how many content words a sentence needs for its negation to count: "not at all" denies nothing of itself.
const leastSaid = 2

// sameSaid is how much of a sentence's content words another has at the least that says the same, or the opposite.
const sameSaid = 0.8

func (h *holder) holds(want *holder) bool {
	return heldBy(h.terms, want.terms) >= HeldShare && h.holdsValues(want)
}

// holdsValues reports whether every number and name of a text is in h, and nothing of it with a negation more or less.
func (h *holder) holdsValues(want *holder) bool {
	for _, v := range want.values {
		if !slices.ContainsFunc(h.terms, func(f scoring.TermFreq) bool { return f.Term == v }) {
			return false
		}
	}
	return !slices.ContainsFunc(want.sentences, func(s heldSentence) bool { return !h.sides(&s) })
}

// sides reports whether h says a sentence as it is: what is not said at all is left to the share of words, unless it is
// a negation.
func (h *holder) sides(s *heldSentence) bool {
	same, opposite := false, false
	for i := range h.sentences {
		o := &h.sentences[i]
		switch shared := heldBy(o.terms, s.terms); {
		case o.negated == s.negated && (shared >= sameSaid || s.negated && shared >= HeldShare):
			same = true
		case o.negated != s.negated && shared >= sameSaid && len(o.terms) <= len(s.terms)*3/2+2: // a longer one denies something else
			opposite = true
		}
	}
	return same || !opposite && !s.negated
}

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

var denials = wordSet(`not no never none nobody nothing neither nor cannot without
	nicht kein keine keinen keiner keinem nie niemals ohne pas jamais nunca sem non senza nao não niet geen nooit inte aldrig ikke не нет никогда без`)

func negated(s string) bool {
	if strings.ContainsAny(s, "不没沒未않") || strings.Contains(s, "ない") || strings.Contains(s, "ません") {
		return true
	}
	s = strings.ReplaceAll(strings.ToLower(s), "non-", "non") // an English prefix denies nothing of the sentence
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		if denials[w] || strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t") {
			return true
		}
	}
	return false
}

// greetings stand before a name that is but called.
var greetings = wordSet(`hey hi hello thanks thank you wow oh yeah yes bye sorry congrats congratulations absolutely totally`)

// valuesOf are the terms of a sentence's numbers and names; a name is a word with a capital that does not begin the sentence.
func valuesOf(s string) []scoring.Term {
	var out []scoring.Term
	last := ""
	for i, field := range strings.Fields(s) {
		w := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		r, size := utf8.DecodeRuneInString(w)
		name := i > 0 && unicode.IsUpper(r) && size < len(w) && !strings.HasPrefix(w, "I'") && !strings.HasPrefix(w, "I’") && !greetings[last]
		last = strings.ToLower(w)
		if name {
			out = append(out, termsOf(w)...)
			continue
		}
		for _, n := range strings.FieldsFunc(w, func(r rune) bool { return !unicode.IsDigit(r) && r != ',' && r != '.' }) {
			out = append(out, termsOf(n)...)
		}
	}
	return out
}

func termsOf(w string) []scoring.Term {
	var out []scoring.Term
	for _, f := range scoring.Terms(w) {
		out = append(out, f.Term)
	}
	return out
}
