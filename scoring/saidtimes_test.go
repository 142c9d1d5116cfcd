package scoring

import (
	"testing"
	"time"
)

// At least 95 % of what statements speak of is resolved, and of those that speak of no time at least 95 % are left alone.
func TestTimesOfStatements(t *testing.T) {
	for _, name := range []string{"said-en.txt", "said-zh.txt"} {
		t.Run(name, func(t *testing.T) {
			var right, all [2]int
			for _, p := range readTimes(t, name) {
				k := 0
				if p.want.none {
					k = 1
				}
				p.want.yearly = nil // statements have their year
				all[k]++
				var ws []DateWindow
				for _, r := range ResolveDates(p.text, p.at) {
					ws = append(ws, DateWindow{Range: r})
				}
				if p.want.holds(ws) {
					right[k]++
				} else {
					t.Logf("%s: %q: got %q, want %s", p.at.Format(time.RFC3339), p.text, show(ws), p.want.written)
				}
			}
			t.Logf("times of statements: %d of %d right; without a time: %d of %d left alone", right[0], all[0], right[1], all[1])
			if all[0] < 40 || float64(right[0]) < 0.95*float64(all[0]) || float64(right[1]) < 0.95*float64(all[1]) {
				t.Error("under 95 %")
			}
		})
	}
}
