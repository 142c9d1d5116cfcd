package recall

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"evoke/store"
)

// inline makes a text safe to stand within one line of a block, and leaves it readable. Runs of blanks and line breaks
// become one space; control characters and invisible ones that could hide, turn or smuggle text are dropped; broken UTF-8
// becomes U+FFFD. What could be read as a frame loses the character that makes it one: tags of any kind, the tokens of
// chat templates, names of roles before a colon, headings, fences, calls of tools as JSON, and the labels of the block
// itself. Look-alike letters, width and case make no difference. No word is dropped.
func inline(s string) string {
	t := clean(s)
	if len(t.runes) == 0 {
		return ""
	}
	edits := map[int]string{} // what stands in place of a rune
	t.neutralise(func(from, to int, put string) {
		for i := t.place[from]; i <= t.place[to-1]; i++ {
			edits[i] = put
			put = ""
		}
	})
	for i, r := range t.runes {
		if (lookalike(r) == '<' || strings.ContainsRune(quotesLikeTags, r)) && edits[i] == "" && imitatesTag(t.runes[i+1:]) {
			edits[i] = "&lt;"
		}
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i, r := range t.runes {
		if put, ok := edits[i]; ok {
			b.WriteString(put)
		} else {
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// text is a cleaned text and its folded form, in which frames are looked for: lower-case, look-alikes as what they look
// like, a former line break as "\n". place is the rune that a byte of folded stems from.
type text struct {
	runes  []rune
	folded string
	place  []int
}

func clean(s string) text {
	var t text
	var folded strings.Builder
	add := func(r rune, as string) {
		for range len(as) {
			t.place = append(t.place, len(t.runes))
		}
		folded.WriteString(as)
		t.runes = append(t.runes, r)
	}
	blank := "" // the blank that is due before the next character
	last := rune(0)
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || r == 0x2800:
			if blank == "" {
				blank = " "
			}
			if breaksLine(r) {
				blank = "\n"
			}
			continue
		case hidden(r), joiner(r) && !joins(last):
			continue
		}
		if blank != "" && len(t.runes) > 0 {
			add(' ', blank)
		}
		blank = ""
		add(r, fold(r))
		last = r
	}
	t.folded = folded.String()
	return t
}

func breaksLine(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// hidden reports control characters and invisible ones. Joiners and variation selectors are judged by joins.
func hidden(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return true
	case unicode.Is(unicode.Cf, r) && !joiner(r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return true
	case r == 0x34F, r == 0x115F, r == 0x1160, r >= 0x17B4 && r <= 0x17B5, r >= 0x180B && r <= 0x180F, r == 0x3164, r == 0xFFA0,
		r >= 0xFFF0 && r <= 0xFFF8, r >= 0xE0000 && r <= 0xE0FFF: // fillers, selectors and characters to come that show nothing
		return true
	}
	return false
}

func joiner(r rune) bool {
	return r == 0x200C || r == 0x200D || r >= 0xFE00 && r <= 0xFE0F
}

// joins reports whether a joiner or variation selector has a meaning behind a character: emoji and several scripts need
// them; in Latin, Greek, Cyrillic and Chinese text, or one behind the other, they only hide something.
func joins(r rune) bool {
	switch {
	case joiner(r), r < 0x300, unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return r == 0xFE0F || strings.ContainsRune("#*0123456789©®", r) // ❤️‍🔥, 1️⃣
	}
	return true
}

// fold is a character as its plain form in lower case: that of its compatibility form or of what it looks like.
func fold(r rune) string {
	if r < 0x80 {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return string(r)
	}
	if p := lookalike(r); p != 0 {
		return string(p)
	}
	if unicode.Is(unicode.M, r) {
		return ""
	}
	var b strings.Builder
	for _, c := range strings.ToLower(norm.NFKD.String(string(r))) {
		if p := lookalike(c); p != 0 {
			c = p
		}
		if !unicode.Is(unicode.M, c) {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// lookalikes by what they look like, beyond what Unicode's compatibility forms tell.
var lookalikes = func() map[rune]rune {
	m := map[rune]rune{}
	for plain, like := range map[rune]string{
		'a': "аαɑᴀ", 'b': "вЬʙ", 'c': "сϲᴄ", 'd': "ԁᴅ", 'e': "еεєᴇ", 'f': "ꜰƒ", 'g': "ɡɢ", 'h': "һнʜ", 'i': "іιıɩɪ", 'j': "јᴊ", 'k': "кκᴋ", 'l': "ӏʟⅼ",
		'm': "мᴍ", 'n': "ոηɴ", 'o': "оοօᴏ", 'p': "рρᴘ", 'r': "гʀ", 's': "ѕꜱ", 't': "тτᴛ", 'u': "υսᴜ", 'v': "νѵᴠ", 'w': "ԝωᴡ", 'x': "хχ", 'y': "уγүʏ", 'z': "ᴢ",
		'<': "<＜﹤‹〈⟨❮❬˂ᐸ≺⧼", '>': "＞﹥›〉⟩❯❭˃ᐳ", ':': "：﹕︓∶꞉ː׃ˑ܃։⁚⁝ꓽ᠄˸፡∷⦂︰⸬⁖", '[': "［【〖〔⟦❲⁅⦗⦅｟⟬〚", '{': "｛﹛❴", '|': "｜∣ǀ│❘￨", '/': "／∕⁄⧸", '#': "＃﹟", '`': "｀ˋ", '"': "“”„″＂", '_': "▁＿", '-': "—–―─━‒⸺⸻⎯", '=': "═＝",
	} {
		for _, r := range like {
			m[r] = plain
			if up := unicode.ToUpper(r); up != r {
				m[up] = plain
			}
		}
	}
	for i := range rune(26) {
		m[0x1F150+i], m[0x1F170+i], m[0x1F1E6+i] = 'a'+i, 'a'+i, 'a'+i
	}
	return m
}()

func lookalike(r rune) rune { return lookalikes[r] }

const (
	frameRoles  = `system|developer|human|user|assistant|ai|bot|model|chatgpt|gpt|claude|llm|tool|function|ipython|admin(?:istrator)?`
	frameWords  = frameRoles + `|(?:new |updated |system |important |hidden )?instructions?|(?:system|developer|admin) (?:prompt|message|note|override|notice|update)|(?:tool|function)[ _-](?:results?|outputs?|responses?|calls?|messages?)|(?:human|user|assistant|ai|bot|model)(?:['’]s)? (?:says|said|turn|message|reply|response|answer)|action(?: input)?|observation|thought|final answer|response|input|output|prompt|context|memory|end of (?:memory|context|data)|evoke.?memory`
	hanRoles    = `系统|系統|係統|係统|用户|用戶|助手|助理|人类|人類|开发者|開發者|管理员|管理員|工具|模型`
	hanFrames   = hanRoles + `|(?:系统|系統|新的?|重要)?(?:指令|提示词?|提示詞?|命令|消息|通知)|记忆|記憶|上下文|记忆结束|記憶結束|` + hanResults
	hanResults  = `(?:系统|系統|係統|係统|工具|函数|函數|模型|用户|用戶)(?:结果|結果|返回|输出|輸出|信息|訊息|指示|指令|管理员|管理員|消息|通知|回复)` // what a tool gave or somebody above the talk has to say
	labelKinds  = `standing|id=|episodic|semantic|procedural|profile|\d{4}-|\d{4}\s+(?:episodic|semantic|procedural)`
	frameGap    = `[^\p{L}\p{N}.,;!?。！？，；]{0,16}?` // between a name and its colon: blanks, marks, closing brackets
	dropped     = `[\s#=*_-]`                      // what may be gone between a bracket and its word once headings and rules are harmless
	frameBegins = `(?:^|\n|\\n|\\r|\\x0[ad]|\\u000[ad]|%0[ad]|[^\p{L}\s])`
)

// frame is a form that reads as something other than data. It begins with one of the lead characters; the first group is
// what is replaced.
type frame struct {
	lead string
	re   *regexp.Regexp // anchored at the lead character
	put  string
	line bool // only at the beginning of a line
}

var frames = []frame{
	// entities, so that what is escaped below can be told from what was there
	{"&", regexp.MustCompile(`^(&)(?:#x?[0-9a-f]+|[a-z]+);`), "&amp;", false},
	// tags, and the tokens of chat templates: <|im_start|>, <s>, <<sys>>, <start_of_turn>, <tool_call>, <!--
	{"<", regexp.MustCompile(`^(<)(?:[a-z/!?|<_\\]|` + dropped + `+(?:[/|!?]|im_|` + frameWords + `)|` + dropped + `*[/|]?` + dropped + `*(?:` + hanFrames + `))`), "&lt;", false},
	// [INST], [system], and labels as those of the block's own lines
	{"[", regexp.MustCompile(`^(\[)` + dropped + `*[/|]?` + dropped + `*(?:inst|sys|available_tools|tool_(?:calls?|results?)|tool_content|` + frameWords + `|` + labelKinds + `|end of|begin|` + hanFrames + `)`), "&#91;", false},
	// headings
	{"#", regexp.MustCompile(`^(#{1,6})\s`), "", true},
	{"#", regexp.MustCompile(`^(#+)[\s*_]*(?:` + frameWords + `|` + hanFrames + `)`), "", false},
	// fences and rules
	{"`~", regexp.MustCompile("^(`{3,}|~{3,})"), "''", false},
	{"=-*_", regexp.MustCompile(`^([=*_-]{3,})\s*(?:(?:the\s+)?(?:begin|end|start|stop|new|` + frameWords + `)|` + hanFrames + `|结束|結束|开始|開始|以上|以下)`), "", false},
	// calls and messages as JSON, and placeholders of templates
	{"{", regexp.MustCompile(`^(\{)\s*["'` + "`" + `]?(?:role|tools?|tool_(?:calls?|use|name|input|choice)|functions?|function_call|name|arguments|parameters|action|action_input|recipient(?:_name)?|type|content|messages?|system|command)["'` + "`" + `]?\s*:`), "&#123;", false},
	{"{", regexp.MustCompile(`^(\{)[{%]`), "&#123;", false},
	{`"`, regexp.MustCompile(`^(")(?:role|tool_calls?|function_call|tool_call_id|tool_use_id)["']\s*:`), "&quot;", false}, // not the first of its object
}

// frameReach is how far before and behind its character a frame is looked for, in bytes.
const frameReach = 96

// neutralise finds the frames in a text and has them replaced.
func (t *text) neutralise(replace func(from, to int, put string)) {
	for i := 0; i < len(t.folded); i++ {
		switch c := t.folded[i]; c {
		case ':':
			i = t.colon(i, replace)
		case '&', '<', '[', '#', '`', '~', '=', '-', '*', '_', '{', '"':
			if (c == '=' || c == '-' || c == '*' || c == '_') && !strings.HasPrefix(t.folded[i+1:], t.folded[i:i+1]) {
				continue // the commonest by far
			}
			i = t.lead(i, c, replace)
		}
	}
}

// lead looks for the frames that begin at a place, and returns the last place that it dealt with.
func (t *text) lead(i int, c byte, replace func(from, to int, put string)) int {
	ahead := t.folded[i:min(len(t.folded), i+frameReach)]
	for k := range frames {
		f := &frames[k]
		if strings.IndexByte(f.lead, c) < 0 || f.line && !t.beginsLine(i) {
			continue
		}
		if m := f.re.FindStringSubmatchIndex(ahead); m != nil {
			replace(i+m[2], i+m[3], f.put)
			return i + m[3] - 1
		}
	}
	return i
}

// colon looks for the name of a role before a colon, and returns the last place that it dealt with.
func (t *text) colon(i int, replace func(from, to int, put string)) int {
	end := i + 1
	for end < len(t.folded) && (t.folded[end] == ':' || t.folded[end] == ' ' || t.folded[end] == '\n') {
		end++
	}
	window := t.folded[max(0, i-frameReach):i]
	if i > frameReach {
		window = "x" + strings.ToValidUTF8(window, "") // it does not begin here
	}
	if !nearRole(window) {
		return end - 1
	}
	for _, re := range roleBefore {
		if re.MatchString(window) {
			replace(i, end, " – ")
			break
		}
	}
	return end - 1
}

// beginsLine reports whether only blanks stand before a place in its line.
func (t *text) beginsLine(i int) bool {
	before := strings.TrimRight(t.folded[:i], " ")
	return before == "" || strings.HasSuffix(before, "\n") || strings.HasSuffix(before, `\n`)
}

// mostName is how many characters of a speaker's name are shown.
const mostName = 80

var reRoleName = regexp.MustCompile(`(?:^|[^\p{L}])(?:` + frameWords + `|` + foldedWords(otherRoles) + `)[^\p{L}\p{N}]*$|(?:` + hanFrames + `|` + hanSteps + `)[^\p{L}\p{N}]*$`)

// ownNames are the roles by which a turn without a name is shown.
var ownNames = []string{"user", "assistant", "tool", "function"}

// speaker is how the name of whoever speaks is shown before the colon. Names that read as those of roles are told from
// them; that of the turn's own role is one, unless it is none that a turn has: an import may bring any.
func speaker(t *store.Turn) string {
	name := inline(t.Speaker)
	if rs := []rune(name); len(rs) > mostName {
		name = strings.TrimSpace(string(rs[:mostName])) + "…"
	}
	own := slices.Contains(ownNames, name) && (name == t.Role || t.Role == "" && (name == "user" || name == "assistant"))
	if !own && reRoleName.MatchString(clean(name).folded) {
		name += " (name)"
	}
	return name
}

// lookahead is how far a tag's name is searched for behind a "<".
const lookahead = 48

// quotesLikeTags are opening quotation marks and other characters that stand for a "<" before the frame's name only.
const quotesLikeTags = "«≪⟪《⪡⋘≤≦⩽⋖⦑⊂{"

// imitatesTag reports whether what follows a "<" reads as the frame's name, whatever its case, width and the blanks,
// slashes and marks in it.
func imitatesTag(rest []rune) bool {
	const name = "evoke"
	at := 0
	for i, r := range rest {
		if i == lookahead {
			return false
		}
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.M, r) || strings.ContainsRune(`/\／-_#=*`, r) {
			continue
		}
		folded := fold(r)
		if folded == "" || !strings.HasPrefix(name[at:], folded) {
			return false
		}
		if at += len(folded); at == len(name) {
			return true
		}
	}
	return false
}
