package scoring

import (
	"regexp"
	"slices"
	"strings"
)

// Rarer expressions, tried before those of commonTimeRules, which they qualify.
var rareTimeRules = []timeRule{
	{needs: "before last", whole: true, re: regexp.MustCompile(`\b(` + enDays + `)\s+before\s+last\b`), make: func(g *grammar, m []string) []DateWindow {
		r := weekdayRange(g.today, "last", weekdayIndex[m[1]])
		return near(r.From, -7, -7)
	}},
	{needs: "ago", re: regexp.MustCompile(`\b(` + enNumber + `)\s+(night|weekend|decade)s?\s+(ago)\b`), make: func(g *grammar, m []string) []DateWindow {
		n := quantity(strings.Join(strings.Fields(m[1]), " "))
		switch {
		case n == 0 || n > 200:
			return nil
		case m[2] == "weekend":
			return g.unitAt("weekend", -n)
		case m[2] == "night":
			return near(g.today, -Day(n), -Day(n))
		}
		return []DateWindow{{Range: DateRange{g.today - Day(3653*n+365), g.today - Day(3653*n-365)}}}
	}},
	{needs: "half", re: regexp.MustCompile(`\b(` + enNumber + `)\s+and\s+a\s+half\s+(week|month|year)s?\s+(ago)\b`), make: func(g *grammar, m []string) []DateWindow {
		return g.agoAndHalf(m[1], m[2])
	}},
	{needs: "half", re: regexp.MustCompile(`\b(` + enNumber + `)\s+(week|month|year)s?\s+and\s+a\s+half\s+(ago)\b`), make: func(g *grammar, m []string) []DateWindow {
		return g.agoAndHalf(m[1], m[2])
	}},
	{needs: "hour", re: regexp.MustCompile(`\b(?:last|past|previous)\s+(` + enNumber + `)\s+(hours?)\b`), make: func(g *grammar, m []string) []DateWindow { return g.hoursBack(m[1]) }},
	{needs: "this time last", re: regexp.MustCompile(`\b(this\s+time\s+last\s+(?:year|month|week))\b`), make: func(g *grammar, m []string) []DateWindow {
		return g.sameTime(m[1][strings.LastIndexByte(m[1], ' ')+1:], false)
	}},
	{needs: "mon", whole: true, re: regexp.MustCompile(`\b(` + enOrdinals + `)\s+(?:day\s+)?of\s+(` + monthNames + `)\b[,.]?\s*(\d{4}\b)?`), make: func(g *grammar, m []string) []DateWindow {
		return []DateWindow{{Year: plausibleYear(m[3]), Month: monthNumber(m[2]), Day: slices.Index(ordinals, m[1]) + 1}}
	}},
	{needs: "week of", whole: true, re: regexp.MustCompile(`\b(first|1st|second|2nd|third|3rd|fourth|4th|last)\s+week\s+of\s+(` + monthNames + `)\b[,.]?\s*(\d{4}\b)?`), make: func(g *grammar, m []string) []DateWindow {
		n := slices.Index([]string{"first", "second", "third", "fourth", "last"}, m[1])
		if n < 0 {
			n = int(m[1][0] - '1')
		}
		return g.weekOf(DateWindow{Year: plausibleYear(m[3]), Month: monthNumber(m[2])}, n)
	}},
	{needs: "mon#", whole: true, re: regexp.MustCompile(`\b(?:from\s+)?(` + monthNames + `)\.?\s+(\d{1,2})(?:st|nd|rd|th)?\s*(?:to|through|until|-|–)\s*(\d{1,2})(?:st|nd|rd|th)?\b(?:,?\s+(\d{4})\b)?`), make: func(g *grammar, m []string) []DateWindow {
		return g.daysIn(DateWindow{Year: plausibleYear(m[4]), Month: monthNumber(m[1])}, atoi(m[2]), atoi(m[3]))
	}},
	{needs: "mon#", whole: true, re: regexp.MustCompile(`\b(?:from\s+)?(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?\s*(?:to|through|until|-|–)\s*(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(` + monthNames + `)\b[,.]?\s*(\d{4}\b)?`), make: func(g *grammar, m []string) []DateWindow {
		return g.daysIn(DateWindow{Year: plausibleYear(m[4]), Month: monthNumber(m[3])}, atoi(m[1]), atoi(m[2]))
	}},
	{needs: "5/6", re: regexp.MustCompile(`(?:^|[^\d.])(\d{1,2})\.(\d{1,2})\.(` + enYear + `)(?:[^\d]|$)`), make: func(_ *grammar, m []string) []DateWindow {
		return []DateWindow{{Year: atoi(m[3]), Month: monthOrNone(atoi(m[2])), Day: atoi(m[1])}}
	}},
	{needs: "sixties|seventies|eighties|nineties", re: regexp.MustCompile(`\bthe\s+(?:early\s+|late\s+|mid[\s-]+)?(sixties|seventies|eighties|nineties)\b`), make: func(g *grammar, m []string) []DateWindow {
		return decade(1960 + 10*slices.Index([]string{"sixties", "seventies", "eighties", "nineties"}, m[1]))
	}},
	{needs: "0s", re: regexp.MustCompile(`\bthe\s+(?:early\s+|late\s+|mid[\s-]+)?['’]?([5-9]0)s\b`), make: func(g *grammar, m []string) []DateWindow {
		g.to++
		return decade(1900 + atoi(m[1]))
	}},
	{needs: "of the ", re: regexp.MustCompile(`\b(?:beginning|start|middle|end)\s+of\s+the\s+(week|month|year)\b`), make: func(g *grammar, m []string) []DateWindow { return g.unitAt(m[1], 0) }},
	{needs: "and the day before", re: regexp.MustCompile(`\byesterday\s+and\s+the\s+(day\s+before)\b`), make: func(g *grammar, m []string) []DateWindow { return near(g.today, -2, -2) }},

	{han: true, needs: "明", re: regexp.MustCompile(`(明早|明晨|明夜)`), make: func(g *grammar, _ []string) []DateWindow { return near(g.today, 1, 1) }},
	{han: true, needs: "前", re: regexp.MustCompile(`(前两天|前兩天)`), make: func(g *grammar, _ []string) []DateWindow { return near(g.today, -4, -1) }},
	{han: true, needs: "前", whole: true, re: regexp.MustCompile(`([一二两兩三四五六七八九])([二三四五六七八九])(` + hanUnits + `)(?:之前|以前|前)`), make: func(g *grammar, m []string) []DateWindow {
		if a, b := quantity(m[1]), quantity(m[2]); a < b {
			return g.between(agoIn(g.today, m[2], hanUnit(m[3])), agoIn(g.today, m[1], hanUnit(m[3])))
		}
		return nil
	}},
	{han: true, needs: "半", whole: true, re: regexp.MustCompile(`(` + hanCount + `)(年|个月|個月|个?星期|周|週)半(?:之前|以前|前)`), make: func(g *grammar, m []string) []DateWindow {
		return g.agoAndHalf(m[1], hanUnit(m[2]))
	}},
	{han: true, needs: "上上|下下", whole: true, re: regexp.MustCompile(`(上{2,9}|下{2,9})(?:个|個)?(?:周|週|星期|礼拜)([一二三四五六日天])`), make: func(g *grammar, m []string) []DateWindow {
		n := Day(7 * hanSteps(m[1]))
		return near(g.today-Day(g.today.weekday()), n+Day(weekdayIndex[m[2]]), n+Day(weekdayIndex[m[2]]))
	}},
	{han: true, needs: "年|月|周|週|星", whole: true, re: regexp.MustCompile(`(去年|上个?月|上個月|上周|上週|上个?星期)的?(今天|(?:这个?|這個?|同一)时[候间]|同期)`), make: func(g *grammar, m []string) []DateWindow {
		unit := "week"
		if strings.HasPrefix(m[1], "去年") {
			unit = "year"
		} else if strings.HasSuffix(m[1], "月") {
			unit = "month"
		}
		return g.sameTime(unit, m[2] == "今天")
	}},
	{han: true, needs: "季", whole: true, re: regexp.MustCompile(`第?([1-4一二三四])季度`), make: func(g *grammar, m []string) []DateWindow { return g.partOfYear(quantity(m[1])-1, 4, 0, "") }},
	{han: true, needs: "季", whole: true, re: regexp.MustCompile(`(上|这|這|本|下)一?个?個?季度`), make: func(g *grammar, m []string) []DateWindow {
		y, month, _ := g.today.Date()
		from := (int(month)-1)/3*3 + 1 + 3*hanSide(m[1])
		return []DateWindow{{Range: DateRange{civil(y, from, 1), civil(y, from+3, 1) - 1}}}
	}},
	{han: true, needs: "小时", whole: true, re: regexp.MustCompile(`(?:最近|过去|過去|近)(\d{1,4})个?個?小时`), make: func(g *grammar, m []string) []DateWindow { return g.hoursBack(m[1]) }},
	{han: true, needs: "月", whole: true, re: regexp.MustCompile(`(?:从|自)?(?:(\d{4})年|(大{0,9}前年|去年|今年|明年|大{0,9}后年))?的?(\d{1,2})月(\d{1,2})[日号號]?(?:到|至|[-–~～])(\d{1,2})[日号號]`), make: func(g *grammar, m []string) []DateWindow {
		w := DateWindow{Month: monthOrNone(atoi(m[3]))}
		if m[1]+m[2] != "" {
			w.Year = g.hanYear(m[1], m[2])
		}
		return g.daysIn(w, atoi(m[4]), atoi(m[5]))
	}},
	{han: true, needs: "年", whole: true, re: regexp.MustCompile(`(?:从|自)?(` + enYear + `)年?(?:到|至|[-–~～])(` + enYear + `)年`), make: func(g *grammar, m []string) []DateWindow {
		return g.between(yearRange(atoi(m[1])), yearRange(atoi(m[2])))
	}},
	{han: true, needs: "月", whole: true, re: regexp.MustCompile(`(?:(\d{4})年|(大{0,9}前年|去年|今年|明年|大{0,9}后年))?的?(\d{1,2})月份?的?(第[一二三四]|最后一)个?(?:周|週|星期)`), make: func(g *grammar, m []string) []DateWindow {
		w := DateWindow{Month: monthOrNone(atoi(m[3]))}
		if m[1]+m[2] != "" {
			w.Year = g.hanYear(m[1], m[2])
		}
		n := 4
		if c, found := strings.CutPrefix(m[4], "第"); found {
			n = quantity(c) - 1
		}
		return g.weekOf(w, n)
	}},
	{han: true, needs: "年代", whole: true, re: regexp.MustCompile(`(?:上世纪|上世紀|20世纪|二十世纪)?([五六七八九]十|[5-9]0)年代`), make: func(g *grammar, m []string) []DateWindow { return decade(1900 + quantity(m[1])) }},
}

var timeRules = slices.Concat(rareTimeRules, commonTimeRules)

const enOrdinals = `first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty-first|twenty-second|twenty-third|twenty-fourth|twenty-fifth|twenty-sixth|twenty-seventh|twenty-eighth|twenty-ninth|thirtieth|thirty-first`

var ordinals = strings.Split(enOrdinals, "|")

func decade(from int) []DateWindow {
	return []DateWindow{{Range: DateRange{civil(from, 1, 1), civil(from+9, 12, 31)}}}
}

// between is from the beginning of one range to the end of another.
func (g *grammar) between(a, b DateRange) []DateWindow {
	if !a.valid() || !b.valid() {
		return nil
	}
	return []DateWindow{{Range: DateRange{a.From, b.To}}}
}

func (g *grammar) agoAndHalf(n, unit string) []DateWindow {
	r := agoIn(g.today, n, unit)
	if !r.valid() {
		return nil
	}
	length, slack := unitDays(unit)
	return near((r.From+r.To-length)/2, -slack/2, slack/2)
}

func (g *grammar) hoursBack(n string) []DateWindow {
	hours := quantity(n)
	if hours < 1 || hours > 24*31 {
		return nil
	}
	return near(g.today, -Day(hours+23)/24, 0)
}

// sameTime is the day a year, month or week ago, or when it need not be that day some days about it.
func (g *grammar) sameTime(unit string, exact bool) []DateWindow {
	y, m, d := g.today.Date()
	slack := Day(21)
	switch unit {
	case "year":
		y--
	case "month":
		m, slack = m-1, 5
	default:
		return near(g.today, -8, -6)
	}
	last := monthRange(civil(y, int(m), 1), 0).To
	day := min(civil(y, int(m), d), last)
	if exact {
		slack = 0
	}
	return near(day, -slack, slack)
}

// weekOf is the n-th seven days of a month, from 0; 4 are the last.
func (g *grammar) weekOf(month DateWindow, n int) []DateWindow {
	r, ok := g.span(month, 0)
	switch {
	case !ok || n < 0:
		return nil
	case n == 4:
		return near(r.To, -6, 0)
	}
	return near(r.From, Day(7*n), Day(7*n+6))
}

// daysIn are the days a to b of a month.
func (g *grammar) daysIn(month DateWindow, a, b int) []DateWindow {
	r, ok := g.span(month, 0)
	if !ok || a < 1 || a > b || r.From+Day(b-1) > r.To {
		return nil
	}
	return near(r.From, Day(a-1), Day(b-1))
}

// easter is the Sunday of Easter in a year of the Gregorian calendar (the anonymous algorithm).
func easter(y int) Day {
	a, b, c := y%19, y/100, y%100
	d, e := b/4, b%4
	f := (b + 8) / 25
	h := (19*a + b - d - (b-f+1)/3 + 15) % 30
	l := (32 + 2*e + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return civil(y, n/31, n%31+1)
}
