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
	classEmoji                 // a token each, a flag's two letters together
)

func classOf(r rune) class {
	switch {
	case r < 0x80:
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return classWord
		}
		return classNone
	case r == 0x00AD || r == 0x200C || r == 0x200D || r == 0x0640 || r >= 0x1F3FB && r <= 0x1F3FF: // soft hyphen, joiners, tatweel, skin tones
		return classIgnore
	case r == 0x3005 || r == 0x3007: // 々 〇
		return classHan
	case r == 0x30FC: // ー
		return classKatakana
	case emoji(r):
		return classEmoji
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

// emoji reports whether r is a picture that people write in the place of a word. Signs of lists (boxes, ticks, arrows) and
// the two of gender, which only vary the picture before them, are none.
func emoji(r rune) bool {
	switch {
	case r < 0x231A:
		return false
	case r < 0x2600:
		return r <= 0x231B || r == 0x2328 || r >= 0x23E9 && r <= 0x23FA
	case r <= 0x27BF:
		return !(r >= 0x2610 && r <= 0x2612 || r == 0x2640 || r == 0x2642 || r >= 0x2713 && r <= 0x2718 || r >= 0x2776 && r <= 0x2794 || r >= 0x2798)
	case r < 0x1F000:
		return r == 0x2B50 || r == 0x2B55
	}
	return r <= 0x1F0FF || flagLetter(r) || r >= 0x1F300 && r <= 0x1FAFF
}

// flagLetter reports whether r is one of the two characters that a flag is written with.
func flagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

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
