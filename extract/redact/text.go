package redact

import (
	"strings"
	"unicode/utf8"
)

// folded is text with full-width letters, digits and signs in their ASCII form.
type folded struct {
	text string
	// shifts say from which byte on the original lies how much further; nil when nothing was folded.
	at, by []int
}

func fold(s string) folded {
	if !strings.Contains(s, "\xef") {
		return folded{text: s}
	}
	var b strings.Builder
	b.Grow(len(s))
	f := folded{}
	shift := 0
	for i, r := range s {
		if r == utf8.RuneError { // an invalid byte stays as it is
			_, size := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+size])
			continue
		}
		if r >= 0xff01 && r <= 0xff5e {
			b.WriteByte(byte(r - 0xff01 + '!'))
			shift += 2
			f.at, f.by = append(f.at, b.Len()), append(f.by, shift)
			continue
		}
		b.WriteRune(r)
	}
	f.text = b.String()
	return f
}

// original is where a byte of the folded text lies in the text as given.
func (f folded) original(i int) int {
	lo, hi := 0, len(f.at)
	for lo < hi {
		if mid := (lo + hi) / 2; f.at[mid] <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return i
	}
	return i + f.by[lo-1]
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
func lower(c byte) bool { return c >= 'a' && c <= 'z' }
func alnum(c byte) bool { return digit(c) || upper(c) || lower(c) }
func word(c byte) bool  { return alnum(c) || c == '_' }
func hex(c byte) bool   { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// byteAt is a byte of s, or a blank beyond its ends.
func byteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return ' '
	}
	return s[i]
}

// before is the lower-case ASCII text of at most n bytes in front of a place.
func before(s string, at, n int) string { return strings.ToLower(s[max(0, at-n):at]) }
