package scoring

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// AnalyzerVersion names the analyzer's output. Terms made by different versions must not be compared.
const AnalyzerVersion = 2

// maxWordRunes bounds one token; longer words (base64, addresses) keep this many characters and are not stemmed.
const maxWordRunes = 64

// maxNumberDigits bounds the numbers whose commas are taken for groups of thousands.
const maxNumberDigits = 15

// Tokens analyses text: NFKC, lower case, accents folded on Latin and Greek words, stop words dropped, Snowball stems,
// numbers without leading zeros ("2023-05-08" gives 2023 5 8, "8th" gives 8, "1,200" gives 1200), "c++" and "c#" kept
// whole, character bigrams over Han, kana and Hangul (those with a Chinese function character or of Japanese grammar
// dropped), bigrams of letter clusters in Thai, Lao, Khmer and Burmese (Thai pronouns and question words dropped), each
// emoji a token whatever its skin tone or gender.
//
// A word always gives the same first token, whatever stands around it: Latin words the English stem, Cyrillic words the
// Russian one, Arabic words the Arabic one. A Latin text that its function words show to be German, French, Spanish,
// Italian, Portuguese, Dutch, Swedish, Danish or Norwegian gives that language's stem as a further token where it
// differs, and loses that language's function words. So a short query without any function word still meets a long text.
func Tokens(text string) []string {
	words := segment(text)
	if len(words) == 0 {
		return nil
	}
	return emit(words, vote(words))
}

// run is a maximal stretch of one class, lower-cased and composed.
type run struct {
	text  string
	class class
	glued string // what followed directly: "++" or "#"
}

// segment splits text into runs.
func segment(text string) []run {
	s := fold(text)
	var out []run
	var b strings.Builder
	cur, last := classNone, rune(0)
	n := 0
	flush := func() {
		if n > 0 {
			out = append(out, run{text: b.String(), class: cur})
			b.Reset()
		}
		cur, n = classNone, 0
	}
	for i, r := range s {
		c := classOf(r)
		switch c {
		case classIgnore:
			continue
		case classMark:
			if n == 0 || cur == classEmoji {
				continue
			}
			c = cur
		case classNone:
			if cur == classWord && r == ',' && thousands(s, i, b.String()) {
				continue
			}
			had := n > 0
			flush()
			if had && out[len(out)-1].class == classWord {
				out[len(out)-1].glued = glued(s[i:])
			}
			continue
		case classWord:
			if r >= 0x80 {
				r = asciiDigit(r)
			}
		default: // the other classes are taken as they come
		}
		// ー continues hiragana as well as katakana.
		if c == classKatakana && cur == classHiragana && r == 0x30FC {
			c = cur
		}
		if c != cur || c == classEmoji && !(n == 1 && flagLetter(r) && flagLetter(last)) {
			flush()
			cur = c
		}
		b.WriteRune(r)
		last = r
		n++
	}
	flush()
	return out
}

// fold repairs, composes and lower-cases text.
func fold(text string) string {
	ascii := true
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToLower(text)
	}
	return strings.Map(unicode.ToLower, norm.NFKC.String(strings.ToValidUTF8(text, " ")))
}

// thousands reports whether the comma at s[i] groups the digits of one number ("1,200"): one to three digits stand before
// the first comma, three before a later one, and three and no more follow. before is the number so far, without commas.
func thousands(s string, i int, before string) bool {
	if len(before) > maxNumberDigits || !digits(before) || before[0] == '0' {
		return false
	}
	group := 0
	for group < i && s[i-1-group] >= '0' && s[i-1-group] <= '9' {
		group++
	}
	if group > 3 || group == 0 || group < 3 && group != len(before) {
		return false
	}
	if len(s) < i+4 || !digits(s[i+1:i+4]) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i+4:])
	return len(s) == i+4 || classOf(r) != classWord
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// glued returns the "++" or "#" that names a programming language when it follows a word directly and ends there.
func glued(s string) string {
	for _, g := range [...]string{"++", "#"} {
		if rest, ok := strings.CutPrefix(s, g); ok {
			r, _ := utf8.DecodeRuneInString(rest)
			if rest == "" || classOf(r) == classNone && r != '#' && r != '+' {
				return g
			}
		}
	}
	return ""
}

// emit turns runs into tokens, lang being the voted language of the Latin words.
func emit(words []run, lang *language) []string {
	out := make([]string, 0, len(words)+len(words)/4)
	for _, w := range words {
		switch w.class {
		case classWord:
			out = appendWord(out, w, lang)
		case classHan:
			out = appendBigrams(out, w.text, true, functionBigram)
		case classHangul, classKatakana:
			out = appendBigrams(out, w.text, true, nil)
		case classHiragana:
			out = appendBigrams(out, w.text, false, kanaStop.has)
		case classCluster:
			for _, part := range strings.Fields(thaiStop.Replace(w.text)) {
				out = appendClusters(out, part)
			}
		case classEmoji:
			out = append(out, w.text)
		default: // the rest makes no run
		}
	}
	return out
}

func appendWord(out []string, w run, lang *language) []string {
	first, _ := utf8.DecodeRuneInString(w.text)
	if w.glued != "" && len(w.text) <= 2 {
		return append(out, w.text+w.glued)
	}
	if len(w.text) > maxWordRunes && utf8.RuneCountInString(w.text) > maxWordRunes {
		return append(out, foldAccents(firstRunes(w.text, maxWordRunes)))
	}
	if first >= '0' && first <= '9' {
		return append(out, number(w.text))
	}
	switch {
	case first < 0x0250 || first >= 0x1E00 && first < 0x1F00: // Latin
		plain := foldAccents(w.text)
		if englishStop.has(plain) {
			return out
		}
		if lang != nil && lang.drop && lang.stop.has(plain) {
			return out
		}
		base := englishStem(plain)
		out = append(out, base)
		if lang != nil {
			if s := foldAccents(lang.stemWord(w.text)); s != base {
				out = append(out, s)
			}
		}
		return out
	case unicode.Is(unicode.Cyrillic, first):
		plain := strings.ReplaceAll(stripMarks(w.text), "ё", "е")
		if russianStop.has(plain) {
			return out
		}
		return append(out, russianStem(plain))
	case unicode.In(first, unicode.Arabic, unicode.Hebrew):
		plain := stripMarks(w.text)
		if arabicStop.has(plain) {
			return out
		}
		if unicode.Is(unicode.Arabic, first) {
			plain = arabicStem(plain)
		}
		return append(out, plain)
	case unicode.Is(unicode.Greek, first):
		return append(out, strings.ReplaceAll(foldAccents(w.text), "ς", "σ"))
	}
	return append(out, w.text)
}

// number drops leading zeros, and the suffix of an ordinal: 05, 5th and 5 are the same token.
func number(w string) string {
	d := 0
	for d < len(w) && w[d] >= '0' && w[d] <= '9' {
		d++
	}
	switch w[d:] {
	case "", "st", "nd", "rd", "th":
		w = strings.TrimLeft(w[:d], "0")
		if w == "" {
			return "0"
		}
	}
	return foldAccents(w)
}

// appendBigrams gives the pairs of neighbouring characters of s less those that stop names; a lone character only if keepLone.
func appendBigrams(out []string, s string, keepLone bool, stop func(string) bool) []string {
	prev, n := 0, 0
	add := func(bigram string) {
		if stop == nil || !stop(bigram) {
			out = append(out, bigram)
		}
	}
	for i := range s {
		if n >= 2 {
			add(s[prev:i])
			_, size := utf8.DecodeRuneInString(s[prev:])
			prev += size
		}
		n++
	}
	if n >= 2 || n == 1 && keepLone {
		add(s[prev:])
	}
	return out
}

// functionBigram reports whether a bigram (or a lone character) of Han holds a function character and is none of the
// words that are written with one.
func functionBigram(bigram string) bool {
	return strings.ContainsAny(bigram, hanFunction) && !hanContent.has(bigram)
}

// appendClusters gives bigrams over letters taken together with the marks that follow them.
func appendClusters(out []string, s string) []string {
	prev, last, n := 0, 0, 0
	for i, r := range s {
		if unicode.Is(unicode.M, r) && n > 0 {
			continue
		}
		if n >= 2 {
			out = append(out, s[prev:i])
			prev = last
		}
		last = i
		n++
	}
	if n == 0 {
		return out
	}
	return append(out, s[prev:])
}

// foldAccents strips combining marks and spells out the Latin letters that have no decomposition.
func foldAccents(s string) string {
	ascii := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			b.WriteString("ss")
		case r == 'æ':
			b.WriteString("ae")
		case r == 'œ':
			b.WriteString("oe")
		case r == 'þ':
			b.WriteString("th")
		case r == 'ø':
			b.WriteByte('o')
		case r == 'đ' || r == 'ð':
			b.WriteByte('d')
		case r == 'ł':
			b.WriteByte('l')
		case r == 'ı':
			b.WriteByte('i')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func stripMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

// firstRunes is the beginning of s, n characters long at most.
func firstRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
