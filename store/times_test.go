package store

import (
	"testing"
	"time"
)

func TestWritable(t *testing.T) {
	t.Parallel()
	east, west := time.FixedZone("", 3600), time.FixedZone("", -3600)
	for _, c := range []struct {
		at   time.Time
		want bool
	}{
		{time.Time{}, true},
		{time.Date(2024, 5, 1, 0, 0, 0, 0, east), true},
		{time.Date(1, 1, 1, 0, 30, 0, 0, east), false}, // of the year 0 in UTC
		{time.Date(0, 12, 31, 23, 30, 0, 0, west), false},
		{time.Date(9999, 12, 31, 23, 30, 0, 0, time.UTC), true},
		{time.Date(9999, 12, 31, 23, 30, 0, 0, west), false},
		{time.Date(10000, 1, 1, 0, 30, 0, 0, east), false},
	} {
		if got := Writable(c.at); got != c.want {
			t.Errorf("%v: %v", c.at, got)
		}
	}
}
