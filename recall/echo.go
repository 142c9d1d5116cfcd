package recall

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"evoke/store"
)

// Echo is a part of a text, text[Start:End], that reads like the line of an item in a block. It is one if Key is the
// content key of an item, or EchoKey of one; Day is when that item's matter took place, by the line, zero if it does not
// say. Without a Key it is a part of a block's frame.
type Echo struct {
	Start, End int
	Key        string
	Kind       store.Kind
	Day        time.Time
}

// EchoKey is the key of an item's content as a block renders it. It is the content key unless something in the content
// had to be made harmless.
func EchoKey(it *store.Item) string { return store.ContentKey(it.Kind, inline(it.Content)) }

var (
	// The beginning of an item's line, with what programs put before it when they quote or list.
	echoStart = regexp.MustCompile(`(?:(?:^|\n)[ \t>|]*)?(?:(?:[-*•·–]|\d{1,3}[.)])[ \t]*)?\[(?:(\d{4}-\d\d-\d\d)[\s>|]+)?(episodic|semantic|procedural)(?:/[a-z]+)?\][ \t]*\n?`)
	// The frame's parts, for when they are not together any more.
	echoFrame = regexp.MustCompile(`(?:(?:^|\n)[ \t>|]*)?(?:</?` + tagName + `(?:\s[^<>]{0,60})?>|` + strings.Join(strings.Fields(regexp.QuoteMeta(instruction)), `[\s>|]+`) + `)`)
)

// echoHints are words of which a text with an echo holds one.
var echoHints = append([]string{"episodic", "semantic", "procedural", tagName}, strings.Fields(instruction)[0])

// How far echoes are looked for.
const (
	mostEchoes = 4 * maxLimit // in one text
	echoLines  = 24           // lines that one of an item was wrapped into
	echoBytes  = 4096         // of a line that was wrapped
)

// FindEchoes finds what may be left in a text of blocks whose frame is gone or was changed: lines of items, in order, also
// indented, quoted, wrapped or joined, and parts of the frame. Where a line of an item ends is not known, so several
// echoes may begin at one place.
func FindEchoes(text string) []Echo {
	if !slices.ContainsFunc(echoHints, func(h string) bool { return strings.Contains(text, h) }) {
		return nil
	}
	starts := echoStart.FindAllStringSubmatchIndex(text, mostEchoes)
	frames := echoFrame.FindAllStringIndex(text, mostEchoes)
	var out []Echo
	for i, m := range starts {
		for len(frames) > 0 && frames[0][0] < m[0] {
			out = append(out, Echo{Start: frames[0][0], End: frames[0][1]})
			frames = frames[1:]
		}
		to := len(text)
		if i+1 < len(starts) {
			to = starts[i+1][0]
		}
		if len(frames) > 0 {
			to = min(to, frames[0][0])
		}
		e := Echo{Start: m[0], Kind: store.Kind(text[m[4]:m[5]])}
		if m[2] >= 0 {
			e.Day, _ = time.Parse(time.DateOnly, text[m[2]:m[3]]) //nolint:errcheck // no such day: none
		}
		out = e.readings(out, text, m[1], to)
	}
	for _, f := range frames {
		out = append(out, Echo{Start: f[0], End: f[1]})
	}
	return out
}

// readings appends what the echo may be: its content begins at from and ends at one of the line breaks up to to.
func (e Echo) readings(out []Echo, text string, from, to int) []Echo {
	body := text[from:to]
	for n, at := 0, 0; n < echoLines; n++ {
		end := len(body)
		if i := strings.IndexByte(body[at:], '\n'); i >= 0 {
			end = at + i
		}
		if n > 0 && end > echoBytes {
			break
		}
		if strings.TrimSpace(body[at:end]) == "" && n > 0 {
			break // a line of an item has no blank line in it
		}
		e.End = from + end
		for _, content := range unwrapped(body[:end]) {
			e.Key = store.ContentKey(e.Kind, content)
			out = append(out, e)
			if _, rest, ok := strings.Cut(content, ": "); ok { // a speaker before it
				e.Key = store.ContentKey(e.Kind, rest)
				out = append(out, e)
			}
		}
		if at = end + 1; at >= len(body) {
			break
		}
	}
	return out
}

// unwrapped are the ways in which lines may have been one: wrapped at blanks, between characters that need none, or both.
func unwrapped(s string) []string {
	if !strings.Contains(s, "\n") {
		return []string{strings.TrimSpace(s)}
	}
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		lines = append(lines, strings.TrimSpace(strings.TrimLeft(line, " \t>|")))
	}
	spaced := strings.Join(lines, " ")
	out := []string{spaced}
	for _, both := range []bool{true, false} {
		var b strings.Builder
		for i, l := range lines {
			if i > 0 && !tight(lines[i-1], l, both) {
				b.WriteByte(' ')
			}
			b.WriteString(l)
		}
		if j := b.String(); j != spaced && j != out[len(out)-1] {
			out = append(out, j)
		}
	}
	return out
}

// tight reports whether no blank belongs between two lines: their ends are both, or one of them is, of a script without
// blanks.
func tight(before, after string, both bool) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	if both {
		return isWide(a) && isWide(b)
	}
	return isWide(a) || isWide(b)
}

func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFF60
}
