package extract_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"evoke/extract"
	"evoke/extract/message"
)

// Whatever the text: every message is kept or dropped, once; what is kept is text, not longer than what was said but for
// the note of what stood beside it, and going over it again changes no more than it did.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{
		"I uploaded report.pdf, and I live in Berlin.", "附件里的预算是5000元", "<uploads>a</uploads> hi", "[Uploaded file: a.pdf]\nhello",
		"see the attached file, a.pdf and b.pdf", "我上传了报告.pdf，我住在柏林", "- [2026-01-02 semantic] Ann: likes tea", "\x00\xff", "附件", "here is a.b",
	} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(3))
	}
	roles := []message.Role{message.User, message.Assistant, message.System, message.Tool}
	f.Fuzz(func(t *testing.T, s string, pick uint8) {
		clean, err := message.Clean([]message.Message{{Role: roles[pick%4], Content: s}, {Role: message.Assistant, Content: "ok", ToolCalls: int(pick>>4) % 2}}, nil)
		if err != nil {
			t.Skip("not a conversation: ", err)
		}
		opts := extract.FilterOptions{ToolSummaries: pick&4 != 0, FindEchoes: findLines, Known: map[string]bool{"known": true}}
		turns, dropped := extract.Filter(clean, opts)
		if len(turns)+len(dropped) != len(clean) {
			t.Fatalf("%d kept and %d dropped of %d", len(turns), len(dropped), len(clean))
		}
		for _, turn := range turns {
			if turn.Content == "" || !utf8.ValidString(turn.Content) || len(turn.Content) > len(clean[turn.Index].Content)+len("…") {
				t.Fatalf("kept %q of %q", turn.Content, clean[turn.Index].Content)
			}
		}
	})
}

// findLines takes lines that begin with "= " for echoes of stored ones when "known" is in them.
func findLines(s string) []extract.Echo {
	var out []extract.Echo
	at := 0
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, "= ") {
			out = append(out, extract.Echo{Start: at, End: at + len(line), Key: strings.TrimSpace(line[2:])})
		}
		if strings.HasPrefix(line, "=frame") {
			out = append(out, extract.Echo{Start: at, End: at + len(line)})
		}
		at += len(line)
	}
	return out
}

func TestEchoesOfStoredItemsGo(t *testing.T) {
	known := map[string]bool{"a": true, "b": true}
	for _, c := range []struct{ in, want string }{
		{"= a\n= b", ""},
		{"= a\nhello\n= b", "hello"},
		{"= a\n= c\nhello", "hello"}, // c was erased meanwhile
		{"= c\nhello", "= c\nhello"},
		{"=frame\n= a\n=frame\nhello", "hello"},
		{"=frame", ""},
		{"=frame\nhello", "=frame\nhello"},
		{"=frame\n= c", "=frame\n= c"},
		{"hello", "hello"},
	} {
		turns, dropped := extract.Filter([]message.Message{user(c.in)}, extract.FilterOptions{FindEchoes: findLines, Known: known})
		got := ""
		if len(turns) == 1 {
			got = turns[0].Content
		} else if dropped[0].Reason != extract.DropEcho {
			t.Errorf("%q: dropped as %s", c.in, dropped[0].Reason)
		}
		if got != c.want {
			t.Errorf("%q: left %q, want %q", c.in, got, c.want)
		}
	}
}

func TestRulesCanBeSwitchedOff(t *testing.T) {
	for _, c := range []struct {
		off  extract.Reason
		msg  message.Message
		want string
	}{
		{extract.DropSystem, message.Message{Role: message.System, Content: "s"}, "s"},
		{extract.DropTool, toolResult, "42"},
		{extract.DropHidden, message.Message{Role: message.User, Content: "h", Hidden: true}, "h"},
		{extract.DropInjected, user("<<memory>>"), "<<memory>>"},
		{extract.DropEcho, user("= known"), "= known"},
		{extract.DropUpload, user("<uploads>x</uploads>"), "<uploads>x</uploads>"},
		{extract.DropMention, user("I uploaded report.pdf"), "I uploaded report.pdf"},
		{extract.DropEmpty, user(""), ""},
		{extract.DropToolCall, toolCall(""), ""},
	} {
		opts := extract.FilterOptions{
			StripInjected: func(s string) string { return strings.ReplaceAll(s, "<<memory>>", "") },
			FindEchoes:    findLines, Known: map[string]bool{"known": true},
		}
		turns, dropped := extract.Filter([]message.Message{c.msg}, opts)
		if len(turns) != 0 || dropped[0].Reason != c.off {
			t.Errorf("%s: kept %v, dropped %v", c.off, turns, dropped)
		}
		opts.Off = []extract.Reason{c.off}
		turns, _ = extract.Filter([]message.Message{c.msg}, opts)
		switch {
		case c.want == "" && len(turns) > 0:
			t.Errorf("%s switched off: a turn without text: %v", c.off, turns)
		case c.want != "" && (len(turns) != 1 || turns[0].Content != c.want):
			t.Errorf("%s switched off: kept %v", c.off, turns)
		}
	}
}

// Each rule is a value that can be tried alone.
func TestEveryRuleAlone(t *testing.T) {
	seen := map[extract.Reason]bool{}
	for _, r := range extract.Rules() {
		if r.Name == "" || seen[r.Name] {
			t.Errorf("two rules named %q", r.Name)
		}
		seen[r.Name] = true
		d := extract.NewDraft(user("I live in Berlin."))
		if r.Drop(d) || d.Content != "I live in Berlin." {
			t.Errorf("%s: takes from what says nothing of it: %q", r.Name, d.Content)
		}
	}
}

func TestToolSummaries(t *testing.T) {
	long := strings.Repeat("Regen in Berlin, 12 Grad.\n", 500)
	msgs := []message.Message{user("weather?"), toolCall(""), {Role: message.Function, Name: "weather", Content: long}, {Role: message.Tool, Content: "= known"}, assistant("rain")}
	turns, dropped := extract.Filter(msgs, extract.FilterOptions{ToolSummaries: true, FindEchoes: findLines, Known: map[string]bool{"known": true}})
	if len(turns) != 3 || len(dropped) != 2 || dropped[1].Reason != extract.DropEcho {
		t.Fatalf("kept %v, dropped %v", turns, dropped)
	}
	s := turns[1]
	if s.Message.Role != message.Tool || s.Message.Name != "weather" || strings.ContainsAny(s.Content, "\n") || utf8.RuneCountInString(s.Content) > 240 ||
		!strings.HasPrefix(s.Content, "Regen in Berlin, 12 Grad. Regen") || !strings.HasSuffix(s.Content, "…") {
		t.Errorf("%+v", s)
	}
	if turns, _ := extract.Filter(msgs, extract.FilterOptions{}); len(turns) != 2 {
		t.Errorf("tools are kept unasked: %v", turns)
	}
}
