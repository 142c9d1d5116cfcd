package scoring

import "testing"

// At least 95 % of what statements speak of is resolved, and of those that speak of no time at least 95 % are left alone.
func TestTimesOfStatements(t *testing.T) {
	gradeTimes(t, []string{"said-en.txt", "said-zh.txt"}, 40, func(p *timePhrase) (ws []DateWindow) {
		p.want.yearly = nil // statements have their year
		for _, r := range ResolveDates(p.text, p.at) {
			ws = append(ws, DateWindow{Range: r})
		}
		return ws
	})
}
