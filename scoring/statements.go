package scoring

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// ResolveDates gives the days that a text said at a given time speaks of, counted from at in its own zone: what the grammar
// of questions finds ([QueryDatesAt]), read as a statement. Relative phrases in English, Chinese and simple Japanese
// ("yesterday", "last Friday", "two weeks ago", 上上个月, 先週) have slack where they are vague; years, months, seasons and
// spans ("in 2023", "last June", 去年夏天, "from March to May") are whole. A day, month or season without a year is the
// closest one. Of what is still going on ("since May", "until 2010") it is the date that is named, and of what goes on for
// years up to now ("the past five years") nothing: it would be true of every day. Weekdays alone are left out: statements
// use them for what is to come and for habits as much as for what was. The first 12,000 bytes are read and at most 24 ranges
// returned; expressions that leave the years 1 to 9999 are left out. An undated text speaks only of the dates it names in full.
func ResolveDates(text string, at time.Time) []DateRange {
	s := dateText(text)
	today, dated := DayOf(at)
	if !dated {
		return datesInFull(s)
	}
	var out []DateRange
	for len(s) > 0 && len(out) < maxRanges {
		piece := s[:statementEnd(s)]
		s = s[len(piece):]
		for _, r := range resolvePiece(piece, today) {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out[:min(len(out), maxRanges)]
}

// resolvePiece resolves one sentence.
func resolvePiece(s string, today Day) []DateRange {
	han := strings.ContainsAny(s, hanTimeRunes)
	if han {
		s = hanNumerals(s)
	}
	g := grammar{text: s, today: today, said: true}
	g.run(han)
	if len(g.found) == 0 {
		return nil
	}
	g.settle()
	return g.saidRanges()
}

// statementEnd is where the first sentence or line of folded text ends. The full stop of "Jan. 5" ends none.
func statementEnd(s string) int {
	for i, r := range s {
		switch r {
		case '\n', '!', '?', ';', '。', '！', '？', '；':
			return i + utf8.RuneLen(r)
		case '.':
			if i+1 < len(s) && s[i+1] == ' ' && !reAbbreviation.MatchString(s[max(0, i-6):i]) {
				return i + 1
			}
		}
	}
	return len(s)
}

var reAbbreviation = regexp.MustCompile(`\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)$`)

// hanTimeRunes are the characters of which every expression of time in Chinese or Japanese holds one.
const hanTimeRunes = "年月日号號天周週期拜曜昨今明晚夜早晨朝前后後季春夏秋冬假初底末旦节節夕午中庆慶诞誕宵清双雙きうあお"

// datesInFull are the days, or else months and years, that folded text names with their year.
func datesInFull(s string) []DateRange {
	ws := daysNamed(s)
	if len(ws) == 0 {
		ws = monthsNamed(s)
	}
	if len(ws) == 0 {
		ws = yearsNamed(s)
	}
	var out []DateRange
	for _, w := range ws {
		if r, ok := windowIn(w, w.Year); ok && w.Year != 0 && len(out) < maxRanges {
			out = append(out, r)
		}
	}
	return out
}

// longStretch is the longest span up to now, in days, that still tells one time from others.
const longStretch = 400

// saidRanges are the days of the expressions found.
func (g *grammar) saidRanges() []DateRange {
	var out []DateRange
	for _, w := range g.windows() {
		r, ok := g.span(w, 0)
		if !ok || r.To-r.From > longStretch && r.From <= g.today && g.today <= r.To || slices.Contains(out, r) {
			continue
		}
		out = append(out, r)
	}
	return out
}

// closest is the yearly span nearest to today: of this year, the last or the next; of a leap day, of the years beyond.
func (g *grammar) closest(span func(year int) DateRange) (best DateRange, ok bool) {
	y, _, _ := g.today.Date()
	for _, n := range [...]int{y, y - 1, y + 1, y - 2, y - 3, y - 4} {
		r := span(n)
		if !r.valid() || r == (DateRange{}) {
			continue
		}
		if !ok || max(r.From-g.today, g.today-r.To, 0) < max(best.From-g.today, g.today-best.To, 0) {
			best, ok = r, true
		}
	}
	return best, ok
}

// weekdaySaid is the day of "on Monday": the last one before today or, in a clause about what is to come, the next. A
// weekday alone is none.
func (g *grammar) weekdaySaid(lead string, weekday int) []DateWindow {
	switch {
	case lead != "on":
		return nil
	case g.future:
		return []DateWindow{{Range: weekdayRange(g.today, "next", weekday)}}
	}
	return []DateWindow{{Range: weekdayRange(g.today, "on", weekday)}}
}
