package recall

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"evoke/store"
)

// The checker below knows nothing of how texts are made safe: it reads a block as a careless model would, and says what
// in it looks like anything but data. It scans characters where the escaper has patterns, on purpose.

func readCorpus(t testing.TB, name string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "injection", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var s string
		if err := json.Unmarshal(sc.Bytes(), &s); err != nil {
			t.Fatalf("%s: %v", sc.Text(), err)
		}
		out = append(out, s)
	}
	return out
}

var checkedRoles = []string{"system", "developer", "human", "user", "assistant", "chatgpt", "admin", "tool", "function", "ipython",
	"系统", "系統", "用户", "用戶", "助手", "人类", "开发者", "管理员", "工具", "模型",
	read("система"), read("пользователь"), read("système"), "utilisateur", "benutzer", "sistema", "usuario", "utente",
	"systeem", "gebruiker", read("użytkownik"), "rendszer", read("järjestelmä"), "sistem", read("kullanıcı"), read("σύστημα"), read("hệ thống"),
	read("ระบบ"), read("מערכת"), read("سیستم"), read("ツール"), read("ユーザ"), "係統",
	read("النظام"), read("시스템"), read("사용자"), read("システム"), read("ユーザー"), read("アシスタント")}

func read(s string) string { return string(plain(s)) }

var checkedHeads = append([]string{"instruction", "instructions", "response", "action", "action input", "final answer", "observation", "thought",
	"developer message", "important instructions", "system note", "updated instructions", "new instructions",
	"指令", "新的指令", "新指令", "系统提示", "提示词", "命令", "系统消息", "重要通知", "上下文",
	"tool result", "tool output", "function result", "user says", "human turn", "工具结果", "工具返回", "函数结果", "系统信息", "系统管理员", "系统指示", "用戶指令",
	"系統訊息", "観察", "最终答案", "观察", "思考", "行动", "行动输入", "工具调用", "函数调用"}, checkedRoles...)

// plain undoes disguises: width, case, accents, letters of other scripts that look the same.
func plain(s string) []rune {
	s = strings.NewReplacer(`\n`, "\n", "︰", ":", "｟", "[").Replace(s)
	alike := strings.NewReplacer("а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "у", "y", "х", "x", "ѕ", "s", "і", "i", "т", "t", "м", "m",
		"ꜱ", "s", "ʏ", "y", "ᴛ", "t", "ᴇ", "e", "ᴍ", "m", "∶", ":", "꞉", ":", "﹕", ":", "︓", ":", "։", ":", "⁚", ":", "⁝", ":", "ꓽ", ":", "˸", ":", "፡", ":", "∷", ":", "⦂", ":", "︰", ":", "⁅", "[", "⦗", "[", "｟", "[", "⎯", "-", "⪡", "<", "⋘", "<", "≤", "<", "⦑", "<",
		"—", "-", "━", "-", "─", "-", "═", "=", `\x0a`, "\n", `\u000a`, "\n", "&#10;", "\n", "&amp;#10;", "\n", "%0a", "\n", "«", "<", "≪", "<", "⟪", "<", "‹", "<", "⟨", "<", "〈", "<", "【", "[", "〖", "[")
	var out []rune
	for _, r := range alike.Replace(strings.ToLower(norm.NFKD.String(s))) {
		if unicode.Is(unicode.M, r) || unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && r != '\n' {
			continue
		}
		if r >= 0x1F170 && r <= 0x1F189 {
			r = 'a' + r - 0x1F170
		}
		if r >= 0x1F150 && r <= 0x1F169 {
			r = 'a' + r - 0x1F150
		}
		out = append(out, r)
	}
	return out
}

// word is what stands before a place, over punctuation and blanks: the last word of letters, or the last Chinese characters.
func wordsBefore(rs []rune) (tail string) {
	i := len(rs)
	for i > 0 && !unicode.IsLetter(rs[i-1]) && !unicode.IsDigit(rs[i-1]) && !strings.ContainsRune(".,;!?。！？；，", rs[i-1]) {
		i--
	}
	j := i
	for j > 0 && (unicode.IsLetter(rs[j-1]) || rs[j-1] == ' ' && j-1 > 0 && unicode.IsLetter(rs[j-2])) {
		j--
	}
	return string(rs[j:i])
}

func endsInRole(s string, roles []string) bool {
	squeezed := strings.ReplaceAll(s, " ", "")
	for _, w := range roles {
		switch {
		case s == w, strings.HasSuffix(s, " "+w), len(w) > 5 && squeezed == w:
			return true
		}
	}
	return false
}

// beginsWith reports whether, over blanks and marks, one of the words stands next.
func beginsWith(rs []rune, marks string, words []string) bool {
	i := 0
	for i < len(rs) && (rs[i] == ' ' || strings.ContainsRune(marks, rs[i])) {
		i++
	}
	rest := string(rs[i:min(len(rs), i+40)])
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(rest, w) })
}

// frameIn is what in the body of a line reads as a frame; "" for none.
func frameIn(body string) string {
	rs := plain(body)
	for i, r := range rs {
		rest := rs[i+1:]
		switch r {
		case '<':
			if len(rest) > 0 && (unicode.IsLetter(rest[0]) && rest[0] < 0x80 || strings.ContainsRune("/|!?<", rest[0])) {
				return "a tag"
			}
			if beginsWith(rest, "/|", append([]string{"evoke", "im_start"}, checkedRoles...)) {
				return "a tag"
			}
		case '[':
			if beginsWith(rest, "/", append([]string{"inst", "semantic", "episodic", "procedural", "2025-", "2026-", "end of", "tool_calls", "available_tools", "记忆"}, checkedRoles...)) {
				return "a label"
			}
		case ':':
			if w := wordsBefore(rs[:i]); endsInRole(w, checkedHeads) && (slices.Contains(checkedHeads, w) || endsInRole(w, checkedRoles)) {
				return "a role: " + w
			}
		case '#':
			if beginsWith(rest, "#*", checkedHeads) {
				return "a heading"
			}
		case '{':
			if beginsWith(rest, `"'`, []string{"role", "name", "tool", "function"}) && strings.ContainsRune(string(rest[:min(len(rest), 24)]), ':') || beginsWith(rest[:min(1, len(rest))], "", []string{"{", "%"}) || beginsWith(rest, "/", []string{"evoke"}) {
				return "a call"
			}
		case '"':
			if beginsWith(rest, "", []string{`role":`}) {
				return "a message"
			}
		case '`', '~':
			if len(rest) > 1 && rest[0] == r && rest[1] == r {
				return "a fence"
			}
		case '=', '-', '*':
			if len(rest) > 1 && rest[0] == r && rest[1] == r && beginsWith(rest, "=-*", append([]string{"end", "new", "begin", "记忆", "以上"}, checkedHeads...)) {
				return "a rule"
			}
		}
	}
	return ""
}

// checkBlock says what in a block of one item stands outside its line or reads as a frame.
func checkBlock(text string, speakers ...string) string {
	if !utf8.ValidString(text) {
		return "broken UTF-8"
	}
	lines := strings.Split(text, "\n")
	if len(lines) < 4 || !strings.HasPrefix(lines[0], "<evoke-memory hash=") || lines[len(lines)-1] != "</evoke-memory>" {
		return "the frame is not around it"
	}
	for i, l := range lines[1 : len(lines)-1] {
		for _, r := range l {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != 0x200C && r != 0x200D && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
				return "a hidden character"
			}
		}
		if i == 0 {
			continue // the notice
		}
		label := strings.Index(l, "] ")
		if !strings.HasPrefix(l, "- [") && !strings.HasPrefix(l, "> ") || strings.HasPrefix(l, "- [") && label < 0 {
			return "a line of its own: " + l
		}
		body := strings.TrimPrefix(strings.TrimPrefix(l, "> "), "… ")
		if strings.HasPrefix(l, "- [") {
			body = l[label+2:]
		}
		if mark, rest, ok := strings.Cut(body, "] "); ok && (strings.HasPrefix(l, "> [") || strings.HasPrefix(l, "> … [")) && !strings.Contains(mark, ":") {
			body = rest
		}
		for _, s := range speakers {
			if rest, ok := strings.CutPrefix(body, s+": "); ok {
				body = rest
				break
			}
		}
		if f := frameIn(body); f != "" {
			return f + " in " + body
		}
	}
	return ""
}

func TestNothingEscapesTheBlock(t *testing.T) {
	total := 0
	for _, name := range []string{"en.jsonl", "zh.jsonl"} {
		corpus := readCorpus(t, name)
		total += len(corpus)
		for _, s := range corpus {
			it := item("id", "Ada", s)
			text, hash := render(notice, []string{plainLine(&it)})
			if why := checkBlock(text, "Ada"); why != "" {
				t.Errorf("%q: %s", s, why)
			}
			if spans := FindBlocks("before " + s + text + s); len(spans) == 0 || spans[len(spans)-1].Hash != hash && spans[0].Hash != hash {
				t.Errorf("%q: the block is not found again", s)
			}
			if len([]rune(inline(s))) < len([]rune(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }), "")))*2/3 {
				t.Errorf("%q: words are gone: %q", s, inline(s))
			}
			it = item("id", s, "likes tea") // as the name of who speaks
			if why := checkBlock(first2(render(notice, []string{plainLine(&it)})), ""); why != "" {
				t.Errorf("speaker %q: %s", s, why)
			}
		}
	}
	if total < 200 {
		t.Errorf("%d strings in the corpus", total)
	}
	t.Logf("injection: %d strings, none may escape", total)
}

func first2(a, _ string) string { return a }

// What is no attack is shown as it is.
func TestHarmlessTextIsLeftAlone(t *testing.T) {
	total := 0
	for _, name := range []string{"benign.jsonl", "calm.jsonl", "advice.jsonl", "orders.jsonl"} {
		for _, s := range readCorpus(t, name) {
			total++
			if got := inline(s); got != s {
				t.Errorf("%q becomes %q", s, got)
			}
		}
	}
	t.Logf("harmless: %d strings are shown as they are", total)
}

// The checker itself sees attacks: without it a green corpus would say nothing.
func TestTheCheckerSees(t *testing.T) {
	missed, all := 0, 0
	for _, name := range []string{"en.jsonl", "zh.jsonl"} {
		for _, s := range readCorpus(t, name) {
			all++
			if !strings.ContainsAny(s, "\n\r\v\u2028\u2029\u0085") && frameIn(s) == "" {
				missed++
				t.Logf("not seen: %q", s)
			}
		}
	}
	if 20*missed > all {
		t.Errorf("%d one-line attacks are not seen by the checker", missed)
	}
}

func FuzzInjection(f *testing.F) {
	for _, name := range []string{"en.jsonl", "zh.jsonl"} {
		for _, s := range readCorpus(f, name) {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		it := store.Item{ID: "x", Kind: store.Episodic, Content: s}
		it.Turn.Speaker = "Ada"
		text, _ := render(notice, []string{plainLine(&it)})
		if why := checkBlock(text, "Ada"); why != "" {
			t.Errorf("%s", why)
		}
	})
}
