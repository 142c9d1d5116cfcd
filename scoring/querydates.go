package scoring

import (
	"regexp"
	"strconv"
	"strings"
)

// maxDateBytes bounds how much of a text is read for dates and expressions of time.
const maxDateBytes = 12_000

const monthNames = `january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec`

var (
	reISODate   = regexp.MustCompile(`(?:^|[^\d.\-/])((?:19|20)\d\d)([-/.])(\d{1,2})([-/.])(\d{1,2})(?:[^\d\-/]|$)`)
	reSlashDate = regexp.MustCompile(`(?:^|[^\d.\-/])(\d{1,2})/(\d{1,2})/((?:19|20)\d\d)(?:[^\d\-/]|$)`)
	reDayMonth  = regexp.MustCompile(`\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(` + monthNames + `)\b[,.]?\s*(\d{4}\b)?`)
	reMonthDay  = regexp.MustCompile(`\b(` + monthNames + `)\.?\s+(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?\b[,.]?\s*(\d{4}\b)?`)
	reMonth     = regexp.MustCompile(`(?:\b(in|of|since|during|until|till|by|from|before|after|last|this|next|early|late|mid|every|between|through|around|and)[\s-]+)?\b(` + monthNames + `)\b\.?,?\s*(?:of\s+)?(\d{4}\b)?`)
	reHanDate   = regexp.MustCompile(`(?:(\d{4})\s*年\s*)?(\d{1,2})\s*月\s*(\d{1,2})\s*[日号號]`)
	reHanMonth  = regexp.MustCompile(`(?:(\d{4})\s*年\s*)?(?:^|[^\d个個])?(\d{1,2})\s*月(?:[^\d]|$)`)
	reHanYear   = regexp.MustCompile(`(?:^|[^\d])((?:19|20)\d\d)\s*年`)
	reYear      = regexp.MustCompile(`(?:^|[^\w.,$€£¥#+\-/:])((?:19|20)\d\d)(?:$|['’]s\b|[?!;:)\]"]|[.,](?:\D|$)|\s*$|\s+([\pL%]*))`)
)

// units are what a four-digit number counts when it is no year.
var units = set(`calories calorie kcal cal dollars dollar euros euro pounds usd eur gbp yen yuan rupees bucks steps step miles mile km
	kilometers kilometres meters metres feet ft m people persons users words word pages page points point rpm mah px pixels
	hours hours minutes mins seconds days weeks months items item copies times % percent grams g kg lbs ml liters litres
	watts w mb gb tb kb bytes requests rows records lines followers subscribers subscriber members guests attendees students
	employees tickets units square sq characters tokens photos files messages emails questions`)

// reLabel is what stands before a number that names a thing and is no year.
var reLabel = regexp.MustCompile(`\b(?:extension|port|page|room|flat|gate|flight|version|number|no\.?|line|bus|route|apartment|suite|unit|building|code|pin|zip|postcode|model|iso|rfc|section|chapter|ticket|issue|invoice|channel|locker|serial)\s+(?:is\s+|was\s+|number\s+|no\.?\s+)?$`)

var reTimes = regexp.MustCompile(`^\s*(?:by|x|×|\*)\s*\d`)

// countedYear reports whether the four digits at a place are the number of a thing ("port 2020") or a measure ("2048 by 1080").
func countedYear(s string, at int) bool {
	return reLabel.MatchString(s[:at]) || reTimes.MatchString(s[at+4:])
}

// QueryDates finds the dates a question names: days ("7 May", "May 7th, 2023", "2023-05-07", "5月2日"), otherwise months
// ("in June 2023", "5月"), otherwise years. "may" and "march" count as months only beside a day, a year or a word like
// "in"; four-digit numbers that count something ("2000 calories") are not years. It returns nil when there is none.
func QueryDates(query string) []DateWindow {
	s := dateText(query)
	if out := daysNamed(s); len(out) > 0 {
		return out
	}
	if out := monthsNamed(s); len(out) > 0 {
		return out
	}
	return yearsNamed(s)
}

// dateText is the beginning of a text, folded.
func dateText(s string) string {
	if len(s) > maxDateBytes {
		s = s[:maxDateBytes]
	}
	return fold(s)
}

// daysNamed are the days in folded text.
func daysNamed(s string) []DateWindow {
	var out []DateWindow
	add := func(y, m, d int) {
		leap := y
		if leap == 0 {
			leap = 2000
		}
		if _, ok := validDate(leap, m, d); ok {
			out = append(out, DateWindow{Year: y, Month: m, Day: d})
		}
	}
	if !strings.ContainsAny(s, "0123456789") {
		return nil
	}
	for _, m := range reDayMonth.FindAllStringSubmatch(s, -1) {
		add(plausibleYear(m[3]), monthNumber(m[2]), atoi(m[1]))
	}
	for _, m := range reMonthDay.FindAllStringSubmatch(s, -1) {
		add(plausibleYear(m[3]), monthNumber(m[1]), atoi(m[2]))
	}
	for _, m := range reHanDate.FindAllStringSubmatch(s, -1) {
		add(plausibleYear(m[1]), atoi(m[2]), atoi(m[3]))
	}
	for _, m := range reISODate.FindAllStringSubmatch(s, -1) {
		if m[2] == m[4] {
			add(atoi(m[1]), atoi(m[3]), atoi(m[5]))
		}
	}
	for _, m := range reSlashDate.FindAllStringSubmatch(s, -1) {
		// Month first or day first: nothing tells, so both.
		a, b, y := atoi(m[1]), atoi(m[2]), atoi(m[3])
		add(y, a, b)
		if a != b {
			add(y, b, a)
		}
	}
	return out
}

func monthsNamed(s string) []DateWindow {
	var out []DateWindow
	for _, m := range reHanMonth.FindAllStringSubmatch(s, -1) {
		if n := atoi(m[2]); n >= 1 && n <= 12 {
			out = append(out, DateWindow{Year: plausibleYear(m[1]), Month: n})
		}
	}
	for _, m := range reMonth.FindAllStringSubmatch(s, -1) {
		year := plausibleYear(m[3])
		if year == 0 && m[1] == "" && ambiguousMonth(m[2]) || year == 0 && m[1] == "and" && ambiguousMonth(m[2]) {
			continue
		}
		out = append(out, DateWindow{Year: year, Month: monthNumber(m[2])})
	}
	return out
}

// ambiguousMonth reports whether a month's name is also a common word or name.
func ambiguousMonth(name string) bool {
	return name == "may" || name == "march" || len(name) == 3 && name != "may"
}

func yearsNamed(s string) []DateWindow {
	var out []DateWindow
	for _, m := range reHanYear.FindAllStringSubmatch(s, -1) {
		out = append(out, DateWindow{Year: atoi(m[1])})
	}
	if len(out) > 0 {
		return out
	}
	for _, at := range reYear.FindAllStringSubmatchIndex(s, -1) {
		if unit := at[4] >= 0 && units.has(s[at[4]:at[5]]); !unit && !countedYear(s, at[2]) {
			out = append(out, DateWindow{Year: atoi(s[at[2]:at[3]])})
		}
	}
	return out
}

// plausibleYear is the year that four digits beside a month mean, 0 for none.
func plausibleYear(s string) int {
	if y := atoi(s); y >= 1000 {
		return y
	}
	return 0
}

// monthNumber is 1 to 12 for an English month name or its abbreviation.
func monthNumber(name string) int {
	if len(name) < 3 {
		return 0
	}
	i := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", name[:3])
	return i/3 + 1
}

// atoi reads a short decimal number; anything else, or more than six digits, is 0.
func atoi(s string) int {
	if len(s) > 6 {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
