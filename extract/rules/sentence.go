package rules

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is the length of a piece that rules are tried on, in bytes. Longer text without a stop is split at blanks;
// what has none is no sentence.
const longest = 1000

// sentences yields the sentences of a text that its speaker says in person: not code, not quoted lines, not what stands
// between quotation marks. Each is a substring of the text.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fenced := false
		for line := range strings.Lines(text) {
			bare := strings.TrimSpace(line)
			if strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
				fenced = !fenced
				continue
			}
			if fenced || bare == "" || bare[0] == '>' || bare[0] == '<' || bare[0] == '|' || bare[0] == '{' || bare[0] == '[' {
				continue
			}
			for s := range split(bare) {
				if !pieces(s, yield) {
					return
				}
			}
		}
	}
}

// split cuts a line behind every stop. A sentence that opens a quotation is left whole up to its end, so that what is
// inside is judged together with what introduces it.
func split(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from, depth := 0, 0
		straight := false
		for i, r := range line {
			switch r {
			case '“', '「', '『', '《':
				depth++
			case '”', '」', '』', '》':
				depth = max(0, depth-1)
			case '"':
				straight = !straight
			}
			if !isStop(line, i, r) || (depth > 0 || straight) && i-from < longest {
				continue
			}
			end := i + utf8.RuneLen(r)
			if !yield(line[from:end]) {
				return
			}
			from, depth, straight = end, 0, false
		}
		if from < len(line) {
			yield(line[from:])
		}
	}
}

func isStop(s string, i int, r rune) bool {
	switch r {
	case '。', '！', '？', '!', '?', '；', ';', '．', '…':
		return true
	case '.':
		next, _ := utf8.DecodeRuneInString(s[i+1:])
		if i+1 < len(s) && !unicode.IsSpace(next) {
			return false
		}
		return !isAbbreviation(s[:i])
	}
	return false
}

// isAbbreviation reports whether the dot behind before belongs to a short form such as "Dr" or an initial.
func isAbbreviation(before string) bool {
	at := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) && r != '.' }) + 1
	switch w := before[at:]; w {
	case "Dr", "Mr", "Mrs", "Ms", "St", "Prof", "Sr", "Jr", "vs", "e.g", "i.e":
		return true
	default:
		r, n := utf8.DecodeRuneInString(w)
		return n == len(w) && unicode.IsUpper(r) && r != 'I'
	}
}

// pieces yields a sentence, or blank-separated pieces of one that is too long.
func pieces(s string, yield func(string) bool) bool {
	for len(s) > longest {
		cut := strings.LastIndexByte(s[:longest], ' ')
		if cut <= 0 {
			next := strings.IndexByte(s[longest:], ' ')
			if next < 0 {
				return true
			}
			s = s[longest+next+1:]
			continue
		}
		if !yield(s[:cut]) {
			return false
		}
		s = s[cut+1:]
	}
	return yield(s)
}
