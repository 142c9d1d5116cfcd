package scoring

import (
	"strings"

	snowball "github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

type wordSet map[string]struct{}

func (s wordSet) has(w string) bool {
	_, ok := s[w]
	return ok
}

func set(words string) wordSet {
	s := wordSet{}
	for _, w := range strings.Fields(words) {
		s[w] = struct{}{}
	}
	return s
}

// blanked makes a blank of each of the words, the first that fits.
func blanked(words string) *strings.Replacer {
	var pairs []string
	for _, w := range strings.Fields(fold(words)) {
		pairs = append(pairs, w, " ")
	}
	return strings.NewReplacer(pairs...)
}

// stemmers are the Latin-script languages besides English.
var stemmers = [...]struct {
	stem func(*snowball.Env) bool
	stop wordSet
}{
	{german.Stem, germanStop},
	{french.Stem, frenchStop},
	{spanish.Stem, spanishStop},
	{italian.Stem, italianStop},
	{portuguese.Stem, portugueseStop},
	{dutch.Stem, dutchStop},
	{swedish.Stem, swedishStop},
	{danish.Stem, danishStop},
	{norwegian.Stem, norwegianStop},
}

// language is the outcome of a vote.
type language struct {
	stem func(*snowball.Env) bool
	stop wordSet
	drop bool // sure enough to drop the language's function words
}

func (l *language) stemWord(w string) string {
	return stemWith(l.stem, w)
}

// maxVoters bounds the words a vote reads: the first few hundred tell the language of any text.
const maxVoters = 400

// vote names the language of the Latin words when their function words leave no doubt, nil meaning English. A language
// wins with more function words than English and than any other language; one is enough in a text that has no English
// one, but words are dropped only on two. Single letters do not vote.
func vote(words []run) *language {
	var hits [len(stemmers)]int
	en, voters := 0, 0
	for _, w := range words {
		if w.class != classWord || len(w.text) < 2 || w.text[0] >= '0' && w.text[0] <= '9' {
			continue
		}
		if voters++; voters > maxVoters {
			break
		}
		plain := foldAccents(w.text)
		if englishStop.has(plain) {
			en++
			continue
		}
		if ambiguousStop.has(plain) {
			continue
		}
		for i := range stemmers {
			if stemmers[i].stop.has(plain) {
				hits[i]++
			}
		}
	}
	best, second := -1, 0
	for i, n := range hits {
		if n == 0 {
			continue
		}
		if best < 0 || n > hits[best] {
			if best >= 0 {
				second = hits[best]
			}
			best = i
		} else {
			second = max(second, n)
		}
	}
	if best < 0 || hits[best] <= en || hits[best] == second && hits[best] < 2 {
		return nil
	}
	return &language{stemmers[best].stem, stemmers[best].stop, hits[best] >= 2}
}

func englishStem(w string) string { return stemWith(english.Stem, w) }
func russianStem(w string) string { return stemWith(russian.Stem, w) }
func arabicStem(w string) string  { return stemWith(arabic.Stem, w) }

// stemWith falls back to the word itself where a stemmer leaves nothing.
func stemWith(stem func(*snowball.Env) bool, w string) string {
	env := snowball.NewEnv(w)
	stem(env)
	if s := env.Current(); s != "" {
		return s
	}
	return w
}
