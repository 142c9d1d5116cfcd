package config

import (
	"fmt"
	"slices"
)

// nearest returns the known name with the fewest edits to the one given; the first of equals.
func nearest(name string, known []string) string {
	best, least := "", int(^uint(0)>>1)
	for _, k := range known {
		if d := edits(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// unknownKey is the error of a name that is no key.
func unknownKey(at, name string, known []string) error {
	return fmt.Errorf("%s: unknown key %q; did you mean %q? (`evoke config reference` lists all)", at, name, nearest(name, known))
}

// edits is the Levenshtein distance, over bytes: keys are ASCII.
func edits(a, b string) int {
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		diagonal := prev[0]
		prev[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = prev[j+1]
			prev[j+1] = min(cost, prev[j]+1, prev[j+1]+1)
		}
	}
	return prev[len(b)]
}

// groups are what keys lie below: "store", "retention.kinds".
func groups() []string {
	var out []string
	for _, name := range names() {
		for i, c := range name {
			if c == '.' && !slices.Contains(out, name[:i]) {
				out = append(out, name[:i])
			}
		}
	}
	return out
}
