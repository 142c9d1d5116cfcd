package reply

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kaptinlin/jsonrepair"
)

// opener returns where the next object or list begins at or after i, or -1.
func opener(s string, i int) int {
	if i >= len(s) {
		return -1
	}
	j := strings.IndexAny(s[i:], "{[")
	if j < 0 {
		return -1
	}
	return i + j
}

// scan returns the end of the value that opens at i; closed is false when the text ends, or nests too deep, before it
// does. Brackets within strings do not count.
func scan(s string, i int) (end int, closed bool) {
	var w walker
	for j := i; j < len(s); j++ {
		if !w.step(s[j]) {
			return len(s), false
		}
		if len(w.open) == 0 {
			return j + 1, true
		}
	}
	return len(s), false
}

// walker keeps track of open brackets. A bracket that closes another kind than was opened closes that too.
type walker struct {
	open              []byte
	inString, escaped bool
}

func (w *walker) step(c byte) (ok bool) {
	switch {
	case w.escaped:
		w.escaped = false
	case w.inString && c == '\\':
		w.escaped = true
	case c == '"':
		w.inString = !w.inString
	case w.inString:
	case c == '{' || c == '[':
		w.open = append(w.open, c)
		return len(w.open) <= maxDepth
	case (c == '}' || c == ']') && len(w.open) > 0:
		w.open = w.open[:len(w.open)-1]
	}
	return true
}

// lastElement cuts a value without its end behind the last object that is an element of a list, and closes what is
// open there; rest is what comes behind. ok is false when there is no such object.
func lastElement(s string) (whole, rest string, ok bool) {
	var w walker
	end := 0
	var open []byte
	for j := range len(s) {
		before := len(w.open)
		if !w.step(s[j]) {
			break
		}
		if s[j] == '}' && len(w.open) == before-1 && before >= 2 && w.open[before-2] == '[' {
			end, open = j+1, append(open[:0], w.open...)
		}
	}
	if end == 0 {
		return "", "", false
	}
	var b strings.Builder
	b.WriteString(s[:end])
	for _, c := range slices.Backward(open) {
		if c == '{' {
			b.WriteByte('}')
		} else {
			b.WriteByte(']')
		}
	}
	return b.String(), s[end:], true
}

// isEnd reports whether a list was closed and nothing follows but the end of a fence: then a closing bracket was
// forgotten, and nothing was cut off.
func isEnd(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return strings.HasPrefix(rest, "]") && strings.Trim(rest, "]} \t\r\n`~") == ""
}

// decode reads one JSON value, mending it where it must. The time of a repair grows with the square of the length: what
// is longer than maxRepair is read only when it is well formed, and maxMended bounds what one reply may take.
func (p *parser) decode(s string) (v any, repaired, ok bool) {
	const maxRepair, maxMended = 16 << 10, 128 << 10
	if v, ok = strict(s); ok {
		return v, false, true
	}
	if len(s) > maxRepair || p.mended+len(s) > maxMended {
		return nil, false, false
	}
	p.mended += len(s)
	if v, ok = repair(s); ok {
		return v, true, true
	}
	if plain := asciiSigns(s); plain != s {
		if v, ok = strict(plain); !ok {
			v, ok = repair(plain)
		}
	}
	return v, ok, ok
}

func strict(s string) (any, bool) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, false
	}
	return v, true
}

// repair mends JSON. The library is not ours: if it fails in a way it should not, the text cannot be mended.
func repair(s string) (v any, ok bool) {
	defer func() {
		if recover() != nil {
			v, ok = nil, false
		}
	}()
	mended, err := jsonrepair.Repair(s)
	if err != nil || !utf8.ValidString(mended) {
		return nil, false
	}
	return strict(mended)
}

// asciiSigns replaces the full-width signs that stand for those of JSON, outside of strings, and curly quotes.
func asciiSigns(s string) string {
	if !strings.ContainsAny(s, "“”„：，｛｝［］【】") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	inString, escaped := false, false
	for _, r := range s {
		switch {
		case escaped:
			escaped = false
		case inString && r == '\\':
			escaped = true
		case r == '"', r == '“', r == '”', r == '„':
			inString, r = !inString, '"'
		case inString:
		default:
			r = asciiSign(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

func asciiSign(r rune) rune {
	switch r {
	case '：':
		return ':'
	case '，':
		return ','
	case '｛':
		return '{'
	case '｝':
		return '}'
	case '［', '【':
		return '['
	case '］', '】':
		return ']'
	}
	return r
}

// looksLikeAnswer reports whether a text may hold operations: an object with one of their keys.
func looksLikeAnswer(s string) bool {
	if opener(s, 0) < 0 {
		return false
	}
	return answerHint.MatchString(s)
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
