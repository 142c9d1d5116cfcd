package extract

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"evoke/scoring"
	"evoke/store"
)

// Statement is what decides whether two statements are the same.
type Statement struct {
	Kind    store.Kind
	Content string
	Speaker string // "" and "user" are the same speaker
	About   string // the person spoken of when that is not the speaker; "" the speaker, or unknown
}

// StatementOf is the statement that an item makes.
func StatementOf(it *store.Item) Statement {
	s := Statement{Kind: it.Kind, Content: it.Content, Speaker: it.Turn.Speaker}
	if rest, ok := strings.CutPrefix(it.Provenance.Subject, aboutPrefix); ok {
		s.About, _, _ = strings.Cut(rest, ":")
	}
	return s
}

// Sameness is how two statements are the same; a greater one is surer.
type Sameness int

// The degrees of sameness.
const (
	Different Sameness = iota
	Alike              // the same words, one phrase of them moved
	Reworded           // equal but for function words, trivial inflection and a few synonyms
	Equal              // equal but for case, width, punctuation and spacing
)

// alikeThreshold is the least lexical similarity of statements that are the same with one phrase moved.
const alikeThreshold = 0.85

// Form is a statement prepared for comparison. It is immutable and safe for concurrent use.
type Form struct {
	kind           store.Kind
	speaker, about string
	key            string // exact
	words          []string
	han            bool // the words are Chinese
	doc            scoring.Doc
}

// NewForm prepares a statement.
func NewForm(s Statement) Form {
	f := Form{
		kind: s.Kind, key: store.ContentKey(s.Kind, s.Content),
		speaker: speakerOf(s.Speaker), about: strings.ReplaceAll(store.FoldText(s.About), " ", "_"),
	}
	f.words, f.han = normalWords(s.Content)
	if len(f.words) > 0 {
		f.doc = scoring.NewDoc("", strings.Join(f.words, " "), time.Time{})
	}
	return f
}

// speakerOf is the form in which speakers are compared: "" and "user" are the same one.
func speakerOf(speaker string) string {
	if s := store.FoldText(speaker); s != "user" {
		return s
	}
	return ""
}

// Same tells how two statements are the same. It errs on the side of Different: a statement kept twice costs a place, one
// merged wrongly is lost. Whatever the words, the kind, the speaker and the person spoken of agree; and so do, since
// every word with a meaning of its own does, the numbers, dates, negations and names.
func (f *Form) Same(g *Form) Sameness {
	switch {
	case f.kind != g.kind || f.about != g.about:
		return Different
	case f.key == g.key && (f.speaker == g.speaker || f.speaker == "" || g.speaker == ""):
		return Equal
	case f.speaker != g.speaker || len(f.words) == 0 || len(g.words) == 0:
		return Different
	case slices.Equal(f.words, g.words):
		return Reworded
	case f.doc.Guard == g.doc.Guard && rotated(f.words, g.words) && scoring.Similarity(&f.doc, &g.doc) >= alikeThreshold:
		return Alike
	}
	return Different
}

// minRotated is how many words both need for the move of a phrase to leave their meaning alone.
const minRotated = 4

// rotated reports whether b is a with its beginning moved to its end: "every morning the user runs". Two words that
// changed places are not ("Ann taught Ben").
func rotated(a, b []string) bool {
	if len(a) != len(b) || len(a) < minRotated {
		return false
	}
	for i := 1; i < len(a); i++ {
		if slices.Equal(a[i:], b[:len(a)-i]) && slices.Equal(a[:i], b[len(a)-i:]) && movable(a[:i], a[i:]) {
			return true
		}
	}
	return false
}

// movable: one of two phrases that changed places says when or where, the other begins with who it is about.
func movable(a, b []string) bool {
	return adverbial[a[0]] && b[0] == "me" || adverbial[b[0]] && a[0] == "me"
}

// normalWords reduces a text to the words that carry its meaning, in order, in a canonical form, and tells whether they
// are Chinese.
func normalWords(text string) (words []string, chinese bool) {
	if strings.IndexFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) >= 0 {
		if strings.IndexFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) }) >= 0 {
			return nil, false // Japanese: its grammar is not among ours
		}
		return chineseWords(text), true
	}
	return englishWords(text), false
}
