package scoring

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The grammar of times in questions. Rules find expressions that stand for days ("7 May", "last week", 去年), each with its
// place; then what stands around an expression narrows it ("early", 底, 夏天), opens it ("since", 之前) or joins two to a
// range ("between … and", 到). An expression that leaves the years 1 to 9999 is no expression.

const (
	maxGrammarBytes = 4000 // of a question that are read for times
	maxWindows      = 8    // taken from one question
)

// QueryDatesAt finds the days, months, years and ranges a question names, in English and Chinese, counted from the time of
// asking and in its zone: all that [QueryDates] finds, relative phrases ("yesterday", 上周五), spans ("the past two weeks",
// 最近三天), seasons, quarters, parts ("early 2023", 上个月底), feasts, ranges ("between May and July 2025", 三月到五月) and
// open ends ("since May", 去年之前). The windows are to be matched softly; they are never a filter.
func QueryDatesAt(query string, now time.Time) []DateWindow {
	today, ok := DayOf(now)
	if !ok {
		return QueryDates(query)
	}
	if len(query) > maxGrammarBytes {
		query = query[:maxGrammarBytes]
	}
	s := fold(query)
	han := hasDense(s)
	if han {
		s = hanNumerals(s)
	}
	g := grammar{text: s, today: today}
	g.run(han)
	g.settle()
	return g.windows()
}

// reFuture are the words of a question about what is to come.
var reFuture = regexp.MustCompile(`\b(?:will|shall|going to|due|upcoming|plan(?:s|ned|ning)? to|scheduled|(?:do|does) \w+ (?:have|need) to)\b|'ll\b|将|会在|打算|计划|即将|要去|安排|要[做交办开见买参准]`)

// timed is an expression found: text[from:to] means any of the windows.
type timed struct {
	from, to int
	windows  []DateWindow
	year     bool // a whole year, which seasons and parts may follow
}

// timeRule makes windows of the submatches of a pattern; none when it is no time after all. An expression stands from the
// first to the last group that matched, or where the whole match does when the rule has no group.
type timeRule struct {
	re    *regexp.Regexp
	han   bool   // only in Chinese or Japanese text
	whole bool   // the expression is the whole match
	needs string // an expression has one of these, parted by "|", in it: see possible
	make  func(g *grammar, m []string) []DateWindow
}

// traits are what a look at a text tells of it. Patterns are dear, and most texts name no time.
type traits struct{ digit, year, parted, month bool }

func traitsOf(s string) (t traits) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < '0' || c > '9' {
			continue
		}
		t.digit = true
		if i+3 < len(s) && (c == '1' && s[i+1] == '9' || c == '2' && s[i+1] == '0') && digits(s[i+2:i+4]) {
			t.year = true
		}
		if i+2 < len(s) && (s[i+1] == '-' || s[i+1] == '/' || s[i+1] == '.') && s[i+2] >= '0' && s[i+2] <= '9' {
			t.parted = true
		}
	}
	for _, m := range [...]string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"} {
		t.month = t.month || strings.Contains(s, m)
	}
	return t
}

// possible reports whether a text has what the rule needs. Of the needs "#" is a digit, "19xx" a year in digits, "5/6" digits
// parted by a mark, "mon" the name of a month, and "mon#" that and a digit.
func (r *timeRule) possible(s string, t traits) bool {
	if r.needs == "" {
		return true
	}
	for need := range strings.SplitSeq(r.needs, "|") {
		has := false
		switch need {
		case "#":
			has = t.digit
		case "19xx":
			has = t.year
		case "5/6":
			has = t.parted
		case "mon":
			has = t.month
		case "mon#":
			has = t.month && t.digit
		default:
			has = strings.Contains(s, need)
		}
		if has {
			return true
		}
	}
	return false
}

type grammar struct {
	text   string
	today  Day
	future bool // the question is about what is to come
	said   bool // a statement, not a question: see [ResolveDates]
	found  []timed

	from, to int // of the match in hand
}

// run finds the expressions of a text.
func (g *grammar) run(han bool) {
	g.future = reFuture.MatchString(g.text)
	t := traitsOf(g.text)
	for i := range timeRules {
		if r := &timeRules[i]; (han || !r.han) && r.possible(g.text, t) {
			g.find(r)
		}
	}
}

func (g *grammar) find(r *timeRule) {
	for _, at := range r.re.FindAllStringSubmatchIndex(g.text, maxRanges) {
		m := make([]string, len(at)/2)
		g.from, g.to = at[0], at[1]
		first, last := -1, -1
		for i := range m {
			if at[2*i] < 0 {
				continue
			}
			m[i] = g.text[at[2*i]:at[2*i+1]]
			if i > 0 && at[2*i] < at[2*i+1] {
				if first < 0 || at[2*i] < first {
					first = at[2*i]
				}
				last = max(last, at[2*i+1])
			}
		}
		if first >= 0 && !r.whole {
			g.from, g.to = first, last
		}
		if ws := g.reachable(r.make(g, m)); len(ws) > 0 {
			g.found = append(g.found, timed{from: g.from, to: g.to, windows: ws, year: wholeYear(ws)})
		}
	}
}

// reachable drops windows that are no days of the calendar.
func (g *grammar) reachable(ws []DateWindow) []DateWindow {
	return slices.DeleteFunc(ws, func(w DateWindow) bool {
		if w.Year == 0 && w.Month == 0 && w.Day == 0 {
			return !w.Range.valid()
		}
		leap := w.Year
		if leap == 0 {
			leap = 2000
		}
		_, ok := validDate(leap, max(w.Month, 1), max(w.Day, 1))
		return !ok
	})
}

func wholeYear(ws []DateWindow) bool {
	w := ws[0]
	if w.Year != 0 {
		return w.Month == 0
	}
	if !w.Range.valid() || w.Month != 0 {
		return false
	}
	y, _, _ := w.Range.From.Date()
	return w.Range == yearRange(y)
}

// settle keeps, of expressions that overlap, the one that begins first and of these the longest.
func (g *grammar) settle() {
	slices.SortStableFunc(g.found, func(a, b timed) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	end := -1
	g.found = slices.DeleteFunc(g.found, func(t timed) bool {
		if t.from < end {
			return true
		}
		end = t.to
		return false
	})
}

// weekday is the day of the week that an expression names, from Monday = 0, or -1.
func (g *grammar) weekday(t *timed) int {
	for _, w := range strings.Fields(g.text[t.from:t.to]) {
		if d, ok := weekdayIndex[w]; ok {
			return d
		}
	}
	return -1
}

var reDateGap = regexp.MustCompile(`^,?\s*(?:the\s+)?$`)

// dropWeekdays leaves of "Saturday, June 3" the date.
func (g *grammar) dropWeekdays() {
	for i := 0; i+1 < len(g.found); i++ {
		a, b := &g.found[i], &g.found[i+1]
		if b.windows[0].Day != 0 && reDateGap.MatchString(g.text[a.to:b.from]) && g.weekday(a) >= 0 && a.windows[0].Day == 0 {
			g.found = slices.Delete(g.found, i, i+1)
		}
	}
}

// windows reads what stands around the expressions.
func (g *grammar) windows() []DateWindow {
	g.dropWeekdays()
	for i := 0; i < len(g.found); i++ {
		g.narrow(i)
		for i+1 < len(g.found) && g.found[i+1].from < g.found[i].to {
			g.found = slices.Delete(g.found, i+1, i+2) // 去年夏天: the season belongs to the year
		}
	}
	var out []DateWindow
	for i := 0; i < len(g.found); i++ {
		if i+1 < len(g.found) {
			if r, ok := g.join(i); ok {
				out = append(out, DateWindow{Range: r})
				i++
				continue
			}
		}
		if g.said {
			out = append(out, g.found[i].windows...)
			continue
		}
		out = append(out, g.open(&g.found[i])...)
	}
	if len(out) == 0 || g.said {
		return out
	}
	return out[:min(len(out), maxWindows)]
}

var (
	reJoin  = regexp.MustCompile(`^\s*(?:and|to|till|until|through|thru|[-–—~～]|到|至|和|与|跟)\s*(?:the\s+)?(?:early|mid|late)?[\s-]*$`)
	reAnd   = regexp.MustCompile(`^\s*(?:and|和|与|跟)`)
	reSince = regexp.MustCompile(`\b(?:since|from|starting(?:\s+in)?|as of)\s+(?:the\s+|about\s+|early\s+|mid\s+|late\s+)?$|自从?$|从$`)
	reAfter = regexp.MustCompile(`\b(?:after|later than)\s+(?:the\s+)?$`)
	reUntil = regexp.MustCompile(`\b(?:until|till|up to|by)\s+(?:the\s+)?$|直到$|截至$|截止到?$`)
	rePrior = regexp.MustCompile(`\b(?:before|prior to|earlier than)\s+(?:the\s+)?$`)

	reHanSince = regexp.MustCompile(`^(?:以来|至今|到现在|到今天|开始|起)`)
	reHanAfter = regexp.MustCompile(`^(?:之后|以后|过后|后)`)
	reHanPrior = regexp.MustCompile(`^(?:之前|以前|前)`)
	reHanUntil = regexp.MustCompile(`^(?:为止|為止)`)
	reBetween  = regexp.MustCompile(`\bbetween\s+(?:the\s+)?(?:early|mid|late)?[\s-]*$`)
	reHanRange = regexp.MustCompile(`^(?:之间|期间|这段时间)`)
)

// join makes a range of an expression and the next when words between them say so. A year that only one of them names
// belongs to both.
func (g *grammar) join(i int) (DateRange, bool) {
	a, b := &g.found[i], &g.found[i+1]
	gap := g.text[a.to:b.from]
	if !reJoin.MatchString(gap) {
		return DateRange{}, false
	}
	between := reBetween.MatchString(g.text[:a.from]) || reHanRange.MatchString(g.text[b.to:])
	if reAnd.MatchString(gap) && !between {
		return DateRange{}, false
	}
	year := func(w DateWindow) int {
		if w.Year != 0 {
			return w.Year
		}
		if w.Range.valid() && w.Month == 0 && w.Day == 0 {
			y, _, _ := w.Range.From.Date()
			return y
		}
		return 0
	}
	if d := g.weekday(a); d >= 0 && g.weekday(b) >= 0 && strings.HasSuffix(g.text[b.from:b.to], "week") {
		r := b.windows[0].Range // "Monday to Thursday last week": Monday of that week
		return DateRange{r.From - Day(r.From.weekday()) + Day(d), r.To}, Day(d) <= Day(r.From.weekday())
	}
	x, okX := g.span(a.windows[0], year(b.windows[0]))
	y, okY := g.span(b.windows[0], year(a.windows[0]))
	if okX && okY && x.From > y.To { // "November to February 2023"
		if a.windows[0].Year == 0 && a.windows[0].Month != 0 {
			yy, _, _ := x.From.Date()
			x, okX = windowIn(a.windows[0], yy-1)
		} else if b.windows[0].Year == 0 && b.windows[0].Month != 0 {
			yy, _, _ := y.From.Date()
			y, okY = windowIn(b.windows[0], yy+1)
		}
	}
	r := DateRange{x.From, y.To}
	return r, okX && okY && r.valid()
}

// open applies "since", "after", "until" and "before".
func (g *grammar) open(t *timed) []DateWindow {
	r, ok := g.span(t.windows[0], 0)
	if !ok {
		return t.windows
	}
	before, behind := g.text[:t.from], g.text[t.to:]
	// What was said may be of the day before or behind; of an open end nothing later than today is known.
	last := g.today
	if g.future || r.From >= last {
		last = min(r.To+366, maxDay)
	}
	switch {
	case reSince.MatchString(before), reHanSince.MatchString(behind):
		if g.future || r.From >= g.today {
			last = max(last, r.To)
		}
		return []DateWindow{{Range: DateRange{r.From, last}}}
	case reAfter.MatchString(before), reHanAfter.MatchString(behind):
		if r.To >= last {
			last = min(r.To+366, maxDay)
		}
		return []DateWindow{{Range: DateRange{min(r.To+1, maxDay), last}}}
	case reUntil.MatchString(before), reHanUntil.MatchString(behind):
		return []DateWindow{{Range: DateRange{minDay, r.To}}}
	case rePrior.MatchString(before), reHanPrior.MatchString(behind):
		return []DateWindow{{Range: DateRange{minDay, max(r.From-1, minDay)}}}
	}
	return t.windows
}
