package extract

import (
	"regexp"
	"slices"
	"strings"
)

// anothers reports whether an operation makes a statement about its speaker of words that say the same of somebody else:
// "Bob likes tea", 他喜欢茶 as "The user likes tea", 用户喜欢茶. A model that overlooks who is meant would store another
// person's matter as the user's own. It compares the end of the quote with what the statement says of the user, so that it
// errs on the side of keeping: what is worded otherwise passes.
func anothers(op *Operation) bool {
	if op.Action != Add && op.Action != Supersede || op.About != "" || strings.HasPrefix(op.Subject, aboutPrefix) {
		return false
	}
	content, chinese := normalWords(op.Content)
	quote, alike := normalWords(op.Quote)
	if len(content) == 0 || len(quote) == 0 || chinese != alike {
		return false
	}
	if chinese {
		says, ok := strings.CutPrefix(strings.Join(content, ""), "我")
		before, ends := strings.CutSuffix(strings.Join(quote, ""), says)
		return ok && ends && len([]rune(says)) >= 2 && !strings.Contains(before, "我") && otherPersonHan.MatchString(before)
	}
	if content[0] != "me" && content[0] != "my" || len(content) < 2 {
		return false
	}
	says := content[1:]
	if len(quote) <= len(says) {
		return false
	}
	same := quote[len(quote)-len(says):]
	if strings.TrimSuffix(same[0], "s") != strings.TrimSuffix(says[0], "s") || !slices.Equal(same[1:], says[1:]) { // "they deploy", "the user deploys"
		return false
	}
	before := quote[:len(quote)-len(says)]
	if slices.Contains(before, "me") || content[0] == "my" && slices.Contains(before, "my") {
		return false
	}
	for _, w := range before {
		if w == strings.ToLower(op.Speaker) {
			return false
		}
	}
	return slices.ContainsFunc(before, func(w string) bool { return otherPerson[w] || namedIn(op.Quote, w) })
}

// otherPerson are words for somebody else than who speaks.
var otherPerson = set(`he she they his her their him them colleague coworker boss manager friend neighbour neighbor wife husband partner girlfriend boyfriend mother father
	sister brother son daughter kid cousin aunt uncle client customer user's somebody someone everybody everyone nobody people you your`)

// otherPersonHan ends what stands before a statement about somebody else.
var otherPersonHan = regexp.MustCompile(`(?:他|她|他们|她们|你|您|别人|有人|大家|同事|老板|经理|朋友|邻居|老婆|老公|母亲|父亲|姐姐|妹妹|哥哥|弟弟|儿子|女儿|孩子|客户|先生|女士|` +
	`(?:^|[，,。 ])(?:[小老阿]\p{Han}|[张王李赵刘陈杨黄吴徐孙马朱胡林郭何高罗郑梁谢宋唐许韩冯邓曹彭曾萧田董袁潘蒋蔡余杜叶程苏魏吕丁沈姚卢傅钟崔谭廖范汪陆金石戴贾韦夏邱方侯邹熊孟秦白江阎薛尹段雷黎史龙陶贺顾毛郝龚邵万钱覃武][\p{Han}\d]{1,2}))(?:说|觉得|认为|也|都|就|还|一直)*$`)

// namedIn reports whether a word of a text, in lower case, is a name there: written with a capital, and no word that often
// begins a sentence.
func namedIn(text, word string) bool {
	for w := range strings.FieldsSeq(text) {
		w = strings.Trim(w, `.,;:!?"“”'’()`)
		w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
		if strings.ToLower(w) == word && w != word && !beginsSentence[word] {
			return true
		}
	}
	return false
}

var beginsSentence = set(`my mine the a an all most some any every each one both we our us yes no well so and but also actually honestly really usually often always never today now currently lately sometimes here there this that it oh ok okay right exactly then
	btw anyway sorry thanks please hi hello hey still just mostly generally personally basically definitely absolutely of in at on for since when if because as first finally`)
