package scoring

import (
	"regexp"
	"slices"
	"strings"
)

// wishBytes is how much of a text is read for wishes.
const wishBytes = 4096

var (
	orderLeads = set(`and also so ok okay please remember but btw just`) // stand before an order at the beginning of a sentence
	// What follows "always" or "never" where it tells of what was or is, and asks for nothing.
	noOrder = set(`been had have has heard seen wanted loved thought felt knew knows liked met tried used wondered happened mind
		a an the so too good great nice fun happy love loves want wants i you he she they we my`)
	preferWords = set(`prefer preferred favor favour`)
	preferLeads = set(`also really always generally usually much still do would personally strongly definitely typically tend to have`)
	asksWords   = set(`ask asking request requesting`)

	// Without one of these a text has no wish.
	wishMarks = words("always", "never", "prefer", "favo", "rather", " ask", " request", "now on", "here on", "please ")

	hanWishes = words("请总是", "请始终", "请一直", "请务必", "请每次", "请不要", "请别", "以后请", "以后都", "以后不要", "以后别", "今后请", "今后都", "从现在起", "从今以后", "不要再给", "别再给", "不要再推荐", "别再推荐", "每次我问",
		"每当我问", "当我问", "請總是", "請始終", "請務必", "請不要", "請別", "以後請", "以後都", "以後不要", "今後請", "從現在起", "不要再給", "別再給", "每次我問", "當我問")
	hanPrefers = words("更喜欢", "比较喜欢", "偏好", "偏爱", "倾向于", "宁愿", "宁可", "不喜欢", "更喜歡", "比較喜歡", "偏愛", "傾向於", "寧願", "寧可", "不喜歡")
	// Before a word of hanPrefers these say that it is somebody else's.
	hanOthers = words("他", "她", "它", "你", "您", "妈", "媽", "爸", "朋友", "老板", "老闆", "同事", "孩子", "女儿", "女兒", "儿子", "兒子", "老婆", "老公", "妻子", "丈夫", "哥", "姐", "弟", "妹", "爷", "奶", "别人", "別人", "有人", "大家")
)

var reTold = regexp.MustCompile(`\b(?:did|have|had|was|were) (?:i|we|my|our)\b|\b(?:i|we)(?: have|'ve)? (?:mention|said|say|told|brought|bring|describ|discuss|ask|report|share|talked|agreed|decided)\w*\b` +
	`|\bhow (?:many|much|long|often)\b|\b(?:which|what|who) .* first\b|\b(?:what|in|the) order\b` +
	`|\bdid (?:you|the|he|she|they|it)\b|\b(?:what|who|where|which|how) (?:was|were|did|had)\b` +
	`|我们?(?:说|说到|提|提到|讲|告诉你|问|聊|讨论)过|我[們]?(?:說|提|提到|講|告訴你|問|聊|討論)過|我们?(?:之前|以前|上次|当时|曾)|我們?(?:之前|以前|上次|當時|曾)|多少|几[个次天]|幾[個次天]|多久|什么时候|什麼時候|哪天`)

// Wishes reports whether a text tells what its speaker wants of whoever answers from now on, or what they would rather have:
// "always give sources", "from now on", "I prefer trains". Habits and tastes that only tell of the speaker are none. It reads
// the first 4 KB, and knows English and Chinese.
func Wishes(text string) bool {
	if len(text) > wishBytes {
		text = text[:wishBytes]
	}
	s := fold(text)
	if hasDense(s) && (containsAny(s, hanWishes) || prefersHan(s)) {
		return true
	}
	if !containsAny(s, wishMarks) {
		return false
	}
	t := spokenWords(s)
	for i, w := range t.words {
		switch {
		case (w == "always" || w == "never") && t.orders(i),
			(w == "i" || w == "i'm") && t.asks(i),
			w == "from" && (t.at(i+1) == "now" || t.at(i+1) == "here") && t.at(i+2) == "on",
			w == "please" && (slices.Contains([]string{"don't", "avoid", "stop"}, t.at(i+1)) || t.at(i+1) == "do" && t.at(i+2) == "not"),
			preferWords.has(w) && t.ofI(i-1, preferLeads),
			(w == "preference" || w == "preferences" || w == "preferred") && (t.at(i-1) == "my" || t.at(i-2) == "my"),
			w == "rather" && t.wouldI(i-1):
			return true
		}
	}
	return false
}

// prefersHan reports whether a Chinese text tells what its speaker would rather have: what somebody else does is no wish.
func prefersHan(s string) bool {
	for _, w := range hanPrefers {
		for rest := s; ; {
			before, after, ok := strings.Cut(rest, w)
			if !ok {
				break
			}
			if at := strings.LastIndexAny(before, "，。！？；：、,.!?;:\n"); at >= 0 {
				before = before[at:]
			}
			if at := strings.LastIndex(before, "我"); at >= 0 { // 你知道我更喜欢
				before = before[at:]
			}
			if !containsAny(before, hanOthers) {
				return true
			}
			rest = after
		}
	}
	return false
}

// spoken is a text as words, in lower case and without marks around them.
type spoken struct {
	words  []string
	begins []bool // which begin a sentence or a line
}

func spokenWords(folded string) spoken {
	var t spoken
	for line := range strings.SplitSeq(strings.ReplaceAll(folded, "’", "'"), "\n") {
		begins := true
		for word := range strings.FieldsSeq(line) {
			bare := strings.TrimFunc(word, noLetter)
			if bare != "" {
				t.words, t.begins = append(t.words, bare), append(t.begins, begins)
				begins = false
			}
			if strings.HasSuffix(word, ".") || strings.HasSuffix(word, "!") || strings.HasSuffix(word, "?") {
				begins = true
			}
		}
	}
	return t
}

// at is a word; "" beyond the ends.
func (t spoken) at(i int) string {
	if i < 0 || i >= len(t.words) {
		return ""
	}
	return t.words[i]
}

// orders reports whether the "always" or "never" at i is an order: it begins a sentence or stands behind "please", "remember
// to" or the like, and what follows does not only tell of something.
func (t spoken) orders(i int) bool {
	if next := t.at(i + 1); next == "" || t.begins[i+1] || noOrder.has(next) {
		return false
	}
	before, second := t.at(i-1), t.at(i-2)
	if before == "please" || before == "to" && (second == "remember" || second == "sure" || second == "you") || before == "you" && second == "sure" {
		return true
	}
	for !t.begins[i] && orderLeads.has(t.at(i-1)) {
		i--
	}
	return t.begins[i]
}

// asks reports whether the "I" at i asks for something time and again: "whenever I ask", "every time I request".
func (t spoken) asks(i int) bool {
	verb := t.at(i + 1)
	if verb == "am" {
		verb = t.at(i + 2)
	}
	if !asksWords.has(verb) {
		return false
	}
	switch before := t.at(i - 1); before {
	case "when", "whenever", "if", "everytime", "anytime":
		return true
	default:
		return before == "time" && (t.at(i-2) == "every" || t.at(i-2) == "any")
	}
}

// ofI reports whether a verb behind i, and words of leads, belongs to "I".
func (t spoken) ofI(i int, leads wordSet) bool {
	for leads.has(t.at(i)) {
		i--
	}
	w := t.at(i)
	return w == "i" || w == "i'd" || w == "i've"
}

// wouldI reports whether "I would", perhaps with "much" behind it, ends at i.
func (t spoken) wouldI(i int) bool {
	if t.at(i) == "much" {
		i--
	}
	return t.at(i) == "i'd" || t.at(i) == "would" && t.at(i-1) == "i"
}

// AsksTold reports whether a query asks for what was said, done or counted. Any other one may ask for help, on which the
// wishes of the person who asks bear.
func AsksTold(query string) bool {
	return reTold.MatchString(strings.ReplaceAll(dateText(query), "’", "'"))
}

func containsAny(s string, of []string) bool {
	for _, w := range of {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
