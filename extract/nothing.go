package extract

import (
	"strings"
	"unicode"

	"evoke/store"
)

// courtesies are turns that say nothing to be remembered. Words that agree or deny are none of them: what they answer may
// stand for a fact.
var courtesies = func() map[string]bool {
	m := map[string]bool{}
	for s := range strings.SplitSeq(`ok|okay|okey|k|kk|okie|okay then|ok then|ok cool|ok great|ok thanks|okay thanks|ok thank you|okay thank you|cool|cool thanks|great|great thanks|nice|perfect|
perfect thanks|awesome|wonderful|got it|got it thanks|alright|all right|fine|sure thing|hm|hmm|hmmm|mhm|uh|um|oh|ah|aha|wow|lol|haha|hahaha|hehe|hi|hi there|hello|hello there|hey|hey there|
good morning|good evening|good afternoon|good night|bye|goodbye|bye bye|see you|cheers|thx|ty|thanks|thanks a lot|thanks so much|many thanks|thank you|thank you so much|thank you very much|
no problem|you re welcome|you are welcome|welcome|go on|continue|please continue|next|and|so|well|test|
好|好的|好吧|好呀|好啊|好嘞|好哒|好滴|好好|好的谢谢|好的 谢谢|嗯哼|哦|哦哦|噢|喔|啊|呃|额|哈|哈哈|哈哈哈|哈哈哈哈|呵呵|嘿嘿|行|行吧|可以|可以的|知道了|知道啦|我知道了|了解|了解了|明白|明白了|收到|
谢谢|谢谢你|谢谢您|谢谢啦|多谢|感谢|非常感谢|谢了|辛苦了|不客气|不用谢|没事|没关系|你好|您好|嗨|哈喽|早|早上好|晚上好|下午好|晚安|再见|拜拜|拜|继续|请继续|然后呢|ok的|okok|嗯好的|
はい どうも|どうも|ありがとう|ありがとうございます|了解です|了解しました|わかりました|なるほど|こんにちは|おはよう|おはようございます|こんばんは|おやすみ|さようなら`, "|") {
		m[strings.TrimSpace(s)] = true
	}
	return m
}()

// longestCourtesy is more than the longest of them.
const longestCourtesy = 100

// saysNothing reports whether a turn holds nothing but courtesies, signs and pictures of them: it is stored and worth no
// extraction.
func saysNothing(text string) bool {
	if len(text) > 4*longestCourtesy {
		return !says(text)
	}
	words := store.FoldText(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && r != 0xFE0F && r != 0x20E3 {
			return r
		}
		return ' '
	}, text))
	return words == "" || len(words) <= longestCourtesy && courtesies[words] && answerOf(text).kind == noAnswer
}

// says reports whether there is a letter or a digit in a text.
func says(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
