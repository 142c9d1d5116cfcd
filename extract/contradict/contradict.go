// Package contradict tells whether two texts of one speaker say what cannot both hold, sentence by sentence, in English and
// Chinese: another value of a subject that has one at a time, nearly the same words with another number, name or date, or
// the opposite.
//
// It rests on the words of the write path's own comparison ([extract.Form], the subjects of the rules) and on their order. It
// would rather miss than invent: what is told apart by what it speaks of is no contradiction, and the same said in quite
// other words is not seen as one.
package contradict

import (
	"strings"
	"time"
	"unicode"

	"evoke/extract"
	"evoke/extract/rules"
	"evoke/scoring"
)

// Claims are what a text says, prepared for comparison. They are immutable and safe for concurrent use.
type Claims []claim

// claim is what one sentence says.
type claim struct {
	subject string // what it is about, of which one value holds at a time; "" for none
	form    extract.Form
	doc     scoring.Doc
	han     bool
	chinese hanFrame // of a Chinese sentence
	english frame    // of any other
}

// Of are the claims of a text. Questions claim nothing.
func Of(text string) Claims {
	var out Claims
	for _, s := range scoring.Sentences(text) {
		if strings.ContainsAny(s, "?？") {
			continue
		}
		c := claim{
			subject: rules.Subject(s, ""), form: extract.NewForm(extract.Statement{Content: s}), doc: scoring.NewDoc("", s, time.Time{}),
		}
		if c.han = isHan(s); c.han {
			c.chinese = hanFrameOf(s)
		} else {
			c.english = frameOf(s)
		}
		out = append(out, c)
	}
	return out
}

// Contradict reports whether a claim of c and one of o cannot both hold, if one speaker makes them. It is symmetric.
func (c Claims) Contradict(o Claims) bool {
	for i := range c {
		for j := range o {
			if c[i].contradicts(&o[j]) {
				return true
			}
		}
	}
	return false
}

const (
	// nearlySame is how alike two sentences are, at the least, that say the same of other numbers or the opposite.
	nearlySame = 0.7
	// leastTerms is how many content words both need for that.
	leastTerms = 3
)

func (c *claim) contradicts(o *claim) bool {
	if c.subject != "" && c.subject == o.subject && c.form.Same(&o.form) == extract.Different {
		return true
	}
	if c.han != o.han {
		return false
	}
	switch c.compare(o) {
	case contrary:
		return true
	case compatible:
		return false
	case unknown: // the words as a whole decide
	}
	return c.doc.Guard != o.doc.Guard && min(len(c.doc.Terms()), len(o.doc.Terms())) >= leastTerms && scoring.Similarity(&c.doc, &o.doc) >= nearlySame
}

// verdict is what comparing the frames of two sentences tells.
type verdict uint8

const (
	unknown    verdict = iota
	compatible         // they speak of different things, or say the same
	contrary           // they say the same of one thing but for its value, or the opposite
)

func (c *claim) compare(o *claim) verdict {
	if c.han {
		return compareHan(&c.chinese, &o.chinese)
	}
	return compareFrames(&c.english, &o.english)
}

func isHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) })
}
