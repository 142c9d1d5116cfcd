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
// say; a Key may also be EchoID and an item's id. Without a Key it is a part of a block's frame.
type Echo struct {
	Start, End int
	Key        string
	Kind       store.Kind
	Day        time.Time
	Weak       bool // it reads like any quotation, too: an echo only beside others
}

// EchoKey is the key of an item's content as a block renders it. It is the content key unless something in the content
// had to be made harmless.
func EchoKey(it *store.Item) string { return store.ContentKey(it.Kind, inline(it.Content)) }

var (
	// The beginning of an item's line, with what programs put before it when they quote or list.
	echoStart = regexp.MustCompile(`(?:(?:^|\n)[ \t>|]*|[ \t]+>[ \t]+)?(?:(?:[-*•·–>]|\d{1,3}[.)])[ \t]*)?\[(?:standing[\s>|]+)?(?:id=\S{1,300}[\s>|]+)?(?:(\d{4}(?:-\d\d){0,2})[\s>|]+)?(episodic|semantic|procedural|profile)(?:/[a-z_]+)?(?:[\s>|]+[^\]\n]{1,600})?\][ \t]*\n?` +
		`|(?:^|[ \t\n])[ \t>|]*>[ \t]+(?:…[ \t]+)?(?:\[\(?[^\]\n]{1,60}\)?\][ \t]*)?`) // or a turn that goes on with an excerpt
	echoEnd = regexp.MustCompile(`\n|[ \t]+>[ \t]`)
	// The frame's parts, for when they are not together any more.
	echoFrame = regexp.MustCompile(`(?m)(?:(?:^|\n)[ \t>|]*)?(?:</?` + tagName + `(?:\s[^<>]{0,60})?>|` + spread(notice) + `|` + spread(noticeStanding) + `)` +
		`|(?:^|\n)[ \t>|]*(?:` + headStanding + `|` + headProfile + `|` + headFacts + `|` + headTurns + `)[ \t]*$`)
)

// EchoID begins the Key of an echo that names its item by id: a passage of a long text does.
const EchoID = "id:"

var echoCut = regexp.MustCompile(`…\s+\(cut;[\s>|]+whole[\s>|]+text[\s>|]+by[\s>|]+id[\s>|]+(\S{1,300})\)\s*$`)

// echoHints are words of which a text with an echo holds one.
var echoHints = append([]string{"episodic", "semantic", "procedural", "profile/", tagName}, strings.Fields(notice)[0])

// spread is a pattern of a text whose blanks may have become line breaks.
func spread(s string) string {
	return strings.Join(strings.Fields(regexp.QuoteMeta(s)), `[\s>|]+`)
}

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
	var day time.Time
	for i, m := range starts {
		for len(frames) > 0 && frames[0][0] < m[0] {
			out = append(out, Echo{Start: frames[0][0], End: frames[0][1]})
			frames = frames[1:]
		}
		to := len(text)
		for _, next := range starts[i+1:] {
			if next[4] >= 0 || m[4] < 0 { // a line behind ">" may be one that was quoted and wrapped
				to = next[0]
				break
			}
		}
		if len(frames) > 0 {
			to = min(to, frames[0][0])
		}
		if m[1] > to {
			continue // the frame, quoted
		}
		e := Echo{Start: m[0], Kind: store.Episodic, Day: day} // a turn that goes on is of the same day as a rule
		if m[4] >= 0 {
			e.Kind = store.Kind(text[m[4]:m[5]])
		}
		if e.Kind == "profile" {
			e.Kind = store.Semantic
		}
		e.Weak = m[4] < 0
		if m[2] >= 0 {
			e.Day, _ = time.Parse(time.DateOnly, text[m[2]:m[3]])
		}
		day = e.Day
		out = e.readings(out, text, m[1], to)
	}
	for _, f := range frames {
		out = append(out, Echo{Start: f[0], End: f[1]})
	}
	return out
}

// readings appends what the echo may be: its content begins at from and ends at one of the ends up to to.
func (e Echo) readings(out []Echo, text string, from, to int) []Echo {
	body := text[from:to]
	for _, end := range echoEnds(body) {
		e.End = from + end
		if m := echoCut.FindStringSubmatch(body[:end]); m != nil {
			e.Key = EchoID + m[1]
			out = append(out, e)
		}
		for _, content := range unwrapped(body[:end]) {
			e.Key = store.ContentKey(e.Kind, content)
			out = append(out, e)
			if _, rest, ok := strings.Cut(content, ": "); ok { // a speaker before it
				e.Key = store.ContentKey(e.Kind, rest)
				out = append(out, e)
			}
		}
	}
	return out
}

// echoEnds lists where the line that a text begins with may end: with its own line, with one that it was wrapped into, or
// before a turn that goes on and was joined to it. An item's line has no blank line in it.
func echoEnds(body string) []int {
	first := strings.IndexByte(body, '\n')
	if first < 0 {
		first = len(body)
	}
	ends := []int{first}
	for at := 0; at < len(body) && len(ends) < echoLines; {
		m := echoEnd.FindStringIndex(body[at:])
		end := len(body)
		if m != nil {
			end = at + m[0]
		}
		if end > echoBytes || end > first && strings.TrimSpace(body[at:end]) == "" {
			break
		}
		if end != first && strings.Trim(body[at:end], " \t>|") != "" {
			ends = append(ends, end)
		}
		at = end + 1
	}
	return ends
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
