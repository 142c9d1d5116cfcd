package extract

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"evoke/store"
)

// unasserted reports whether every place where a turn holds a quote is in a clause that supposes, asks, plays or tells
// another's words: "if I lived in Rome", "Do I live in Rome?", 假如我住在罗马. It is a second look at what an extractor
// says was asserted; it reads only the words right before and behind the quote, so that "If you ask me, I like tea" passes.
func unasserted(turn, quote string) bool {
	if quote == "" {
		return false
	}
	found := false
	for from := 0; ; {
		i := strings.Index(turn[from:], quote)
		if i < 0 {
			return found
		}
		found = true
		at := from + i
		if !supposes(turn, at, at+len(quote)) {
			return false
		}
		_, n := utf8.DecodeRuneInString(turn[at:])
		from = at + max(1, n)
	}
}

var (
	sentenceStart = regexp.MustCompile(`[.!?;\n。！？；…]\s*`)
	clauseStart   = regexp.MustCompile(`[,:，：、—]\s*|\bbut\b|但是?|不过|其实|实际上|事实上`)
	// supposing is how a clause begins that supposes.
	supposing = regexp.MustCompile(`(?i)^[\s\p{P}\p{S}]*(?:(?:and|but|so|or|what|as|even|only|well|say|now)\s+|那么?|所以|但是?|而且|可是|不过|或者|我想|我在想)*(?:if|suppose|supposing|assuming|assume|imagine|pretend|let['’]?s (?:say|pretend|assume|imagine)|what if|hypothetically|in theory|unless|whether|i wish|if only|in (?:my|the) (?:dream|story|novel|game|role)|假如|假设|假定|如果|要是|倘若|万一|若是|想象|设想|假装|扮演|比如说?如果|就算|即使|除非|是否|要不要|真希望|但愿)`)
	// guessing is how a clause begins that only says what may be; unlike a supposition it says nothing of the clauses after it.
	guessing = regexp.MustCompile(`(?i)^[\s\p{P}\p{S}]*(?:(?:and|but|so|or|well)\s+|那么?|所以|但是?|而且|可是|不过|或者|我)*(?:maybe|perhaps|possibly|也许|或许|说不定|可能)`)
	// playing begins a turn that is played or told as a whole.
	playing = regexp.MustCompile(`(?i)^[\s\p{P}\p{S}]*(?:role[- ]?play|\[?in character\]?|let['’]?s (?:role[- ]?play|pretend)|pretend (?:that |to be |you)|you are now|act as|write (?:a|me a) (?:story|poem|song|novel|scene|dialog)|translate|角色扮演|我们来扮演|假装|扮演|请?(?:帮我)?翻译|请?(?:帮我)?写(?:一个|一篇|一首|个|篇|首)(?:故事|小说|诗|歌|剧本|对话))`)
	// asking begins a clause that asks; it ends in a question mark.
	asking = regexp.MustCompile(`(?i)^[\s\p{P}\p{S}]*(?:(?:and|but|so|or|well)\s+)*(?:do|does|did|is|are|am|was|were|have|has|had|can|could|will|would|should|shall|may|might|must|who|what|when|where|why|how|which)\b`)
	tagged = regexp.MustCompile(`(?i)^\s*[,，]\s*(?:right|correct|ok|okay|you know|isn['’]?t it|don['’]?t i|aren['’]?t i|对吧|对不对|是吧|好吗|好吧|明白吗|知道吗)\s*[?？]`)
	// asksInHan are the words of Chinese questions, wouldThen those of what follows from a supposition.
	asksInHan = regexp.MustCompile(`什么|怎么|怎样|如何|谁|哪|几[个时点岁]|多少|为何|是不是|有没有|能不能|会不会|要不要|可不可以|[吗么呢]$`)
	wouldThen = regexp.MustCompile(`(?i)\bwould\b|['’]d\b|\bmight\b|就|便|会`)
	askEnd    = regexp.MustCompile(`^\s*(?:吗|么|呢|吧)?\s*[?？]`)
)

func supposes(turn string, from, to int) bool {
	sentence := 0
	for _, m := range sentenceStart.FindAllStringIndex(turn[:from], -1) {
		sentence = m[1]
	}
	before := turn[sentence:from]
	clause := before
	if all := clauseStart.FindAllStringIndex(before, -1); len(all) > 0 {
		clause = before[all[len(all)-1][1]:]
	}
	// the quote may begin with the words that suppose
	within := clause + turn[from:to]
	if supposing.MatchString(within) || guessing.MatchString(within) || playing.MatchString(turn) && !strings.Contains(turn[:from], "\n\n") {
		return true
	}
	if clause != before && supposing.MatchString(before) && wouldThen.MatchString(within) {
		return true // what would follow
	}
	after := turn[to:]
	if askEnd.MatchString(after) && !tagged.MatchString(after) {
		return asking.MatchString(within) || asksInHan.MatchString(within) || strings.ContainsRune("吗么呢", firstRune(strings.TrimSpace(after)))
	}
	return quotedAround(before, after)
}

// denied reports whether a statement repeats without its negation what a turn denies: a quote cut out of "I do not eat
// peanuts" or 我不喜欢咖啡 stands in the turn and says the opposite of it. It is told only where every place of the quote
// follows right upon a negation and the statement holds the quote's words and none that could negate them.
func denied(turn, quote, content string) bool {
	if quote == "" || !repeats(content, quote) || negates(quote) || negates(content) {
		return false
	}
	found := false
	for from := 0; ; {
		i := strings.Index(turn[from:], quote)
		if i < 0 {
			return found
		}
		found = true
		before := turn[:from+i]
		for _, starts := range [...]*regexp.Regexp{sentenceStart, clauseStart} {
			if all := starts.FindAllStringIndex(before, -1); len(all) > 0 {
				before = before[all[len(all)-1][1]:]
			}
		}
		if m := englishDenial.FindStringSubmatch(before); (m == nil || noDenial.MatchString(m[1])) &&
			(!chineseDenial.MatchString(before) || strings.ContainsRune("仅但只光单", firstRune(quote))) {
			return false
		}
		_, n := utf8.DecodeRuneInString(quote)
		from += i + max(1, n)
	}
}

var (
	// englishDenial ends what stands before a quote; a word may come between ("not really").
	englishDenial = regexp.MustCompile(`(?i)(?:\b(?:not|never|cannot|no longer|hardly|rarely|barely)|n['’]t)\s+((?:[\p{L}'’]+\s+)?)$`)
	// noDenial are the words between that turn it around again: "not only", "can't stop", "don't forget".
	noDenial      = regexp.MustCompile(`(?i)^(?:only|just|merely|simply|stop|help|wait|mind|miss|fail|resist|forget|and|or)\s`)
	chineseDenial = regexp.MustCompile(`(?:[^要好是对能会有可]|^)(?:[不没沒别勿未]|不(?:会|能|想|再|太|怎么|是|爱)|[没沒]有?|[没沒]在)$`)
	// opposes are words by which a statement says no without a negation.
	opposes = regexp.MustCompile(`(?i)\b(?:avoid|dislike|hate|refus|stop|quit|lack|fail|declin|refrain|abstain|den(?:y|ie)|un(?:able|willing)|against|free of|except)|\bno\b|n['’]t\b|cannot|讨厌|避免|拒绝|戒|忌|停止|反对|缺`)
)

func negates(s string) bool {
	return opposes.MatchString(s) || englishNegation.MatchString(strings.ToLower(s)) || chineseNegation.MatchString(s)
}

// repeats reports whether a statement holds every word of a quote, but for its ending and the speaker.
func repeats(content, quote string) bool {
	content = " " + store.FoldText(content)
	for _, w := range strings.Fields(store.FoldText(quote)) {
		w = strings.TrimLeft(w, "我")
		switch {
		case w == "" || w == "i" || w == "my" || w == "me" || w == "am" || w == "m":
		case w[0] < utf8.RuneSelf: // as a stem: "eat" in "eats"
			if !strings.Contains(content, " "+w[:min(len(w), max(3, len(w)-3))]) {
				return false
			}
		case !strings.Contains(content, w):
			return false
		}
	}
	return true
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// quotedAround reports whether a place stands between quotation marks.
func quotedAround(before, after string) bool {
	if i := strings.IndexByte(after, '\n'); i >= 0 {
		after = after[:i]
	}
	for _, q := range [...][2]string{{"“", "”"}, {"「", "」"}, {"『", "』"}, {"«", "»"}} {
		if strings.Count(before, q[0]) > strings.Count(before, q[1]) && strings.Contains(after, q[1]) {
			return true
		}
	}
	return strings.Count(before, `"`)%2 == 1 && strings.Contains(after, `"`)
}
