package rules

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"evoke/store"
)

// chinese are the rules for Chinese, simplified first; the commonest traditional forms are listed beside them.
var chinese = &language{
	user: "用户", hint: anyOf("我", "请", "以后", "今后", "往后", "接下来", "从", "不", "别", "错", "务必", "始终", "永远", "每次", "更正", "纠正", "口误", "订正", "希望", "麻烦"), corrected: "{who}更正：{v}", most: 40,
	question:  has(`[?？]\s*["”」]?\s*$|(?:吗|嗎|呢|么|没有)[。.!！~～…\s]*$|^(?:谁|什么|怎么|为什么|哪|几|多少|是不是|能不能|可不可以|有没有|要不要|请问|我是不是|我该|我应该|我能|我可以)|^我.*吧[。.!！~～…\s]*$|是不是|有没有|能不能|会不会|要不要|怎么样|喜不喜欢|什么|哪里|哪个|哪儿|多少`),
	doubt:     has(`如果|假如|假设|要是|倘若|若是|万一|的话|假装|扮演|想象|想像|也许|可能|大概|或许|说不定|好像|不确定|未必|本来想|差点|听说|据说|传说|开玩笑|逗你|[他她它]们?(?:说|问|写|认为|觉得|告诉|喊|道)|(?:有人|朋友|同事|老师|妈妈|爸爸|老板|医生|别人|大家|作者|主角)(?:都|总|常|曾|跟我|对我)?(?:说|问|写|认为|觉得|告诉|建议|希望)|说道|写道|问我|告诉我|叫我(?:去|来|做|帮)|(?:请|帮我?|麻烦|来)(?:你)?翻译|翻译(?:一下|成|[:：]|这|下面|以下)|译成|台词|歌词|例句|造句|句子|小说(?:里|中|写|的|主)|剧本|电影里|书里|歌里|作文|改写|润色|以.{1,10}的身份|如下[:：]`),
	noDoubt:   has(`(?:先|再|前|必须|要|都|请)(?:来)?(?:问|告诉)我`),
	takesBack: regexp.MustCompile(`^(?:(?:哦|啊|不|不对|等等|等一下|抱歉|对不起|不好意思|其实)[，,。.！!、\s]*)*(?:不对|不是的|错了|(?:我|刚才|之前|刚刚|上面|前面|上次)*(?:说|讲|搞|弄|记|写|打)错了|更正一下|更正|纠正一下|口误|我纠正|订正)[，,。.！!：:、\s]*`),
	boundary:  has(`[，,；;：:（）()]\s*(?:而且|并且|但是|不过|可是|但|然后|所以|因为|同时|另外|还有|以及|也就是)?|(?:但是|可是|而且|并且|因为|所以)|不过([^敏])`),
	lead:      has(`^(?:你好|您好|嗨|哈喽|大家好|其实|对了|另外|还有|而且|顺便说一下|顺便说|说实话|老实说|嗯|哦|啊|那个|是的|对|没错|好的|好|谢谢|请你?记住|记住|记得|请注意|告诉你|跟你说|我告诉你|自我介绍一下|介绍一下|总的来说|首先|其次|最后|平时|目前|现在|最近|一般来说)[，,。！!：:、\s]*`),
	tail:      has(`(?:了|啦|呀|啊|哦|呢|哈|的说|谢谢|嘛|噢|喔|哟|来着)$`),
	third:     chineseThird,
	vague:     has(`^(?:[你您他她它这那我]|所有|说|吗|因为|很|为了|不|什么|故意|每|一定|没)|的$|吗`),
	meant: []meantRule{
		{re: is(`(?:其实|应该)?(?:我)?(?:不是|不叫|不住)(?P<old>[^，,是不]{1,15})[，,]\s*(?:而是|是|应该是|叫|住)(?P<new>[^，,]{1,20})`)},
		{re: is(`(?:应该)?是(?P<new>[^，,]{1,20})[，,]\s*(?:而)?不是(?P<old>[^，,]{1,15})`), after: true},
		{re: is(`(?:应该)?是(?P<new>[^，,]{1,20})`), after: true},
	},
	starts:    has(`我`),
	facts:     chineseFacts,
	sentences: chineseInstructions,
	orderly:   ordersChinese, orders: chineseOrders, requests: chineseRequests, task: zhTask, taskLead: zhTaskLead, forTask: zhForTask, project: zhProject,
	self:   "我",
	asking: has(`[，,；;。]\s*[^，,；;。]*(?:[?？]|吗|嗎|呢|有什么推荐|有没有推荐)\s*[?？。.!！]*$`),
	tag:    has(`^[，,；;。\s]*(?:是吗|对吗|对吧|对不对|是吧|是不是|不是吗|好吗|行吗|可以吗|是真的吗|懂吗|吗|你说呢|你呢)?\s*[?？。.!！]*$`),
	reason: regexp.MustCompile(`^[，,\s]*((?:因为|由于|因為).+)$`), reasonEnd: has(`[，,；;。（）()]|所以|但`),
}

const (
	zhVery = `(?:也|还|還|真的|真|从来都?|并|其实|确实|实在|非常|特别|特別|很|最|超级|超|比较|比較|一直|就|挺|更|都|一向|平时|平常|从小就|从小|其实|蠻|蛮|十分|尤其|只|总是|通常|一般|个人)*`
	zhNow  = `(?:上个?月|上周|去年|前年|昨天|前天|今年初|现在|現在|目前|一直|还|还是|就|今年|最近|刚刚|刚|已经|之前|暂时|平时)*`
	zhKin  = `妻子|老婆|丈夫|老公|太太|女朋友|男朋友|女友|男友|儿子|女儿|孩子|爸爸|妈妈|父亲|母亲|哥哥|姐姐|弟弟|妹妹|狗狗|狗|猫咪|猫|宠物|老板|上司|经理`
	zhVerb = `(?:学|考|去|当|做|成为|减|存|攒|完成|坚持|每天|每周|开始|戒|写完|写一|买房|买车|跑|参加|申请|搬|换|转行|创业|开一|读|环游|旅行|旅游|移民|出国|留学|练|提高|提升|养成|拿到|通过|在\S{1,10}(?:前|之前|内)|\d+)`
)

var (
	zhNotThing = refuse(`[你您她他它这那哪咱]|的$|的是|上了|过$|什么|啥|谁|和你|跟你|被|说|问`)
	zhNotPlace = refuse(`院|校|一起|了|过|得|不|这|那|哪|你|他|她|它|家里|外面|楼|宿舍|酒店|学校|公司|隔壁|一个|一间|一套`)
	zhNotFirm  = refuse(`当前|目前|现在|各|某|不同|家|这|那|哪|外面|外地|忙|努力|认真|拼命|不|你|他|她|一起|同一|一个|一家|公司$|办公室|周末|晚上|白天|夜里`)
	zhPlaces   = has(`(?:市|省|区|县|镇|州|国|岛|湾)$|^(?:北京|上海|广州|深圳|杭州|成都|南京|武汉|西安|重庆|天津|苏州|香港|澳门|台北|台湾|厦门|青岛|大连|长沙|郑州|宁波|昆明|东京|大阪|纽约|伦敦|巴黎|柏林|新加坡|首尔|旧金山|洛杉矶|多伦多|悉尼|墨尔本|慕尼黑)$`)
	zhJobs     = has(`(?:工程师|设计师|程序员|老师|教师|医生|护士|律师|会计师?|厨师|记者|编辑|作家|画家|歌手|演员|司机|学生|研究生|博士生?|大学生|高中生|教授|研究员|科学家|产品经理|经理|分析师|顾问|建筑师|摄影师|翻译|警察|消防员|军人|农民|工人|公务员|销售|创业者|自由职业者|药剂师|牙医|兽医|心理咨询师|架构师|运营|导演|音乐家|飞行员|店主|实习生|架构師|工程師)$`)
	zhDate     = has(`\d|[一二三四五六七八九十]+月|正月|腊月|初[一二三四五六七八九十]|除夕|圣诞|元旦|国庆`)
	zhSurnames = "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎余潘杜戴夏钟鍾汪田任姜范方石姚谭譚廖邹熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万萬段雷钱錢汤汤尹黎易常武乔賀贺赖龚文"
	zhIsName   = func(v, _ string) bool {
		n := utf8.RuneCountInString(v)
		r, _ := utf8.DecodeRuneInString(v)
		return n >= 2 && n <= 3 && strings.ContainsRune(zhSurnames, r) && allHan(v) && !zhJobs.MatchString(v) && !strings.ContainsAny(v, "的了是不人在到手假意")
	}
)

func zhName(v, _ string) bool {
	n := utf8.RuneCountInString(v)
	return n <= 12 && !zhNotName.MatchString(v) && !strings.ContainsAny(v, "的了吗是很在去来0123456789@")
}

var zhNotName = has(`^(?:你|您|他|她|它|车|外卖|醒|不|什么|啥|我|起床|一声|一下|过去|回|做|吃|帮|这|那|大家|上)`)

func allHan(s string) bool {
	for _, r := range s {
		if !unicode.Is(unicode.Han, r) {
			return false
		}
	}
	return s != ""
}

var chineseFacts = []rule{
	{re: is(`我的?(?:全名|名字|姓名|本名)(?:叫做|叫|是)(?P<v>.+)`), category: store.Context, subject: "name", exclusive: true, say: "{who}的名字是{v}", confidence: .95, importance: .8, ok: zhName},
	{re: is(`我(?:叫做|叫|名叫|本名叫|姓名是)(?P<v>.+)`), category: store.Context, subject: "name", exclusive: true, say: "{who}的名字是{v}", confidence: .9, importance: .8, ok: zhName},
	{re: is(`(?:请|可以|以后|你|就|大家都|朋友们?都|直接)*(?:叫我|称呼我为?|喊我|管我叫|称我为)(?P<v>.+?)(?:就好|就行|就可以|即可|吧)*`), category: store.Preference, subject: "called", exclusive: true, say: "{who}希望被称为{v}", confidence: .85, importance: .8, ok: zhName},
	{re: is(`我是(?P<v>.+)`), category: store.Context, subject: "name", exclusive: true, say: "{who}的名字是{v}", confidence: .8, importance: .8, ok: zhIsName},
	{re: is(`我` + zhNow + `(?:是|做|当)(?:一名|一个|一位|个|名|做)?(?P<v>.+?)(?:的)?`), category: store.Context, subject: "job", exclusive: true, say: "{who}的职业是{v}", confidence: .85, importance: .65, ok: func(v, _ string) bool {
		return zhJobs.MatchString(v) && utf8.RuneCountInString(v) <= 14 && !strings.ContainsAny(v, "你他她的不")
	}},
	{re: is(`我是(?P<v>[\p{Han}]{2,8})人`), category: store.Context, subject: "origin", exclusive: true, say: "{who}来自{v}", confidence: .85, importance: .6, ok: refuse(`一个|个|普通|好|坏|女|男|成年|老|年轻|负责|当事|主持|新|.*的|不|有|懒|素食|独生|第一`)},
	{re: is(`我是(?:一个|个)?(?P<v>素食主义者|素食者|纯素食者|左撇子|乳糖不耐受|糖尿病患者|色盲)`), category: store.Preference, subject: "diet:{v}", exclusive: true, say: "{who}是{v}", confidence: .9, importance: .8},
	{re: is(`我(?:的)?老家(?:在|是)(?P<v>.+)`), category: store.Context, subject: "origin", exclusive: true, say: "{who}来自{v}", confidence: .85, importance: .6, ok: zhNotPlace},
	{re: is(`我(?:来自|來自|出生在|出生于|是从)(?P<v>.+?)(?:来的|长大的|的)?`), category: store.Context, subject: "origin", exclusive: true, say: "{who}来自{v}", confidence: .85, importance: .6, ok: zhNotPlace},
	{re: is(`我(?:家)?` + zhNow + `(?:住在|居住在|定居在|定居|搬到了?|搬去了?|搬家到了?|搬来了?|生活在)(?P<v>.+?)(?:了|工作|上班|生活|住)?(?:.{0,4}(?:年|个月)了?)?`), category: store.Context, subject: "home", exclusive: true, say: "{who}住在{v}", confidence: .9, importance: .7, ok: zhNotPlace},
	{re: is(`我` + zhNow + `在(?P<v>[^，,]{2,20}?)(?:工作|上班|任职|就职|实习)(?:了|的)?(?:.{0,4}(?:年|个月)了?)?`), category: store.Context, subject: "employer", exclusive: true, say: "{who}在{v}工作", confidence: .85, importance: .65, ok: func(v, x string) bool { return zhNotFirm(v, x) && !zhPlaces.MatchString(v) }},
	{re: is(`我` + zhNow + `在(?P<v>[^，,]{2,20}?)(?:工作|上班|任职|就职|实习)(?:了|的)?(?:.{0,4}(?:年|个月)了?)?`), category: store.Context, subject: "workplace", exclusive: true, say: "{who}在{v}工作", confidence: .85, importance: .6, ok: func(v, _ string) bool { return zhPlaces.MatchString(v) && zhNotFirm(v, "") }},
	{re: is(`我` + zhNow + `在(?P<v>[^，,]{2,16}?)(?:当|做)(?P<x>[^，,]{2,12})`), category: store.Context, subject: "job", exclusive: true, say: "{who}在{v}做{x}", confidence: .85, importance: .65, ok: func(v, x string) bool { return zhJobs.MatchString(x) && zhNotFirm(v, x) }},
	{re: is(`我` + zhNow + `(?:就职于|任职于|供职于|入职了?|加入了)(?P<v>.+)`), category: store.Context, subject: "employer", exclusive: true, say: "{who}在{v}工作", confidence: .85, importance: .65, ok: zhNotFirm},
	{re: is(`我的?生日(?:是|在)(?P<v>.+)`), category: store.Context, subject: "birthday", exclusive: true, say: "{who}的生日是{v}", confidence: .95, importance: .7, ok: func(v, _ string) bool { return zhDate.MatchString(v) && !strings.HasPrefix(v, "不") }},
	{re: is(`我(?:出生于|生于)(?P<v>.*\d.*)`), category: store.Context, subject: "birthday", exclusive: true, say: "{who}的生日是{v}", confidence: .85, importance: .7},
	{re: is(`我(?:今年|现在|已经)*(?P<v>\d{1,3}|[一二三四五六七八九十]{1,4})岁`), category: store.Context, subject: "age", exclusive: true, say: "{who}{v}岁", confidence: .85, importance: .5},
	{re: is(`我(?:其实|已经|现在|并)*对(?P<v>.{1,12}?)(?:并|已经|现在|其实)*(?:不过敏|不再过敏)`), subject: "allergy:{v}", retract: true, confidence: .85, importance: .6, say: "{v}"},
	{re: is(`我(?:已经|早就|现在)*不(?:再)?(?:住在?)(?P<v>.+?)了?`), subject: "home", retract: true, confidence: .85, importance: .6, say: "{v}", ok: zhNotPlace},
	{re: is(`我(?:已经|早就|现在)*不(?:再)?在(?P<v>[^，,]{2,20}?)(?:工作|上班|任职)了?`), subject: "employer", retract: true, confidence: .85, importance: .6, say: "{v}"},
	{re: is(`我(?:已经|刚|刚刚|上个?月|上周|昨天|今天)*从(?P<v>[^，,]{2,20}?)(?:离职|辞职|退休)了?`), subject: "employer", retract: true, confidence: .85, importance: .6, say: "{v}"},
	{re: is(`我对(?P<v>.{1,12}?)(?:严重|很|都)?过敏`), category: store.Context, subject: "allergy:{v}", exclusive: true, say: "{who}对{v}过敏", confidence: .95, importance: .9, ok: refuse(`[你您她他它这那不]|什么`)},
	{re: is(`我最(?:喜欢|喜歡|爱|愛)的(?P<x>[^是，]{1,12}?)(?:就是|是)(?P<v>.+)`), category: store.Preference, subject: "favourite:{x}", exclusive: true, say: "{who}最喜欢的{x}是{v}", confidence: .9, importance: .6, ok: zhNotThing},
	{re: is(`我` + zhVery + `(?:不太喜欢|不怎么喜欢|不再喜欢|不是很喜欢|不大喜欢|不喜欢|不喜歡|不爱|不愛|讨厌|討厭|厌恶|受不了|忍受不了|无法忍受|没法忍受|难以忍受|反感|痛恨|不习惯)(?P<v>.+)`), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}不喜欢{v}", confidence: .85, importance: .6, reason: true, ok: zhNotThing},
	{re: is(`我(?:从来|从|一直|都|平时|完全|现在|已经)*(?P<v>不(?:吃|喝|抽)[^，,]{1,12})`), category: store.Preference, subject: "avoids:{v}", exclusive: true, say: "{who}{v}", confidence: .8, importance: .7, ok: refuse(`不(?:吃|喝|抽)(?:了|饭|早饭|午饭|晚饭|东西|这|那|完|下|到|惯|什么)`)},
	{re: is(`我` + zhVery + `对(?P<v>.{1,16}?)(?:一点也?|完全|毫|真的|都|实在|从来)*(?:不感兴趣|没兴趣|没有兴趣|无兴趣|不感冒|无感|很?反感)`), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}不喜欢{v}", confidence: .85, importance: .6, reason: true, ok: zhNotThing},
	{re: is(`我` + zhVery + `对(?P<v>.{1,16}?)(?:很|非常|特别|一直|都|更|比较)*(?:感兴趣|有兴趣|情有独钟|着迷|上瘾)`), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}喜欢{v}", confidence: .8, importance: .6, reason: true, ok: zhNotThing},
	{re: is(`我` + zhVery + `(?P<v>(?:宁愿|宁可|寧願).{2,30})`), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}{v}", confidence: .8, importance: .6, reason: true, ok: refuse(`(?:宁愿|宁可)(?:[你您他她它]|相信|死)`)},
	{re: is(`我` + zhVery + `(?:尽量|尽可能|儘量)?(?:避免|避开|远离)(?P<v>.+)`), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}避免{v}", confidence: .75, importance: .6, reason: true, ok: zhNotThing},
	{re: is(`我(?:一般|平时|通常|向来)*(?P<v>(?:从来不|从不|尽量不|尽量少|基本不|一般不|很少|只)(?:吃|喝|用|看|穿|买|坐|住|去|听|玩|抽|开|点|碰|戴|熬|参加|接|养)[^，,]{1,20})`), category: store.Preference, subject: "avoids:{v}", exclusive: true, say: "{who}{v}", confidence: .8, importance: .6, reason: true, ok: refuse(`.{1,4}(?:了|过|完|到)(?:$|一)|只(?:看|用|吃|喝|买|去|住|听)(?:了|过|到|一|半|两|几)|.*[你您他她它这那]`)},
	{re: is(`(?:我觉得|我认为|对我来说|对我而言)?[，,]?(?P<v>[^，,我你他她它这那]{2,20}?)(?:更|最|比较|特别|才|很)(?:适合|合)我(?:的口味|的胃口)?`), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{v}最适合{who}", confidence: .75, importance: .6, reason: true, ok: zhNotThing},
	{re: is(`我离不开(?P<v>.+)`), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}离不开{v}", confidence: .75, importance: .6, reason: true, ok: zhNotThing},
	{re: is(`我` + zhVery + `怕(?P<v>吵|黑|冷|热|辣|高|水|狗|猫|虫|血|疼|晒|坐飞机|人多)的?`), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}怕{v}", confidence: .75, importance: .6, reason: true},
	{re: is(`我` + zhVery + `(?:喜欢|喜歡|热爱|熱愛|偏好|偏爱|钟爱|酷爱|爱|愛)(?P<v>.+)`), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}喜欢{v}", confidence: .85, importance: .6, reason: true, ok: zhNotThing},
	{re: is(`我(?:更)?(?:倾向于|习惯|習慣)(?P<v>.+)`), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}习惯{v}", confidence: .75, importance: .6, reason: true, ok: zhNotThing},
	{re: is(`我(?:家)?(?:有|养了|养)(?P<v>(?:一|两|二|三|四|五|\d+)(?:个|只|条|位|名|对|匹)[\p{Han}\d]{0,8}?(?P<x>孩子|儿子|女儿|哥哥|弟弟|姐姐|妹妹|猫|狗|宠物|兔子|鹦鹉|仓鼠|乌龟|双胞胎))`), category: store.Context, subject: "has:{x}", exclusive: true, say: "{who}有{v}", confidence: .85, importance: .6},
	{re: is(`我的?(?P<x>` + zhKin + `)(?:的名字)?(?:叫做|叫|名叫)(?P<v>.+)`), category: store.Context, subject: "my:{x}", exclusive: true, say: "{who}的{x}叫{v}", confidence: .9, importance: .6, ok: func(v, _ string) bool { return zhName(v, "") && utf8.RuneCountInString(v) <= 8 }},
	{re: is(`我的(?P<x>邮箱|电话|手机号|电话号码|手机|地址|母语|专业|职业|工作|血型|时区|预算|学校|公司|家乡|星座|身高|体重|爱好|国籍|微信号)(?:是|在)(?P<v>.+)`), category: store.Context, subject: "my:{x}", exclusive: true, say: "{who}的{x}是{v}", confidence: .85, importance: .6, ok: refuse(`不|[你他她它这那]|什么|为了|很`)},
	{re: is(`我的?(?:\S{0,4})(?:目标|梦想|理想|愿望|计划|夢想|目標)(?:是|就是)(?P<v>.+)`), category: store.Goal, subject: "goal:{v}", exclusive: true, say: "{who}的目标：{v}", confidence: .85, importance: .7, ok: refuse(`不|什么|这|那|什麼`)},
	{re: is(`我` + zhVery + `(?:正在)?(?:打算|计划|計劃|准备|準備|决定|希望能够?|希望|立志|梦想)(?P<v>.+)`), category: store.Goal, subject: "goal:{v}", exclusive: true, say: "{who}打算{v}", confidence: .75, importance: .6, ok: func(v, _ string) bool {
		return utf8.RuneCountInString(v) >= 2 && zhAim(v, "")
	}},
	{re: is(`我` + zhVery + `(?:想要|想|要)(?P<v>` + zhVerb + `.+)`), category: store.Goal, subject: "goal:{v}", exclusive: true, say: "{who}想{v}", confidence: .75, importance: .6, ok: func(v, x string) bool { return zhAim(v, x) && utf8.RuneCountInString(v) >= 3 }},
}

var zhAim = refuse(`去(?:一次|玩|看看|试试)?$|问|知道|请教|说|请|让|[你您他她它]|一下|了解|看看|的|不|好|去(?:吃饭|睡|上班|洗手间|厕所|一下|了)|睡|做(?:什么|饭|一下)|换(?:个话题|一个|种|一下)|开始(?:吧|了)|写(?:封|个|一封|一个|一篇)|做个|做一个|学校|去哪`)

const zhAct = `(?:都|要|请|只|就|请你)*(?:用|使用|以|先|把|给我|叫我|称呼|回复|回答|保持|不要|别|避免|按|帮我|简短|简洁|直接|说|写|附|加|列|检查|提醒我|告诉我)`

var chineseInstructions = []rule{
	{re: is(`(?:请|可以|以后|你|就|大家都|朋友们?都|直接)*(?:叫我|称呼我为?|喊我|管我叫|称我为)(?P<v>[^，,]+?)(?:就好|就行|就可以|即可|吧)*`), category: store.Preference, subject: "called", exclusive: true, say: "{who}希望被称为{v}", confidence: .85, importance: .8, ok: zhName},
	{re: is(`(?P<v>(?:请|麻烦|拜托|希望你|我希望你)你?(?:始终|一直|永远|总是|务必|以后|今后|从现在开始|从现在起|从今往后|从今以后|从今天起|每次都?|都要)[^我].+)`), category: store.Behavior, say: "{who}要求：{v}", confidence: .85, importance: .9, standing: true},
	{re: is(`(?P<v>(?:以后|今后|从现在开始|从现在起|从今往后|从今以后|从今天起|往后|接下来)[，,]?(?:你|请|请你|麻烦你?)?` + zhAct + `.+)`), category: store.Behavior, say: "{who}要求：{v}", confidence: .85, importance: .9, standing: true, ok: refuse(`(?:以后|今后|往后|接下来)(?:再说|的|我|他|她|先不)`)},
	{re: is(`(?P<v>(?:始终|永远|务必|每次(?:回答|回复)?)[，,]?` + zhAct + `.+)`), category: store.Behavior, say: "{who}要求：{v}", confidence: .8, importance: .9, standing: true},
	{re: is(`(?P<v>(?:请|拜托|麻烦)?(?:你)?(?:以后|今后)?(?:不要再|别再|不许再|不准再|请不要|请别).{2,60})`), category: store.Behavior, say: "{who}要求：{v}", confidence: .8, importance: .9, standing: true, ok: func(v, _ string) bool { return !strings.Contains(v, "担心") && !strings.Contains(v, "误会") }},
}

// chineseThird puts a value into the third person.
func chineseThird(v string) string { return strings.ReplaceAll(v, "我", "自己") }
