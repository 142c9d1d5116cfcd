package scoring

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func (g *grammar) hanYear(digits, word string) int {
	if digits != "" {
		return cmp.Or(plausibleYear(digits), 99_999)
	}
	y, _, _ := g.today.Date()
	more := strings.Count(word, "大") // 大大前年 is the year before 大前年
	switch strings.TrimLeft(word, "大") {
	case "前年":
		y -= 2 + more
	case "去年":
		y--
	case "明年":
		y++
	case "后年", "後年":
		y += 2 + more
	}
	return y
}

// hanSteps is how many units 上上, 上上上 or 下下 go back or ahead.
func hanSteps(word string) int { return hanSide(word) * utf8.RuneCountInString(word) }

func hanSide(word string) int {
	switch {
	case strings.HasPrefix(word, "上"):
		return -1
	case strings.HasPrefix(word, "下"):
		return 1
	}
	return 0
}

func hanSideWord(word string) string {
	switch {
	case strings.HasPrefix(word, "上"), strings.HasPrefix(word, "刚"):
		return "last"
	case strings.HasPrefix(word, "下"):
		return "next"
	case word != "":
		return "this"
	}
	return ""
}

func hanSpan(word string) string {
	switch word {
	case "周末", "週末":
		return "weekend"
	case "月":
		return "month"
	}
	return "week"
}

func hanSeasonIndex(word string) int {
	for i, s := range [...]string{"春", "夏", "秋", "冬", "暑", "寒"} {
		if strings.HasPrefix(word, s) {
			return i
		}
	}
	return 0
}

// hanBarePart is 年底, 上半年, 月初 … with no year or month before it.
func (g *grammar) hanBarePart(m []string) []DateWindow {
	month := func(part int) []DateWindow {
		r := share(monthRange(g.today, 0), part, 3)
		if r.From > g.today && !g.future {
			r = share(monthRange(g.today, -1), part, 3)
		}
		return []DateWindow{{Range: r}}
	}
	switch m[1] {
	case "年初":
		return g.partOfYear(0, 3, 0, "")
	case "年中":
		return g.partOfYear(1, 3, 0, "")
	case "上半年":
		return g.partOfYear(0, 2, 0, "")
	case "下半年":
		return g.partOfYear(1, 2, 0, "")
	case "月初":
		return month(0)
	case "月底", "月末":
		return month(2)
	}
	return g.partOfYear(2, 3, 0, "")
}

// digitBefore reports whether a number goes on before a place, or is an ordinal there (第三号).
func digitBefore(s string, at int) bool {
	before := s[:at]
	return before != "" && before[len(before)-1] >= '0' && before[len(before)-1] <= '9' || strings.HasSuffix(before, "第") || strings.HasSuffix(before, ".")
}

func startsWithAny(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

var (
	reHanYearWords  = regexp.MustCompile(`[〇零一二三四五六七八九]{4}年`)
	reHanCountWords = regexp.MustCompile(`([一二三四五六七八九十]{1,3})([月日号號])`)
)

// hanNumerals writes the numbers of years, months and days as digits: 二〇二三年三月 becomes 2023年3月.
func hanNumerals(s string) string {
	s = reHanYearWords.ReplaceAllStringFunc(s, func(y string) string {
		var b strings.Builder
		for _, r := range y {
			if i := strings.IndexRune("〇一二三四五六七八九", r); r == '零' || i == 0 {
				b.WriteByte('0')
			} else if i > 0 {
				b.WriteByte(byte('0' + i/len("一")))
			} else {
				b.WriteRune(r)
			}
		}
		return b.String()
	})
	var b strings.Builder
	at := 0
	for _, m := range reHanCountWords.FindAllStringSubmatchIndex(s, maxRanges) {
		before := s[:m[2]]
		if strings.HasSuffix(before, "周") || strings.HasSuffix(before, "週") || strings.HasSuffix(before, "期") || strings.HasSuffix(before, "拜") {
			continue // 上周一日…
		}
		n := quantity(s[m[2]:m[3]])
		if n == 0 {
			continue
		}
		b.WriteString(s[at:m[2]])
		b.WriteString(strconv.Itoa(n))
		at = m[3]
	}
	b.WriteString(s[at:])
	return b.String()
}
