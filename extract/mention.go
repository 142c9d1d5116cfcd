package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words about a file that was handed over are not kept: the file is gone when they are read again, and its name
// misleads. What stands beside them is. A clause that says nothing else is cut out ("I uploaded report.pdf, and my
// budget is …"); within a clause the file becomes a neutral "[file]" or "文件" ("sum up the attached report in German").
//
// Uploading as such is a matter like any other: "I upload a video to YouTube every week" stays.

const (
	// A name with an ending, a path before it, quoted or not.
	fileName = "(?:[\"“'‘`《「][^\"”'’`》」\\n]+\\.[A-Za-z0-9]{1,5}[\"”'’`》」]|[\\p{L}\\p{N}_/\\\\(\\[@~+-][\\p{L}\\p{N}_/\\\\()\\[\\]@.+~-]*\\.[A-Za-z0-9]{1,5}\\b)"

	enThing = `(?:(?:(?:[\p{L}'’-]{4,}|new|old|big|pdf|csv|\d{1,4}) ){0,3}?(?:files?|documents?|docs?|pdfs?|images?|photos?|pictures?|pics?|screenshots?|spreadsheets?|sheets?|slides?|decks?|reports?|resum[eé]s?|cvs?|contracts?|invoices?|receipts?|notes|papers?|essays?|drafts?|datasets?|data|logs?|csvs?|transcripts?|thes[ie]s|dissertations?|recordings?|videos?|zips?|archives?|attachments?|forms?|letters?|scans?|code|scripts?|manuscripts?|briefs?|agreements?|statements?|tables?|charts?|diagrams?)\b)`
	enDet   = `(?:(?:the|a|an|my|our|this|that|these|those|your|some|both|two|three|several) )?`
	enSoon  = `(?:(?:just|already|also|now|have|has|had|recently|hereby|here) |['’]ve )*`
	// what was handed over: a name, a kind of file, or both
	enObject = `(?:you )?` + enDet + `(?:` + enThing + `(?:[ ,:(]+(?:called |named |titled )?` + fileName + `\)?)?|` + fileName + `|(?:[\p{L}'’-]+ ){1,4}\(?` + fileName + `\)?)`
	enHere   = `(?: (?:here|above|below|for you|to you|with you|(?:to|in|into|in here|here in) (?:this|the|our) (?:chat|conversation|thread)|in here|earlier|yesterday|today|just now|right now|now|as well|too|again|for (?:your )?(?:reference|review|context)))*`

	zhThing  = `(?:文件|檔案|文檔|圖片|照片|報告|簡歷|資料|影片|附檔|文档|附件|图片|照片|截图|表格|报告|简历|合同|发票|资料|视频|录音|代码|数据|论文|稿件|幻灯片|笔记|压缩包|文稿|账单|(?i:pdf|ppt|word|excel|csv)(?:文件|文档|表格)?)`
	zhSoon   = `(?:刚才|刚刚|刚|已经|已|又|也|还|之前|先|现在|这里|在这里|在上面|一起|另外|给你|向你|为你)*`
	zhCount  = `(?:[一两二三几]?[个份张段篇本]|这[个份张些]?|那[个份张些]?|我的|该|本)*`
	zhObject = `(?:` + zhCount + `[\p{Han}]{0,6}?` + zhThing + `(?:[（(《:：\s]?` + fileName + `[）)》]?)?|` + zhCount + fileName + `)`
)

var (
	// Clauses that say nothing but that a file is there.
	enClause = regexp.MustCompile(`(?i)^(?:(?:hi|hello|hey|ok|okay|so|and|also|well|please|thanks|yes|now|then|btw|by the way)[ ,]+)*(?:` +
		`i(?:['’]m| am)? ?` + enSoon + `(?:uploaded|attached|enclosed|uploading|attaching|enclosing) ` + enObject + `(?:,? (?:and|&) ` + enObject + `)*` + enHere +
		`|i(?:['’]m| am)? ?` + enSoon + `(?:uploaded|attached|uploading|attaching) (?:it|them|everything)` + enHere +
		`|i ?` + enSoon + `(?:sent|shared|gave|passed|dropped|pasted|put) (?:you ` + enDet + `(?:[\p{L}'’-]{3,} ){0,2}(?:files?|documents?|pdfs?|screenshots?|images?|pictures?|photos?|spreadsheets?|attachments?)(?: ` + fileName + `)?` + enHere + `|(?:you )?` + enDet + `(?:` + enThing + ` )?\(?` + fileName + `\)?` + enHere + `|` + enObject + ` (?:with you|here|above|below|in here|in(?:to)? (?:this|the) (?:chat|conversation))` + enHere + `)` +
		`|(?:i (?:see|notice)(?: that)? )?(?:you|we|(?:the |this )?(?:user|human|client|customer)) ?` + enSoon + `(?:uploaded|attached) ` + enObject + `(?:,? (?:and|&) ` + enObject + `)*` + enHere +
		`|(?:thanks|thank you)(?: so much| very much)? for (?:uploading|attaching) ` + enObject +
		`|(?:please )?(?:see|check|find|read|review|open|refer to|look at|have a look at|take a look at)(?: out)? (?:` + enDet + `(?:attached|uploaded|enclosed)(?: ` + enObject + `)?|` + enDet + `attachments?)` + enHere + `(?: for (?:more )?(?:details|information|reference))?` +
		`|(?:attached|enclosed|uploaded)(?: here)?(?:,? please find| is| are|:)? ` + enObject + enHere +
		`|(?:attached|enclosed),? (?:please |you (?:will|can) )?find ` + enObject + enHere +
		`|` + enDet + enThing + ` (?:is|are) (?:attached|enclosed|uploaded)` + enHere +
		`|` + enDet + `(?:` + enThing + ` )?` + fileName + ` (?:is|was|has been) (?:attached|uploaded|received)` + enHere +
		`|(?:you (?:can|will|should) find|find) ` + enObject + ` (?:attached|enclosed)` + enHere +
		`|pfa ` + enObject +
		`|(?:uploaded |attached |new )?(?:file|document|image|attachment|upload)s?(?: uploaded| attached| received)?:? ` + fileName + `(?:, ` + fileName + `)*` +
		`|here(?:['’]s| is| are) ` + enDet + `(?:` + enThing + `[ ,:(]+)?` + fileName + `\)?` +
		`)\s*$`)
	zhClause = regexp.MustCompile(`^(?:(?:你好|您好|好的|对了|另外|嗯|那个|请注意)[，, ]*)*(?:` +
		`(?:我们?|你|您|用户|客户)?` + zhSoon + `(?:在(?:附件|这)(?:里|中)?)?把?(?:` + zhObject + `)?` + zhSoon + `(?:上传|上傳|附上|附加|添加)(?:了|过|完了|好了|给你了?|上来了?)*\s*(?:` + zhObject + `)?(?:(?:和|以及|、|跟)` + zhObject + `)*(?:了|给你|在这里|在附件里?)*` +
		`|[我你您]?` + zhSoon + `(?:发|传|发送|傳)了?` + zhObject + `给[你您]了?` +
		`|[我你您]?` + zhSoon + `把?(?:` + zhObject + `)?` + zhSoon + `(?:发|传|发送)给你了?(?:` + zhObject + `)?了?` +
		`|(?:请|請|麻烦|您|你|详情|具体|内容|先|可以)*(?:见|見|看|查看|查收|参考|参见|参阅|参照|阅读|打开)(?:一下|下)?(?:随附的?|我?(?:上传|附上|发)的)?(?:附件|(?:上传|附上)的` + zhThing + `)(?:里|中)?\s*(?:` + fileName + `)?(?:哦|谢谢|吧)*` +
		`|(?:附件|以下|这)(?:里)?(?:是|为|有)` + zhObject +
		`|(?:` + fileName + `|` + zhThing + `)` + zhSoon + `(?:上传|附上|在附件)(?:了|里|中)*` +
		`)\s*$`)

	// A note in brackets.
	mentionNote = regexp.MustCompile(`(?i)\[(?:uploaded |attached )?(?:files?|attachments?|images?|documents?|附件|文件|图片)[:：]\s*` + fileName + `[^\[\]\n]*\][ \t]*`)

	// The file within a clause.
	enPhrase = regexp.MustCompile(`(?i)\S*/(?:uploads?|attachments?)/[^\s,;，。；]+` +
		`|\b(?:(?:the|a|an|my|our|this|that|these|those|your|both) )?(?:attached|uploaded|enclosed) (?:` + fileName + `|` + enThing + `(?:[ ,:(]+(?:called |named |titled )?` + fileName + `\)?)?)` +
		`|\b(?:(?:the|a|an|my|our|this|that|these|those|your) )?(?:` + enThing + ` )?` + fileName + `,? (?:that |which )?(?:i|you) ?` + enSoon + `(?:uploaded|attached)` + enHere +
		`|\b(?:(?:the|a|an|my|our|this|that|these|those|your) )` + enThing + ` (?:that |which )?(?:i|you) ?` + enSoon + `(?:uploaded|attached)` + enHere +
		`|\b(?:the|my|your|this) attachments?(?: ` + fileName + `)?` +
		`|\bi ?` + enSoon + `(?:uploaded|attached) ` + enObject + enHere)
	zhPhrase = regexp.MustCompile(`(?:我|你|您)` + zhSoon + `(?:上传|附上|附|发给你|传给你|发来|发)的(?:这|那)?[个份张些]?(?:` + zhObject + `)` +
		`|(?:随附的|上传的|附上的|附带的)(?:` + zhObject + `)` +
		`|(?:该|这个|此|随附的?|以上|这份)?附件(?:\s?` + fileName + `)?` +
		`|我` + zhSoon + `(?:上传|附上)(?:了|过)?` + zhObject)

	// Uploading elsewhere, attaching in general: not a file of this conversation.
	elsewhere = regexp.MustCompile(`(?i)(?:upload|attach)\w*\b.*?\b(?:to|on|onto|into|with) (?:[a-z]+ ){0,4}?(?:youtube|instagram|facebook|tiktok|twitter|x\b|github|gitlab|google|drive|dropbox|s3|aws|azure|onedrive|icloud|server|cloud|website|site|blog|portal|app|platform|bucket|repo\w*|e-?mails?|mail|message|ticket|issue|account|channel|profile|page|folder|jira|slack|linkedin|spotify|soundcloud|vimeo|wall|back|front)\b` +
		`|(?:上传|上傳|发布|传)(?:到|至|去)(?:了)?(?:[^这此聊对系]|$)|到(?:微博|抖音|快手|B站|b站|哔哩|网盘|云|服务器|GitHub|YouTube|朋友圈|公司|学校|网站|官网|系统|平台)` +
		`|(?:添加|加|带|发|下载|打开|保存|删除|大小|邮件|邮箱)(?:一个|个)?(?:的)?附件(?:$|的?(?:大小|限制|功能|按钮|失败))|邮件.{0,6}附件|附件(?:大小|限制|功能|按钮)|(?i:attachment (?:size|limit|style|theory|issues))`)

	onlyName  = regexp.MustCompile(`^(?i:and |& |和|以及|与)?(?:(?i:the|my|a|an) )?` + fileName + `\s*$`)
	nameIn    = regexp.MustCompile(fileName)
	clauseEnd = regexp.MustCompile(`(?i)(?:[,;，；：]\s*|:\s+)(?:and |but |so |then |also )?|\s+(?:and|but|so|then|because|since)\s+|[—–]\s*|\s-\s|(?:，|,|；)?(?:而且|并且|但是|不过|然后|所以|因为|同时)|并(?:请|且)?`)
	pointing  = regexp.MustCompile(`(?i)^(?:please |can you |could you |kindly )?(?:(?:see|check|find|read|open|review|refer to|look at|have a look at|take a look at|in|here is|here are|here['’]s|this is|attached is|it['’]s)\s+)?\[file\](?: (?:please|here|too|above|below|again|as well|for (?:details|reference)))*$|^(?:请|麻烦|你|先|帮我)*(?:见|看|查看|查收|参考|阅读|打开)?(?:一下)?文件(?:吧|哦|谢谢)*$`)
)

// What stands for a file is never longer than what spoke of it, so that no text outgrows its limit.
const (
	enFile = "[file]"
	zhFile = "文件"
)

// mentionHint reports whether a text may speak of a file: cheap, and true too often.
func mentionHint(s string) bool {
	s = strings.ToLower(s)
	for _, w := range [...]string{"upload", "attach", "enclos", "here is", "here's", "here’s", "here are", "上传", "上傳", "附件", "附上", "附了", "给你", "给您", "发来", "这是", "sent you", "shared", "dropped", "pfa ", "[file", "[image", "[文件", "[图片", "file:", "gave you", "i sent", "i put"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// stripMentions cuts what a text says about files that were handed over. Code is left alone.
func stripMentions(s string) string {
	if !mentionHint(s) {
		return s
	}
	var b strings.Builder
	m := mentions{names: map[string]bool{}}
	fenced := false
	for line := range strings.Lines(s) {
		if bare := strings.TrimSpace(line); strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
			fenced = !fenced
		} else if !fenced && mentionHint(line) {
			left := m.line(m.notes(strings.TrimRight(line, "\r\n")))
			if strings.TrimSpace(left) == "" {
				continue
			}
			line = left + line[len(strings.TrimRight(line, "\r\n")):]
		}
		b.WriteString(line)
	}
	return m.unname(b.String())
}

// mentions collects the names of the files that a text speaks of.
type mentions struct {
	names map[string]bool
	read  int // bytes of sentences that may speak of one
}

// line goes over the sentences of a line.
func (m *mentions) line(line string) string {
	var b strings.Builder
	for _, s := range sentencesOf(line) {
		if len(s) <= longestSentence && m.read < mostRead && mentionHint(s) {
			if m.read += len(s); !elsewhere.MatchString(s) {
				s = m.sentence(s)
			}
		}
		b.WriteString(s)
	}
	return strings.TrimRightFunc(b.String(), unicode.IsSpace)
}

// notes cuts notes in brackets out of a line.
func (m *mentions) notes(line string) string {
	return mentionNote.ReplaceAllStringFunc(line, func(found string) string {
		m.note(found)
		return ""
	})
}

// What the patterns are tried on, in bytes: nobody speaks of files in a longer sentence, or in more of them in one message.
const (
	longestSentence = 1000
	mostRead        = 64 << 10
)

func (m *mentions) sentence(s string) string {
	body := strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".!?。！？…", r) })
	stop := s[len(body):]
	lead := body[:len(body)-len(strings.TrimLeftFunc(body, unicode.IsSpace))]
	if m.whole(strings.TrimSpace(body)) {
		return ""
	}
	var b strings.Builder
	cut := false // the clause before was
	for _, c := range clausesOf(body[len(lead):]) {
		switch left := m.clause(c.text, cut); {
		case left == "":
			cut = true
			continue
		case b.Len() > 0:
			b.WriteString(c.before)
			b.WriteString(left)
		default:
			b.WriteString(left)
		}
		cut = false
	}
	if b.Len() == 0 {
		return ""
	}
	return lead + b.String() + stop
}

// whole reports whether a clause or sentence is about a file alone, and keeps the file's name in mind.
func (m *mentions) whole(c string) bool {
	if !enClause.MatchString(c) && !zhClause.MatchString(c) {
		return false
	}
	m.note(c)
	return true
}

func (m *mentions) clause(c string, afterCut bool) string {
	c = strings.TrimSpace(c)
	if m.whole(c) || afterCut && onlyName.MatchString(c) {
		m.note(c)
		return ""
	}
	replaced := c
	for _, p := range []struct {
		re *regexp.Regexp
		by string
	}{{enPhrase, enFile}, {zhPhrase, zhFile}} {
		replaced = p.re.ReplaceAllStringFunc(replaced, func(found string) string {
			if strings.Contains(found, "://") { // an address, whatever its path
				return found
			}
			m.note(found)
			return p.by
		})
	}
	if replaced != c && pointing.MatchString(replaced) {
		return ""
	}
	return replaced
}

func (m *mentions) note(mention string) {
	const most = 100
	for _, n := range nameIn.FindAllString(mention, most) {
		if n = strings.Trim(n, "\"“”'‘’`《》「」()[]"); len(m.names) < most && len(n) >= len(enFile) {
			m.names[n] = true
		}
	}
}

// unname puts "[file]" where a name that was mentioned stands again.
func (m *mentions) unname(s string) string {
	for n := range m.names {
		if strings.Contains(s, n) {
			s = strings.ReplaceAll(s, n, enFile)
		}
	}
	return s
}

// sentencesOf cuts a line behind its stops; a dot within a name is none. Joined, the pieces are the line.
func sentencesOf(line string) []string {
	var out []string
	from := 0
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
		case '.', '!', '?':
			if end < len(line) && line[end] != ' ' && line[end] != '\t' {
				continue
			}
		default:
			continue
		}
		for end < len(line) && (line[end] == ' ' || line[end] == '\t') {
			end++
		}
		if end > from {
			out = append(out, line[from:end])
			from = end
		}
	}
	if from < len(line) {
		out = append(out, line[from:])
	}
	return out
}

// clauseOf is a clause and what joins it to the one before.
type clauseOf struct{ before, text string }

func clausesOf(s string) []clauseOf {
	var out []clauseOf
	from, before := 0, ""
	for _, e := range clauseEnd.FindAllStringIndex(s, -1) {
		if e[0] > from {
			out = append(out, clauseOf{before, s[from:e[0]]})
		}
		from, before = e[1], s[e[0]:e[1]]
	}
	if from < len(s) {
		out = append(out, clauseOf{before, s[from:]})
	}
	return out
}
