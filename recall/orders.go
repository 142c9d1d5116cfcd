package recall

import (
	"slices"
	"strings"
	"unicode/utf8"

	"evoke/store"
)

// Orders in texts that are not the user's word get a mark in the block. It helps a model to read them as data; what
// keeps them from becoming instructions is [stands], whatever their words. So it has to be cheap, and a list of words
// finds no more than a part of what others say in other words: TestOrdersAreMarked tells how much.

// demands reports whether a text that is not the user's word reads as an order.
func demands(it *store.Item) bool {
	switch trustOf(it) {
	case OfUser, OfApplication:
		return false
	case Derived, OfAssistant:
		return readsAsOrder(it.Content, false)
	case OfImport, OfTool:
	}
	return readsAsOrder(it.Content, true)
}

// readsAsOrder reports whether a text tells whoever works with it what to do: by a phrase that hardly stands in other
// texts, or by a sentence that begins with an imperative and is about answers, tools, rules or "the user". outside, for
// texts of tools, the web and imports, takes any imperative that has an object: an assistant's advice is full of them.
func readsAsOrder(s string, outside bool) bool {
	folded := " " + clean(s).folded
	for _, p := range orderPhrases {
		if strings.Contains(folded, p) {
			return true
		}
	}
	for opens := true; folded != ""; {
		clause, rest, mark := folded, "", rune(0)
		if end := strings.IndexAny(folded, ".!?:;,\n。！？：；，、"); end >= 0 {
			r, size := utf8.DecodeRuneInString(folded[end:])
			clause, rest, mark = folded[:end], folded[end+size:], r
		}
		if ordersIn(clause, opens, outside) {
			return true
		}
		first, _, _ := strings.Cut(strings.TrimLeft(clause, " "), " ")
		opens = mark != ',' && mark != '，' && mark != '、' || conditions[first]
		folded = rest
	}
	return false
}

// ordersIn looks at one clause, without the mark behind it. opens says that a sentence begins with it, or its main
// clause.
func ordersIn(s string, opens, outside bool) bool {
	s, led := bare(s)
	opens = opens || led
	word, object, _ := strings.Cut(s, " ")
	if !wide(s) {
		switch {
		case object == "" || object[0] == '=' || strings.HasPrefix(object, "is ") || strings.HasPrefix(object, "are "):
			return false
		case opens && (plainOrders[word] || outside && imperatives[word]):
			return true
		case imperatives[word] && containsAny(object, agentMatters):
			return true
		}
		return containsAny(" "+s, agents) && containsAny(" "+s+" ", duties)
	}
	const two = len("发送")
	verb := len(s) > two && hanImperatives[s[:two]] && !slices.ContainsFunc(hanNouns, func(n string) bool { return strings.HasPrefix(s[two:], n) })
	switch {
	case verb && (opens && outside || containsAny(s, hanMatters)):
		return true
	case outside && (strings.HasPrefix(s, "把") || strings.HasPrefix(s, "将")) && containsAny(s, hanTransfers):
		return true
	}
	return containsAny(s, hanAgents) && containsAny(s, hanDuties)
}

// bare is a clause without the marks of lists and quotations and the words that may stand before an imperative; led says
// that there were such words.
func bare(s string) (_ string, led bool) {
	s = strings.TrimLeft(s, " -*>\"'(`")
	for cut := true; cut; {
		cut = false
		for _, l := range leadIns {
			if rest, ok := strings.CutPrefix(s, l); ok && rest != "" {
				s, cut, led = strings.TrimLeft(rest, " "), true, true
			}
		}
	}
	return s, led
}

// wide reports whether a clause is read as Chinese: it begins with a character that is not ASCII, but for "ai" before it.
func wide(s string) bool {
	s = strings.TrimPrefix(s, "ai ")
	return s != "" && s[0] >= utf8.RuneSelf
}

func containsAny(s string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return strings.Contains(s, p) })
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
