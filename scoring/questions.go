package scoring

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	reWhen = regexp.MustCompile(`\bwhen(?:'s|(?: exactly| else)? (?:did|do|does|was|were|is|are|will|would|had|has|have|should|shall|can|could|am|might|must))\b` +
		`|\b(?:know|tell|tell (?:me|us)|remember|recall|remind me|say|said|mention|mentioned|sure|wonder|wondering|ask|asked|idea|since|until|till|by|and|exactly) when\b|\bwhen\W*$` +
		`|\b(?:what (?:date|day|month|year|time)|which (?:date|day|month|year)|how long)\b` +
		`|什么时候|什麼時候|啥时候|何时|何時|哪天|哪一天|哪日|哪年|哪一年|哪个月|哪個月|几月|幾月|几号|幾號|几点|幾點|多久|多长时间|什么时间|什么日期|何日|何月|何年|何曜日|いつ|どのくらい`)
	reHanTimed = regexp.MustCompile(`星期[一二三四五六日天]|[周週][一二三四五六日]|[月火水木金土日]曜|(?:\d+|[一二两三四五六七八九十]+)\s*(?:年|月|号|日|天|周|週|个月|ヶ月|か月)(?:前|后|後)?`)
	rePresent  = regexp.MustCompile(`\b(?:is|are|am|do|does|have|has|currently|current|now|latest|how many|how much|what's)\b|现在|現在|目前|如今|最新|多少|今は|吗|嗎|什么|什麼|哪|谁|誰|怎么|怎樣|几个|还`)
	rePast     = regexp.MustCompile(`\b(?:did|was|were|had|when|first|initially|originally|before|earlier|previously|order|timeline|between|days? passed|how long|ever|across|throughout|over time|evolved|summar\w+|yesterday|ago|last (?:night|week|weekend|month|year|spring|summer|fall|autumn|winter))\b|以前|昨|前天|去年|前年|上周|上週|上星期|上个|上個|过[的吗嗎什谁哪几]|了[什谁哪几多吗嗎]|之前|当时|當時|曾|最初|原来|什么时候|何时|哪天|哪一天|哪年|哪个月|几号|几月|多久|いつ`)
)

// WhenQuestion reports whether a query asks for a point or a length of time. "When" that only joins two clauses ("what do I do
// when it rains?") asks for none.
func WhenQuestion(query string) bool {
	return reWhen.MatchString(dateText(query))
}

// AsksPresent reports whether a query asks for the present state of things, so that the newer of two statements is wanted.
func AsksPresent(query string) bool {
	s := dateText(query)
	return rePresent.MatchString(s) && !rePast.MatchString(s)
}

// AsksPast reports whether a query asks about the past, an order or a length of time: what is newer need not be wanted.
func AsksPast(query string) bool {
	return rePast.MatchString(dateText(query))
}

// generic speakers are roles, not names.
var generic = set(`user assistant system human ai bot agent tool function developer model chatbot me you 用户 助手 系统`)

// NamesSpeaker reports whether a query, given as its [Tokens], contains the speaker's name: any word of a name in a
// script with spaces, the whole of one in Chinese or Japanese. Roles such as "user" are no names. It is worth a term of
// the score only in scopes with two or more named speakers.
func NamesSpeaker(queryTokens []string, speaker string) bool {
	if len(queryTokens) == 0 || GenericSpeaker(speaker) {
		return false
	}
	has := func(tok string) bool {
		for _, q := range queryTokens {
			if q == tok {
				return true
			}
		}
		return false
	}
	whole, parts := true, 0
	for _, tok := range Tokens(speaker) {
		r, _ := utf8.DecodeRuneInString(tok)
		if classOf(r) == classWord {
			if utf8.RuneCountInString(tok) >= 2 && has(tok) {
				return true
			}
			continue
		}
		parts++
		whole = whole && has(tok)
	}
	return parts > 0 && whole
}

// GenericSpeaker reports whether a speaker is a role ("user", "assistant") or empty, not a name.
func GenericSpeaker(speaker string) bool {
	name := strings.TrimSpace(fold(speaker))
	return name == "" || generic.has(name)
}
