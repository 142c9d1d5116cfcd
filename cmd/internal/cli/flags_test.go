package cli

import (
	"errors"
	"testing"
	"time"

	"evoke/store"
)

// Every flag that takes a time reads the same forms.
func TestWhen(t *testing.T) {
	for text, want := range map[string]time.Time{
		"":                          {},
		"2026-03-01":                time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		"2026-03-01T09:30:00Z":      time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
		"2026-03-01T09:30:00+02:00": time.Date(2026, 3, 1, 7, 30, 0, 0, time.UTC),
		"2026-03-01T09:30:00":       time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
		"2026-03-01 09:30":          time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
	} {
		if got, err := when("from", text); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, ago := range map[string]time.Duration{"36h": 36 * time.Hour, "7d": 7 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "90m": 90 * time.Minute, "0d": 0} {
		got, err := when("from", text)
		if off := time.Since(got) - ago; err != nil || off < 0 || off > time.Minute {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"yesterday", "01.03.2026", "d", "-3d", "-1h", "99999999999999999999d", "99999d", "7天", "2026-13-01"} {
		if got, err := when("from", text); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
