package extract

import (
	"regexp"
	"slices"
	"strings"
)

// Near reports whether two statements that lie near each other in a vector space are the same. Nearness alone decides
// nothing: "likes" and "dislikes", Rome and Oslo, tea and coffee are as near as paraphrases are. So it only allows a looser
// comparison of the words, under which phrases change places and small words go, while every number, date, negation, name
// and every other word with a meaning of its own must still be there. Statements that are the same without it are near.
func (f *Form) Near(g *Form) bool {
	if f.Same(g) != Different {
		return true
	}
	if f.kind != g.kind || f.about != g.about || f.speaker != g.speaker || len(f.words) == 0 || len(g.words) == 0 {
		return false
	}
	a, b := f.gist(), g.gist()
	return len(a) > 1 && len(b) > 1 && (slices.Equal(a, b) || len(a) > 2 && turned(a, b))
}

// gist is what is left of the words when phrases stand in one order and those that only hold a sentence together are gone.
func (f *Form) gist() []string {
	if f.han {
		return hanGist(f.words)
	}
	s := apply(englishGist, strings.Join(f.words, " "))
	var out []string
	for w := range strings.FieldsSeq(s) {
		if base, ok := gistSynonyms[w]; ok {
			w = base
		}
		if !englishSmall[w] {
			out = append(out, w)
		}
	}
	return out
}

// turned reports whether b is a with its beginning moved to its end, one of the two saying when.
func turned(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 1; i < len(a); i++ {
		if slices.Equal(a[i:], b[:len(b)-i]) && slices.Equal(a[:i], b[len(b)-i:]) && (isWhen(a[:i]) && isMe(a[i]) || isWhen(a[i:]) && isMe(a[0])) {
			return true
		}
	}
	return false
}

func isMe(w string) bool { return w == "me" || w == "my" || w == "我" }

func isWhen(ws []string) bool { return when.MatchString(strings.Join(ws, " ")) }

// when matches a phrase that says when or how often and nothing else.
var when = regexp.MustCompile(`^(?:(?:every |since |in |on |during |last |next )?(?:(?:early |late )?(?:morning|evening|afternoon|night|noon|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday|` +
	`january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|week|month|year)(?: \d{1,4})?|\d{4}|daily|weekly|monthly|yearly|usually)|` +
	`(?:every|all) (?:\w+) (?:morning|evening|afternoon)|for all \w+)$`)

// englishSmall are words that the gist does without. Prepositions that tell two things apart (from, with, near, before)
// are none of them.
var englishSmall = set(`of for in at on`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// englishGist goes over words in their normal form.
var englishGist = rewrites(
	`^me make(?:s)? (?:his|her|their|my) home in\b`, `me live in`, `^(.+) is where me live$`, `me live in $1`,
	`^(.+) is (?:something|what) me (\w+)$`, `me $2 $1`,
	`^me and (?:my|his|her) (\w+) live together in (.+)$`, `me live in $2 with my $1`, `^me live in (.+) with (?:his|her) (\w+)$`, `me live in $1 with my $2`,
	`\b(?:earns? (?:living|live) as|is working as)\b`, `is`, `\bwith (?:his|her|their)\b`, `with my`,
	`^me is (\w+) teacher\b`, `me teach $1`, `^me is (\w+) (?:at|working for|employed by|work at|work for) (.+)$`, `me work at $2 $1`, `^me work at (.+?) (?:as|is) (.+)$`, `me work at $1 $2`, `^me is (\w+) work at (.+)$`, `me work at $2 $1`,
	`^(\w+) trigger(?:s)? my allergy$`, `me is allergic to $1`,
	`\bis (?:keen on|into|fond of)\b`, `like`, `\bis (?:passionate|enthusiastic|crazy) about\b`, `love`, `\bcan not stand\b|\bcan not bear\b`, `not like`,
	`^me (?:have|is owner of) (\w+) (?:name|is name|called|named) (\w+)$`, `my $1 name is $2`, `^me have (\w+) name is (\w+)$`, `my $1 name is $2`, `\bis owner of\b`, `have`,
	`^my (mother|father|sister|brother|son|daughter|wife|husband|partner|cousin|aunt|uncle|boss|dog|cat|neighbour|friend) is (\w+)$`, `my $1 name is $2`,
	`^(\w+) is my (mother|father|sister|brother|son|daughter|wife|husband|partner|cousin|aunt|uncle|boss|dog|cat|neighbour|friend)$`, `my $2 name is $1`,
	`^(.+) is my favourite (\w+)$`, `my favourite $2 is $1`, `^me like (.+) best of all (\w+)s$`, `my favourite $2 is $1`,
	`^my (?:year of birth|birth year) is (\d{4})$`, `me was born in $1`, `^my birthday is in (\d{4})$`, `me was born in $1`, `^(\w+) is my birthplace$`, `me was born in $1`, `^my birthplace is (.+)$`, `me was born in $1`,
	`\b(?:was born on|birthday is on)\b`, `birthday is`, `^me birthday is\b`, `my birthday is`,
	`\bgo(?:es)? (?:running|for run|jogging)\b|\bgo run\b`, `run`, `^(.*) in morning$`, `$1 every morning`, `\bevery morning me run\b`, `me run every morning`, `\bwakes? up\b|\brises\b`, `get up`,
	`\b(?:commutes? (?:to work )?by|rides? (?:his |her |their |my )?(?:bike|bicycle) to work|goes? to work by|go to work by) ?(?:bicycle|bike)?\b`, `cycle to work`, `\bbikes? to work\b`, `cycle to work`, `\bcycles\b`, `cycle`, `^(me cycle to work) (?:bicycle|bike)$`, `$1`,
	`\btak(?:e|es|ing) (\w+) (?:lessons|classes)\b`, `learn $1`, `\bspeak fluent (\w+)$`, `speak $1 fluently`,
	`\bhopes? to\b`, `want to`, `\brelocate\b`, `move`, `\bwould (?:rather have|prefer)\b`, `prefer`, `\bprefers\b`, `prefer`, `\bwould choose (\w+) over\b`, `prefer $1 over`, `\bprefer (\w+) to (\w+)$`, `prefer $1 over $2`,
	`^(\w+) (?:scare|scares|frighten|frightens) me$`, `me is afraid of $1`, `\bis (?:scared|frightened|terrified) of\b|^me fear\b`, `me is afraid of`, `^me me\b`, `me`, `^(\w+) interests? me$`, `me is interested in $1`,
	`\bhave meeting with\b`, `meet`, `\bmeets\b`, `meet`, `\b(?:quit|gave up|stopped|has quit|have quit|have given up|have stopped)\b`, `stopped`,
	`\bhave collection of\b`, `collect`, `\bcook (\w+) (?:food|dishes)\b`, `cook $1 food`, `\bcar is\b`, `drive`, `^my drive\b`, `me drive`,
	`^me is (\w+) teacher\b`, `me teach $1`, `\bsuffers? from\b|\bgets? migraines\b`, `get`, `^me get migraines$|^me have migraines$|^me get$`, `me get migraines`,
	`\b(?:works? on|is writing|is working on) (novel|book|thesis)\b`, `write $1`, `\bis writing\b`, `write`, `\bvolunteers\b`, `volunteer`, `\b(?:manages?|heads?|leads?) team\b`, `lead team`,
	`\bhave not (?:yet )?(?:visited|been to)\b|\bhave never (?:visited|been to)\b`, `have never been to`,
	`\bevery (mon|tues|wednes|thurs|fri|satur|sun)day\b`, `${1}day`, `\b(?:his|her|their) (mother|father|sister|brother|wife|husband|boss)\b`, `my $1`,
)

// gistSynonyms mean the same as far as the gist goes.
var gistSynonyms = table(`call phone;bike bicycle cycling;big huge;learn study;maths math mathematics;job occupation;spouse partner`)

// hanGist is the gist of Chinese words: characters, so that phrases can be told from each other by their order alone.
func hanGist(words []string) []string {
	s := apply(chineseGist, strings.Join(words, " "))
	var out []string
	for _, r := range s {
		out = append(out, string(r))
	}
	return out
}

// chineseGist goes over text in its normal form: without blanks, punctuation and 的, the user being 我.
var chineseGist = rewrites(
	`^(.+)是我(?:居住|住)地方$`, `我住在${1}`, `^我在(.+)(?:生活|居住|定居)$`, `我住在${1}`, `^我(?:和|跟|与)(.+?)(?:一起|同)住在(.+)$`, `我和${1}住在${2}`,
	`^我以(.+)为(?:职业|生)$`, `我是${1}`, `^我在(.+?)(?:做|担任|当)(.+?)(?:工作)?$`, `我是${1}${2}`, `^我对?(?:吃|喝)(.+?)会过敏$`, `我对${1}过敏`, `^(.+?)会?让我过敏$`, `我对${1}过敏`,
	`^我对(.+)(?:情有独钟|很着迷)$`, `我喜欢${1}`, `^(.+)是我(喜欢|热爱|讨厌)(?:运动|事|事情|活动)?$`, `我${2}${1}`, `喜欢喝(茶|咖啡|酒)`, `喜欢${1}`,
	`是素食(?:者|主义者)`, `吃素`, `^我家里?(?:养|有)`, `我养`, `^我养了`, `我养`,
	`^我(?:有|养)[只个条位]叫(.+?)(狗|猫|妹妹|姐姐|弟弟|哥哥|女儿|儿子|朋友)$`, `我${2}叫${1}`, `^我有个?(女儿|儿子|妹妹|姐姐|弟弟|哥哥)叫`, `我${1}叫`,
	`^(.+)是我(妹妹|姐姐|弟弟|哥哥|女儿|儿子|老婆|老公|母亲|父亲|老板|表妹|表姐|前妻)$`, `我${2}叫${1}`, `^我(妹妹|姐姐|弟弟|哥哥|女儿|儿子|老婆|老公|母亲|父亲|老板|表妹|表姐|前妻)是(\p{Han}{2,4})$`, `我${1}叫${2}`,
	`^我(\d{4}年)(?:出生|生)$|^我是(\d{4}年)出生$|^我生日(\d{4}年)$`, `我${1}${2}${3}出生`, `^我(\d{1,2}月\d{1,2}[日号])过生日$`, `我生日${1}`,
	`^((?:每天|每晚|每周[一2345六日]?|周[一2345六日]|早上|晚上|中午|下午|上午|周末|\d{4}年|\d{1,2}月)+)我`, `我${1}`, `^(我(?:每天|每周)?(?:早上|晚上|中午|下午))都?去?`, `${1}`,
	`点钟`, `点`, `每天骑`, `骑`, `骑自行车去上班`, `骑自行车上班`, `在?上(.{1,4}语)课$`, `学${1}`, `^我能?会?说流利(.{1,4}语)$`, `我${1}说得流利`, `说得很?流利`, `说得流利`, `^我会说流利(.{1,4}语)$`, `我${1}说得流利`,
	`曾在(.+?)学([^过]+)$`, `在${1}学过${2}`, `移居`, `搬到`, `打算在(\d{1,2}月|十.?月|[2345六七八九]月)`, `打算${1}`, `跑一?场?马拉松`, `跑马拉松`, `偏好`, `喜欢`, `到山里`, `在山里`,
	`^比起(.+?)我更喜欢(.+)$`, `我喜欢${2}胜过${1}`, `^(.+)让我(?:害怕|怕)$`, `我怕${1}`, `^我(每周.)和(.+?)(?:有会|开会|见面开会)$`, `我${1}和${2}开会`,
	`在?(\d{4}年)戒了?烟`, `${1}戒烟`, `收藏`, `收集`, `^我兴趣是(.+)$`, `我对${1}感兴趣`, `^(.+)是我最喜欢(颜色|食物|乐队|电影|书|歌手|季节|城市)$`, `我最喜欢${2}是${1}`, `最爱`, `最喜欢`, `^我爱(.)`, `我喜欢${1}`,
	`^我车是一?辆?`, `我开`, `开一?辆`, `开`, `^我是(.+?)(?:一所)?学校(数学|语文|英语|物理|化学|音乐|体育|历史)老师$`, `我在${1}学校教${2}`, `一?所学校`, `学校`, `患有`, `有`, `^我嫁给了?(.+)$`, `我老公叫${1}`, `^我(?:独自|一个?人)(?:生活|居?住|过)$`, `我独居`, `每天注射`, `每天打`, `注射`, `打`,
	`正?在写`, `写`, `写一?[部本篇]`, `写`, `从不?没?未?去过|没去过`, `没去过`, `从没去过`, `没去过`, `做义工|当志愿者|做志愿者`, `志愿`, `(周[一2345六日])(?:在|去)`, `${1}在`, `带领|领导`, `管理`, `(?:管理|带)一?个(.+团队)`, `管理${1}`,
	`[是在有]`, ``,
)
