package extract

import (
	"regexp"
	"slices"
	"strings"

	"evoke/store"
)

// reinforced adds to what an extractor found in a batch the confirmations and denials in it: a user who answers "exactly"
// or 没错 to an assistant that states a fact of his confirms the fact, one who answers "that's wrong" or 不对 denies it.
// Whatever the extractor, so that a model that overlooks them costs nothing; one turn counts once. They stand in the order
// of the turns among the operations, so that an agreement to what was said before a change does not bring it back.
func reinforced(b Batch, ops []Operation) []Operation {
	order := map[string]int{}
	turns := slices.Concat(b.Before, b.Turns)
	for i := range turns {
		order[turns[i].ID] = i
	}
	out := slices.Clone(ops)
	for i := len(b.Before); i < len(turns); i++ {
		t := &turns[i]
		if i == 0 || t.Turn.Role != "user" || turns[i-1].Turn.Role != "assistant" {
			continue
		}
		a := answerOf(t.Content)
		if a.kind == noAnswer || a.kind == denies && slices.ContainsFunc(ops, func(op Operation) bool { return op.Turn == t.ID }) {
			continue // who says what is right instead corrects: see correct
		}
		said := statements(turns[i-1].Content, a.weak)
		var more []Operation
		for j := range b.Known {
			if k := &b.Known[j]; sameSpeaker(k, t) {
				f := NewForm(StatementOf(k))
				if !said.make(f) && !(a.kind == agrees && i > 1 && slices.Contains(k.Provenance.Turns, turns[i-2].ID) && said.echoes(f)) {
					continue
				}
				more = append(more, a.operation(t, Operation{Target: k.ID, Kind: k.Kind}))
			}
		}
		if a.kind == agrees {
			for _, op := range ops {
				from, ok := order[op.Turn]
				if ok && from < i && (op.Action == Add || op.Action == Supersede) && speakerOf(op.Speaker) == speakerOf(t.Turn.Speaker) &&
					(said.make(op.form()) || from == i-2 && said.echoes(op.form())) {
					op.Action, op.Target, op.Turn, op.Quote = Add, "", t.ID, a.words
					more = append(more, op)
				}
			}
		}
		at := slices.IndexFunc(out, func(op Operation) bool { from, ok := order[op.Turn]; return ok && from > i })
		if at < 0 {
			at = len(out)
		}
		out = slices.Insert(out, at, more...)
	}
	return out
}

type answerKind int

const (
	noAnswer answerKind = iota
	agrees
	denies
)

// answer is what a turn says of the one before it in its first words.
type answer struct {
	kind  answerKind
	words string // verbatim
	weak  bool   // a mere yes, which answers the last sentence only
}

func (a *answer) operation(t *store.Item, op Operation) Operation {
	op.Action = Confirm
	if a.kind == denies {
		op.Action = doubt
	}
	op.Turn, op.Quote, op.Speaker, op.Confidence = t.ID, a.words, t.Turn.Speaker, 1
	return op
}

const (
	answerEnd = `\s*(?:[.,!;…—。，！；～~]|$)`
	before    = `^\s*(?:(?:oh|ah|aha|well|haha|h?mm+|yes|yeah|yep|yup|嗯+|哦|噢|啊|哈哈|是的|对)[,!.，。！\s]*)*?`
)

var (
	strongYes = regexp.MustCompile(`(?i)` + before + `(exactly(?: right| so)?|precisely|correct|absolutely|indeed|spot on|quite right|that(?:['’]s|s| is) (?:it|right|correct|true|exactly (?:it|right))|` +
		`you(?:['’]re| are) (?:absolutely |quite |exactly )?right|you(?:['’]ve)? got (?:it|that)(?: right)?|you remember(?:ed)? (?:it )?(?:right|correctly|well)|` +
		`没错|(?:你)?(?:说|记)得(?:很|完全|非常)?对|完全正确|正确|正是(?:如此|这样)?|就是这样|确实(?:如此|是这样)|一点没错|可不是(?:嘛)?)(?:啊|呀|呢|哦|的)?` + answerEnd)
	weakYes  = regexp.MustCompile(`(?i)` + before + `(yes|yeah|yep|yup|right|true|sure|对(?:的|啊|呀|对)*|是(?:的|啊|呀)*|嗯+|确实)` + answerEnd)
	strongNo = regexp.MustCompile(`(?i)^\s*(?:(?:oh|ah|well|h?mm+|no|nope|sorry|actually|嗯+|哦|不|啊)[,!.，。！\s]*)*?((?:that(?:['’]s|s| is| was)|you(?:['’]re| are)|it(?:['’]s| is)) (?:wrong|incorrect|mistaken|not (?:right|true|correct|so))|that isn['’]t (?:right|true|correct|so)|` +
		`(?:wrong|incorrect|not (?:true|right|correct))|不对|不是(?:的|这样的?)|不正确|(?:你|我)?(?:说|记|搞|弄)?错了)(?:啊|呀|哦)?` + answerEnd)
	// hedged takes an agreement or a denial back, or asks after it.
	hedged = regexp.MustCompile(`(?i)^[\s,.!;…，。！；]*(?:but|however|except|although|though|not (?:quite|really)|actually|or\b|no\b|wait|i (?:think|guess)|maybe|只是|不过|但是?|可是|然而|其实|除了|好像|也许|吗|吧)|^\s*[?？]`)
)

// answerOf reads the first words of a turn. A question ("对不对？", "exactly what do you mean?") is no answer.
func answerOf(text string) answer {
	for _, c := range [...]struct {
		re   *regexp.Regexp
		kind answerKind
		weak bool
	}{{strongYes, agrees, false}, {strongNo, denies, false}, {weakYes, agrees, true}} {
		m := c.re.FindStringSubmatchIndex(text)
		if m == nil || hedged.MatchString(text[m[1]:]) {
			continue
		}
		return answer{c.kind, text[m[2]:m[3]], c.weak}
	}
	return answer{}
}

// stated is what an assistant says of the user in one turn.
type stated []Form

var (
	sentenceEnd = regexp.MustCompile(`[.!?;。！？；\n]+(?:\s+|$)|[。！？；]`)
	// opening are the words before a statement, closing those behind it.
	opening = regexp.MustCompile(`(?i)^\s*(?:(?:so|then|ah|oh|ok(?:ay)?|well|and|right|got it|i see|noted|thanks|if i remember (?:right|correctly|well)|as i recall|i (?:remember|recall|believe|think|know|understand)(?: that)?|you (?:said|told me|mentioned)(?: earlier| before)?(?: that)?|let me (?:check|confirm|repeat)|to confirm|just to (?:be sure|confirm)|which means|correct me if i am wrong)[,:]?\s+|` +
		`(?:所以|那么|那|好的?|明白了?|原来|我记得|据我所知|我了解到|你(?:之前)?(?:说过?|提到过?|告诉过?我)|也就是说|确认一下|让我确认一下|记得)[，,：:]?\s*)+`)
	closing = regexp.MustCompile(`(?i)[,，]?\s*(?:(?:is that |that(?:['’]s| is) )?(?:right|correct|true)|yes|isn['’]t it|don['’]t you|aren['’]t you|do you not|对不对|对吧?|对吗|是不是|是吧|是吗|没错吧|吗|吧)$`)
	second  = rewrites(`(?i)\byou are\b|\byou['’]re\b`, `I am`, `(?i)\byou['’]ve\b`, `I have`, `(?i)\byours\b`, `mine`, `(?i)\byour\b`, `my`, `(?i)\byou\b`, `I`, `[你您]`, `我`)
)

// statements are the sentences of a turn as the one spoken to would say them; with last only the last one.
func statements(text string, last bool) stated {
	var out stated
	from := 0
	add := func(s string) {
		s = closing.ReplaceAllLiteralString(opening.ReplaceAllLiteralString(strings.TrimSpace(s), ""), "")
		if s = strings.TrimSpace(apply(second, s)); s != "" {
			out = append(out, NewForm(Statement{Kind: store.Semantic, Content: s}))
		}
	}
	for _, m := range sentenceEnd.FindAllStringIndex(text, -1) {
		add(text[from:m[0]])
		from = m[1]
	}
	add(text[from:])
	if last && len(out) > 1 {
		out = out[len(out)-1:]
	}
	return out
}

// make reports whether one of the sentences makes a fact's statement.
func (s stated) make(f Form) bool {
	f.speaker, f.kind = "", store.Semantic
	return slices.ContainsFunc(s, func(g Form) bool {
		g.about = f.about
		return f.rekeyed().Same(g.rekeyed()) != Different
	})
}

// rekeyed leaves the exact key out: it is of another kind, or of words in another person.
func (f *Form) rekeyed() *Form {
	g := *f
	g.key = strings.Join(f.words, " ")
	return &g
}

// echoes reports whether the turn is but an echo of a fact: "Rome?", "东京？".
func (s stated) echoes(f Form) bool {
	if len(s) != 1 || len(s[0].words) == 0 || len(f.words) == 0 {
		return false
	}
	echo := s[0].words
	if f.han {
		return s[0].han && len(echo) == 1 && len([]rune(echo[0])) >= 2 && !chineseNegation.MatchString(echo[0]) && strings.HasSuffix(strings.Join(f.words, ""), echo[0])
	}
	n := len(f.words) - len(echo)
	return n > 0 && len(echo) <= 3 && slices.Equal(f.words[n:], echo)
}
