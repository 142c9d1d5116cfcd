package scoring

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// wednesday is when the tables' questions are asked.
var wednesday = time.Date(2023, 6, 14, 12, 0, 0, 0, time.UTC)

// show writes windows as the tables do: y2021, 2023-05, m5, d05-07, 2023-05-07, or a range with "..".
func show(ws []DateWindow) string {
	var out []string
	iso := func(d Day) string {
		y, m, day := d.Date()
		return fmt.Sprintf("%04d-%02d-%02d", y, m, day)
	}
	for _, w := range ws {
		switch {
		case w.Year != 0 && w.Day != 0:
			out = append(out, fmt.Sprintf("%04d-%02d-%02d", w.Year, w.Month, w.Day))
		case w.Year != 0 && w.Month != 0:
			out = append(out, fmt.Sprintf("%04d-%02d", w.Year, w.Month))
		case w.Year != 0:
			out = append(out, fmt.Sprintf("y%d", w.Year))
		case w.Day != 0:
			out = append(out, fmt.Sprintf("d%02d-%02d", w.Month, w.Day))
		case w.Month != 0:
			out = append(out, fmt.Sprintf("m%d", w.Month))
		case w.Range.From == w.Range.To:
			out = append(out, iso(w.Range.From))
		default:
			out = append(out, iso(w.Range.From)+".."+iso(w.Range.To))
		}
	}
	return strings.Join(out, " ")
}

func runTimeTable(t *testing.T, table [][2]string) {
	t.Helper()
	wrong := 0
	for _, c := range table {
		if got := show(QueryDatesAt(c[0], wednesday)); got != c[1] {
			wrong++
			t.Errorf("%q: got %q, want %q", c[0], got, c[1])
		}
	}
	t.Logf("%d of %d phrases right", len(table)-wrong, len(table))
}

func TestEnglishTimes(t *testing.T) {
	runTimeTable(t, [][2]string{
		{"What did I do yesterday?", "2023-06-13"},
		{"the day before yesterday", "2023-06-12"},
		{"What did I eat this morning?", "2023-06-14"},
		{"anything for tonight", "2023-06-14"},
		{"Who called last night?", "2023-06-13"},
		{"yesterday evening", "2023-06-13"},
		{"tomorrow afternoon", "2023-06-15"},
		{"the day after tomorrow", "2023-06-16"},
		{"What happened last week?", "2023-06-05..2023-06-11"},
		{"earlier this week", "2023-06-12..2023-06-18"},
		{"next week", "2023-06-19..2023-06-25"},
		{"the week before last", "2023-05-29..2023-06-04"},
		{"the week after next", "2023-06-26..2023-07-02"},
		{"over the weekend", "2023-06-10..2023-06-11"},
		{"last weekend", "2023-06-10..2023-06-11"},
		{"this weekend", "2023-06-17..2023-06-18"},
		{"last month", "2023-05-01..2023-05-31"},
		{"the month before last", "2023-04-01..2023-04-30"},
		{"next month", "2023-07-01..2023-07-31"},
		{"last year", "2022-01-01..2022-12-31"},
		{"this year", "y2023"},
		{"the year before last", "y2021"},
		{"last Friday", "2023-06-09"},
		{"Where was I on Monday?", "2023-06-12"},
		{"last Wednesday", "2023-06-07"},
		{"this Friday", "2023-06-16"},
		{"next Monday", "2023-06-19"},
		{"next Friday", "2023-06-16 2023-06-23"},
		{"on Friday last week", "2023-06-09"},
		{"What did she say Sunday?", "2023-06-11"},
		{"What will I do on Friday?", "2023-06-16"},
		{"two weeks ago", "2023-05-28..2023-06-03"},
		{"a couple of days ago", "2023-06-12"},
		{"3 months ago", "2023-03-01..2023-03-31"},
		{"half a year ago", "2022-10-15..2023-02-12"},
		{"a fortnight ago", "2023-05-28..2023-06-03"},
		{"the past two weeks", "2023-05-31..2023-06-14"},
		{"over the last 3 months", "2023-03-16..2023-06-14"},
		{"in the past month", "2023-05-15..2023-06-14"},
		{"the next two weeks", "2023-06-15..2023-06-28"},
		{"What is due in two weeks?", "2023-06-25..2023-07-01"},
		{"three days from now", "2023-06-17"},
		{"the other day", "2023-06-07..2023-06-13"},
		{"in June 2023", "2023-06"},
		{"between May and July 2025", "2025-05-01..2025-07-31"},
		{"from March to May", "2023-03-01..2023-05-31"},
		{"from November to February", "2022-11-01..2023-02-28"},
		{"November 2022 to February", "2022-11-01..2023-02-28"},
		{"between 3 June and 10 June 2022", "2022-06-03..2022-06-10"},
		{"from 2019 to 2021", "2019-01-01..2021-12-31"},
		{"the years 2019-2021", "2019-01-01..2021-12-31"},
		{"since May", "2023-05-01..2023-06-14"},
		{"since last Friday", "2023-06-09..2023-06-14"},
		{"after 7 May 2023", "2023-05-08..2023-06-14"},
		{"before 2022", "0001-01-01..2021-12-31"},
		{"until March 2023", "0001-01-01..2023-03-31"},
		{"in early 2023", "2023-01-01..2023-04-30"},
		{"in late May", "2023-05-21..2023-05-31"},
		{"mid-2022", "2022-05-01..2022-08-31"},
		{"at the end of last month", "2023-05-21..2023-05-31"},
		{"the beginning of this year", "2023-01-01..2023-04-30"},
		{"in the first half of 2022", "2022-01-01..2022-06-30"},
		{"the second quarter of 2022", "2022-04-01..2022-06-30"},
		{"Q3 2022", "2022-07-01..2022-09-30"},
		{"Q4 of last year", "2022-10-01..2022-12-31"},
		{"last quarter", "2023-01-01..2023-03-31"},
		{"last summer", "2022-06-01..2022-08-31"},
		{"in the summer of 2021", "2021-06-01..2021-08-31"},
		{"this spring", "2023-03-01..2023-05-31"},
		{"last winter", "2022-12-01..2023-02-28"},
		{"in the fall", "2022-09-01..2022-11-30"},
		{"in the 1990s", "1990-01-01..1999-12-31"},
		{"last May", "2023-05"},
		{"last December", "2022-12"},
		{"next January", "2024-01"},
		{"May last year", "2022-05"},
		{"in May", "m5"},
		{"on 7 May", "d05-07"},
		{"on the 3rd", "2023-06-03"},
		{"on the 20th?", "2023-05-20"},
		{"the 15th of last month", "2023-05-15"},
		{"last Christmas", "2022-12-24..2022-12-26"},
		{"on New Year's Eve", "2022-12-31"},
		{"Halloween 2021", "2021-10-31"},
		{"2023-05", "2023-05"},
		{"on 2023-05-07", "2023-05-07"},
		{"7 May and last week", "d05-07 2023-06-05..2023-06-11"},

		{"Did I eat 2000 calories?", ""},
		{"a budget of 3000 euros", ""},
		{"room 1999.5 and 1,999 things", ""},
		{"a $2000 laptop", ""},
		{"for the 3rd time", ""},
		{"the 21st century", ""},
		{"spring onions in the salad", ""},
		{"May I ask what you may know?", ""},
		{"Did they march against it?", ""},
		{"Can I finish it in 3 days?", ""},
		{"What do I do on Mondays?", ""},
		{"999999 years ago", ""},
		{"99999999999999999999 days ago", ""},
		{"the past 9999999 years", ""},
		{"30 February 2023", "2023-02"},
		{"What does Mel like?", ""},
		{"", ""},
	})
}

func TestChineseTimes(t *testing.T) {
	runTimeTable(t, [][2]string{
		{"我昨天做了什么？", "2023-06-13"},
		{"前天下午", "2023-06-12"},
		{"大前天", "2023-06-11"},
		{"今天上午", "2023-06-14"},
		{"昨晚谁来了", "2023-06-13"},
		{"今早吃了什么", "2023-06-14"},
		{"前晚", "2023-06-12"},
		{"明天我要做什么", "2023-06-15"},
		{"后天", "2023-06-16"},
		{"大后天", "2023-06-17"},
		{"上周我病了吗", "2023-06-05..2023-06-11"},
		{"这周", "2023-06-12..2023-06-18"},
		{"下周", "2023-06-19..2023-06-25"},
		{"上上周", "2023-05-29..2023-06-04"},
		{"上上个星期", "2023-05-29..2023-06-04"},
		{"下下周", "2023-06-26..2023-07-02"},
		{"上周五", "2023-06-09"},
		{"这周三", "2023-06-14"},
		{"下周一", "2023-06-19"},
		{"上个星期天", "2023-06-11"},
		{"周一我去了哪里", "2023-06-12"},
		{"星期五", "2023-06-09"},
		{"周五我要去哪里", "2023-06-16"},
		{"上周末", "2023-06-10..2023-06-11"},
		{"周末我做了什么", "2023-06-10..2023-06-11"},
		{"上个月", "2023-05-01..2023-05-31"},
		{"上上个月", "2023-04-01..2023-04-30"},
		{"下个月", "2023-07-01..2023-07-31"},
		{"本月", "2023-06-01..2023-06-30"},
		{"去年", "y2022"},
		{"前年", "y2021"},
		{"大前年", "y2020"},
		{"大大前年", "y2019"},
		{"大后年", "y2026"},
		{"大前年5月", "2020-05"},
		{"大大前天", "2023-06-10"},
		{"大大后天", "2023-06-18"},
		{"上上上个月", "2023-03-01..2023-03-31"},
		{"上上上上个月", "2023-02-01..2023-02-28"},
		{"下下下周", "2023-07-03..2023-07-09"},
		{"上上上周三", "2023-05-24"},
		{"今年", "y2023"},
		{"明年", "y2024"},
		{"三天前", "2023-06-11"},
		{"两周前", "2023-05-28..2023-06-03"},
		{"半年前", "2022-10-15..2023-02-12"},
		{"三个月前", "2023-03-01..2023-03-31"},
		{"十二天之前", "2023-06-02"},
		{"最近三天", "2023-06-11..2023-06-14"},
		{"过去两周", "2023-05-31..2023-06-14"},
		{"近半年", "2022-12-14..2023-06-14"},
		{"前几天", "2023-06-04..2023-06-13"},
		{"这几天", "2023-06-11..2023-06-14"},
		{"接下来两周", "2023-06-15..2023-06-28"},
		{"三天后将有什么安排", "2023-06-17"},
		{"2023年5月我去了哪里", "2023-05"},
		{"二〇二三年五月", "2023-05"},
		{"二零二一年", "y2021"},
		{"五月我在忙什么", "m5"},
		{"五月二日", "d05-02"},
		{"2023年5月2号", "2023-05-02"},
		{"十二月二十五号", "d12-25"},
		{"三月到五月", "2023-03-01..2023-05-31"},
		{"2022年3月到5月", "2022-03-01..2022-05-31"},
		{"2022年11月到2月", "2022-11-01..2023-02-28"},
		{"从2019年到2021年", "2019-01-01..2021-12-31"},
		{"5月2日和5月8日之间", "2023-05-02..2023-05-08"},
		{"五月以来", "2023-05-01..2023-06-14"},
		{"去年之前", "0001-01-01..2021-12-31"},
		{"2023年5月7日之后", "2023-05-08..2023-06-14"},
		{"去年夏天", "2022-06-01..2022-08-31"},
		{"2021年冬天", "2021-12-01..2022-02-28 2021-01-01..2021-02-28"},
		{"今年春天", "2023-03-01..2023-05-31"},
		{"夏天", "2023-06-01..2023-08-31"},
		{"上个夏天", "2022-06-01..2022-08-31"},
		{"去年暑假", "2022-07-01..2022-08-31"},
		{"去年年底", "2022-09-01..2022-12-31"},
		{"2023年初", "2023-01-01..2023-04-30"},
		{"今年年初", "2023-01-01..2023-04-30"},
		{"今年上半年", "2023-01-01..2023-06-30"},
		{"去年下半年", "2022-07-01..2022-12-31"},
		{"2022年第三季度", "2022-07-01..2022-09-30"},
		{"上个月底", "2023-05-21..2023-05-31"},
		{"5月中旬", "2023-05-11..2023-05-20"},
		{"年底", "2022-09-01..2022-12-31"},
		{"月初", "2023-06-01..2023-06-10"},
		{"15号我见了谁", "2023-05-15"},
		{"上个月15号", "2023-05-15"},
		{"去年国庆节", "2022-10-01..2022-10-07"},
		{"去年中秋", "2022-09-07..2022-10-08"},
		{"春节我去了哪里", "2023-01-21..2023-02-20"},
		{"元旦", "2023-01-01"},
		{"去年5月", "2022-05"},
		{"去年五月三号", "2022-05-03"},
		{"２０２３年５月２日", "2023-05-02"},

		{"坐2号线怎么走", ""},
		{"第三号方案是什么", ""},
		{"99999年前", ""},
		{"九千九百九十九年前", ""},
		{"我花了2000块", ""},
		{"13月", ""},
		{"星期几开会", ""},
		{"我喜欢什么？", ""},
	})
}

// A phrase means what it means where and when it is asked: over zones, leap days and the ends of years.
func TestTimesOfOtherMoments(t *testing.T) {
	tokyo, honolulu := time.FixedZone("JST", 9*3600), time.FixedZone("HST", -10*3600)
	for _, c := range []struct {
		now   time.Time
		query string
		want  string
	}{
		{time.Date(2024, 3, 1, 0, 30, 0, 0, tokyo), "yesterday", "2024-02-29"},
		{time.Date(2024, 3, 1, 0, 30, 0, 0, tokyo).In(honolulu), "yesterday", "2024-02-28"},
		{time.Date(2024, 1, 1, 8, 0, 0, 0, time.UTC), "last week", "2023-12-25..2023-12-31"},
		{time.Date(2024, 1, 1, 8, 0, 0, 0, time.UTC), "昨天", "2023-12-31"},
		{time.Date(2024, 1, 15, 8, 0, 0, 0, time.UTC), "last December", "2023-12"},
		{time.Date(2024, 1, 15, 8, 0, 0, 0, time.UTC), "this winter", "2023-12-01..2024-02-29"},
		{time.Date(2024, 12, 30, 8, 0, 0, 0, time.UTC), "next week", "2025-01-06..2025-01-12"},
		{time.Date(2024, 2, 29, 8, 0, 0, 0, time.UTC), "last month", "2024-01-01..2024-01-31"},
		{time.Date(2024, 2, 29, 8, 0, 0, 0, time.UTC), "since 29 February", "2024-02-29..2025-03-01"},
		{time.Date(2023, 3, 31, 8, 0, 0, 0, time.UTC), "on the 31st", "2023-03-31"},
		{time.Date(2023, 3, 30, 8, 0, 0, 0, time.UTC), "31号", "2023-01-31"},
		{time.Date(2023, 1, 5, 8, 0, 0, 0, time.UTC), "去年年底", "2022-09-01..2022-12-31"},
		{time.Date(2023, 1, 1, 8, 0, 0, 0, time.UTC), "last quarter", "2022-10-01..2022-12-31"},
		{time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), "last month, two years ago, 上周", ""},
		{time.Date(2023, 6, 14, 8, 0, 0, 0, time.UTC), "after this week", "2023-06-19..2024-06-18"},
		{time.Time{}, "yesterday", ""},
		{time.Time{}, "7 May 2023", "2023-05-07"},
	} {
		if got := show(QueryDatesAt(c.query, c.now)); got != c.want {
			t.Errorf("%q at %v: got %q, want %q", c.query, c.now, got, c.want)
		}
	}
}

// Whatever the words around it, a range that is found lies in the calendar and an item of its own days fits it best.
func TestWindowsMatchTheirOwnDays(t *testing.T) {
	phrases := []string{"last week", "since May", "between May and July 2022", "in early 2023", "上周五", "去年夏天", "最近三天", "two weeks ago", "last summer", "5月中旬"}
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.SampledFrom([]string{"", "what did I do ", "我"}).Draw(t, "before") + rapid.SampledFrom(phrases).Draw(t, "phrase") + rapid.SampledFrom([]string{"", "?", " at home"}).Draw(t, "after")
		at := time.Unix(rapid.Int64Range(0, 4_000_000_000).Draw(t, "at"), 0).UTC()
		ws := QueryDatesAt(q, at)
		if len(ws) == 0 {
			t.Fatalf("%q: nothing", q)
		}
		for _, w := range ws {
			if !w.Range.valid() {
				t.Fatalf("%q: %+v", q, w)
			}
			if got := DateMatch(ws, time.Unix(int64(w.Range.From)*86400, 0).UTC(), nil); got != 1 {
				t.Fatalf("%q: its own day matches %g", q, got)
			}
		}
	})
}
