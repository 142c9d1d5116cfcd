package scoring

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// The fixed phrases, longest first.
var (
	reEnglishPhrase = regexp.MustCompile(`\b(` + alternatives(func(p phrase) []string { return p.english }) + `)\b`)
	reHanPhrase     = regexp.MustCompile(`(` + alternatives(func(p phrase) []string { return p.words }) + `)`)
)

func alternatives(of func(phrase) []string) string {
	var all []string
	for _, p := range phrases {
		all = append(all, of(p)...)
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return strings.Join(all, "|")
}

func (g *grammar) phrase(words string) []DateWindow {
	if words == "后天" && startsWithAny(g.text[g.to:], "性", "培养", "形成", "努力", "习得") {
		return nil // acquired
	}
	for _, p := range phrases {
		if slices.Contains(p.english, words) || slices.Contains(p.words, words) {
			return []DateWindow{{Range: p.days(g.today)}}
		}
	}
	return nil
}

// feasts by their first and last day; those of the moon by the weeks they fall in.
var feasts = map[string][4]int{
	"christmas": {12, 24, 12, 26}, "christmas eve": {12, 24, 12, 24}, "christmas day": {12, 25, 12, 25},
	"new year": {12, 31, 13, 1}, "new year eve": {12, 31, 12, 31}, "new year day": {1, 1, 1, 1}, "new years": {12, 31, 13, 1}, "new years eve": {12, 31, 12, 31}, "new years day": {1, 1, 1, 1},
	"halloween": {10, 31, 10, 31}, "valentines": {2, 14, 2, 14}, "valentines day": {2, 14, 2, 14}, "thanksgiving": {11, 22, 11, 28},
	"元旦": {1, 1, 1, 1}, "春节": {1, 21, 2, 20}, "除夕": {1, 20, 2, 19}, "情人节": {2, 14, 2, 14}, "劳动节": {5, 1, 5, 5}, "五一": {5, 1, 5, 5},
	"端午": {5, 28, 6, 25}, "中秋": {9, 7, 10, 8}, "国庆": {10, 1, 10, 7}, "圣诞": {12, 24, 12, 26}, "儿童节": {6, 1, 6, 1}, "万圣节": {10, 31, 10, 31},
	"元宵": {2, 4, 3, 6}, "清明": {4, 4, 4, 6}, "妇女节": {3, 8, 3, 8}, "青年节": {5, 4, 5, 4}, "教师节": {9, 10, 9, 10}, "七夕": {7, 31, 8, 30}, "平安夜": {12, 24, 12, 24},
	"双十一": {11, 11, 11, 11}, "双11": {11, 11, 11, 11}, "双十二": {12, 12, 12, 12}, "双12": {12, 12, 12, 12},
}

var (
	reEnglishFeast = regexp.MustCompile(`\b(?:(` + enSide + `)\s+)?(christmas(?: eve| day)?|new year(?:['’]?s)?(?: eve| day)?|halloween|valentine['’]?s(?: day)?|thanksgiving|easter)\b(?:\s+(?:of\s+|in\s+)?(?:(` + enYear + `)\b|(last|this|next)\s+year\b))?`)
	reHanFeast     = regexp.MustCompile(`(?:(\d{4})年|(大{0,9}前年|去年|今年|明年))?的?(元旦|春节|除夕|情人节|劳动节|五一|端午|中秋|国庆|圣诞|儿童节|万圣节|元宵|清明|妇女节|青年节|教师节|七夕|平安夜|双十一|双11|双十二|双12)`)
)

func (g *grammar) feast(m []string) []DateWindow {
	name, side, year := m[2], m[1], 0
	if days, ok := feasts[m[3]]; ok { // the Chinese rule: year, relative year, name
		if m[1] != "" || m[2] != "" {
			year = g.hanYear(m[1], m[2])
		}
		return g.yearly(days, year, "")
	}
	y, _, _ := g.today.Date()
	if year = atoi(m[3]); year == 0 && m[4] != "" {
		year = y + sideOffset(m[4])
	}
	name = strings.NewReplacer("'", "", "’", "").Replace(name)
	if name == "easter" {
		return g.easter(year, side)
	}
	return g.yearly(feasts[name], year, side)
}

// yearly is a span of days that comes back every year: that of year, or the nearest.
func (g *grammar) yearly(d [4]int, year int, side string) []DateWindow {
	span := func(y int) DateRange { return DateRange{civil(y, d[0], d[1]), civil(y, d[2], d[3])} }
	if year != 0 {
		return []DateWindow{{Range: span(year)}}
	}
	if r, ok := g.nearest(span, side); ok {
		return []DateWindow{{Range: r}}
	}
	return nil
}

// easter is Good Friday to Easter Monday.
func (g *grammar) easter(year int, side string) []DateWindow {
	span := func(y int) DateRange { return DateRange{easter(y) - 2, easter(y) + 1} }
	if year != 0 {
		return []DateWindow{{Range: span(year)}}
	}
	if r, ok := g.nearest(span, side); ok {
		return []DateWindow{{Range: r}}
	}
	return nil
}
