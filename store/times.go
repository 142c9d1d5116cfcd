package store

import "time"

// ZoneOf is the Provenance.Zone of a time: its offset from UTC to the minute, "" for none.
func ZoneOf(t time.Time) string {
	if _, offset := t.Zone(); t.IsZero() || offset/60 == 0 || offset/60 >= 24*60 || offset/60 <= -24*60 {
		return ""
	}
	return t.Format("-07:00")
}

// Later is the later of two moments.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Writable reports whether a time can be written: in its zone and in UTC it is of the years 1 to 9999.
func Writable(t time.Time) bool {
	y, u := t.Year(), t.UTC().Year()
	return min(y, u) >= 1 && max(y, u) <= 9999
}
