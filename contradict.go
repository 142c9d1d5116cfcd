package evoke

import (
	"slices"
	"strings"

	"evoke/extract"
	"evoke/extract/rules"
	"evoke/scoring"
	"evoke/store"
)

// claim is what one sentence of an item says, prepared for comparison.
type claim struct {
	subject string // what it is about, of which one value holds at a time; "" for none
	form    extract.Form
	doc     scoring.Doc
	han     bool
	chinese hanFrame
	frame   frame
}

// statesOtherwise is how alike two sentences are, at the least, that say the same of other numbers or the opposite.
const statesOtherwise = 0.7

// leastWords is how many content words both need for that.
const leastWords = 3

func claimsOf(it *store.Item) []claim {
	var out []claim
	for _, s := range scoring.Sentences(it.Content) {
		if strings.ContainsAny(s, "?？") {
			continue // a question claims nothing
		}
		c := claim{
			subject: rules.Subject(s, ""), doc: scoring.NewDoc("", s, whenSaid(it)),
			form: extract.NewForm(extract.Statement{Kind: store.Semantic, Content: s, Speaker: it.Turn.Speaker}),
		}
		if c.han = isHan(s); c.han {
			c.chinese = hanFrameOf(s)
		} else {
			c.frame = frameOf(s)
		}
		out = append(out, c)
	}
	return out
}

// contradict reports whether one speaker says in two items what cannot both hold, by the write path's rules: another value of
// a subject that has one at a time, or nearly the same words with another number, name or date, or a negation.
func contradict(a, b []claim) bool {
	for i := range a {
		for j := range b {
			x, y := &a[i], &b[j]
			if x.subject != "" && x.subject == y.subject && x.form.Same(&y.form) == extract.Different {
				return true
			}
			if x.han != y.han {
				continue
			}
			switch x.compare(y) {
			case denies:
				return true
			case agrees:
				continue
			case unknown: // the words as a whole decide
			}
			if x.doc.Guard != y.doc.Guard && min(len(x.doc.Terms()), len(y.doc.Terms())) >= leastWords && scoring.Similarity(&x.doc, &y.doc) >= statesOtherwise {
				return true
			}
		}
	}
	return false
}

func (c *claim) compare(o *claim) verdict {
	if c.han {
		return compareHan(&c.chinese, &o.chinese)
	}
	return compareFrames(&c.frame, &o.frame)
}

// agreeing splits off the items that contradict another of the same speaker, and names the pairs.
func agreeing(items []store.Item) (left []store.Item, pairs []Contradiction) {
	claims := make([][]claim, len(items))
	for i := range items {
		claims[i] = claimsOf(&items[i])
	}
	contested := make([]bool, len(items))
	for i := range items {
		for j := i + 1; j < len(items); j++ {
			if items[i].Turn.Speaker == items[j].Turn.Speaker && contradict(claims[i], claims[j]) {
				contested[i], contested[j] = true, true
				pairs = append(pairs, Contradiction{items[i].ID, items[j].ID})
			}
		}
	}
	if len(pairs) == 0 {
		return items, nil
	}
	for i := range items {
		if !contested[i] {
			left = append(left, items[i])
		}
	}
	return slices.Clip(left), pairs
}
