package rules

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"evoke/store"
)

// japanese are the Japanese rules. The speaker is meant when a sentence names no other topic.
var japanese = &language{
	user: "ユーザー", hint: func(string) bool { return true }, corrected: "{who}の訂正：{v}", most: 40,
	question:  has(`[?？]\s*[」』]?\s*$|(?:ですか|ますか|でしょうか|だろうか|かな|かしら|ませんか|ないか|のか|んですか|たか|るか)[ねよ]?[。.!！\s]*$|^(?:何|誰|どこ|いつ(?:[^もかの]|$)|なぜ|どう|どの|どれ|いくつ)`),
	doubt:     has(`もし|仮に|たら|だったら|なら|れば|としたら|ふりをして|になりきって|想像して|かもしれ|多分|たぶん|おそらく|どうやら|らしい|みたいです|そうです|だろう|でしょう|冗談|と言った|と言って|って言って|と言われ|って言われ|と話し|と聞い|と答え|と書|と思われ|によると|翻訳|訳して|歌詞|セリフ|台詞|例文|小説|映画の中|主人公|登場人物|ロールプレイ|という(?:文|言葉|曲|歌)`),
	takesBack: regexp.MustCompile(`^(?:(?:いや|いえ|いいえ|あ|あっ|すみません|ごめん|ごめんなさい|やっぱり|実は|待って)[、。,.！!\s]*)*(?:違います|違う|違った|間違えました|間違えた|間違いました|間違いです|訂正します|訂正すると|訂正|言い間違えました|言い間違い(?:です|ました))[、。,.！!：:\s]*`),
	boundary:  has(`[、,，；;：:（）()]\s*|(?:ですが|ますが|ですけど|ますけど|だけど|けれど|けど|ですので|なので|ので|ですし|ますし)[、,\s]*`),
	lead:      has(`^(?:(?:こんにちは|はじめまして|初めまして|こんばんは|おはようございます|どうも|はい|ええ|うん|実は|ちなみに|あと|また|それと|それから|そして|でも|ところで|えっと|あの|えーと|ありがとう(?:ございます)?|覚えておいて(?:ください)?)[、。,.！!\s]*|(?:私|わたし|わたくし|僕|ぼく|俺|おれ|あたし|自分)(?:は|って|も|が)[、,\s]*|(?:最近|普段|将来|いつか|昔から|子供の頃から)(?:は)?[、,\s]*|(?:今|現在|今年|来年|先月|去年)(?:は|[、,])[、,\s]*)+`),
	tail:      has(`(?:です|ます|だ|よ|ね|な)$`),
	third:     japaneseThird,
	vague:     has(`^(?:それ|これ|あれ|そう|何|だけ|ただ|私|僕)|だけ$`),
	meant: []meantRule{
		{re: is(`(?P<old>[^、はがをに]{1,20})(?:じゃ|では)(?:なくて|なく)[、,]?\s*(?P<new>[^、はがをに]{1,20}?)(?:です|だ|でした)(?:よ|ね)?`)},
		{re: is(`(?:正しくは)?(?P<new>[^、はがをに]{1,20}?)(?:です|だ|でした)(?:よ|ね)?`), after: true},
	},
	facts:     japaneseFacts,
	sentences: japaneseInstructions,
	orderly:   func(string) bool { return false }, task: jaTask, taskLead: jaTaskLead, project: jaProject,
}

const (
	jaI    = `(?:私|わたし|わたくし|僕|ぼく|俺|おれ|あたし|自分)`
	jaMy   = `(?:` + jaI + `の)?`
	jaTop  = `(?:` + jaI + `(?:は|って|も)[、,]?)?(?:今は|今、|現在は?|ずっと|最近|昔から|実は|普段は?)*`
	jaEnd  = `(?:よ|ね|な|わ|よね|んです|のです)*`
	jaVery = `(?:とても|本当に|ほんとに|すごく|一番|大変|特に|かなり|結構|めっちゃ|あまり|そんなに|全然|どうしても)?`
	jaBe   = `(?:です|だ|なんです|なのです|なんだ|でして)?`
	jaKin  = `妻|夫|旦那|嫁|彼女|彼氏|息子|娘|子供|子ども|父|母|兄|弟|姉|妹|犬|猫|ペット|上司|愛犬|愛猫`
)

// jaValue refuses values that hold the topic or subject of another person.
func jaValue(v, _ string) bool {
	return !jaOther.MatchString(v) && !strings.ContainsAny(v, "はを？?")
}

var (
	jaOther = has(`彼|彼女|友達|友人|母|父|兄|弟|姉|妹|妻|夫|息子|娘|先生|あなた|君|これ|それ|あれ|何|誰|どこ|みんな|人は`)
	jaName  = func(v, _ string) bool {
		return utf8.RuneCountInString(v) <= 15 && !strings.ContainsAny(v, "はがをの？?") && !has(`^(?:何|なん|まだ|ない|あなた|これ|それ|もう|こう|そう|秘密)`).MatchString(v)
	}
	jaJobs = has(`(?:エンジニア|プログラマー?|デザイナー|教師|先生|医師|医者|看護師|弁護士|会計士|学生|大学生|大学院生|高校生|会社員|公務員|研究者|シェフ|料理人|作家|記者|編集者|俳優|歌手|音楽家|画家|写真家|カメラマン|建築家|営業|マネージャー|コンサルタント|薬剤師|歯科医|獣医|保育士|運転手|パイロット|通訳|翻訳家|主婦|主夫|フリーランス|農家|消防士|警察官|美容師|社長|経営者|アナリスト|販売員)$`)
	jaDate = has(`\d|[一二三四五六七八九十]+月|元日|クリスマス`)
	jaAim  = func(v, _ string) bool {
		return !has(`(?:聞き|知り|尋ね|お願いし|教えてもらい|教えて|相談し|確認し|言い|質問し|伝え|話し|お聞きし|伺い|お尋ねし|見|調べ|死に|泣き|寝|帰り|休み|やめ)$`).MatchString(v) &&
			utf8.RuneCountInString(v) >= 3 && !jaOther.MatchString(v) && !strings.Contains(v, "は")
	}
)

var japaneseFacts = []rule{
	{re: is(jaMy + `(?:名前|氏名|本名)は(?P<v>.+?)(?:です|だ|だよ|といいます|と言います|と申します|っていいます|って言います)` + jaEnd), category: store.Context, subject: "name", exclusive: true, say: "{who}の名前は{v}", confidence: .95, importance: .8, ok: jaName},
	{re: is(jaTop + `(?P<v>.+?)(?:と申します|といいます|と言います|っていいます)` + jaEnd), category: store.Context, subject: "name", exclusive: true, say: "{who}の名前は{v}", confidence: .9, importance: .8, ok: jaName},
	{re: is(jaTop + `(?:` + jaI + `のことは)?(?P<v>.+?)(?:と呼んで|って呼んで)(?:ください|下さい|ね|ほしい(?:です)?)?` + jaEnd), category: store.Preference, subject: "called", exclusive: true, say: "{who}は{v}と呼ばれたい", confidence: .85, importance: .8, ok: jaName},
	{re: is(jaTop + `(?P<v>.+?)に(?:住んで(?:い)?(?:ます|る)|暮らして(?:い)?(?:ます|る)|引っ越しました|引っ越した|移住しました|在住です)` + jaEnd), category: store.Context, subject: "home", exclusive: true, say: "{who}は{v}に住んでいる", confidence: .9, importance: .7, ok: jaPlace},
	{re: is(jaTop + `(?P<v>.+?)在住です` + jaEnd), category: store.Context, subject: "home", exclusive: true, say: "{who}は{v}に住んでいる", confidence: .9, importance: .7, ok: jaPlace},
	{re: is(jaMy + `(?:出身|地元|故郷)は(?P<v>.+?)(?:です|だ)` + jaEnd), category: store.Context, subject: "origin", exclusive: true, say: "{who}は{v}の出身", confidence: .9, importance: .6, ok: jaPlace},
	{re: is(jaTop + `(?P<v>.+?)(?:の出身です|出身です|出身だ|から来ました|生まれです|で生まれました|の生まれです)` + jaEnd), category: store.Context, subject: "origin", exclusive: true, say: "{who}は{v}の出身", confidence: .85, importance: .6, ok: jaPlace},
	{re: is(jaTop + `(?P<v>.+?)として働いて(?:い)?(?:ます|る)` + jaEnd), category: store.Context, subject: "job", exclusive: true, say: "{who}の職業は{v}", confidence: .9, importance: .65, ok: jaValue},
	{re: is(jaTop + `(?P<v>.+?)(?:で働いて(?:い)?(?:ます|る)|に勤めて(?:い)?(?:ます|る)|に勤務して(?:い)?(?:ます|る)|に就職しました|に転職しました)` + jaEnd), category: store.Context, subject: "employer", exclusive: true, say: "{who}は{v}で働いている", confidence: .85, importance: .65, ok: func(v, x string) bool {
		return jaValue(v, x) && !has(`^(?:ここ|家|一人|みんな|自宅|夜|在宅)`).MatchString(v)
	}},
	{re: is(jaTop + `(?P<v>.+?)(?:をして(?:い)?(?:ます|る)|をやって(?:い)?(?:ます|る)|です|だ)` + jaEnd), category: store.Context, subject: "job", exclusive: true, say: "{who}の職業は{v}", confidence: .85, importance: .65, ok: func(v, x string) bool {
		return jaValue(v, x) && jaJobs.MatchString(v) && utf8.RuneCountInString(v) <= 16
	}},
	{re: is(jaMy + `(?:職業|仕事)は(?P<v>.+?)(?:です|だ)` + jaEnd), category: store.Context, subject: "job", exclusive: true, say: "{who}の職業は{v}", confidence: .85, importance: .65, ok: func(v, _ string) bool { return jaJobs.MatchString(v) }},
	{re: is(jaMy + `誕生日は(?P<v>.+?)(?:です|だ)` + jaEnd), category: store.Context, subject: "birthday", exclusive: true, say: "{who}の誕生日は{v}", confidence: .95, importance: .7, ok: func(v, _ string) bool { return jaDate.MatchString(v) }},
	{re: is(jaTop + `(?P<v>\d{1,3}|[一二三四五六七八九十]{1,4})(?:歳|才)(?:です|だ)` + jaEnd), category: store.Context, subject: "age", exclusive: true, say: "{who}は{v}歳", confidence: .85, importance: .5},
	{re: is(jaMy + `(?:一番)?好きな(?P<x>[^はを、]{1,12})は(?P<v>.+?)(?:です|だ|だよ)` + jaEnd), category: store.Preference, subject: "favourite:{x}", exclusive: true, say: "{who}の好きな{x}は{v}", confidence: .9, importance: .6, ok: jaValue},
	{re: is(jaTop + `(?P<v>.+?)(?:の)?アレルギー(?:です|だ|があります|がある|を持って(?:い)?(?:ます|る)|持ちです)` + jaEnd), category: store.Context, subject: "allergy:{v}", exclusive: true, say: "{who}は{v}アレルギー", confidence: .95, importance: .9, ok: jaValue},
	{re: is(jaTop + `(?P<v>.+?)(?:が|は|も)` + jaVery + `(?:大嫌い|嫌い|きらい|苦手)` + jaBe + jaEnd), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}は{v}が嫌い", confidence: .85, importance: .6, ok: jaValue},
	{re: is(jaTop + `(?P<v>.+?)(?:が|は|も)` + jaVery + `好き(?:じゃない|ではない|じゃありません|ではありません|じゃなくなりました)(?:です)?` + jaEnd), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}は{v}が好きではない", confidence: .85, importance: .6, ok: jaValue},
	{re: is(jaTop + `(?P<v>.+?)(?:が|は|も)` + jaVery + `(?:大好き|好き)` + jaBe + jaEnd), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}は{v}が好き", confidence: .85, importance: .6, ok: jaValue},
	{re: is(jaTop + `(?P<v>.+?)を(?:愛して(?:い)?(?:ます|る)|愛用して(?:い)?(?:ます|る)|好んで(?:い)?(?:ます|る)|好みます)` + jaEnd), category: store.Preference, subject: "likes:{v}", exclusive: true, say: "{who}は{v}が好き", confidence: .8, importance: .6, ok: jaValue},
	{re: is(jaTop + `(?P<v>.+?)(?:は|を|が)(?:食べません|食べない|食べられません|飲みません|飲めません|飲まない)` + jaEnd), category: store.Preference, subject: "avoids:{v}", exclusive: true, say: "{who}は{v}を口にしない", confidence: .75, importance: .7, ok: func(v, x string) bool { return jaValue(v, x) && !has(`まだ|今日|朝|昨日|もう`).MatchString(v) }},
	{re: is(jaTop + `(?P<x>子供|子ども|息子|娘|兄|弟|姉|妹|兄弟|犬|猫)が(?P<v>(?:\d+|[一二三四五]|ひと|ふた)(?:人|匹|り))(?:います|いる)` + jaEnd), category: store.Context, subject: "has:{x}", exclusive: true, say: "{who}には{x}が{v}いる", confidence: .85, importance: .6},
	{re: is(jaTop + `(?P<v>.+?)を(?:\d+匹|[一二三]匹)?飼って(?:い)?(?:ます|る)` + jaEnd), category: store.Context, subject: "has:{v}", exclusive: true, say: "{who}は{v}を飼っている", confidence: .85, importance: .6, ok: jaValue},
	{re: is(jaMy + `(?P<x>` + jaKin + `)の名前は(?P<v>.+?)(?:です|だ|だよ|といいます)` + jaEnd), category: store.Context, subject: "my:{x}", exclusive: true, say: "{who}の{x}の名前は{v}", confidence: .9, importance: .6, ok: jaName},
	{re: is(jaMy + `(?P<x>趣味|専攻|母語|血液型|国籍|星座|身長|メールアドレス|電話番号|住所|特技)は(?P<v>.+?)(?:です|だ)` + jaEnd), category: store.Context, subject: "my:{x}", exclusive: true, say: "{who}の{x}は{v}", confidence: .85, importance: .6, ok: jaValue},
	{re: is(jaMy + `(?:今年の|将来の|来年の)?(?:目標|夢|目的)は(?P<v>.+?)(?:です|だ)` + jaEnd), category: store.Goal, subject: "goal:{v}", exclusive: true, say: "{who}の目標：{v}", confidence: .85, importance: .7, ok: func(v, _ string) bool { return !jaOther.MatchString(v) }},
	{re: is(jaTop + `(?P<v>.+?)(?:つもり|予定)(?:です|だ)` + jaEnd), category: store.Goal, subject: "goal:{v}", exclusive: true, say: "{who}は{v}つもり", confidence: .75, importance: .6, ok: func(v, x string) bool {
		return jaAim(v, x) && !strings.HasSuffix(v, "の") && !strings.HasSuffix(v, "ない")
	}},
	{re: is(jaTop + `(?P<v>.+?)たい(?:です|と思って(?:い)?(?:ます|る)|と思います|んです|と考えて(?:い)?(?:ます|る))?` + jaEnd), category: store.Goal, subject: "goal:{v}", exclusive: true, say: "{who}は{v}たい", confidence: .75, importance: .6, ok: func(v, x string) bool { return jaAim(v, x) && utf8.RuneCountInString(v) >= 4 }},
}

var jaPlace = func(v, _ string) bool {
	return !jaOther.MatchString(v) && !strings.ContainsAny(v, "はがを？?、") && utf8.RuneCountInString(v) <= 20 && !has(`^(?:ここ|そこ|一緒|一人|実家|寮)`).MatchString(v)
}

var japaneseInstructions = []rule{
	{re: is(`(?P<v>(?:これから(?:は)?|今後(?:は)?|次から(?:は)?|次回から(?:は)?|以後|以降(?:は)?|いつも|必ず|常に|毎回|絶対に|二度と|もう二度と)[、,]?.{1,80}(?:てください|て下さい|でください|で下さい|してほしいです|してほしい|お願いします|ないで(?:ね|ほしい(?:です)?)?|てね|して|すること|こと))` + `(?:ね|よ)?`), category: store.Behavior, say: "{who}の要望：{v}", confidence: .85, importance: .9, standing: true, ok: refuse(`(?:これから|今後)(?:の|も(?:よろしく|お願い))|.*よろしく`)},
	{re: is(`(?P<v>.{1,60}ないで(?:ください|下さい))(?:ね|よ)?`), category: store.Behavior, say: "{who}の要望：{v}", confidence: .75, importance: .85, standing: true, ok: refuse(`.*(?:心配し|気にし|遠慮し|驚か|忘れ|怒ら|笑わ)ないで`)},
}

// japaneseThird puts a value into the third person.
func japaneseThird(v string) string {
	return strings.NewReplacer("私", "自分", "僕", "自分", "俺", "自分").Replace(v)
}

var (
	jaTask     = has(`今回(?:は|だけ)|今日(?:は|だけ)|とりあえず|このタスク|この会話|一時的に`)
	jaTaskLead = has(`^(?:今回(?:は|だけ)|今日だけ|とりあえず|このタスク|この会話)`)
	jaProject  = has(`このプロジェクト`)
)
