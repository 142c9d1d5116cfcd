package scoring

import (
	"regexp"
	"strings"
)

// days of the units, and how vague a distance in them is.
func unitDays(unit string) (length, slack Day) {
	switch unit {
	case "week":
		return 7, 3
	case "fortnight":
		return 14, 3
	case "month":
		return 30, 15
	case "year":
		return 365, 180
	}
	return 1, 0
}

// reach is the greatest distance that an expression may name: further off is no date anyone asks for.
const reach Day = 366 * 300

// distance reads "two" "weeks"; ok is false for none and for one out of reach.
func distance(n, unit string) (d, slack Day, ok bool) {
	length, slack := unitDays(unit)
	if n == "半" || strings.HasPrefix(n, "half") {
		return length / 2, max(slack/3, 1), length > 1
	}
	count := quantity(strings.Join(strings.Fields(n), " "))
	switch n {
	case "两三":
		count = 3
	case "三五":
		count = 5
	}
	if count <= 0 || Day(count) > reach/length {
		return 0, 0, false
	}
	return Day(count) * length, slack, true
}

// nowhere is a range that is none.
func nowhere() DateRange { return DateRange{1, 0} }

func agoIn(today Day, n, unit string) DateRange {
	d, slack, ok := distance(n, unit)
	if !ok {
		return nowhere()
	}
	if far := vague(n); far > 0 {
		length, _ := unitDays(unit)
		return DateRange{today - far*length - slack, today - 2*length + slack/2}
	}
	return DateRange{today - d - slack, today - d + slack}
}

// vague is how many units a word for a few may reach to; 0 for a number.
func vague(n string) Day {
	switch {
	case strings.HasSuffix(n, "few"), n == "几", n == "幾", n == "数":
		return 4
	case n == "several":
		return 6
	}
	return 0
}

func ahead(today Day, n, unit string) DateRange {
	d, slack, ok := distance(n, unit)
	if !ok {
		return nowhere()
	}
	return DateRange{today + d - slack, today + d + slack}
}

func near(d, from, to Day) []DateWindow {
	return []DateWindow{{Range: DateRange{d + from, d + to}}}
}

// stretch is the time of n units up to today, or from tomorrow on.
func (g *grammar) stretch(future bool, n, unit string) []DateWindow {
	d, _, ok := distance(n, unit)
	switch {
	case !ok:
		return nil
	case future:
		return near(g.today, 1, d)
	}
	return near(g.today, -d, 0)
}

// unitAt is the week, weekend, month or year that lies n of them from this one.
func (g *grammar) unitAt(unit string, n int) []DateWindow {
	switch unit {
	case "week":
		return []DateWindow{{Range: week(Day(n))(g.today)}}
	case "weekend":
		return []DateWindow{{Range: weekend(Day(n))(g.today)}}
	case "month":
		return []DateWindow{{Range: months(n)(g.today)}}
	case "night":
		return near(g.today, Day(n), Day(n))
	}
	y, m, _ := g.today.Date()
	if unit == "quarter" {
		from := (int(m)-1)/3*3 + 1 + 3*n
		return []DateWindow{{Range: DateRange{civil(y, from, 1), civil(y, from+3, 1) - 1}}}
	}
	return []DateWindow{{Year: y + n}}
}

func sideOffset(side string) int {
	switch side {
	case "last", "past", "previous":
		return -1
	case "next", "coming":
		return 1
	}
	return 0
}

// monthOrNone is a month that [grammar.reachable] drops when n is none.
func monthOrNone(n int) int {
	if n < 1 || n > 12 {
		return 99
	}
	return n
}

var reMonthLead = regexp.MustCompile(`\b(?:in|of|since|during|until|till|by|from|before|after|every|between|through|around|early|late|mid)[\s-]+$`)

func (g *grammar) englishMonth(m []string) []DateWindow {
	n, year := monthNumber(m[2]), plausibleYear(m[3])
	if year != 0 {
		return []DateWindow{{Year: year, Month: n}}
	}
	if m[1] == "" {
		before := g.text[:g.from]
		if girl(m[2]) && reGirlLead.MatchString(before) {
			return nil // "what did June say"
		}
		joined := strings.HasSuffix(before, "and ") && strings.Contains(before, "between ") || strings.HasSuffix(before, " to ") && strings.Contains(before, "from ")
		if (ambiguousMonth(m[2]) || g.said && girl(m[2])) && !reMonthLead.MatchString(before) && !joined {
			return nil
		}
		return []DateWindow{{Month: n}}
	}
	r, ok := g.nearest(func(y int) DateRange { r, _ := windowIn(DateWindow{Month: n}, y); return r }, m[1])
	if !ok {
		return nil
	}
	y, _, _ := r.From.Date()
	return []DateWindow{{Year: y, Month: n}}
}

// nearest is the yearly span meant by "last" (over by today), "next" (yet to begin), "this" (of this year) or nothing (the
// last that has begun; the next in a question about what is to come).
func (g *grammar) nearest(span func(year int) DateRange, side string) (DateRange, bool) {
	y, _, _ := g.today.Date()
	if side == "" && g.future {
		side = "coming"
	}
	switch sideOffset(side) {
	case -1:
		for n := y; n >= y-2; n-- {
			if r := span(n); r.To < g.today {
				return r, r.valid()
			}
		}
	case 1:
		for n := y; n <= y+1; n++ {
			if r := span(n); r.From > g.today || side == "coming" && r.To >= g.today {
				return r, r.valid()
			}
		}
	default:
		if side == "this" {
			return span(y), span(y).valid()
		}
		if g.said {
			return g.closest(span)
		}
		for n := y; n >= y-1; n-- {
			if r := span(n); r.From <= g.today {
				return r, r.valid()
			}
		}
	}
	return DateRange{}, false
}

var seasons = map[string]int{"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}

// seasonRange is a season of the northern year; the winter of a year begins in its December.
func seasonRange(year, season int) DateRange {
	m := 3 + 3*season
	return DateRange{civil(year, m, 1), civil(year, m+3, 1) - 1}
}

// seasonOf is a season of a named year: of winters, both that touch it.
func seasonOf(year, season int) []DateWindow {
	switch season {
	case 3:
		return []DateWindow{{Range: seasonRange(year, 3)}, {Range: DateRange{civil(year, 1, 1), civil(year, 3, 1) - 1}}}
	case 4: // summer holidays
		return []DateWindow{{Range: DateRange{civil(year, 7, 1), civil(year, 8, 31)}}}
	case 5: // winter holidays
		return []DateWindow{{Range: DateRange{civil(year, 1, 10), civil(year, 2, 28)}}}
	}
	return []DateWindow{{Range: seasonRange(year, season)}}
}

var reSeasonLead = regexp.MustCompile(`\b(?:in|during|over|since|before|after|until|by|that|early|mid|late|throughout)[\s-]+(?:the\s+)?$`)

func (g *grammar) englishSeason(m []string) []DateWindow {
	season := seasons[m[2]]
	y, _, _ := g.today.Date()
	switch {
	case m[3] != "":
		return seasonOf(atoi(m[3]), season)
	case m[4] != "":
		return seasonOf(y+sideOffset(m[4]), season)
	case m[1] == "" && !reSeasonLead.MatchString(g.text[:g.from]):
		return nil // "spring onions", "a fall"
	}
	return g.season(season, m[1])
}

// season is the one meant by "last", "this", "next" or nothing.
func (g *grammar) season(season int, side string) []DateWindow {
	span := func(y int) DateRange { return seasonOf(y, season)[0].Range }
	if side == "this" && season == 3 {
		if _, month, _ := g.today.Date(); month <= 2 {
			y, _, _ := g.today.Date()
			return []DateWindow{{Range: span(y - 1)}}
		}
	}
	if r, ok := g.nearest(span, side); ok {
		return []DateWindow{{Range: r}}
	}
	return nil
}

// partOfYear is one of so many parts of the year named, or of the nearest.
func (g *grammar) partOfYear(part, of, year int, side string) []DateWindow {
	y, _, _ := g.today.Date()
	switch {
	case year != 0:
		return []DateWindow{{Range: share(yearRange(year), part, of)}}
	case side != "":
		return []DateWindow{{Range: share(yearRange(y+sideOffset(side)), part, of)}}
	}
	if r, ok := g.nearest(func(y int) DateRange { return share(yearRange(y), part, of) }, ""); ok {
		return []DateWindow{{Range: r}}
	}
	return nil
}

func (g *grammar) englishWeekday(m []string) []DateWindow {
	if reEvery.MatchString(g.text[:g.from]) {
		return nil // a habit
	}
	day := Day(weekdayIndex[m[2]])
	monday := g.today - Day(g.today.weekday())
	if m[3] != "" {
		return near(monday+day+Day(7*sideOffset(m[3][:4])), 0, 0)
	}
	switch m[1] {
	case "last", "past", "previous":
		return []DateWindow{{Range: weekdayRange(g.today, "last", int(day))}}
	case "next", "coming":
		first := weekdayRange(g.today, "next", int(day))
		out := []DateWindow{{Range: first}}
		if second := monday + 7 + day; m[1] == "next" && second != first.From {
			out = append(out, near(second, 0, 0)...)
		}
		return out
	case "this":
		return near(monday+day, 0, 0)
	}
	if g.said {
		return g.weekdaySaid(m[1], int(day))
	}
	return g.weekdayNear(int(day))
}

// weekdayNear is the last such day up to today or, in a question about what is to come, the first from today on.
func (g *grammar) weekdayNear(weekday int) []DateWindow {
	back := Day((g.today.weekday() - weekday + 7) % 7)
	if g.future && back > 0 {
		return near(g.today, 7-back, 7-back)
	}
	return near(g.today, -back, -back)
}

// girl reports months that are also names of people.
func girl(month string) bool {
	switch month {
	case "april", "may", "june", "august":
		return true
	}
	return false
}

var (
	reGirlLead = regexp.MustCompile(`\b(?:did|does|can|could|should|asked|ask|told|tell|met|called)\s+$`)
	reEvery    = regexp.MustCompile(`\b(?:every|each)\s+(?:single\s+|other\s+)?$`)
	reNoDay    = regexp.MustCompile(`^(?:st|nd|rd|th)?\s+(?:floor|page|street|avenue|road|line|row|attempt|try|time|day|date|anniversary|birthday|grade|place|lap|hole|screen|slide|chapter|story|storey|level|week|month|deck|platform|track|shelf|seat)\b`)
)

var reDayEnd = regexp.MustCompile(`^\s*(?:$|[?.,!;:)])`)

func (g *grammar) dayOfMonth(m []string) []DateWindow {
	n := atoi(m[1])
	if m[2] != "" {
		return g.dayIn(sideOffset(m[2][:4]), n)
	}
	// "the 3rd time", "the 21st century", "on the 2nd floor"
	if reNoDay.MatchString(g.text[g.to:]) {
		return nil
	}
	if !reDayEnd.MatchString(g.text[g.to:]) && !strings.HasSuffix(strings.TrimRight(strings.TrimSuffix(g.text[:g.from], "the "), " "), "on") {
		return nil
	}
	return g.lastDay(n)
}

// dayIn is a day of the month that lies offset months from this one.
func (g *grammar) dayIn(offset, day int) []DateWindow {
	r := monthRange(g.today, offset)
	y, m, _ := r.From.Date()
	if d, ok := validDate(y, int(m), day); ok {
		return near(d, 0, 0)
	}
	return nil
}

// lastDay is the last such day of a month up to today, or the next one of what is to come.
func (g *grammar) lastDay(day int) []DateWindow {
	for i := range 3 {
		offset := -i
		if g.future {
			offset = i
		}
		ws := g.dayIn(offset, day)
		if len(ws) == 1 && (ws[0].Range.From <= g.today) != g.future || len(ws) == 1 && ws[0].Range.From == g.today {
			return ws
		}
	}
	return nil
}
