package scoring

import "time"

// Day is a calendar date as days since 1 January 1970.
type Day int32

// The years 1 to 9999.
const (
	minDay Day = -719162
	maxDay Day = 2932896
)

// DayOf is the calendar date of t in t's own zone; ok is false for the zero time and years outside 1 to 9999.
func DayOf(t time.Time) (day Day, ok bool) {
	y, m, d := t.Date()
	if t.IsZero() || y < 1 || y > 9999 {
		return 0, false
	}
	return civil(y, int(m), d), true
}

// Date is the year, month and day of d.
func (d Day) Date() (year int, month time.Month, day int) {
	return time.Unix(int64(d)*86400, 0).UTC().Date()
}

// weekday counts from Monday = 0.
func (d Day) weekday() int {
	return int(((int64(d)+3)%7 + 7) % 7)
}

func civil(y, m, d int) Day {
	return Day(floorDiv(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix(), 86400))
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// validDate is the Day of a date that exists in the years 1 to 9999.
func validDate(y, m, d int) (Day, bool) {
	if y < 1 || y > 9999 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, false
	}
	day := civil(y, m, d)
	if _, _, got := day.Date(); got != d {
		return 0, false
	}
	return day, true
}

// monthRange is the month that lies offset months from that of d.
func monthRange(d Day, offset int) DateRange {
	y, m, _ := d.Date()
	return DateRange{civil(y, int(m)+offset, 1), civil(y, int(m)+offset+1, 1) - 1}
}

func yearRange(y int) DateRange {
	return DateRange{civil(y, 1, 1), civil(y, 12, 31)}
}

// DateRange is a span of days, both ends included, From ≤ To.
type DateRange struct {
	From, To Day
}

func (r DateRange) valid() bool {
	return r.From <= r.To && r.From >= minDay && r.To <= maxDay
}

// DateWindow is a date a question names, in whole or in part; 0 stands for a part it leaves open. A window with none of
// the three is the Range that a relative phrase ("last week") resolved to.
type DateWindow struct {
	Year, Month, Day int
	Range            DateRange
}

// DateMatch tells how well an item fits the dates a question names: 1 when the item's own date, or one of the ranges its
// text speaks of, falls into a window; up to 0.8 for a day missed by less than ten days; else 0. Without windows it is 0.
// itemDate may be the zero time.
func DateMatch(windows []DateWindow, itemDate time.Time, ranges []DateRange) float64 {
	if len(windows) == 0 {
		return 0
	}
	best := 0.0
	own, dated := DayOf(itemDate)
	for _, w := range windows {
		if dated {
			best = max(best, w.match(DateRange{own, own}))
		}
		for _, r := range ranges {
			if best == 1 {
				return 1
			}
			best = max(best, w.match(r))
		}
	}
	return best
}

// match is the fit of one window with one range of days.
func (w DateWindow) match(r DateRange) float64 {
	if !r.valid() {
		return 0
	}
	if w.Year == 0 && w.Month == 0 && w.Day == 0 {
		if !w.Range.valid() {
			return 0
		}
		return nearness(w.Range, r)
	}
	y0, m0, _ := r.From.Date()
	y1, m1, _ := r.To.Date()
	switch {
	case w.Day != 0:
		best := 0.0
		for _, y := range [...]int{y0 - 1, y0, y1, y1 + 1} {
			if w.Year != 0 && y != w.Year {
				continue
			}
			if day, ok := validDate(y, w.Month, w.Day); ok {
				best = max(best, nearness(DateRange{day, day}, r))
			}
		}
		return best
	case w.Month != 0:
		if w.Month == int(m0) && (w.Year == 0 || w.Year == y0) || w.Month == int(m1) && (w.Year == 0 || w.Year == y1) {
			return 1
		}
	case w.Year == y0 || w.Year == y1:
		return 1
	}
	return 0
}

// nearness is 1 for ranges that overlap, falling from 0.8 to 0 as the gap between them grows to ten days.
func nearness(a, b DateRange) float64 {
	gap := max(a.From-b.To, b.From-a.To, 0)
	if gap == 0 {
		return 1
	}
	return max(0, 1-float64(gap)/10) * 0.8
}
