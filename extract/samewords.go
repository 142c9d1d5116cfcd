package extract

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"evoke/store"
)

// rewrite replaces what re finds.
type rewrite struct {
	re *regexp.Regexp
	to string
}

func rewrites(pairs ...string) []rewrite {
	var out []rewrite
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, rewrite{regexp.MustCompile(pairs[i]), pairs[i+1]})
	}
	return out
}

func apply(rules []rewrite, s string) string {
	for _, r := range rules {
		s = r.re.ReplaceAllString(s, r.to)
	}
	return s
}

func table(list string) map[string]string {
	out := map[string]string{}
	for _, group := range strings.Split(list, ";") {
		words := strings.Fields(group)
		for _, w := range words {
			out[w] = words[0]
		}
	}
	return out
}

// adverbial begin the phrases that may stand before or after the rest of a sentence.
var adverbial = map[string]bool{
	"every": true, "daily": true, "weekly": true, "monthly": true, "yearly": true, "on": true, "in": true, "at": true,
	"during": true, "after": true, "before": true, "since": true, "usually": true, "twice": true, "once": true,
}

// contractions are spelled out before punctuation goes.
var contractions = rewrites(
	`[’‘]`, `'`, `\bwon't\b`, `will not`, `\bcan't\b|\bcannot\b`, `can not`, `n't\b`, ` not`, `\bi'm\b`, `i am`, `'ve\b`, ` have`, `'re\b`, ` are`,
	`'ll\b`, ` will`, `\b(he|she|it|that|there|who|what)'s\b`, `$1 is`, `'s\b`, ` 's`, `'s`, `possx`,
)

// englishRules bring phrases to one form. They run in order on lower-case words with single spaces.
var englishRules = rewrites(
	`\b(?:the )?(\w+) of (?:the user|mine)\b`, `my $1`,
	`\b(?:the )?user possx\b`, `my`, `\b(?:the )?user\b|\bi\b`, `me`, `^(me\b.*) their\b`, `$1 my`,
	`\b(?:a lot|lots|plenty) of\b`, `many`, `\ba (few|little|bit)\b`, `a$1`,
	`\bam\b|\bare\b`, `is`, `\bhas\b`, `have`, `\b(?:do|does) not\b`, `not`,
	`\bis (?:called|named)\b`, `name is`, `\bme name is\b`, `my name is`,
	`\bmy (?:job|profession|occupation) is\b`, `me is`, `\bworks? as\b|\bis (?:employed|working) as\b`, `is`, ` by (?:profession|trade)$`, ``,
	`\bis (?:based|living|residing) in\b|\b(?:resides?|dwells?) in\b`, `live in`, `\bmy home is in\b`, `me live in`,
	`\bis (?:employed|working) (?:at|by|for|with)\b|\bworks? (?:at|for)\b`, `work at`, `\bmy employer is\b`, `me work at`,
	`\bis not (?:fond|a fan) of\b|\bdislikes?\b|\bnot enjoy\b`, `not like`, `\bis (?:fond|a fan) of\b|\benjoys?\b`, `like`,
	`\bwould like to\b|\bwish(?:es)? to\b`, `want to`, `\bis planning to\b|\bintends? to\b|\bis intending to\b`, `plan to`,
	`\b(?:have|suffers? from) an? allergy to\b`, `is allergic to`, `\b(?:have|suffers? from) an? (\w+) allergy$`, `is allergic to $1`,
	`\b(?:have got|owns?)\b`, `have`, `\bis from\b|\b(?:hails?|originates?) from\b`, `come from`,
	`\bis able to\b`, `can`, `\bis (?:unable|not able) to\b`, `can not`,
	`\b(?:follows?|eats?|is on) an? (\w+) diet$`, `is $1`,
	`\b(?:every|each) day\b|\bon a daily basis\b`, `daily`, `\b(?:every|each|once a) week\b|\bon a weekly basis\b`, `weekly`,
	`\b(?:every|each|once a) month\b`, `monthly`, `\b(?:every|each|once a) year\b|\bannually\b`, `yearly`,
	`\beach\b`, `every`, `\b(?:in|on) the (morning|evening|afternoon|weekend)s\b`, `every $1`,
	`\bon (mon|tues|wednes|thurs|fri|satur|sun)days\b`, `every ${1}day`, `\b2 times\b|\btwo times\b`, `twice`,
	`\b(like|love|hate|start|begin|continue)(s?) to (\w+)`, `$1$2 $3`,
	`\bprefers? ([^t ]\S*|t[^o ]\S*) (?:to|rather than|instead of) `, `prefer $1 over `,
	`\b(?:is|was) born on\b`, `birthday is`, `\bme birthday is\b`, `my birthday is`, `\bis (\d+) years? old\b`, `age $1`, `\bmy age is (\d+)\b`, `me age $1`,
	`\b(speak|like|love|drink|eat|play|have|teach|study|with|in)(s?) (\w+) and (\w+)$`, `$1$2 pair $3 $4`,
	`\bis (living|working|studying|learning|training)\b`, `$1`, `\b(?:a|an|the|per)\b`, ``,
)

// englishSynonyms: words of a group mean the same here, forms of one verb in the present included.
var englishSynonyms = table(`live lives living;work works working;like likes liking;love loves;have having;want wants;need needs;speak speaks;` +
	`play plays playing;prefer prefers;drink drinks drinking;eat eats eating;go goes going;run runs running;study studies studying;learn learns learning;` +
	`teach teaches teaching;read reads reading;write writes writing;drive drives driving;take takes taking;use uses using;hate hates;avoid avoids avoiding;` +
	`know knows;plan plans planning;come comes;make makes making;cook cooks cooking;swim swims swimming;collect collects collecting;call calls;` +
	`train trains training;visit visits visiting;grow grows growing;sleep sleeps sleeping;get gets;keep keeps keeping;sing sings singing;ride rides riding;` +
	`start starts begin begins starting beginning;buy buys purchase purchases buying;fear fears;travel travels travelling traveling;walk walks walking;` +
	`mother mom mum;father dad;child kid;children kids;bike bicycle;tv television;car automobile;photos photographs pictures;movie film;movies films;` +
	`favourite favorite;colour color;vegetable veggie;vegetables veggies;physician doctor;attorney lawyer;flat apartment;couch sofa;autumn fall;` +
	`phone telephone;email e-mail;big large;quick fast;assist help helps;one 1;two 2;three 3;four 4;five 5;six 6;seven 7;eight 8;nine 9;ten 10;eleven 11;twelve 12`)

func englishWords(text string) []string {
	s := apply(contractions, strings.ToLower(norm.NFKC.String(text)))
	s = store.FoldText(s)
	if !englishNegation.MatchString(s) {
		s = apply(englishSoft, s)
	}
	s = apply(englishRules, s)
	words := strings.Fields(s)
	for i, w := range words {
		if base, ok := englishSynonyms[w]; ok {
			words[i] = base
		}
	}
	for i := 0; i+2 < len(words); i++ { // "tea and coffee" at the end, in either order
		if words[i] == "pair" && words[i+1] > words[i+2] {
			words[i+1], words[i+2] = words[i+2], words[i+1]
		}
	}
	return words
}

// englishSoft and chineseSoft drop what only strengthens a statement or says that it holds now. Under a negation that has
// a meaning of its own ("does not eat much"), so they are for statements without one.
var (
	englishSoft = rewrites(
		`\b(?:these days|at the moment|at present|right now|presently|currently|nowadays)\b`, ``, `\bnow$|^now\b`, ``,
		`\b(?:really|very|truly|definitely|absolutely|also)\b`, ``, ` +`, ` `, `^ | $`, ``, `([^o ]|[^o]o|[^t]oo) (?:a lot|so much|much|as well)$`, `$1`,
	)
	englishNegation = regexp.MustCompile(`\b(?:not|no|never|none|nor|neither|nobody|nothing|without|hardly|rarely|barely)\b`)
	chineseSoft     = rewrites(`目前|如今|现在|眼下|平时|一直都?|真的|非常|特别|超级|很|挺`, ``)
	chineseNegation = regexp.MustCompile(`[不没無无未别勿]|[^除]非[^常]`)
)

// chineseRules run in order on text without blanks and punctuation.
var chineseRules = rewrites(
	`^(?:该|这位|这个)?用户`, `我`, `用户`, `我`, `^本人`, `我`,
	`^((?:每天|每周|每年|每个?月|周末|早上|早晨|晚上|下午|中午|平时|目前|现在|如今)+)我`, `我$1`,
	`[呢啊呀哦嘛啦]$`, ``,
	`喜爱|爱好|中意`, `喜欢`, `受不了`, `讨厌`, `爱([吃喝看听玩])`, `喜欢$1`, `不爱`, `不喜欢`,
	`居住在|居住于|定居于|定居在|住于`, `住在`, `^我的?家在`, `我住在`,
	`(?:就职|任职|供职|受雇)于(.+)$`, `在${1}工作`, `在(.+?)(?:上班|任职|就职|供职)$`, `在${1}工作`,
	`^我的?(?:职业|工作)是`, `我是`, `^我从事(.+)工作$`, `我是$1`, `是(?:一名|一位|一个|名|位|个)`, `是`, `当(?:一名|一位|名|位)`, `当`,
	`^我的?名字(?:是|叫)|^我名叫|^我姓名是|^我的姓名是`, `我叫`, `来自于|老家是|老家在`, `来自`, `^我的?(?:来自)`, `我来自`, `^我是(.+)人$`, `我来自$1`,
	`^我的?生日(?:是|在)`, `我生日`, `^我出生于`, `我生日`, `^我今?年?(?:是)?(\d+)岁了?$`, `我${1}岁`, `^我的?年龄是(\d+)岁?$`, `我${1}岁`,
	`有对?(.+)过敏症?$`, `对${1}过敏`, `^我(\p{Han}{1,4})过敏$`, `我对${1}过敏`, `对对`, `对`,
	`正在学习?|在学习?`, `学`, `学习`, `学`, `会讲`, `会说`, `能说`, `会说`, `能够`, `能`, `早晨|清晨`, `早上`, `夜里|夜晚`, `晚上`, `礼拜|星期`, `周`, `周天`, `周日`,
	`每一天|天天|每日`, `每天`, `每一?个?周`, `每周`, `每个月`, `每月`,
	`计划|准备|打算要`, `打算`, `想要|希望`, `想`, `从来不|从未|从不`, `从不`, `没有`, `没`, `不能够`, `不能`, `不可以`, `不能`,
	`有(?:一|1)([只条个名位台辆])`, `有$1`, `养了?(?:一|1)?([只条])`, `养$1`, `两`, `2`, `二`, `2`, `三`, `3`, `四`, `4`, `五`, `5`,
	`妈妈|老妈`, `母亲`, `爸爸|老爸`, `父亲`, `妻子|太太`, `老婆`, `丈夫`, `老公`, `小孩子?`, `孩子`, `单车|脚踏车`, `自行车`, `马铃薯`, `土豆`, `西红柿`, `番茄`,
	`计算机`, `电脑`, `乒乓球`, `乒乓`, `影片`, `电影`, `害怕|惧怕`, `怕`, `厌恶`, `讨厌`, `购买`, `买`, `驾驶|驾车`, `开车`, `医师`, `医生`, `教师`, `老师`,
	`(喜欢|会说|会|吃|喝|养)(\p{Han}{1,2})[和与跟及](\p{Han}{1,2})$`, `$1 pair $2 $3`,
	`的`, ``,
)

func chineseWords(text string) []string {
	s := strings.ReplaceAll(store.FoldText(text), " ", "\x00")
	var b strings.Builder
	rs := []rune(s)
	for i, r := range rs { // a blank stays between Latin words only
		if r == 0 {
			if i > 0 && i+1 < len(rs) && rs[i-1] < 0x250 && rs[i+1] < 0x250 {
				b.WriteRune('_')
			}
			continue
		}
		b.WriteRune(r)
	}
	s = b.String()
	if !chineseNegation.MatchString(s) {
		s = apply(chineseSoft, s)
	}
	head, pair, ok := strings.Cut(apply(chineseRules, s), " pair ")
	if !ok {
		return []string{head}
	}
	x, y, _ := strings.Cut(pair, " ")
	return []string{head, min(x, y), max(x, y)}
}
