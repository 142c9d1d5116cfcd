package rules

import (
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is the length of a piece that rules are tried on, in bytes. Longer text without a stop is split at blanks;
// what has none is no sentence.
const longest = 1000

// sentences yields the sentences of a text that its speaker says in person: not code, not quoted lines, not what stands
// between quotation marks, not what was pasted behind an announcement. Each is a substring of the text.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fenced := false
		for line := range strings.Lines(text) {
			bare := strings.TrimSpace(line)
			said, pasted := beforePasted(bare)
			if pasted && !fenced {
				for s := range split(said) {
					if !pieces(s, yield) {
						return
					}
				}
				return
			}
			if strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
				fenced = !fenced
				continue
			}
			if fenced || bare == "" || bare[0] == '>' || bare[0] == '<' || bare[0] == '|' || bare[0] == '{' || bare[0] == '[' {
				continue
			}
			for s := range split(bare) {
				if !pieces(s, yield) {
					return
				}
			}
		}
	}
}

// split cuts a line behind every stop. A sentence that opens a quotation is left whole up to its end, so that what is
// inside is judged together with what introduces it.
func split(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from, depth := 0, 0
		straight := false
		for i, r := range line {
			switch r {
			case '“', '「', '『', '《':
				depth++
			case '”', '」', '』', '》':
				depth = max(0, depth-1)
			case '"':
				straight = !straight
			}
			if !isStop(line, i, r) || (depth > 0 || straight) && i-from < longest {
				continue
			}
			end := i + utf8.RuneLen(r)
			if !yield(line[from:end]) {
				return
			}
			from, depth, straight = end, 0, false
		}
		if from < len(line) {
			yield(line[from:])
		}
	}
}

func isStop(s string, i int, r rune) bool {
	switch r {
	case '。', '！', '？', '!', '?', '；', ';', '．', '…':
		return true
	case '.':
		next, _ := utf8.DecodeRuneInString(s[i+1:])
		if i+1 < len(s) && !unicode.IsSpace(next) {
			return false
		}
		return !isAbbreviation(s[:i])
	}
	return false
}

// isAbbreviation reports whether the dot behind before belongs to a short form such as "Dr" or an initial.
func isAbbreviation(before string) bool {
	at := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) && r != '.' }) + 1
	switch w := before[at:]; w {
	case "Dr", "Mr", "Mrs", "Ms", "St", "Prof", "Sr", "Jr", "vs", "e.g", "i.e":
		return true
	default:
		r, n := utf8.DecodeRuneInString(w)
		return n == len(w) && unicode.IsUpper(r) && r != 'I'
	}
}

// pieces yields a sentence, or blank-separated pieces of one that is too long.
func pieces(s string, yield func(string) bool) bool {
	for len(s) > longest {
		cut := strings.LastIndexByte(s[:longest], ' ')
		if cut <= 0 {
			next := strings.IndexByte(s[longest:], ' ')
			if next < 0 {
				return true
			}
			s = s[longest+next+1:]
			continue
		}
		if !yield(s[:cut]) {
			return false
		}
		s = s[cut+1:]
	}
	return yield(s)
}

// pasted finds what announces a text of others, to the end of the turn: "sum up this article: …", 以下是网页内容：. A line that
// ends with it, or one that asks for something to be done with what follows.
var pasted = regexp.MustCompile(`(?i)(?:^|[.!?。！？]\s*|[,，]\s*)[^.!?。！？:：]*?\b(?:summari[sz]e|sum up|comment on|translate|rewrite|proofread|paraphrase|analy[sz]e|review|read|check|edit|improve|shorten|explain|correct|fix|classify|here(?:['’]s| is| are)|this is|i (?:got|received|found|copied|pasted))\b[^.!?。！？:：]*\b(?:articles?|texts?|pages?|websites?|e-?mails?|messages?|documents?|essays?|paragraphs?|passages?|reviews?|posts?|stor(?:y|ies)|transcripts?|logs?|contents?|descriptions?|letters?|drafts?|papers?|abstracts?|snippets?|quotes?|readme|tweets?|comments?|prompts?|output|excerpts?|chats?|conversations?)\b[^.!?。！？:：]*[:：]` +
	`|(?:总结|概括|翻译|改写|润色|校对|分析|解释|看看?|阅读|检查|修改|以下是|下面是|这是|这里是|我收到|我看到)[^。！？:：]*(?:文章|文本|网页|页面|邮件|内容|原文|全文|段落|段话|评论|帖子|故事|记录|日志|描述|来信|信件|草稿|论文|摘要|文字|对话|聊天|消息|通知|文档)[^。！？:：]*[:：]` +
	`|(?:article|text|page|website|e-?mail|message|document|content|contents|transcript|log|output|following|below)[^.!?。！？:：]*[:：]$|(?:文章|网页|邮件|内容|原文|全文|如下|以下|下面)[^。！？:：]*[:：]$`)

// beforePasted returns what a line says before a pasted text begins, and whether one does.
func beforePasted(line string) (string, bool) {
	if !strings.ContainsAny(line, ":：") || len(line) > longest && !strings.ContainsAny(line[:longest], ":：") {
		return line, false
	}
	head := line
	if len(head) > longest {
		head = head[:longest]
	}
	m := pasted.FindStringIndex(head)
	if m == nil {
		return line, false
	}
	return line[:m[0]], true
}
