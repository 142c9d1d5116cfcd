package llm

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"evoke/scoring"
	"evoke/store"
)

// sources are the words and numbers of what a model was shown: of these its own texts may be made.
type sources struct {
	words, numbers map[string]bool
	years          map[string]bool // that "last year" and the like can mean
	told           map[string]bool // of numbers, those of the turns: a statement may not have its from what is known already
}

// said are the sources of a call: all that it showed.
func (r *run) said(before []unit, known []*store.Item, units []unit) *sources {
	s := &sources{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	s.meant(r.now())
	for _, u := range slices.Concat(before, units) {
		s.add(u.text)
		s.add(u.item.Turn.Speaker)
		s.meant(u.item.ValidFrom)
	}
	maps.Copy(s.told, s.numbers)
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

// allows reports whether a statement can be one of what was shown: its numbers are in the turns, or in the known item that it
// is about, and it shares words that say something, or is so short that it may say the same in others. One that names whom or
// what nobody named must share as much as it adds.
func (s *sources) allows(statement, about string) bool {
	const own = 3
	told := *s
	told.numbers = s.told
	if about != "" {
		told.numbers = maps.Clone(s.told)
		for _, n := range slices.Concat(numbersIn(about), spelled(about)) {
			told.numbers[n] = true
		}
	}
	if !told.isCounted(statement) {
		return false
	}
	statement = s.abbreviated(statement)
	shared, lacking := s.sharing(statement)
	if s.namesShown(statement) {
		return shared > 0 || lacking < own
	}
	return shared > 0 && shared*2 >= lacking
}

// sharing weighs the words of a statement that were shown and say something by themselves, and those that were not shown.
func (s *sources) sharing(statement string) (shared, lacking float64) {
	_, lacking = s.weigh(statement)
	for _, w := range scoring.Tokens(statement) {
		if s.words[w] && !sayingLittle[w] {
			shared++
		}
	}
	return shared, lacking
}

// sayingLittle are words that any two statements may share, as they are counted.
var sayingLittle = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range scoring.Tokens(`user like likes liked live lives lived work works worked have has had want wants use uses used go goes need needs prefer prefers
		love loves name names called always often usually every new own owns get gets got make makes do does 用户 喜欢 住在 工作 觉得 想要 需要 经常 使用 有`) {
		set[w] = true
	}
	return set
}()

// abbreviated puts an abbreviation which was shown in place of the name that it stands for: "nyc" of "New York City".
func (s *sources) abbreviated(text string) string {
	return capitals.ReplaceAllStringFunc(text, func(name string) string {
		initials := ""
		for _, w := range strings.Fields(name) {
			initials += strings.ToLower(w[:1])
		}
		for _, short := range scoring.Tokens(initials) {
			if s.words[short] {
				return initials
			}
		}
		return name
	})
}

var capitals = regexp.MustCompile(`[A-Z][a-z]+(?: [A-Z][a-z]+)+`)

// concerns reports whether what a turn says can be about a known item: they share a word that says something, or the turn
// takes back or changes what it does not name ("scrap that"). In another script nothing can be told.
func concerns(said, known string) bool {
	if isHan(said) != isHan(known) || changes.MatchString(said) {
		return true
	}
	words := map[string]bool{}
	for _, w := range scoring.Tokens(said) {
		words[w] = true
	}
	for _, w := range scoring.Tokens(known) {
		if words[w] && !sayingLittle[w] {
			return true
		}
	}
	return false
}

func isHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// changes are words by which somebody takes back or changes what was said before.
var changes = regexp.MustCompile(`(?i)\b(?:not?|never|nothing|none|forget|scrap|wrong|mistake\w*|cancel\w*|stop\w*|quit|gave up|give up|any ?more|no longer|instead|actually|correct\w*|` +
	`chang\w*|switch\w*|mov(?:e|ed|ing)|now|used to|former\w*|sold|left|lost|broke\w*|died|over|done|finished|ended|drop\w*|remov\w*|delet\w*|ignore|new|became|turned|since|replac\w*|rather|but|sorry|again|back|ex|since|got)\b|n['’]t\b` +
	`|[不没别勿忘错改换停丢卖]|取消|算了|撤回|以前|现在|已经|其实|而是|结束|完成|分手|去世|新`)

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
