package scoring

import (
	"regexp"
	"strings"
)

// What narrows an expression of time: parts of a year or month, halves, quarters and seasons.

var (
	rePartBefore = regexp.MustCompile(`(?:\b(early|mid|late)(?:\s+in)?[\s-]*|\b(beginning|start|middle|end)\s+of\s+(?:the\s+)?(?:month\s+of\s+)?|\b(first|second|1st|2nd)\s+half\s+of\s+(?:the\s+)?|\b(first|second|third|fourth|last)\s+quarter\s+of\s+(?:the\s+)?)$`)
	rePartBehind = regexp.MustCompile(`^的?(?:年?(初|底|末)|(上旬|中旬|下旬|年中)|(上半年|下半年|上半月|下半月)|第?([1-4一二三四])季度?)`)
	reHanSeason  = regexp.MustCompile(`^的?([春夏秋冬])(?:天|季|日|里|$)|^的?(暑假|寒假)`)
)

// narrow applies "early", "the end of", 初, 夏天 … to an expression.
func (g *grammar) narrow(i int) {
	t := &g.found[i]
	before := g.text[:t.from]
	if i > 0 {
		before = g.text[g.found[i-1].to:t.from]
	}
	if m := rePartBefore.FindStringSubmatch(before); m != nil {
		defer func() { t.from -= len(m[0]) }() // what stands before the part may open it
		r, ok := g.span(t.windows[0], 0)
		if !ok || r.To-r.From < 6 { // "early May 1"
			return
		}
		part, of := 0, 3
		switch {
		case m[3] != "":
			part, of = ordinal(m[3]), 2
		case m[4] != "":
			part, of = ordinal(m[4]), 4
		case m[1] == "mid" || m[2] == "middle":
			part = 1
		case m[1] == "late" || m[2] == "end":
			part = 2
		}
		t.windows = []DateWindow{{Range: share(r, part, of)}}
		return
	}
	behind := g.text[t.to:]
	if m := reHanSeason.FindStringSubmatchIndex(behind); m != nil && t.year {
		r, _ := g.span(t.windows[0], 0)
		y, _, _ := r.From.Date()
		word := strings.TrimPrefix(behind[m[0]:m[1]], "的")
		t.windows = seasonOf(y, hanSeasonIndex(word))
		t.to += m[1]
		return
	}
	m := rePartBehind.FindStringSubmatch(behind)
	if m == nil {
		return
	}
	r, ok := g.span(t.windows[0], 0)
	if !ok || r.To-r.From < 6 {
		return
	}
	part, of := hanPart(m)
	t.windows = []DateWindow{{Range: share(r, part, of)}}
	t.to += len(m[0])
}

func ordinal(s string) int {
	switch s {
	case "first", "1st":
		return 0
	case "second", "2nd":
		return 1
	case "third":
		return 2
	}
	return 3
}

// hanPart is which of how many parts 初, 中旬, 下半年 or 第二季度 is.
func hanPart(m []string) (part, of int) {
	switch {
	case m[4] != "":
		return quantity(m[4]) - 1, 4
	case m[3] != "":
		if strings.HasPrefix(m[3], "下") {
			return 1, 2
		}
		return 0, 2
	case m[2] == "中旬", m[2] == "年中":
		return 1, 3
	case m[1] == "初", m[2] == "上旬":
		return 0, 3
	}
	return 2, 3
}

// share is one of n equal parts of a range; of a year whole months.
func share(r DateRange, part, n int) DateRange {
	y, m, d := r.From.Date()
	if r == yearRange(y) && m == 1 && d == 1 {
		size := 12 / n
		return DateRange{civil(y, 1+part*size, 1), civil(y, 1+(part+1)*size, 1) - 1}
	}
	days := int(r.To-r.From) + 1
	return DateRange{r.From + Day(days*part/n), r.From + Day(days*(part+1)/n) - 1}
}

// span is the range of days a window means, where it leaves the year open that of year or, for 0, the last one that has
// begun (the next one in a question about what is to come).
func (g *grammar) span(w DateWindow, year int) (DateRange, bool) {
	if w.Year == 0 && w.Month == 0 && w.Day == 0 {
		return w.Range, w.Range.valid()
	}
	if w.Year != 0 {
		year = w.Year
	}
	if year != 0 {
		return windowIn(w, year)
	}
	if g.said {
		return g.closest(func(y int) DateRange { r, _ := windowIn(w, y); return r })
	}
	now, _, _ := g.today.Date()
	if g.future {
		for y := now; y <= now+4; y++ { // four years reach a leap day
			if r, ok := windowIn(w, y); ok && r.To >= g.today {
				return r, true
			}
		}
		return DateRange{}, false
	}
	for y := now; y >= now-4; y-- {
		if r, ok := windowIn(w, y); ok && r.From <= g.today {
			return r, true
		}
	}
	return DateRange{}, false
}

func windowIn(w DateWindow, year int) (DateRange, bool) {
	switch {
	case w.Day != 0:
		d, ok := validDate(year, w.Month, w.Day)
		return DateRange{d, d}, ok
	case w.Month != 0:
		d, ok := validDate(year, w.Month, 1)
		return monthRange(d, 0), ok
	}
	r := yearRange(year)
	return r, r.valid()
}
