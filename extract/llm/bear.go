package llm

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"evoke/scoring"
	"evoke/store"
)

// sources are the words and numbers of what a model was shown: of these its own texts may be made.
type sources struct {
	words, numbers map[string]bool
	years          map[string]bool // that "last year" and the like can mean
}

// said are the sources of a call: all that it showed.
func (r *run) said(before []unit, known []*store.Item, units []unit) *sources {
	s := &sources{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	s.meant(r.now())
	for _, u := range slices.Concat(before, units) {
		s.add(u.text)
		s.add(u.item.Turn.Speaker)
		s.meant(u.item.ValidFrom)
	}
	for _, it := range known {
		s.add(it.Content)
	}
	for _, p := range r.profile.sections {
		s.add(p.content)
	}
	return s
}

func (s *sources) add(text string) {
	for _, w := range scoring.Tokens(text) {
		s.words[w] = true
	}
	for _, n := range slices.Concat(numbersIn(text), spelled(text)) {
		s.numbers[n] = true
	}
}

// bears reports whether a text is made of what was shown: all of its numbers, and of its other words a third. A model
// that puts things in its own words keeps the names and most of the nouns; one that invents keeps neither.
func (s *sources) bears(text string) bool {
	const share = 3
	found, lacking := s.weigh(text)
	return s.isCounted(text) && found*share >= found+lacking
}

// allows reports whether a statement can be one of what was shown: its numbers are, and it shares a word, or is so short
// that it may say the same in others.
func (s *sources) allows(statement string) bool {
	const own = 3
	found, lacking := s.weigh(statement)
	return s.isCounted(statement) && (found > 0 || lacking < own)
}

// weigh counts the words of a text that were shown and those that were not. A pair of characters, of which each is in two
// such pairs, is half a word.
func (s *sources) weigh(text string) (found, lacking float64) {
	for _, w := range scoring.Tokens(text) {
		weight := 1.0
		if r, _ := utf8.DecodeRuneInString(w); unicode.Is(unicode.Han, r) {
			weight = 0.5
		}
		switch {
		case s.words[w]:
			found += weight
		case w != "user" && w != "用户" && w != "用戶":
			lacking += weight
		}
	}
	return found, lacking
}
