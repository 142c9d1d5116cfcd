package scoring

import (
	"regexp"
	"strings"
	"time"
)

// maxRanges bounds the ranges taken from one text.
const maxRanges = 24

// phrase is a fixed expression and the range it means on a given day.
type phrase struct {
	re    *regexp.Regexp
	words []string // alternatives without blanks around them, for Chinese and Japanese
	days  func(Day) DateRange
}

func days(from, to Day) func(Day) DateRange {
	return func(d Day) DateRange { return DateRange{d + from, d + to} }
}

func week(offset Day) func(Day) DateRange {
	return func(d Day) DateRange {
		monday := d - Day(d.weekday()) + 7*offset
		return DateRange{monday, monday + 6}
	}
}

func weekend(offset Day) func(Day) DateRange {
	return func(d Day) DateRange {
		monday := d - Day(d.weekday()) + 7*offset
		return DateRange{monday + 5, monday + 6}
	}
}

func months(offset int) func(Day) DateRange {
	return func(d Day) DateRange { return monthRange(d, offset) }
}

func years(offset int) func(Day) DateRange {
	return func(d Day) DateRange {
		y, _, _ := d.Date()
		return yearRange(y + offset)
	}
}

func words(ws ...string) []string { return ws }

// phrases in the order they are tried. Where one phrase contains another ("大前天", "前天"), the longer stands first and
// hides the shorter.
var phrases = []phrase{
	{regexp.MustCompile(`\bday before yesterday\b`), words("前天", "一昨日", "おととい"), days(-2, -2)},
	{regexp.MustCompile(`\byesterday\b|\blast night\b`), words("昨天", "昨日", "昨晚", "昨夜", "きのう"), days(-1, -1)},
	{regexp.MustCompile(`\btoday\b|\btonight\b|\bthis (?:morning|afternoon|evening)\b`), words("今天", "今日", "今晚", "今晩", "今早", "今朝", "きょう"), days(0, 0)},
	{regexp.MustCompile(`\bday after tomorrow\b`), words("后天", "後天", "明後日", "あさって"), days(2, 2)},
	{regexp.MustCompile(`\btomorrow\b`), words("明天", "明日", "明晚", "あした"), days(1, 1)},
	{regexp.MustCompile(`\b(?:last|past) weekend\b|\bthe weekend\b|\bover the weekend\b`), words("上周末", "上個週末", "上个周末", "先週末"), weekend(-1)},
	{regexp.MustCompile(`\bthis weekend\b`), words("这周末", "這週末", "今週末"), weekend(0)},
	{regexp.MustCompile(`\bnext weekend\b`), words("下周末", "下週末", "来週末"), weekend(1)},
	{regexp.MustCompile(`\blast week\b`), words("上周", "上週", "上星期", "上个星期", "上個星期", "上礼拜", "先週"), week(-1)},
	{regexp.MustCompile(`\bthis week\b`), words("这周", "這週", "本周", "这个星期", "今週"), week(0)},
	{regexp.MustCompile(`\bnext week\b`), words("下周", "下週", "下星期", "下个星期", "下個星期", "来週"), week(1)},
	{regexp.MustCompile(`\blast month\b`), words("上个月", "上個月", "上月", "先月"), months(-1)},
	{regexp.MustCompile(`\bthis month\b`), words("这个月", "這個月", "本月", "今月"), months(0)},
	{regexp.MustCompile(`\bnext month\b`), words("下个月", "下個月", "下月", "来月"), months(1)},
	{regexp.MustCompile(`\byear before last\b`), words("前年", "一昨年", "おととし"), years(-2)},
	{regexp.MustCompile(`\blast year\b`), words("去年", "昨年"), years(-1)},
	{regexp.MustCompile(`\bnext year\b`), words("明年", "来年"), years(1)},
}

var (
	reWeekday = regexp.MustCompile(`\b(last|next|this|on)\s+(monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b`)
	reAgo     = regexp.MustCompile(`\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|an?|(?:a )?couple(?: of)?|(?:a )?few|several)\s+(day|week|month|year)s?\s+(?:ago|back|earlier)\b`)
	reHanAgo  = regexp.MustCompile(`(\d+|[一二两兩三四五六七八九十]+|几|幾|数)\s*(天|日|周|週間?|个?星期|個?星期|个?礼拜|个月|個月|か月|ヶ月|カ月|ヵ月|年)(?:之|以)?前`)
	reHanWday = regexp.MustCompile(`([上下这這本]|先|来|今)个?個?(?:周|週|星期|礼拜)の?([一二三四五六日天月火水木金土])(?:曜日?)?`)
)

var weekdayIndex = map[string]int{"monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
	"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6, "月": 0, "火": 1, "水": 2, "木": 3, "金": 4, "土": 5}

var numberWords = map[string]int{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "a": 1, "an": 1, "a couple": 2, "couple": 2, "a couple of": 2, "couple of": 2, "a few": 3, "few": 3, "several": 3,
	"一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "几": 3, "幾": 3, "数": 3}

// ResolveDates gives the days a text said at a given time speaks of: relative phrases in English, Chinese and simple
// Japanese ("yesterday", "last Friday", "two weeks ago", 上个月, 先週), counted from at in its own zone with slack where
// they are vague (three days either way for weeks, 15 for months, 180 for years), and full or partial dates ("8 May").
// The first 12,000 bytes are read and at most 24 ranges returned; expressions that leave the years 1 to 9999 are left
// out. An undated item speaks only of the full dates it names.
func ResolveDates(text string, at time.Time) []DateRange {
	s := dateText(text)
	out := relativeDates(s, at)
	today, dated := DayOf(at)
	for _, w := range daysNamed(s) {
		if len(out) >= maxRanges {
			break
		}
		if w.Year != 0 {
			if d, ok := validDate(w.Year, w.Month, w.Day); ok {
				out = append(out, DateRange{d, d})
			}
		} else if dated {
			if d, ok := nearestYear(today, w.Month, w.Day); ok {
				out = append(out, DateRange{d, d})
			}
		}
	}
	return out
}

// nearestYear is the date of that month and day closest to today.
func nearestYear(today Day, month, day int) (Day, bool) {
	y, _, _ := today.Date()
	var best Day
	found := false
	for _, year := range [...]int{y, y - 1, y + 1} {
		if d, ok := validDate(year, month, day); ok && (!found || abs(d-today) < abs(best-today)) {
			best, found = d, true
		}
	}
	return best, found
}

func abs(d Day) Day {
	return max(d, -d)
}

// relativeDates resolves the relative phrases of folded text.
func relativeDates(s string, at time.Time) []DateRange {
	today, ok := DayOf(at)
	if !ok {
		return nil
	}
	var out []DateRange
	add := func(r DateRange) {
		if r.valid() && len(out) < maxRanges {
			out = append(out, r)
		}
	}
	han := hasDense(s)
	rest := s
	if han {
		for _, m := range reHanWday.FindAllStringSubmatch(s, -1) {
			offset := map[string]Day{"上": -7, "先": -7, "下": 7, "来": 7}[m[1]]
			d := today - Day(today.weekday()) + offset + Day(weekdayIndex[m[2]])
			add(DateRange{d, d})
		}
		rest = reHanWday.ReplaceAllString(s, " ")
		for _, m := range reHanAgo.FindAllStringSubmatch(rest, -1) {
			add(ago(today, quantity(m[1]), hanUnit(m[2])))
		}
		rest = strings.ReplaceAll(rest, "大前天", " ")
		if strings.Contains(s, "大前天") {
			add(DateRange{today - 3, today - 3})
		}
	}
	for _, p := range phrases {
		found := p.re.MatchString(rest)
		if found {
			rest = p.re.ReplaceAllString(rest, " ")
		}
		if han {
			for _, w := range p.words {
				if strings.Contains(rest, w) {
					found = true
					rest = strings.ReplaceAll(rest, w, " ")
				}
			}
		}
		if found {
			add(p.days(today))
		}
	}
	for _, m := range reWeekday.FindAllStringSubmatch(s, -1) {
		ahead := (weekdayIndex[m[2]] - today.weekday() + 7) % 7
		d := today + Day(ahead)
		switch past := m[1] == "last" || m[1] == "on"; {
		case past:
			d -= 7
		case ahead == 0:
			d += 7
		}
		add(DateRange{d, d})
	}
	for _, m := range reAgo.FindAllStringSubmatch(s, -1) {
		add(ago(today, quantity(m[1]), m[2]))
	}
	return out
}

func hasDense(s string) bool {
	for _, r := range s {
		if dense(r) {
			return true
		}
	}
	return false
}

// quantity reads a number in digits or words; 0 when it is none or too great to be a number of days or years.
func quantity(s string) int {
	if n, ok := numberWords[s]; ok {
		return n
	}
	if n := atoi(s); n > 0 {
		return n
	}
	// 十二, 三十, 二十五
	tens, ones, found := strings.Cut(s, "十")
	if !found {
		return 0
	}
	n := 10
	if tens != "" {
		n = 10 * numberWords[tens]
	}
	return n + numberWords[ones]
}

func hanUnit(u string) string {
	switch {
	case u == "天" || u == "日":
		return "day"
	case u == "年":
		return "year"
	case strings.HasSuffix(u, "月"):
		return "month"
	}
	return "week"
}

// ago is the time n units before today, with the unit's slack; an invalid range when that is out of reach.
func ago(today Day, n int, unit string) DateRange {
	length, slack := 1, Day(0)
	switch unit {
	case "week":
		length, slack = 7, 3
	case "month":
		length, slack = 30, 15
	case "year":
		length, slack = 365, 180
	}
	if n <= 0 || n > int(today-minDay)/length {
		return DateRange{1, 0}
	}
	d := today - Day(n*length)
	return DateRange{max(d-slack, minDay), min(d+slack, maxDay)}
}
