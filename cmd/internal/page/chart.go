package page

import (
	"evoke/recall"
)

// segment is one part of a bar; At and Wide are in hundredths of its length.
type segment struct {
	Class string
	At    string
	Wide  string
}

// bar splits a score's bar into its parts. What lowers a score has no length.
func bar(p recall.Parts) []segment {
	var out []segment
	at := 0.0
	for _, part := range []struct {
		class string
		share float64
	}{
		{"semantic", p.Semantic}, {"recency", p.Recency}, {"importance", p.Importance}, {"update", p.Update},
	} {
		wide := min(max(part.share, 0)*100, 100-at)
		if wide <= 0 {
			continue
		}
		out = append(out, segment{part.class, two(at), two(wide)})
		at += wide
	}
	return out
}
