package llm

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"evoke/scoring"
	"evoke/store"
)

// unit is what a batch is split into: a turn, or a part of one that is too long for a call.
type unit struct {
	item        *store.Item
	text        string
	part, parts int // from 1
}

// leastPart is the length of a text, in bytes, that is not cut any more.
const leastPart = 400

// unitsOf makes units of turns, each of at most max tokens or shorter than leastPart. Put together, a turn's parts are its text.
func (x *Extractor) unitsOf(turns []store.Item, max int) []unit {
	var out []unit
	for i := range turns {
		parts := x.parts(turns[i].Content, max)
		for n, text := range parts {
			out = append(out, unit{&turns[i], text, n + 1, len(parts)})
		}
	}
	return out
}

// parts cuts a text, at the ends of sentences where it can, until every part is within max tokens.
func (x *Extractor) parts(text string, max int) []string {
	if len(text) < leastPart || x.cost(text) <= max {
		return []string{text}
	}
	cut := middle(text)
	if cut == 0 {
		return []string{text}
	}
	return append(x.parts(text[:cut], max), x.parts(text[cut:], max)...)
}

// cost is what a text takes in a prompt, its line's other fields included.
func (x *Extractor) cost(text string) int {
	const fields = 40
	quoted, err := json.Marshal(text)
	if err != nil {
		return fields + x.opts.CountTokens(text)
	}
	return fields + x.opts.CountTokens(string(quoted))
}

// middle is the best place to cut a text in two: the end of a line or sentence closest to the middle, if there is one in
// the second and third quarter, or else a blank, or else any character's edge; 0 for a text of one character.
func middle(s string) int {
	low, mid, high := len(s)/4, len(s)/2, len(s)-len(s)/4
	for low > 0 && !utf8.RuneStart(s[low]) {
		low--
	}
	best, rank := 0, 0
	for i := low; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if i >= len(s) || i > high && best > 0 {
			break
		}
		if c := border(r, s[i:]); c > rank || c == rank && abs(i-mid) < abs(best-mid) {
			best, rank = i, c
		}
	}
	return best
}

// border tells how good a place to cut is the one behind a character.
func border(r rune, rest string) int {
	switch {
	case strings.ContainsRune("\n。！？!?", r), r == '.' && strings.HasPrefix(rest, " "):
		return 3
	case unicode.IsSpace(r):
		return 2
	}
	return 1
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// chunks groups units, in order, so that each group is within max tokens or holds one unit.
func (x *Extractor) chunks(units []unit, max int) [][]unit {
	var out [][]unit
	from, size := 0, 0
	for i := range units {
		c := x.cost(units[i].text)
		if i > from && size+c > max {
			out = append(out, units[from:i])
			from, size = i, 0
		}
		size += c
	}
	if from < len(units) {
		out = append(out, units[from:])
	}
	return out
}

// halves splits a group in two, at a turn's edge, or within the turn if there is one unit alone; nil when it is too
// small for that.
func halves(units []unit) [][]unit {
	if len(units) > 1 {
		mid := len(units) / 2
		return [][]unit{units[:mid], units[mid:]}
	}
	u := units[0]
	cut := middle(u.text)
	if len(u.text) < 2*leastPart || cut == 0 {
		return nil
	}
	first, second := u, u
	first.text, second.text = u.text[:cut], u.text[cut:]
	first.parts, second.parts = u.parts+1, u.parts+1
	second.part++
	return [][]unit{{first}, {second}}
}

// tail is what is shown of the units before a group: the last few, within max tokens; of one that is longer, its end.
func (x *Extractor) tail(before []unit, max int) []unit {
	var out []unit
	for _, u := range slices.Backward(before) {
		if len(out) == x.opts.Overlap {
			break
		}
		c := x.cost(u.text)
		if c > max && len(out) > 0 {
			break
		}
		for c > max {
			cut := middle(u.text)
			if cut == 0 {
				return nil
			}
			u.text = u.text[cut:]
			c = x.cost("…" + u.text)
			if c <= max {
				u.text = "…" + u.text
			}
		}
		out = append(out, u)
		max -= c
	}
	slices.Reverse(out)
	return out
}

// related chooses the known items that a group is shown: all, if they fit, or else those with the most words in common
// with it and those that say who a speaker is, which a new statement may contradict without a word in common.
func (x *Extractor) related(known []store.Item, units []unit, max int) []*store.Item {
	out := make([]*store.Item, 0, len(known))
	size := 0
	for i := range known {
		out = append(out, &known[i])
		size += x.cost(known[i].Content)
	}
	if len(out) <= x.opts.MaxKnown && size <= max {
		return out
	}
	words := map[string]bool{}
	for _, u := range units {
		for _, w := range scoring.Tokens(u.text) {
			words[w] = true
		}
	}
	rank := make(map[*store.Item]int, len(out))
	for _, it := range out {
		seen := map[string]bool{}
		for _, w := range scoring.Tokens(it.Content) {
			if words[w] && !seen[w] {
				seen[w] = true
				rank[it]++
			}
		}
		if singles[it.Provenance.Subject] {
			rank[it] += 2
		}
	}
	slices.SortStableFunc(out, func(a, b *store.Item) int {
		if rank[a] != rank[b] {
			return rank[b] - rank[a]
		}
		return b.RecordedAt.Compare(a.RecordedAt)
	})
	for i, it := range out {
		if max -= x.cost(it.Content); max < 0 || i == x.opts.MaxKnown {
			return out[:i]
		}
	}
	return out
}
