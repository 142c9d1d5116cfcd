package recall

import (
	"testing"
	"time"
	_ "time/tzdata" // named zones, on machines without a database of them

	"evoke/scoring"
	"evoke/store"
)

// "Yesterday" is counted in the zone that a request names, with the offset that holds there at the moment of asking: days
// over a change of summer time have 23 or 25 hours.
func TestNamedZonesOverAChangeOfSummerTime(t *testing.T) {
	for _, tc := range []struct{ now, zone, want string }{
		{"2025-03-29T22:30:00Z", "Europe/Berlin", "2025-03-28"}, // 23:30 in winter
		{"2025-03-29T23:30:00Z", "Europe/Berlin", "2025-03-29"},
		{"2025-03-30T21:30:00Z", "Europe/Berlin", "2025-03-29"}, // 23:30 in summer
		{"2025-03-30T22:30:00Z", "Europe/Berlin", "2025-03-30"}, // 00:30 in summer; in winter it would be the day before still
		{"2025-03-30T22:30:00Z", "+01:00", "2025-03-29"},
		{"2025-10-25T22:30:00Z", "Europe/Berlin", "2025-10-25"},
		{"2025-10-26T22:30:00Z", "Europe/Berlin", "2025-10-25"}, // 23:30 in winter; in summer it would be the next day already
		{"2025-11-03T04:30:00Z", "America/New_York", "2025-11-01"},
		{"2025-11-02T03:59:00Z", "America/New_York", "2025-10-31"},
		{"2025-11-02T04:00:00Z", "America/New_York", "2025-11-01"},
		{"2024-04-25T22:05:00Z", "Africa/Cairo", "2024-04-25"}, // 01:05: the hour before was left out
		{"2025-04-05T12:59:00Z", "Australia/Lord_Howe", "2025-04-04"},
		{"2025-04-05T13:00:00Z", "Australia/Lord_Howe", "2025-04-05"},
		{"2025-04-06T13:15:00Z", "Australia/Lord_Howe", "2025-04-05"}, // 23:45: the offset is half an hour less
		{"1991-09-15T15:30:00Z", "Asia/Shanghai", "1991-09-14"},
	} {
		now, err := time.Parse(time.RFC3339, tc.now)
		if err != nil {
			t.Fatal(err)
		}
		day, err := time.Parse(time.DateOnly, tc.want)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := scoring.DayOf(day)
		for _, query := range []string{"What did I cook yesterday?", "我昨天做了什么菜"} {
			clock := engine(t, newFake(), nil, Options{Clock: func() time.Time { return now }})
			for name, req := range map[string]Request{"by the clock": {Query: query, Zone: tc.zone}, "as of": {Query: query, Zone: tc.zone, AsOf: now.In(time.FixedZone("", -11*3600))}} {
				p, err := clock.plan([]store.Scope{alice}, req)
				if err != nil {
					t.Fatal(err)
				}
				if len(p.dates) != 1 || p.dates[0].Range != (scoring.DateRange{From: want, To: want}) {
					t.Errorf("%s in %s, %s, %q: %v, want %s", tc.now, tc.zone, name, query, p.dates, tc.want)
				}
			}
		}
	}
}
