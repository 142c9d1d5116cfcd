package rules

import (
	"regexp"
	"strings"

	"evoke/extract"
	"evoke/store"
)

// Instructions are of two sorts: those that stand ("keep your answers short", 默认用中文) and those for the task at hand
// ("just for now, answer in French", 这次用英文写). A request for something once ("write a poem") is neither. They keep their
// speaker's words: they are addressed to the agent.

// standing is a rule about an instruction that holds from now on.
func standing(pattern string, confidence float64, ok func(v, x string) bool) rule {
	return rule{re: is(pattern), category: store.Behavior, say: "{who} asks: {v}", confidence: confidence, importance: .85, standing: true, ok: ok}
}

// once is a rule about an instruction for the task at hand.
func once(pattern string, ok func(v, x string) bool) rule {
	return rule{re: is(pattern), category: store.Behavior, say: "{who} asks: {v}", confidence: .8, importance: .7, standing: true, task: true, ok: ok}
}

// chineseSay puts the Chinese words around an instruction.
func chineseSay(rs ...rule) []rule {
	for i := range rs {
		rs[i].say = "{who}要求：{v}"
	}
	return rs
}

// durability is for whom a statement of a rule holds, by the sentence or the clause that it is made in.
func (f *finder) durability(l *language, r *rule, clause string) extract.Durability {
	bound := r.task || r.standing || r.category == store.Preference
	switch {
	case bound && l.project.MatchString(clause):
		return extract.DurableProject
	case bound && (r.task || f.forTask || l.task.MatchString(clause)):
		return extract.DurableTask
	case r.standing:
		return extract.DurableAgent
	}
	return ""
}

const (
	// enTell begins what an agent is told to do.
	enTell = `(?:please |just |only |also )*(?:answer|reply|respond|write|use|speak|talk|call|address|keep|include|add|cite|give|start|begin|end|finish|format|explain|ask|avoid|stop|skip|list|put|show|send|tell|make|check|double-check|confirm|summari[sz]e|translate|correct|remind|limit|provide|mention|omit|leave|remove|run|test|book|convert|quote|greet|stick|focus|assume|treat|suggest|recommend|follow|save|log|work|stay|be|let|set|round|sort|name|spell|pretend|don['’]t|do not|never|always|no)\b`
	enAll  = `(?:(?:all|every|each|any)(?: one)?(?: of)? (?:(?:your|my|the|future|further) )*|your (?:future |next )?)(?:answers?|repl(?:y|ies)|responses?|messages?|emails?|summar(?:y|ies)|explanations?|code|questions?|requests?)`
	enFrom = `(?:from now on|from today on|from here on|going forward|in (?:the )?future|for all time|until i say otherwise|unless i say otherwise|by default|every time|each time|at all times|in ` + enAll + `|for ` + enAll + `)`
	// enStyle are things that answers have or lack.
	enStyle = `(?:emojis?|emoticons?|jargon|markdown|bullet points|bullets|tables?|headings?|headers|exclamation (?:marks|points)|slang|abbreviations|acronyms|contractions|swear ?words|profanity|filler(?: words)?|small talk|clich[eé]s|hashtags|honorifics|jokes|puns|sarcasm|irony|disclaimers|apologies|caveats|introductions|footnotes|metaphors|buzzwords|code blocks|latex|html|semicolons|em dashes|capital letters|all caps|passive voice|technical terms|foreign words|adjectives|lists|long (?:answers|sentences|paragraphs|explanations)|follow-up questions|rhetorical questions|flattery|compliments|politics|spoilers)`
	enOnce  = `(?:(?:just|only) (?:for (?:now|today|tonight|this[^,]{0,30})|this (?:once|time))|for (?:now|today|tonight|the moment|the time being|the rest of (?:this|the|our) (?:chat|conversation|session|day))|this time(?: only| around)?|(?:only )?(?:for|in|during) (?:this|the current) (?:task|project|repo(?:sitory)?|codebase|one|time|chat|conversation|session|thread|request|question|answer|reply|exercise|email|letter|document|report|presentation|trip|meeting|recipe))`
	enAsks  = `(?:answer(?:ing)?|reply(?:ing)?|respond(?:ing)?|speak(?:ing)?|cit(?:e|ing)|address(?:ing)? me|call(?:ing)? me|use|using|includ(?:e|ing)|keep(?:ing)?|explain(?:ing)?|add(?:ing)?|writ(?:e|ing)|stop(?:ping)?|avoid(?:ing)?|ask(?:ing)?|giv(?:e|ing)|remind(?:ing)?|start(?:ing)?|end(?:ing)?|format(?:ting)?)`
)

var (
	notThisAnswer = refuse(`.*\b(?:this|that|these|those|the (?:following|above|attached|question|last|first))\b`)
	noQuestion    = func(v, _ string) bool { return !strings.HasSuffix(v, "?") }
	notAside      = func(v, _ string) bool { return !enAside.MatchString(v) }

	englishOrders = []rule{
		standing(`(?P<v>`+enTell+` .+?,? `+enFrom+`(?:,? please)?)`, .85, refuse(`.*\b(?:i|we|he|she|they) (?:will|can|should|was|were|am|are)\b`)),
		standing(`(?P<v>(?:`+enFrom+`|unless i (?:say|ask|tell you)[^,]{0,30}),? `+enTell+` .+)`, .85, nil),
		standing(`(?P<v>(?:please )?(?:keep|make|write|format|give|start|begin|end|finish|structure|phrase|limit) (?:all )?(?:of )?your (?:answers|replies|responses|messages|explanations|summaries|sentences|emails)\b.*)`, .8, nil),
		standing(`(?P<v>(?:please )?stop (?:using|apologi[sz]ing|calling me|asking(?: me)?|repeating|suggesting|recommending|sending|reminding me|adding|telling me|starting|ending|saying|mentioning|explaining|including|recommend|flattering)\b.*)`, .8, notThisAnswer),
		standing(`(?P<v>(?:i (?:want|need|prefer|expect)|i['’]d (?:like|prefer)|i would (?:like|prefer)) (?:that )?you (?:to )?(?:always |never |please )?(?:be (?:more |less |very |as )*(?:brief|concise|direct|formal|informal|casual|polite|honest|blunt|succinct|detailed|friendly|critical|precise)|(?P<x>(?:answer|reply|respond|speak|talk|write|explain (?:things|everything))(?: to me)? (?:only |always )?(?:in|like|with|as|without|briefly|formally|casually|shortly|concisely)\b)|use (?:only |always )?(?:metric|imperial|simple|formal|short|british|american|plain)\b|call me\b|address me\b|keep (?:it|things|answers|your)\b).*)`, .8, nil),
		standing(`(?P<v>(?:i (?:want|need|prefer|expect)|i['’]d (?:like|prefer)|i would (?:like|prefer)) (?:that )?you (?:to )?.+,? `+enFrom+`)`, .85, nil),
		standing(`(?P<v>(?:i['’]d (?:like|prefer)|i would (?:like|prefer)) you to (?:always|never) .+)`, .85, nil),
		standing(`(?P<v>(?:please )?(?:address me|talk to me|speak to me|write to me|refer to me|greet me) .+)`, .75, refuse(`.*\b(?:about|later|tomorrow|again|soon|when you)\b`)),
		standing(`(?P<v>(?:please )?(?:be|stay|remain) (?:more |less |very |as |always )*(?:brief|concise|direct|formal|informal|casual|polite|honest|blunt|succinct|detailed|friendly|critical|precise)\b.* (?:`+enFrom+`|with me|when you (?:answer|reply|respond|write)\b.*))`, .8, nil),
		standing(`(?P<v>(?:please )?(?:ask|tell|warn|check with|consult|remind|notify|inform) me (?:first )?before (?:you |any(?:thing)? )?.+)`, .8, refuse(`.*\bbefore (?:i|we|he|she|they|it|the|my|noon|then|that|monday|tomorrow|\d)\b`)),
		standing(`(?P<v>before (?:you (?:book|buy|order|delete|remove|send|run|execute|deploy|change|edit|commit|publish|post|share|install|write|answer|reply|call|pay|make|do|start)|(?:booking|buying|ordering|deleting|removing|sending|running|executing|deploying|changing|editing|committing|publishing|posting|sharing|installing|writing|answering|replying|calling|paying|making|doing|starting))\b[^,]{0,60}, (?:please |always )*(?:ask|check|tell|show|confirm|warn|let|get|make sure|run|test|back up)\b.+)`, .8, nil),
		standing(`(?:remember |be sure |make sure )?to (?P<v>(?:always|never) (?P<x>.+))`, .85, func(_, x string) bool { return notAct(x, "") }),
		standing(`(?P<v>let['’]s always .+)`, .75, nil),
		standing(`(?P<v>(?:please )?(?:answer|reply|respond|speak|talk|write)(?: to me| me| back)? (?:only |always )?in (?:plain |simple |british |american )*(?:english|german|french|spanish|italian|portuguese|chinese|mandarin|japanese|korean|russian|dutch|polish|arabic|hindi|turkish|swedish|greek|bullet points|full sentences|short sentences)(?: only)?(?:,? please|,? not .+)?)`, .75, nil),
		standing(`(?P<v>(?:please )?use (?:only )?(?:metric|imperial|si|24[- ]hours?|12[- ]hours?|british|american|us|uk|iso) (?:units?|system|time|format|clock|spelling|english|dates?|date format)\b.*)`, .75, notThisAnswer),
		once(`(?P<v>(?:please |ok |okay |and )*`+enOnce+`,? (?:though,? )?(?:i (?:want|need) you to |can you |could you |you (?:can|should|may) )?`+enTell+`.*)`, notAside),
		once(`(?P<v>`+enTell+` .+?,? `+enOnce+`(?:,? please)?)`, refuse(`.*\b(?:i|we|he|she|they) (?:will|can|should|was|were|am|are)\b`)),
	}

	englishRequests = []rule{ // before what asks or begins with a filler is told: "when", "do" and "no" may be neither
		standing(`(?P<v>(?:when(?:ever)?|every time|each time|any ?time) (?:i (?:ask|write|send|give|tell|show|request|paste|share|say|type|upload|want|need|speak|talk)|you (?:answer|reply|respond|write|send|give|explain|make|suggest|recommend|use|show|list|book|plan|translate|summari[sz]e|cite|mention|talk|speak|ask|create|generate|call|are asked|are done|finish|start))\b[^,]{0,80}, `+enTell+`.*)`, .8, noQuestion),
		standing(`(?P<v>(?:please )?(?:don['’]t|do not|never) (?:use|add|include|write|put|insert|give me|send me|make|start with|end with|ask|tell) (?:any |me |so many |too many |such )*`+enStyle+`\b.*)`, .8, both(notThisAnswer, noQuestion)),
		standing(`(?P<v>(?:please )?(?:don['’]t|do not) .+ in (?:your|any|all) (?:answers|replies|responses|messages|emails|code)\b.*)`, .8, both(notThisAnswer, noQuestion)),
		standing(`(?P<v>(?:please,? )?no (?:more )?`+enStyle+`(?:,? (?:and|or) (?:no )?`+enStyle+`)*(?:,? please| in (?:your|any|the) (?:answers|replies|responses|messages))?)`, .75, nil),
		standing(`(?:and |so |also |ok |okay |,)*(?:can|could|would|will) you (?:please |always )*(?P<v>(?:please |always |never )*`+enAsks+` .+?,? `+enFrom+`(?:,? please)?)\?*`, .8, nil),
		standing(`(?:can|could|would|will) you (?:please (?P<v>(?:always|never) .+?)|(?P<v>(?:always|never) (?:answer|reply|respond|speak|cite|address me|call me|remind me|ask me)\b.*?))\?*`, .8, nil),
		standing(`(?:would|do) you mind (?:please )?(?P<v>(?:always |never |not )?`+enAsks+` .+?,? `+enFrom+`)\?*`, .8, nil),
	}

	enTask     = has(`\b` + enOnce + `\b`)
	enTaskLead = has(`^(?:(?:well|so|ok|okay|and|but|please)[ ,]+)*` + enOnce + `\b`)
	enProject  = has(`\b(?:for|in|on|within) this (?:project|repo(?:sitory)?|codebase|client|app)\b`)
	enOrder    = has(`^(?:(?:please|ok|okay|so|and|also|well|just|only|remember|btw)[ ,:]+)*(?:` + enTell + `|from|going|in|for|when|whenever|every|each|any ?time|by default|as a rule|unless|before|to (?:always|never)|let['’]s|this time|i (?:want|need|prefer|expect|would)|i['’]d|be|stay|ask|tell|warn|check|consult|remind|this once|(?:can|could|would|will|do) you)\b`)
)

const (
	zhTell  = `(?:请|麻烦|都|你|要|就|只|先|尽量|一律|统一|帮我|给我|请你|记得|可以)*(?:用|使用|以|把|回答|回复|答复|保持|不要|别|不用|避免|按|按照|简短|简洁|直接|说|写|附上?|加上?|列出?|检查|提醒|告诉|问|叫|称呼|控制|同时|翻译|总结|省略|跳过|注明|标明|给出|提供|采用|限制|确认|询问|征求|忽略|略过|改用|换成)`
	zhReply = `(?:回答|回复|答复|答案|说话|解释|总结|输出|消息|邮件|说明|代码|注释|称呼)`
	zhStyle = `(?:表情符号|表情|颜文字|emoji|术语|行话|表格|列表|标题|感叹号|缩写|脏话|废话|客套话|套话|敬语|俗语|网络用语|英文单词|英文|英语|中文|markdown|Markdown|代码块|比喻|玩笑|笑话|道歉|免责声明|开场白|长句|反问|您)`
	zhOnce  = `(?:(?:就|只|仅|仅仅)?(?:这次|这一次|本次|这回|此次|这一回)|仅此一次|今天先|今天就先?|暂时先?|目前先|现在先|临时|(?:在|对于?|针对)?(?:这个|本|当前|这项|这一)(?:任务|对话|会话|聊天|请求|问题|回答|话题)(?:里面?|中|内|上)?)`
)

var (
	notThisZh = refuse(`.*(?:这个|这句|这段|这篇|上面|以下|下面|那个|刚才)`)

	chineseOrders = chineseSay(
		once(`(?P<v>(?:请|麻烦)?`+zhOnce+`(?:的?(?:对话|聊天|任务|回答|回复|作业|练习))?[，,]?(?:你|请|麻烦你?)?`+zhTell+`.+)`, refuse(`.*(?:怎么|再说|这样吧|聊了|到这)`)),
		standing(`(?P<v>(?:请|你|要|应该|要求)*(?:所有|每次|每个|每一?条|全部|一切)(?:的)?`+zhReply+`(?:里|中|时|的时候)?[，,]?(?:都|请|要|一律|务必)*.{2,60})`, .8, notThisZh),
		standing(`(?P<v>`+zhReply+`(?:时|的时候|里|中)?[，,]?(?:请|要|都|务必|一律|尽量|应该|必须|记得|控制|保持|不要|别|不用|避免|限制|别超过|不超过|不要超过).{1,60})`, .75, notThisZh),
		standing(`(?P<v>(?:默认|一律|统一|通常情况下)[，,]?(?:你|请|都)?`+zhTell+`.+)`, .8, notThisZh),
		standing(`(?P<v>(?:请|你)?(?:用|使用)(?:中文|英文|英语|日语|日文|德语|法语|简体中文|繁体中文|文言文|粤语|大白话|口语|书面语|简单的(?:话|语言|中文))(?:来)?(?:回答|回复|答复|跟我|和我|与我|对我|交流|沟通|说话)(?:我|说话|交流|聊天|沟通|聊|说)*(?:吧)?)`, .75, nil),
		standing(`(?P<v>(?:请|麻烦)?(?:不要|别|不许|不准|请勿|少)(?:使用|用|加|说|带|写|发|放|出现|附)(?:太多|任何|那么多|这么多|了)?`+zhStyle+`.{0,30})`, .8, notThisZh),
		standing(`(?P<v>(?:当|每当|每次|如果|只要)?(?:我|你)(?:问|写|让你写|给|发|要|说|提到|需要|推荐|解释|翻译|总结|回答|回复|给出)[^，,。我]{0,20}(?:的时候|时|之后|后|，|,)[，,]?(?:都|请|要|就|务必|一律|记得)*`+zhTell+`.+)`, .8, notThisZh),
		standing(`(?P<v>(?:写|翻译|总结|解释|推荐|生成|画|做)[^，,。我]{1,10}(?:的时候|时)[，,]?(?:都|请|要|就|务必|一律|记得)*(?:用|使用|加上?|附上?|保持|不要|别|避免|按|按照|注明|标明|遵循|先).+)`, .8, notThisZh),
		standing(`(?P<v>(?:在)?(?:你)?(?:预订|预定|购买|买|下单|删除|发送|运行|执行|部署|修改|提交|发布|分享|安装|付款|支付|改动|回答|动手|开始|做)[^，,。？?我]{0,16}(?:之前|以前|前)[，,]?(?:都|请|要|务必|必须|一定|得|你)*先?(?:问|跟我|和我|告诉|征求|让我|向我|经过我|等我|通知|提醒|备份|跑|确认).*)`, .8, nil),
		standing(`(?P<v>(?:我)?(?:希望|想让|要求|需要)你(?:的)?(?:能|可以|总是|都)?(?:在)?(?:回答|回复|说话|语气|解释)(?:时|的时候|得)?.{1,40})`, .8, refuse(`.*(?:这个|这道|问题|我的|一下)`)),
		standing(`(?P<v>(?:你|请)(?:应该|必须|得|要|需要|一定要)(?:始终|总是|永远|每次都?|一直|务必).+)`, .85, nil),
		standing(`(?P<v>(?:千万|绝对|永远|一定)(?:不要|别|不能|不许)(?:分享|泄露|告诉|提|说|透露|删|用|发|公开|叫|推荐|提起|提到).+)`, .8, nil),
		standing(`(?P<v>除非我(?:另有|特别|明确)?(?:说明|要求|说|指示)[^，,]{0,6}[，,](?:否则)?(?:都|请|一律)*`+zhTell+`.+)`, .85, nil),
	)

	chineseRequests = chineseSay(
		standing(`(?:请问|那)?(?:能不能|可不可以|可以|能|可否|能否)(?:请)?(?:你)?(?P<v>(?:请)?(?:以后|今后|每次|始终|永远|从现在(?:开始|起))(?:都)?`+zhTell+`.+?)(?:吗|嘛|呢|么)?[?？]*`, .8, refuse(`.*(?:我(?:能|可以)|怎么)`)),
	)

	zhTask     = has(zhOnce)
	zhTaskLead = has(`^(?:请|那|好|嗯)?[，,]?` + zhOnce)
	zhProject  = has(`(?:这个|本|该|当前)项目`)
)

// zhForTask is a clause that names the task before the speaker speaks of himself: "这次旅行我喜欢靠窗的座位".
var zhForTask = regexp.MustCompile(`^(?:` + zhOnce + `)[\p{Han}]{0,4}?(?:里|中|上|时)?[，,]?(我.+)$`)

// longestOrder is more bytes than an instruction has.
const longestOrder = 400

// ordersEnglish and ordersChinese report whether a sentence may be an instruction: cheap, and true too often.
func ordersEnglish(s string) bool {
	return len(s) <= longestOrder && enOrder.MatchString(strings.TrimLeft(s, " \t*•-–"))
}

func ordersChinese(s string) bool {
	return len(s) <= longestOrder && mayOrder(s)
}

var mayOrder = anyOf("请", "用", "别", "不要", "回答", "回复", "默认", "一律", "时", "前", "写", "希望", "每次", "千万", "除非", "这次", "这回", "本次", "今天", "暂时", "任务", "对话", "能不能", "可以", "始终", "总是", "永远", "务必", "必须")
