package scoring

import "fmt"

// String is the window in the forms of ISO 8601: a day "2023-06-14", a month "2023-06", a year "2023"; "--05-07" and
// "--05" leave the year open; "2023-06-05..2023-06-11" is a range, which may be open at its beginning ("..2023-06-11").
func (w DateWindow) String() string {
	switch {
	case w.Year != 0 && w.Day != 0:
		return fmt.Sprintf("%04d-%02d-%02d", w.Year, w.Month, w.Day)
	case w.Year != 0 && w.Month != 0:
		return fmt.Sprintf("%04d-%02d", w.Year, w.Month)
	case w.Year != 0:
		return fmt.Sprintf("%04d", w.Year)
	case w.Day != 0:
		return fmt.Sprintf("--%02d-%02d", w.Month, w.Day)
	case w.Month != 0:
		return fmt.Sprintf("--%02d", w.Month)
	}
	return w.Range.String()
}

// String is the range as its first and last day; one day stands for itself, and an end of the calendar is left out.
func (r DateRange) String() string {
	if r.From == r.To {
		return r.From.String()
	}
	from, to := "", ""
	if r.From > minDay {
		from = r.From.String()
	}
	if r.To < maxDay {
		to = r.To.String()
	}
	return from + ".." + to
}

// String is the day as "2023-06-14".
func (d Day) String() string {
	y, m, day := d.Date()
	return fmt.Sprintf("%04d-%02d-%02d", y, m, day)
}
