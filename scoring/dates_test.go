package scoring

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62135596799, 253402300799).Draw(t, "at"), 0).UTC()
		d, ok := DayOf(at)
		if !ok || d < minDay || d > maxDay {
			t.Fatalf("DayOf(%v) = %v, %v", at, d, ok)
		}
		y, m, day := d.Date()
		wy, wm, wd := at.Date()
		if y != wy || m != wm || day != wd || (d.weekday()+1)%7 != int(at.Weekday()) {
			t.Fatalf("%v became %d-%d-%d, weekday %d", at, y, m, day, d.weekday())
		}
	})
	east := time.FixedZone("east", 14*3600)
	if d, _ := DayOf(time.Date(2023, 5, 8, 1, 0, 0, 0, east)); d != civil(2023, 5, 8) {
		t.Error("the calendar date of the time's own zone counts")
	}
	for _, at := range []time.Time{{}, time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<60, 0)} {
		if _, ok := DayOf(at); ok {
			t.Errorf("DayOf(%v) is in range", at)
		}
	}
}

func TestQueryDates(t *testing.T) {
	w := func(y, m, d int) DateWindow { return DateWindow{Year: y, Month: m, Day: d} }
	for _, c := range []struct {
		q    string
		want []DateWindow
	}{
		{"", nil},
		{"What does Mel like?", nil},
		{"What happened on 7 May 2023?", []DateWindow{w(2023, 5, 7)}},
		{"on the 7th of May", []DateWindow{w(0, 5, 7)}},
		{"May 7th, 2023", []DateWindow{w(2023, 5, 7)}},
		{"sept. 30", []DateWindow{w(0, 9, 30)}},
		{"between June 3 and July 4, 2022", []DateWindow{w(0, 6, 3), w(2022, 7, 4)}},
		{"on 2023-05-07", []DateWindow{w(2023, 5, 7)}},
		{"on 2023/5/7?", []DateWindow{w(2023, 5, 7)}},
		{"2023-05/07", nil},
		{"on 5/7/2023", []DateWindow{w(2023, 5, 7), w(2023, 7, 5)}},
		{"on 25/7/2023", []DateWindow{w(2023, 7, 25)}},
		{"30 February", []DateWindow{w(0, 2, 0)}},
		{"29 February", []DateWindow{w(0, 2, 29)}},
		{"in June 2023", []DateWindow{w(2023, 6, 0)}},
		{"the June of 2023", []DateWindow{w(2023, 6, 0)}},
		{"last December", []DateWindow{w(0, 12, 0)}},
		{"May I ask what you may know?", nil},
		{"You may take 2", nil},
		{"What did she do in May?", []DateWindow{w(0, 5, 0)}},
		{"trips of may 2022", []DateWindow{w(2022, 5, 0)}},
		{"Did they march against it?", nil},
		{"the march", nil},
		{"in March", []DateWindow{w(0, 3, 0)}},
		{"When is Jan coming?", nil},
		{"before Jan 2024", []DateWindow{w(2024, 1, 0)}},
		{"What was she reading in 2021?", []DateWindow{w(2021, 0, 0)}},
		{"2021", []DateWindow{w(2021, 0, 0)}},
		{"trips (2021)", []DateWindow{w(2021, 0, 0)}},
		{"Did I eat 2000 calories?", nil},
		{"a $2000 laptop", nil},
		{"room 1999.5 and 1,999 things", nil},
		{"v2023 0x2023 20235", nil},
		{"call 555-2023", nil},
		{"the year 1899 or 3000", nil},
		{"5月2日我做了什么", []DateWindow{w(0, 5, 2)}},
		{"2023年5月2号", []DateWindow{w(2023, 5, 2)}},
		{"２０２３年５月２日", []DateWindow{w(2023, 5, 2)}},
		{"2023年5月我去了哪里", []DateWindow{w(2023, 5, 0)}},
		{"我5月去了哪里", []DateWindow{w(0, 5, 0)}},
		{"3个月前", nil},
		{"13月", nil},
		{"2021年我在哪里", []DateWindow{w(2021, 0, 0)}},
		{"999999999999999999999 May 99999999999", nil},
	} {
		if diff := cmp.Diff(c.want, QueryDates(c.q)); diff != "" {
			t.Errorf("%q: %s", c.q, diff)
		}
	}
}

func TestQueryDatesAt(t *testing.T) {
	want := []DateWindow{{Range: DateRange{civil(2023, 5, 7), civil(2023, 5, 7)}}}
	if diff := cmp.Diff(want, QueryDatesAt("What did I eat yesterday?", may8)); diff != "" {
		t.Error(diff)
	}
	if got := DateMatch(want, may8.AddDate(0, 0, -1), nil); got != 1 {
		t.Errorf("the day itself matches %v", got)
	}
	if got := DateMatch(want, may8.AddDate(0, 0, -6), nil); got != 0.4 {
		t.Errorf("five days off match %v", got)
	}
	both := []DateWindow{{Year: 2021}, want[0]}
	if diff := cmp.Diff(both, QueryDatesAt("2021 or yesterday", may8)); diff != "" {
		t.Error(diff)
	}
	if QueryDatesAt("What do I eat?", may8) != nil {
		t.Error("a query without a date has windows")
	}
}

func TestResolveDates(t *testing.T) {
	r := func(m1, d1, m2, d2 int) DateRange { return DateRange{civil(2023, m1, d1), civil(2023, m2, d2)} }
	one := func(m, d int) []DateRange { return []DateRange{r(m, d, m, d)} }
	for _, c := range []struct {
		text string
		want []DateRange
	}{
		{"Nothing here", nil},
		{"I saw her yesterday", one(5, 7)},
		{"last night", one(5, 7)},
		{"the day before yesterday", one(5, 6)},
		{"today and tonight", one(5, 8)},
		{"tomorrow", one(5, 9)},
		{"the day after tomorrow", one(5, 10)},
		{"last week", []DateRange{r(5, 1, 5, 7)}},
		{"this week", []DateRange{r(5, 8, 5, 14)}},
		{"next week", []DateRange{r(5, 15, 5, 21)}},
		{"last weekend", []DateRange{r(5, 6, 5, 7)}},
		{"last month", []DateRange{r(4, 1, 4, 30)}},
		{"next month", []DateRange{r(6, 1, 6, 30)}},
		{"last year", []DateRange{yearRange(2022)}},
		{"last Friday", one(5, 5)},
		{"on Monday", one(5, 1)},
		{"last Sunday", one(5, 7)},
		{"next Monday", one(5, 15)},
		{"this Tuesday", one(5, 9)},
		{"two days ago", one(5, 6)},
		{"two weeks ago", []DateRange{r(4, 21, 4, 27)}},
		{"a couple of days ago", one(5, 6)},
		{"3 months ago", []DateRange{{civil(2023, 5, 8) - 105, civil(2023, 5, 8) - 75}}},
		{"a year ago", []DateRange{{civil(2023, 5, 8) - 545, civil(2023, 5, 8) - 185}}},
		{"999999999 years ago", nil},
		{"99999 years ago, 999999 days ago", nil},
		{"0 days ago", nil},
		{"99999999999999999999999 days ago", nil},
		{"it was on 3 March 2021", []DateRange{{civil(2021, 3, 3), civil(2021, 3, 3)}}},
		{"my exam is on June 5", one(6, 5)},
		{"born on 31 December", []DateRange{{civil(2022, 12, 31), civil(2022, 12, 31)}}},
		{"昨天我去了公园", one(5, 7)},
		{"前天", one(5, 6)},
		{"大前天", one(5, 5)},
		{"后天", one(5, 10)},
		{"上周我病了", []DateRange{r(5, 1, 5, 7)}},
		{"上周五", one(5, 5)},
		{"下星期三", one(5, 17)},
		{"上个月", []DateRange{r(4, 1, 4, 30)}},
		{"去年", []DateRange{yearRange(2022)}},
		{"前年", []DateRange{yearRange(2021)}},
		{"三天前", one(5, 5)},
		{"十二天前", one(4, 26)},
		{"二十五天前", one(4, 13)},
		{"两周前", []DateRange{r(4, 21, 4, 27)}},
		{"2个月前", []DateRange{{civil(2023, 5, 8) - 75, civil(2023, 5, 8) - 45}}},
		{"99999年前", nil},
		{"昨日、寿司を食べた", one(5, 7)},
		{"先週の金曜日", one(5, 5)},
		{"来月引っ越す", []DateRange{r(6, 1, 6, 30)}},
		{"3日前", one(5, 5)},
		{"5月2日去了北京", one(5, 2)},
	} {
		if diff := cmp.Diff(c.want, ResolveDates(c.text, may8)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
	if got := ResolveDates("yesterday, on 3 March 2021 and 4 April", time.Time{}); len(got) != 1 {
		t.Errorf("an undated item speaks of %v", got)
	}
	var many strings.Builder
	for n := range 500 {
		fmt.Fprintf(&many, "%d days ago, two days ago. ", n)
	}
	if got := ResolveDates(many.String(), may8); len(got) != maxRanges {
		t.Errorf("%d ranges", len(got))
	}
	jan := ResolveDates("last month, a day ago, last week", time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC))
	for _, r := range jan {
		if !r.valid() {
			t.Errorf("range %v leaves the calendar", r)
		}
	}
}

func TestDateMatch(t *testing.T) {
	day := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 12, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		query string
		item  time.Time
		text  string
		want  float64
	}{
		{"7 May 2023", day(2023, 5, 7), "", 1},
		{"7 May 2023", day(2023, 5, 8), "", 0.72},
		{"7 May 2023", day(2023, 5, 8), "yesterday", 1},
		{"7 May 2023", day(2023, 5, 17), "", 0},
		{"7 May 2022", day(2023, 5, 7), "", 0},
		{"7 May", day(2021, 5, 7), "", 1},
		{"2 January", day(2022, 12, 30), "", 0.56},
		{"in May", day(2021, 5, 30), "", 1},
		{"in May 2022", day(2021, 5, 30), "", 0},
		{"in May", day(2021, 6, 1), "last month", 1},
		{"2022", day(2023, 5, 8), "last year", 1},
		{"2022", day(2023, 5, 8), "", 0},
		{"2022", time.Time{}, "", 0},
		{"no date", day(2023, 5, 8), "yesterday", 0},
		{"29 February 2024", day(2024, 2, 28), "", 0.72},
		{"29 February", day(2024, 3, 1), "", 0.72},
	} {
		if got := DateMatch(QueryDates(c.query), c.item, ResolveDates(c.text, c.item)); got-c.want > 1e-12 || c.want-got > 1e-12 {
			t.Errorf("DateMatch(%q, %v, %q) = %v, want %v", c.query, c.item, c.text, got, c.want)
		}
	}
	if got := DateMatch([]DateWindow{{}, {Year: 2023, Month: 99, Day: 99}, {Year: 1 << 40, Day: 1}}, may8, []DateRange{{5, 1}, {minDay - 1, 0}}); got != 0 {
		t.Errorf("senseless windows match %v", got)
	}
}

func TestQuestions(t *testing.T) {
	for _, c := range []struct {
		q             string
		when, present bool
	}{
		{"When did Caroline go?", true, false},
		{"what year was it", true, false},
		{"How long have they been married?", true, false},
		{"What is her job now?", false, true},
		{"How many pets does she have?", false, true},
		{"Whenever you like", false, false},
		{"When is her birthday?", true, false},
		{"When's the fair?", true, false},
		{"Do you know when Nora moved?", true, false},
		{"And since when?", true, false},
		{"What errors come when something goes wrong with a request?", false, false},
		{"When building an app, what should I heed?", false, false},
		{"How did he feel when he won?", false, false},
		{"你什么时候去的北京？", true, false},
		{"哪天去的？", true, false},
		{"現在の仕事は何ですか", false, true},
		{"いつ行きましたか", true, false},
		{"我喜欢什么？", false, true},
		{"我住在哪里？", false, true},
		{"我去年住在哪里？", false, false},
		{"她买了什么？", false, false},
		{"你去过哪些地方？", false, false},
		{"What did I say?", false, false},
		{"What does she do that she did last year?", false, false},
	} {
		if got := WhenQuestion(c.q); got != c.when {
			t.Errorf("WhenQuestion(%q) = %v", c.q, got)
		}
		if got := AsksPresent(c.q); got != c.present {
			t.Errorf("AsksPresent(%q) = %v", c.q, got)
		}
	}
}

func TestHasTimeExpression(t *testing.T) {
	for text, want := range map[string]bool{
		"I went there yesterday": true, "two years ago": true, "see you on Friday": true, "in 2021": true, "May 5 it is": true,
		"in May": true, "you may go": false, "I like tea": false, "20211": false, "": false,
		"昨天去的": true, "三天前": true, "2023年": true, "我喜欢茶": false, "先週行った": true, "上星期五": true,
	} {
		if got := HasTimeExpression(text); got != want {
			t.Errorf("HasTimeExpression(%q) = %v", text, got)
		}
	}
}

func TestNamesSpeaker(t *testing.T) {
	for _, c := range []struct {
		query, speaker string
		want           bool
	}{
		{"When did Caroline go?", "Caroline", true},
		{"What is Caroline's job?", "caroline", true},
		{"When did Caroline go?", "Melanie", false},
		{"What did Ann say?", "Mary Ann", true},
		{"plan b", "B. Jones", false},
		{"what did the user say", "user", false},
		{"what did the assistant say", "Assistant", false},
		{"李雪喜欢什么", "李雪", true},
		{"欧阳喜欢什么", "欧阳娜", false},
		{"欧阳娜喜欢什么", "欧阳娜", true},
		{"", "Ann", false},
		{"Ann", "", false},
		{"Ann", "🎉", false},
	} {
		if got := NamesSpeaker(Tokens(c.query), c.speaker); got != c.want {
			t.Errorf("NamesSpeaker(%q, %q) = %v", c.query, c.speaker, got)
		}
	}
}

func FuzzQueryDates(f *testing.F) {
	for _, s := range []string{"", "7 May 2023", "2023年5月8日", "999999999 years ago", "last friday on monday", "5/5/2023 2023-1-1", "between early may and late july 2025", "since the first half of 2022", "去年夏天到二〇二三年五月底", "最近三个月，15号以前", "上个星期天三十五年前", "may\xff 5", "early MAY 1"} {
		f.Add(s, int64(0))
	}
	f.Fuzz(func(t *testing.T, s string, unix int64) {
		at := time.Unix(unix, 0).UTC()
		windows := QueryDatesAt(s, at)
		if len(windows) > maxWindows {
			t.Fatalf("%d windows", len(windows))
		}
		for _, w := range windows {
			if w.Year < 0 || w.Year > 9999 || w.Month < 0 || w.Month > 12 || w.Day < 0 || w.Day > 31 || w.Year == 0 && w.Month == 0 && !w.Range.valid() {
				t.Fatalf("window %+v", w)
			}
		}
		for _, w := range QueryDates(s) {
			if w.Year < 0 || w.Year > 9999 || w.Month < 0 || w.Month > 12 || w.Day < 0 || w.Day > 31 || w == (DateWindow{}) {
				t.Fatalf("window %+v", w)
			}
		}
		ranges := ResolveDates(s, at)
		for _, r := range ranges {
			if !r.valid() {
				t.Fatalf("range %+v", r)
			}
		}
		if m := DateMatch(windows, at, ranges); !(m >= 0 && m <= 1) {
			t.Fatalf("match %v", m)
		}
		HasTimeExpression(s)
		WhenQuestion(s)
	})
}
