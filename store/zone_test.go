package store

import (
	"testing"
	"time"
)

// The instant is kept in UTC and the calendar day is that of whoever spoke, from UTC-11 to UTC+14 and over a leap day.
func TestTheDayIsTheSpeakers(t *testing.T) {
	for _, c := range []struct {
		at, zone, date, local string
	}{
		{"2024-02-29T23:30:00-11:00", "-11:00", "2024-02-29", "2024-02-29T23:30:00-11:00"},
		{"2024-03-01T00:30:00+14:00", "+14:00", "2024-03-01", "2024-03-01T00:30:00+14:00"},
		{"2023-12-31T23:59:00-05:00", "-05:00", "2023-12-31", "2023-12-31T23:59:00-05:00"},
		{"2025-03-30T03:30:00+02:00", "+02:00", "2025-03-30", "2025-03-30T03:30:00+02:00"},
		{"2026-01-01T00:10:00+05:45", "+05:45", "2026-01-01", "2026-01-01T00:10:00+05:45"},
		{"2026-01-01T00:10:00Z", "", "2026-01-01", "2026-01-01T00:10:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		it := Item{ID: "x", Kind: Episodic, Content: "hello", ValidFrom: at, RecordedAt: at}
		if err := it.Prepare(Limits{}); err != nil {
			t.Fatal(err)
		}
		again := it
		if err := again.Prepare(Limits{}); err != nil {
			t.Fatal(err)
		}
		if it.ValidFrom.Location() != time.UTC || !it.ValidFrom.Equal(at) || it.Provenance.Zone != c.zone || again.Provenance.Zone != c.zone || it.Date() != c.date || it.Local().Format(time.RFC3339) != c.local {
			t.Errorf("%s: %s, zone %q, date %s, local %s", c.at, it.ValidFrom, it.Provenance.Zone, it.Date(), it.Local())
		}
	}
	it := Item{ValidFrom: time.Date(2023, 5, 1, 0, 0, 0, 0, time.UTC)}
	for precision, want := range map[string]string{"": "2023-05-01", "day": "2023-05-01", "month": "2023-05", "year": "2023", "hour": "2023-05-01"} {
		if it.Provenance.Precision = precision; it.Date() != want {
			t.Errorf("%q: %s, want %s", precision, it.Date(), want)
		}
	}
	if (&Item{}).Date() != "" || ZoneOf(time.Time{}) != "" {
		t.Error("an unknown time has a date")
	}
	broken := Item{ValidFrom: it.ValidFrom, Provenance: Provenance{Zone: "nonsense"}}
	if broken.Date() != "2023-05-01" {
		t.Error(broken.Date())
	}
}
