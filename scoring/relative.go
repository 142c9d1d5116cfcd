package scoring

import (
	"regexp"
	"strings"
)

// maxRanges bounds the ranges taken from one text.
const maxRanges = 24

// phrase is a fixed expression and the range it means on a given day.
type phrase struct {
	english []string // whole words
	words   []string // Chinese and Japanese, which have no blanks around words
	days    func(Day) DateRange
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
	{words("day before yesterday"), words("前天", "一昨日", "おととい"), days(-2, -2)},
	{words("yesterday", "last night"), words("昨天", "昨日", "昨晚", "昨夜", "きのう"), days(-1, -1)},
	{words("today", "tonight", "this morning", "this afternoon", "this evening"), words("今天", "今日", "今晚", "今晩", "今早", "今朝", "きょう"), days(0, 0)},
	{words("day after tomorrow"), words("后天", "後天", "明後日", "あさって"), days(2, 2)},
	{words("tomorrow"), words("明天", "明日", "明晚", "あした"), days(1, 1)},
	{words("the weekend", "over the weekend", "last weekend", "past weekend"), words("上周末", "上個週末", "上个周末", "先週末"), weekend(-1)},
	{words("this weekend"), words("这周末", "這週末", "今週末"), weekend(0)},
	{words("next weekend"), words("下周末", "下週末", "来週末"), weekend(1)},
	{words("last week"), words("上周", "上週", "上星期", "上个星期", "上個星期", "上礼拜", "先週"), week(-1)},
	{words("this week"), words("这周", "這週", "本周", "这个星期", "今週"), week(0)},
	{words("next week"), words("下周", "下週", "下星期", "下个星期", "下個星期", "来週"), week(1)},
	{words("last month"), words("上个月", "上個月", "上月", "先月"), months(-1)},
	{words("this month"), words("这个月", "這個月", "本月", "今月"), months(0)},
	{words("next month"), words("下个月", "下個月", "下月", "来月"), months(1)},
	{words("year before last"), words("前年", "一昨年", "おととし"), years(-2)},
	{words("last year"), words("去年", "昨年"), years(-1)},
	{words("next year"), words("明年", "来年"), years(1)},
}

var (
	reHanWday = regexp.MustCompile(`([上下这這本]|先|来|今)个?個?(?:周|週|星期|礼拜)の?([一二三四五六日天月火水木金土])(?:曜日?)?`)
)

var weekdayIndex = map[string]int{"monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
	"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6, "月": 0, "火": 1, "水": 2, "木": 3, "金": 4, "土": 5}

var numberWords = map[string]int{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "a": 1, "an": 1, "a couple": 2, "couple": 2, "a couple of": 2, "couple of": 2, "a few": 3, "few": 3, "several": 3,
	"一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "几": 3, "幾": 3, "数": 3}

// weekdayRange is the day meant by "last", "on" (the one before today), "this" or "next" (the one after) and a weekday.
func weekdayRange(today Day, which string, weekday int) DateRange {
	ahead := (weekday - today.weekday() + 7) % 7
	d := today + Day(ahead)
	switch past := which == "last" || which == "on"; {
	case past:
		d -= 7
	case ahead == 0:
		d += 7
	}
	return DateRange{d, d}
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
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
