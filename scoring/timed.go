package scoring

import "strings"

// Words that say when something happens, alone or behind certain others.
var (
	timedWords = set(`yesterday today tonight tomorrow ago recently just january february march april june july august
		september october november december monday tuesday wednesday thursday friday saturday sunday`)
	lastNouns = set(`night week weekend month year summer winter spring fall autumn monday tuesday wednesday thursday friday
		saturday sunday`)
	nextNouns = set(`week weekend month year summer winter spring fall`)
	spanNouns = set(`week weeks weekend weekends month months year years day days morning mornings`)
	spanWords = set(`this past two three few`)
	mayWords  = set(`in last next this`)

	hanTimed = words("昨天", "昨日", "昨晚", "前天", "今天", "今日", "今晚", "今早", "明天", "明日", "后天", "後天", "上周", "上週", "上星期", "上个星期", "下周", "下週", "下星期", "先週", "今週", "来週", "这周", "這週", "周末", "週末", "上个月", "上個月", "下个月", "这个月", "先月", "今月", "来月", "去年", "今年", "明年", "前年", "昨年", "来年", "最近", "刚刚", "剛剛", "刚才", "几天")
)

// HasTimeExpression reports whether a text says when something happens: a relative phrase, a weekday, a month, a year.
// It reads the first 12,000 bytes.
func HasTimeExpression(text string) bool {
	s := dateText(text)
	if englishTimed(s) {
		return true
	}
	if !hasDense(s) {
		return false
	}
	for _, w := range hanTimed {
		if strings.Contains(s, w) {
			return true
		}
	}
	return reHanTimed.MatchString(s)
}

// englishTimed looks at each word of folded text with the two before it, as far as only blanks lie between them.
func englishTimed(s string) bool {
	var before, prev string
	for i := 0; i < len(s); {
		if !wordByte(s[i]) {
			if s[i] != ' ' && s[i] != '\n' && s[i] != '\t' {
				before, prev = "", ""
			}
			i++
			continue
		}
		from := i
		for i < len(s) && wordByte(s[i]) {
			i++
		}
		w := s[from:i]
		if timedWord(before, prev, w) {
			return true
		}
		before, prev = prev, w
	}
	return false
}

func timedWord(before, prev, w string) bool {
	switch {
	case timedWords.has(w), len(w) == 4 && (w[:2] == "19" || w[:2] == "20") && digits(w):
		return true
	case w == "may" && (mayWords.has(prev) || dayNumber(prev) || prev == "of" && dayNumber(before)):
		return true
	case prev == "may" && dayNumber(w):
		return true
	case prev == "last":
		return lastNouns.has(w)
	case prev == "next":
		return nextNouns.has(w)
	}
	return spanNouns.has(w) && (spanWords.has(prev) || digits(prev) || prev == "of" && before == "couple")
}

// dayNumber reports whether w is a day of a month: one or two digits, perhaps with an ordinal's suffix.
func dayNumber(w string) bool {
	n := number(w)
	return len(n) <= 2 && digits(n)
}
