package extract

import (
	"slices"
	"strings"
	"testing"

	"evoke/store"
)

func form(content string) Form { return NewForm(Statement{Kind: store.Semantic, Content: content}) }

// Whatever vectors nominate, statements that differ stay apart, and a good part of the paraphrases is recognised.
func TestNeighboursPassTheGuardsOrStayApart(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		for _, name := range []string{lang + ".differ", lang + ".near", lang + ".unseennear"} {
			for _, p := range pairs(t, name, 30) {
				f, g := form(p[0]), form(p[1])
				if f.Near(&g) || g.Near(&f) {
					t.Errorf("%s: merged: %q %q and %q %q", name, p[0], f.gist(), p[1], g.gist())
				}
			}
		}
		for name, least := range map[string]float64{lang + ".same": 0.95, lang + ".far": 0.8, lang + ".unseen": 0.6} { // .unseen was written after the rules
			all := pairs(t, name, 30)
			known := 0
			for _, p := range all {
				f, g := form(p[0]), form(p[1])
				if f.Near(&g) != g.Near(&f) {
					t.Errorf("%q and %q are near one way only", p[0], p[1])
				}
				if f.Near(&g) {
					known++
				} else {
					t.Logf("not recognised: %q %q and %q %q", p[0], f.gist(), p[1], g.gist())
				}
			}
			share := float64(known) / float64(len(all))
			t.Logf("%s: %d of %d recognised (%.0f %%)", name, known, len(all), 100*share)
			if share < least {
				t.Errorf("%s: %.2f recognised, want %.2f", name, share, least)
			}
		}
	}
}

// Any two statements of all the lists are near only when the lists say, directly or through others, that they are the same.
func TestNoTwoStatementsOfTheListsAreMergedWrongly(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		group := map[string]string{}
		var root func(s string) string
		root = func(s string) string {
			if g, ok := group[s]; ok && g != s {
				return root(g)
			}
			group[s] = s
			return s
		}
		for _, name := range []string{".same", ".far", ".unseen", ".bridge"} { // .bridge: pairs of statements of different lines that are the same
			for _, p := range pairs(t, lang+name, 5) {
				group[root(p[0])] = root(p[1])
			}
		}
		for _, name := range []string{".differ", ".near", ".unseennear"} {
			for _, p := range pairs(t, lang+name, 30) {
				root(p[0])
				root(p[1])
			}
		}
		var all []string
		for s := range group {
			all = append(all, s)
		}
		slices.Sort(all)
		forms, bags := make([]Form, len(all)), map[string][]int{}
		for i, s := range all { // near statements have the same words in some order, or are the same
			forms[i] = form(s)
			for _, words := range [][]string{forms[i].gist(), forms[i].words} {
				bag := slices.Sorted(slices.Values(words))
				k := strings.Join(bag, " ")
				if !slices.Contains(bags[k], i) {
					bags[k] = append(bags[k], i)
				}
			}
		}
		for _, is := range bags {
			for n, i := range is {
				for _, j := range is[n+1:] {
					if root(all[i]) != root(all[j]) && forms[i].Near(&forms[j]) {
						t.Errorf("%q and %q", all[i], all[j])
					}
				}
			}
		}
		t.Logf("%s: %d statements", lang, len(all))
	}
}
