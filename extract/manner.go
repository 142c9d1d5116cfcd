package extract

import (
	"regexp"
	"strings"
	"unicode/utf8"
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
	if supposing.MatchString(within) || playing.MatchString(turn) && !strings.Contains(turn[:from], "\n\n") {
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
