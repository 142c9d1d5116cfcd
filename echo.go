package evoke

import (
	"evoke/extract"
	"evoke/recall"
)

// findEchoes finds what may be left in a text of the blocks that Context put into a prompt.
func findEchoes(text string) []extract.Echo {
	var out []extract.Echo
	for _, e := range recall.FindEchoes(text) {
		out = append(out, extract.Echo(e))
	}
	return out
}
