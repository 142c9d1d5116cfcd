package contradict

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"evoke/scoring"
)

// value is what kind of value a word of a sentence is: what may differ between two sentences that say the same of one thing.
type value uint8

const (
	noValue value = iota
	nameValue
	numberValue
	dateValue
)

// frameWord is a word of a sentence: its stem, and what may stand in its place.
type frameWord struct {
	stem, text string
	value      value
	content    bool // no function word
}

// frame is a sentence in an alphabetic script as words in order, without fillers and negations, which are counted.
type frame struct {
	words   []frameWord
	negated bool // an odd number of times
}

// longestFrame bounds the words of a sentence that are compared.
const longestFrame = 60

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// monthNames are the months but May, which is a verb as well.
const monthNames = `january february march april june july august september october november december`

var (
	fillers = words(`a an the now actually really currently still just already also so very about around roughly exactly well oh yes yeah nowadays
		presently sadly luckily any anymore too then but and ever`)
	negations   = words(`not no never none nobody nothing neither nor cannot hardly`)
	auxiliaries = words(`do does did`)
	vague       = words(`it this that these those some`)
	joints      = words(`in at to from with by near on of for until since into onto called named than as`)
	// states are verbs of what holds for long, of which one value holds at a time.
	states = words(`is are was were am be been being has have had live lives lived work works worked study studies studied cost costs weigh weighs weighed
		born called named belongs belong measures measure stay stays means speaks speak`)
	verbs = words(`will would can could should shall may might must begin begins began start starts open opens close closes end ends come comes came go
		goes went get gets got give gives gave take takes took make makes made buy buys bought sell sells sold pay pays paid eat eats ate drink drinks drank drive drives drove
		run runs ran meet meets met marry marries see sees saw know knows knew love loves like likes hate hates prefer prefers want wants need needs plan plans play plays
		teach teaches taught learn learns read reads write writes wrote fly flies flew leave leaves left lose loses lost find finds found keep keeps kept hold holds held
		stand stands stood move moves grow grows grew lead leads led happen happens last lasts arrive arrives visit visits return returns own owns owe owes spend
		spends spent use uses said says told slept sleeps departs leaves sits sat won wins bring brings brought`)
	numerals = words(`one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
		twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million dozen first second third fourth fifth half twice once`)
	months    = words(monthNames + ` may`)
	dateWords = words(monthNames + ` jan feb mar apr jun jul aug sep sept oct nov dec
		monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow tonight spring summer autumn winter morning afternoon evening`)
)

// frameOf prepares a sentence.
func frameOf(sentence string) frame {
	var f frame
	s := strings.NewReplacer("’", "'", "can't", "can not", "won't", "will not", "n't", " not", "without", "with not", "no longer", "not").Replace(sentence)
	fields := strings.Fields(s)
	for i, raw := range fields[:min(len(fields), longestFrame)] {
		w := strings.TrimFunc(raw, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		low := strings.ToLower(w)
		switch {
		case low == "" || fillers[low]:
			continue
		case negations[low]:
			f.negated = !f.negated
			continue
		case auxiliaries[low] && i+1 < len(fields) && negations[strings.ToLower(fields[i+1])]:
			continue
		}
		x := frameWord{stem: low, text: low}
		if t := scoring.Tokens(w); len(t) > 0 {
			x.stem, x.content = strings.Join(t, "-"), true
		}
		x.value = valueOf(w, low, len(f.words) == 0)
		f.words = append(f.words, x)
	}
	for i := range f.words { // a number beside a month is a day, a year is a date
		w := &f.words[i]
		if w.text == "may" && i > 0 && (joints[f.words[i-1].text] || f.words[i-1].value == numberValue) {
			w.value = dateValue
		}
		if w.value == numberValue && (year.MatchString(w.text) || i > 0 && months[f.words[i-1].text] || i+1 < len(f.words) && months[f.words[i+1].text]) {
			w.value = dateValue
		}
	}
	return f
}

var year = regexp.MustCompile(`^(?:19|20)\d\d$`)

func valueOf(w, low string, first bool) value {
	r := []rune(w)
	switch {
	case dateWords[low]:
		return dateValue
	case strings.ContainsFunc(w, unicode.IsDigit), numerals[low]:
		return numberValue
	case !first && len(r) > 1 && unicode.IsUpper(r[0]) && !strings.HasPrefix(w, "I'"):
		return nameValue
	}
	return noValue
}

func isVerb(w *frameWord) bool {
	return states[w.text] || verbs[w.text] || w.value == noValue && len(w.text) > 4 && strings.HasSuffix(w.text, "ed")
}

// gap is where two frames differ: from words a0 to a1 of the one and b0 to b1 of the other.
type gap struct{ a0, a1, b0, b1 int }

// compareFrames aligns two sentences by their stems and judges by what differs: what stands before the first differing value
// is what they speak of, and has to be the same; a number, a name, a date in the place of another, or a negation more, and
// nothing else, is another value of it.
func compareFrames(a, b *frame) verdict {
	gaps, shared := align(a.words, b.words)
	if len(gaps) == 0 {
		if a.negated != b.negated && shared >= 1 {
			return contrary
		}
		return compatible
	}
	firstValue, numbers, others, names, dates := -1, 0, 0, 0, 0
	for i, g := range gaps {
		v := kindOfGap(a.words, b.words, g)
		switch v {
		case noValue:
			others++
			if firstValue < 0 {
				return unknownUnlessSubject(a.words, b.words, g)
			}
			continue
		case numberValue:
			numbers++
		case nameValue:
			names++
		case dateValue:
			dates++
		}
		if firstValue < 0 {
			firstValue = i
		}
	}
	if a.negated != b.negated || names+dates > 0 && numbers+names+dates > 1 {
		return compatible
	}
	g := gaps[firstValue]
	prefix := a.words[:g.a0]
	if len(prefix) > 0 && vague[prefix[0].text] {
		return compatible
	}
	verb, state := false, false
	for i := range prefix {
		verb = verb || isVerb(&prefix[i])
		state = state || states[prefix[i].text]
	}
	verb = verb || len(prefix) == 2 && pronouns[prefix[0].text]
	if !verb && (names > 0 || numbers > 0 && len(prefix) > 0 && prefix[len(prefix)-1].content || dates > 0 && len(prefix) > 0) {
		return compatible // the name, or number, of what they speak of
	}
	switch {
	case shared >= 2 && others == 0, shared >= 1 && state && others == 0:
		return contrary
	case state && names == 1 && shared >= 2:
		return contrary
	case numbers > 0 && gaps[firstValue].a1 < len(a.words) && firstValue+1 < len(gaps) && gaps[firstValue+1].a0 == g.a1:
		return compatible
	}
	return unknown
}

var pronouns = words(`i we he she they you`)

// unknownUnlessSubject judges a gap without a value that comes before any with one: words in the place of others are another
// subject or another deed, words added may be the same at more length.
func unknownUnlessSubject(a, b []frameWord, g gap) verdict {
	has := func(ws []frameWord) bool { return slices.ContainsFunc(ws, func(w frameWord) bool { return w.content }) }
	if has(a[g.a0:g.a1]) && has(b[g.b0:g.b1]) || g.a0 == 0 && g.b0 == 0 {
		return compatible
	}
	return unknown
}

// kindOfGap is the kind of the value that stands in the place of another in a gap.
func kindOfGap(a, b []frameWord, g gap) value {
	x, y := kindOf(a[g.a0:g.a1]), kindOf(b[g.b0:g.b1])
	if x == noValue && y == noValue && g.a0 > 1 && g.a1 == g.a0+1 && g.b1 == g.b0+1 { // names in small letters
		p, q := a[g.a0-1].text, a[g.a0-2].text
		if p == "named" || p == "called" || p == "in" && (strings.HasPrefix(q, "live") || q == "born" || strings.HasPrefix(q, "work")) {
			return nameValue
		}
	}
	if x == noValue || y == noValue {
		return noValue
	}
	return max(x, y)
}

func kindOf(ws []frameWord) value {
	most := noValue
	for i := range ws {
		if ws[i].value == noValue {
			return noValue
		}
		most = max(most, ws[i].value)
	}
	return most
}

// align finds the longest common subsequence of two sentences' stems; shared counts its content words.
func align(a, b []frameWord) (gaps []gap, shared int) {
	n := make([][]int, len(a)+1)
	for i := range n {
		n[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if n[i][j] = max(n[i+1][j], n[i][j+1]); a[i].stem == b[j].stem {
				n[i][j] = n[i+1][j+1] + 1
			}
		}
	}
	i, j, i0, j0 := 0, 0, 0, 0
	cut := func() {
		if i > i0 || j > j0 {
			gaps = append(gaps, gap{i0, i, j0, j})
		}
	}
	for i < len(a) && j < len(b) {
		switch {
		case a[i].stem == b[j].stem:
			cut()
			if a[i].content {
				shared++
			}
			i, j = i+1, j+1
			i0, j0 = i, j
		case n[i+1][j] >= n[i][j+1]:
			i++
		default:
			j++
		}
	}
	i, j = len(a), len(b)
	cut()
	return gaps, shared
}
