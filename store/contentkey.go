package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// ContentKey identifies a statement whatever its case, width, punctuation and spacing: the first 128 bits, in hex, of
// the SHA-256 of kind and folded text, or of the text itself when nothing else is in it ("?!"). Items with equal keys in
// one scope say the same.
func ContentKey(k Kind, content string) string {
	text := FoldText(content)
	if text == "" {
		text = "\x00" + content
	}
	sum := sha256.Sum256([]byte(string(k) + "\x00" + text))
	return hex.EncodeToString(sum[:16])
}

// FoldText lower-cases NFKC text and reduces every run of blanks and punctuation to one space. Signs that carry
// meaning inside a number or name (+ - . between digits, %, #, @, &) stay.
func FoldText(s string) string {
	rs := []rune(strings.ToLower(norm.NFKC.String(s)))
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for i, r := range rs {
		if !keepRune(rs, i, r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

func keepRune(rs []rune, i int, r rune) bool {
	switch {
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), unicode.IsSymbol(r):
		return true
	case strings.ContainsRune("%#@&", r):
		return true
	case r == '.' || r == '-' || r == ',' || r == ':' || r == '/':
		return i > 0 && i+1 < len(rs) && unicode.IsDigit(rs[i-1]) && unicode.IsDigit(rs[i+1]) ||
			r == '-' && i+1 < len(rs) && unicode.IsDigit(rs[i+1])
	}
	return false
}
