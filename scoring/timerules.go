package scoring

import (
	"regexp"
	"strings"
)

const (
	enNumber = `\d{1,7}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|an?|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|several|half\s+an?`
	enUnit   = `day|week|fortnight|month|year`
	enDays   = `monday|tuesday|wednesday|thursday|friday|saturday|sunday`
	enYear   = `(?:19|20)\d\d`
	enSide   = `last|this|next|past|coming|previous`
	hanCount = `\d{1,7}|[一二两兩三四五六七八九十]+|几|幾|数|半`
	hanUnits = `天|日|周|週間?|个?星期|個?星期|个?礼拜|个月|個月|[かヶカヵ]月|年`
)

// The rules are tried in this order; of expressions that begin at one place and are equally long the first counts.
var commonTimeRules = []timeRule{
	{needs: "mon#", re: reDayMonth, make: func(g *grammar, m []string) []DateWindow {
		return []DateWindow{{Year: plausibleYear(m[3]), Month: monthNumber(m[2]), Day: atoi(m[1])}}
	}},
	{needs: "mon#", re: reMonthDay, make: func(g *grammar, m []string) []DateWindow {
		return []DateWindow{{Year: plausibleYear(m[3]), Month: monthNumber(m[1]), Day: atoi(m[2])}}
	}},
	{needs: "5/6", re: reISODate, make: func(_ *grammar, m []string) []DateWindow {
		if m[2] != m[4] {
			return nil
		}
		return []DateWindow{{Year: atoi(m[1]), Month: atoi(m[3]), Day: atoi(m[5])}}
	}},
	{needs: "5/6", re: reSlashDate, make: func(_ *grammar, m []string) []DateWindow {
		a, b, y := atoi(m[1]), atoi(m[2]), atoi(m[3])
		if a == b {
			return []DateWindow{{Year: y, Month: a, Day: b}}
		}
		return []DateWindow{{Year: y, Month: a, Day: b}, {Year: y, Month: b, Day: a}}
	}},
	{needs: "5/6", re: regexp.MustCompile(`(?:^|[^\d.\-/])(` + enYear + `)[-/](\d{1,2})(?:[^\d.\-/]|$)`), make: func(_ *grammar, m []string) []DateWindow {
		return []DateWindow{{Year: atoi(m[1]), Month: monthOrNone(atoi(m[2]))}}
	}},
	{needs: "19xx", re: regexp.MustCompile(`\b(` + enYear + `)\s*[-–]\s*(` + enYear + `)\b`), make: func(_ *grammar, m []string) []DateWindow {
		return []DateWindow{{Range: DateRange{yearRange(atoi(m[1])).From, yearRange(atoi(m[2])).To}}}
	}},
	{needs: "last year|this year|next year", re: regexp.MustCompile(`\b(` + monthNames + `)\b\.?(?:\s+(\d{1,2})(?:st|nd|rd|th)?)?,?\s+(?:of\s+)?(last|this|next)\s+year\b`), make: func(g *grammar, m []string) []DateWindow {
		y, _, _ := g.today.Date()
		return []DateWindow{{Year: y + sideOffset(m[3]), Month: monthNumber(m[1]), Day: atoi(m[2])}}
	}},
	{needs: "mon", re: regexp.MustCompile(`\b(?:(` + enSide + `)\s+)?(` + monthNames + `)\b\.?,?\s*(?:of\s+)?(\d{4}\b)?`), make: (*grammar).englishMonth},
	{needs: "spring|summer|autumn|fall|winter", re: regexp.MustCompile(`\b(?:(` + enSide + `)\s+)?(spring|summer|autumn|fall|winter)(?:time)?\b(?:\s+(?:of\s+|in\s+)?(?:(` + enYear + `)\b|(last|this|next)\s+year\b))?`), make: (*grammar).englishSeason},
	{needs: "q1|q2|q3|q4", re: regexp.MustCompile(`\b(q[1-4])\b(?:\s*(?:of\s+|,\s*)?(?:(` + enYear + `)\b|(last|this|next)\s+year\b))?`), make: func(g *grammar, m []string) []DateWindow {
		return g.partOfYear(int(m[1][1]-'1'), 4, atoi(m[2]), m[3])
	}},
	{needs: "quarter", re: regexp.MustCompile(`\b(last|this|next|past|previous)\s+(quarter)\b`), make: func(g *grammar, m []string) []DateWindow {
		y, month, _ := g.today.Date()
		from := (int(month)-1)/3*3 + 1 + 3*sideOffset(m[1])
		return []DateWindow{{Range: DateRange{civil(y, from, 1), civil(y, from+3, 1) - 1}}}
	}},
	{needs: "0s|0's|0’s", re: regexp.MustCompile(`\b((?:19|20)\d)0['’]?s\b`), make: func(g *grammar, m []string) []DateWindow {
		y := 10 * atoi(m[1])
		g.to += 2
		return []DateWindow{{Range: DateRange{civil(y, 1, 1), civil(y+9, 12, 31)}}}
	}},
	{needs: "before last|after next", whole: true, re: regexp.MustCompile(`\b(?:the\s+)?(night|week|weekend|month|quarter|year)\s+(before last|after next)\b`), make: func(g *grammar, m []string) []DateWindow {
		n := 2
		if m[2] == "before last" {
			n = -2
		}
		return g.unitAt(m[1], n)
	}},
	{needs: "ago|back|earlier|before now", re: regexp.MustCompile(`\b(` + enNumber + `)\s+(` + enUnit + `)s?\s+(ago|back|earlier|before now)\b(?:\s+(today))?`), make: func(g *grammar, m []string) []DateWindow {
		return []DateWindow{{Range: agoIn(g.today, m[1], m[2])}}
	}},
	{needs: "from now|from today|hence", re: regexp.MustCompile(`\b(` + enNumber + `)\s+(` + enUnit + `)s?\s+(from now|from today|hence)\b`), make: func(g *grammar, m []string) []DateWindow {
		return []DateWindow{{Range: ahead(g.today, m[1], m[2])}}
	}},
	{needs: "in ", re: regexp.MustCompile(`\bin\s+(` + enNumber + `)\s+(` + enUnit + `)s?\b`), make: func(g *grammar, m []string) []DateWindow {
		if !g.future {
			return nil // a length of time
		}
		return []DateWindow{{Range: ahead(g.today, m[1], m[2])}}
	}},
	{needs: "last|past|previous|next|coming", re: regexp.MustCompile(`\b(last|past|previous|next|coming)\s+(` + enNumber + `)\s+(` + enUnit + `)s?\b`), make: func(g *grammar, m []string) []DateWindow {
		return g.stretch(m[1] == "next" || m[1] == "coming", m[2], m[3])
	}},
	{needs: "past|previous", re: regexp.MustCompile(`\b(?:the|this|in|over|during)\s+(past|previous)\s+(` + enUnit + `)\b`), make: func(g *grammar, m []string) []DateWindow {
		return g.stretch(false, "one", m[2])
	}},
	{needs: "day", re: regexp.MustCompile(`\b(?:(on|` + enSide + `)\s+)?(` + enDays + `)\b(?:\s+(?:of\s+)?((?:last|this|next)\s+week)\b)?`), make: (*grammar).englishWeekday},
	{needs: "other|back", re: regexp.MustCompile(`\b(the\s+other\s+day|few\s+days\s+back)\b`), make: func(g *grammar, _ []string) []DateWindow { return near(g.today, -7, -1) }},
	{needs: "this", re: regexp.MustCompile(`\b(this\s+year)\b`), make: func(g *grammar, _ []string) []DateWindow { return g.unitAt("year", 0) }},
	{needs: "1st|2nd|3rd|th", re: regexp.MustCompile(`\bthe\s+(\d{1,2})(?:st|nd|rd|th)\b(?:\s+of\s+((?:last|this|next)\s+month)\b)?`), make: (*grammar).dayOfMonth},
	{needs: "day|night|morning|evening|afternoon|week|month|year|tomorrow", re: reEnglishPhrase, make: func(g *grammar, m []string) []DateWindow { return g.phrase(m[1]) }},
	{needs: "christmas|new year|halloween|valentine|thanksgiving|easter", re: reEnglishFeast, make: (*grammar).feast},
	{needs: "19xx", re: regexp.MustCompile(`\b(?:early|mid|late)-(` + enYear + `)\b`), make: func(_ *grammar, m []string) []DateWindow { return []DateWindow{{Year: atoi(m[1])}} }},
	{needs: "19xx", re: reYear, make: func(g *grammar, m []string) []DateWindow {
		if units.has(m[2]) || countedYear(g.text, g.from) {
			return nil
		}
		g.to = g.from + 4
		return []DateWindow{{Year: atoi(m[1])}}
	}},

	{han: true, needs: "月", whole: true, re: regexp.MustCompile(`(?:(\d{4})年|(大{0,9}前年|去年|今年|明年|大{0,9}后年))的?(\d{1,2})月份?(?:(\d{1,2})[日号號])?`), make: func(g *grammar, m []string) []DateWindow {
		w := DateWindow{Year: g.hanYear(m[1], m[2]), Month: monthOrNone(atoi(m[3])), Day: atoi(m[4])}
		if _, ok := validDate(w.Year, w.Month, w.Day); !ok {
			w.Day = 0 // 2月30日: the month
		}
		return []DateWindow{w}
	}},
	{han: true, needs: "月", whole: true, re: regexp.MustCompile(`(\d{1,2})月份?(?:(\d{1,2})[日号號])?`), make: func(g *grammar, m []string) []DateWindow {
		if digitBefore(g.text, g.from) {
			return nil
		}
		return []DateWindow{{Month: monthOrNone(atoi(m[1])), Day: atoi(m[2])}}
	}},
	{han: true, needs: "月", whole: true, re: regexp.MustCompile(`(上个?月|上個月|这个?月|這個月|本月|下个?月|下個月)的?(\d{1,2})[日号號]`), make: func(g *grammar, m []string) []DateWindow {
		return g.dayIn(hanSide(m[1]), atoi(m[2]))
	}},
	{han: true, needs: "号|號", re: regexp.MustCompile(`(\d{1,2})([号號])(?:$|[^线線楼樓门門院店桌房馆館位选選球码碼机機单單])`), make: func(g *grammar, m []string) []DateWindow {
		if digitBefore(g.text, g.from) {
			return nil
		}
		return g.lastDay(atoi(m[1]))
	}},
	{han: true, needs: "年", re: regexp.MustCompile(`(\d{4})\s*年`), make: func(g *grammar, m []string) []DateWindow {
		if digitBefore(g.text, g.from) || plausibleYear(m[1]) == 0 || startsWithAny(g.text[g.to:], "年前", "年来", "年后") || atoi(m[1]) < 1900 && startsWithAny(g.text[g.to:], "年以前", "年之前") {
			return nil
		}
		g.to = len(g.text[:g.to]) + len("年")
		return []DateWindow{{Year: atoi(m[1])}}
	}},
	{han: true, needs: "年", re: regexp.MustCompile(`(大{0,9}前年|去年|今年|明年|大{0,9}[后後]年)`), make: func(g *grammar, m []string) []DateWindow {
		return []DateWindow{{Year: g.hanYear("", m[1])}}
	}},
	{han: true, needs: "上上|下下", re: regexp.MustCompile(`(上{2,9}|下{2,9})(?:个|個)?(周末|週末|周|週|星期|礼拜|月)`), make: func(g *grammar, m []string) []DateWindow {
		return g.unitAt(hanSpan(m[2]), hanSteps(m[1]))
	}},
	{han: true, needs: "前", re: regexp.MustCompile(`(` + hanCount + `)(` + hanUnits + `)半?(之前|以前|前)`), make: func(g *grammar, m []string) []DateWindow {
		if before := g.text[:g.from]; strings.HasSuffix(before, "百") || strings.HasSuffix(before, "千") || strings.HasSuffix(before, "万") {
			return nil
		}
		return []DateWindow{{Range: agoIn(g.today, m[1], hanUnit(m[2]))}}
	}},
	{han: true, needs: "后", re: regexp.MustCompile(`(` + hanCount + `)(` + hanUnits + `)(之后|以后|后)`), make: func(g *grammar, m []string) []DateWindow {
		if !g.future {
			return nil
		}
		return []DateWindow{{Range: ahead(g.today, m[1], hanUnit(m[2]))}}
	}},
	{han: true, needs: "近|过|過|这|這|未来|接下来|今后", re: regexp.MustCompile(`(最近|过去|過去|近|这|這|未来|接下来|今后)的?(?:这|這)?(` + hanCount + `|两三|三五)(` + hanUnits + `)`), make: func(g *grammar, m []string) []DateWindow {
		return g.stretch(m[1] == "未来" || m[1] == "接下来" || m[1] == "今后", m[2], hanUnit(m[3]))
	}},
	{han: true, needs: "前", re: regexp.MustCompile(`(前几天|前幾天|前些天|前两天|前些日子|前阵子)`), make: func(g *grammar, _ []string) []DateWindow { return near(g.today, -10, -1) }},
	{han: true, needs: "大前", re: regexp.MustCompile(`(大{1,9}前[天晚])`), make: func(g *grammar, m []string) []DateWindow {
		d := -2 - Day(strings.Count(m[1], "大"))
		return near(g.today, d, d)
	}},
	{han: true, needs: "大后|大後", re: regexp.MustCompile(`(大{1,9}[后後]天)`), make: func(g *grammar, m []string) []DateWindow {
		d := 2 + Day(strings.Count(m[1], "大"))
		return near(g.today, d, d)
	}},
	{han: true, needs: "前", re: regexp.MustCompile(`(前晚|前夜)`), make: func(g *grammar, _ []string) []DateWindow { return near(g.today, -2, -2) }},
	{han: true, needs: "今", re: regexp.MustCompile(`(今晨|今夜)`), make: func(g *grammar, _ []string) []DateWindow { return near(g.today, 0, 0) }},
	{han: true, needs: "周|週|星|礼", re: reHanWday, make: func(g *grammar, m []string) []DateWindow {
		d := g.today - Day(g.today.weekday()) + Day(weekdayIndex[m[2]])
		switch m[1] {
		case "上", "先":
			d -= 7
		case "下", "来":
			d += 7
		}
		return near(d, 0, 0)
	}},
	{han: true, needs: "周|週|星|礼", re: regexp.MustCompile(`((?:周|週|星期|礼拜)([一二三四五六日天]))`), make: func(g *grammar, m []string) []DateWindow {
		if before := g.text[:g.from]; g.said || strings.HasSuffix(before, "每") || strings.HasSuffix(before, "每个") || strings.HasSuffix(before, "每個") {
			return nil
		}
		return g.weekdayNear(weekdayIndex[m[2]])
	}},
	{han: true, needs: "年|月", re: regexp.MustCompile(`(年初|年底|年末|年中|上半年|下半年|月初|月底|月末)`), make: (*grammar).hanBarePart},
	{han: true, needs: "春|夏|秋|冬|假", re: regexp.MustCompile(`(这个?|這個?|上个?|上個?|下个?|下個?|刚过去的)?(春天|春季|夏天|夏季|秋天|秋季|冬天|冬季|暑假|寒假)`), make: func(g *grammar, m []string) []DateWindow {
		return g.season(hanSeasonIndex(m[2]), hanSideWord(m[1]))
	}},
	{han: true, re: reHanPhrase, make: func(g *grammar, m []string) []DateWindow { return g.phrase(m[1]) }},
	{han: true, needs: "末", re: regexp.MustCompile(`(周末|週末)`), make: func(g *grammar, _ []string) []DateWindow {
		if g.future || g.today.weekday() >= 5 {
			return g.unitAt("weekend", 0)
		}
		return g.unitAt("weekend", -1)
	}},
	{han: true, re: reHanFeast, make: (*grammar).feast},
}
