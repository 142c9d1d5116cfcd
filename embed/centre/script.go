package centre

import "unicode"

// Script is a group of languages that share a mean.
type Script int

// The scripts that have a mean of their own, and the rest.
const (
	Other Script = iota
	Latin
	Han
	Kana // Japanese: any kana present
	Hangul
	Cyrillic
	Arabic
	Devanagari
	Thai

	// Scripts is the number of scripts.
	Scripts int = iota
)

var names = [Scripts]string{"other", "latin", "han", "kana", "hangul", "cyrillic", "arabic", "devanagari", "thai"}

// String is the script's name in data files.
func (s Script) String() string { return names[s] }

// maxLooked bounds the characters that decide the script of a text.
const maxLooked = 4096

// weight is how many letters of an alphabet a character of a script is worth, so
// that a date or a name in front does not outweigh a short line.
var weight = [Scripts]int{Latin: 1, Han: 3, Kana: 2, Hangul: 3, Cyrillic: 1, Arabic: 1, Devanagari: 1, Thai: 1}

// Of is the script that makes up most of a text, Han counting as Japanese when
// there are kana; Other if the text has no letters of a known script.
func Of(text string) Script {
	var count [Scripts]int
	looked := 0
	for _, r := range text {
		if looked++; looked > maxLooked {
			break
		}
		s := of(r)
		count[s] += weight[s]
	}
	if count[Kana] > 0 {
		// Kana mark a text as Japanese even where Han characters outnumber
		// them.
		count[Kana] += count[Han]
		count[Han] = 0
	}
	best := Other
	for s, n := range count {
		if n > count[best] {
			best = Script(s)
		}
	}
	return best
}

func of(r rune) Script {
	switch {
	case r < 0x80:
		if r|0x20 >= 'a' && r|0x20 <= 'z' {
			return Latin
		}
		return Other
	case unicode.Is(unicode.Latin, r):
		return Latin
	case unicode.Is(unicode.Han, r):
		return Han
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		return Kana
	case unicode.Is(unicode.Hangul, r):
		return Hangul
	case unicode.Is(unicode.Cyrillic, r):
		return Cyrillic
	case unicode.Is(unicode.Arabic, r):
		return Arabic
	case unicode.Is(unicode.Devanagari, r):
		return Devanagari
	case unicode.Is(unicode.Thai, r):
		return Thai
	}
	return Other
}
