package scoring

import "unicode"

// class says how a run of characters becomes tokens.
type class uint8

const (
	classNone     class = iota // separates runs
	classWord                  // a word of a script with spaces, or a number
	classMark                  // belongs to the run before it
	classIgnore                // invisible inside a word: dropped, does not separate
	classHan                   // bigrams, a lone character kept
	classHiragana              // bigrams, a lone character dropped (particles)
	classKatakana              // bigrams, a lone character kept
	classHangul                // bigrams, a lone character kept
	classCluster               // scripts without spaces: bigrams of base + marks
)

func classOf(r rune) class {
	switch {
	case r < 0x80:
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return classWord
		}
		return classNone
	case r == 0x00AD || r == 0x200C || r == 0x200D || r == 0x0640: // soft hyphen, joiners, tatweel
		return classIgnore
	case r == 0x3005 || r == 0x3007: // 々 〇
		return classHan
	case r == 0x30FC: // ー
		return classKatakana
	case unicode.Is(unicode.M, r):
		return classMark
	case r < 0x0E00:
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return classWord
		}
		return classNone
	case unicode.Is(unicode.Han, r):
		return classHan
	case unicode.Is(unicode.Hiragana, r):
		return classHiragana
	case unicode.Is(unicode.Katakana, r):
		return classKatakana
	case unicode.Is(unicode.Hangul, r):
		return classHangul
	case unicode.IsDigit(r):
		return classWord
	case unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.IsLetter(r):
		return classCluster
	case unicode.IsLetter(r):
		return classWord
	}
	return classNone
}

// dense reports whether r belongs to Chinese or Japanese writing, which has no spaces: 1.7 such characters count as a word.
func dense(r rune) bool {
	return r >= 0x2E80 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 0x30FC || r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFFEF)
}

// spaceless reports whether r belongs to one of the other scripts without spaces: about four letters count as a word.
func spaceless(r rune) bool {
	return r >= 0x0E00 && r < 0x1800 && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// digitZeros are the zeros of the decimal digits that appear in running text beside ASCII (full-width ones are folded by NFKC).
var digitZeros = [...]rune{0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x17E0, 0x1810}

func asciiDigit(r rune) rune {
	for _, z := range digitZeros {
		if r >= z && r < z+10 {
			return '0' + r - z
		}
	}
	return r
}
