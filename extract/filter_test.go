package extract_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/message"
)

func user(s string) message.Message { return message.Message{Role: message.User, Content: s} }
func assistant(s string) message.Message {
	return message.Message{Role: message.Assistant, Content: s}
}
func toolCall(s string) message.Message {
	return message.Message{Role: message.Assistant, Content: s, ToolCalls: 1}
}

var toolResult = message.Message{Role: message.Tool, Content: "42"}

func TestFilterKeepsUserAndFinalAssistantTurns(t *testing.T) {
	hidden := user("secret plan")
	hidden.Hidden = true
	image := user("what is this?")
	image.Media = []message.Medium{message.Image, message.File, message.Image}
	only := message.Message{Role: message.User, Media: []message.Medium{message.Image}}

	for _, c := range []struct {
		name    string
		in      []message.Message
		kept    []string
		dropped []extract.Dropped
	}{
		{"a plain chat", []message.Message{user("a"), assistant("b")}, []string{"a", "b"}, nil},
		{"nothing", nil, nil, nil},
		{"instructions to the model", []message.Message{{Role: message.System, Content: "s"}, {Role: message.Developer, Content: "d"}, user("a")}, []string{"a"},
			[]extract.Dropped{{Index: 0, Reason: extract.DropSystem}, {Index: 1, Reason: extract.DropSystem}}},
		{"tools", []message.Message{user("a"), toolCall(""), toolResult, toolCall("let me look again"), toolResult, assistant("b")}, []string{"a", "b"},
			[]extract.Dropped{{Index: 1, Reason: extract.DropToolCall}, {Index: 2, Reason: extract.DropTool}, {Index: 3, Reason: extract.DropIntermediate}, {Index: 4, Reason: extract.DropTool}}},
		{"a hidden note between call and result", []message.Message{assistant("let me see"), hidden, toolResult, assistant("b")}, []string{"b"},
			[]extract.Dropped{{Index: 0, Reason: extract.DropIntermediate}, {Index: 1, Reason: extract.DropHidden}, {Index: 2, Reason: extract.DropTool}}},
		{"a call after the final words", []message.Message{user("a"), toolCall("done, and noted"), user("thanks")}, []string{"a", "done, and noted", "thanks"}, nil},
		{"a call whose result is not here", []message.Message{toolCall("one moment"), assistant("b")}, []string{"b"}, []extract.Dropped{{Index: 0, Reason: extract.DropIntermediate}}},
		{"two answers in a row", []message.Message{user("a"), assistant("b"), assistant("c")}, []string{"a", "b", "c"}, nil},
		{"empty", []message.Message{user(""), only, user("a")}, []string{"a"}, []extract.Dropped{{Index: 0, Reason: extract.DropEmpty}, {Index: 1, Reason: extract.DropEmpty}}},
		{"a picture with words", []message.Message{image}, []string{"what is this?\n[file]\n[image]"}, nil},
		{"uploads", []message.Message{user("<uploaded_files>\n/mnt/a.pdf\n</uploaded_files>"), user("sum it up <Current_Uploads n='1'>a</current_uploads>please")},
			[]string{"sum it up please"}, []extract.Dropped{{Index: 0, Reason: extract.DropUpload}}},
		{"uploads in Chinese", []message.Message{user("<上传文件>报告.pdf</上传文件>"), user("【已上传文件：报告.pdf】"), user("[附件: 表.xlsx]\n帮我总结")}, []string{"帮我总结"},
			[]extract.Dropped{{Index: 0, Reason: extract.DropUpload}, {Index: 1, Reason: extract.DropUpload}}},
		{"a bracketed note", []message.Message{user("[Uploaded file: a.pdf]\nhello")}, []string{"hello"}, nil},
		{"a block without an end stays", []message.Message{user("<uploads> I wrote this <uploads> by hand")}, []string{"<uploads> I wrote this <uploads> by hand"}, nil},
		{"other tags stay", []message.Message{user("<b>bold</b> [1] 【注】")}, []string{"<b>bold</b> [1] 【注】"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			turns, dropped := extract.Filter(c.in, extract.FilterOptions{})
			var kept []string
			for _, turn := range turns {
				kept = append(kept, turn.Content)
			}
			if d := cmp.Diff(c.kept, kept); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.dropped, dropped); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFilterStripsWhatEvokeInjected(t *testing.T) {
	strip := func(s string) string { return strings.ReplaceAll(s, "<<memory>>", "") }
	turns, dropped := extract.Filter([]message.Message{user("<<memory>> hello"), user(" <<memory>> ")}, extract.FilterOptions{StripInjected: strip})
	if len(turns) != 1 || turns[0].Content != "hello" {
		t.Errorf("turns %+v", turns)
	}
	if d := cmp.Diff([]extract.Dropped{{Index: 1, Reason: extract.DropInjected}}, dropped); d != "" {
		t.Error(d)
	}
}

// Eight times the text takes some eight times as long, where the square would take sixty-four times: told from each
// other on a slow machine too.
func TestStrippingIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("its clock means nothing under the race detector; it runs without -short")
	}
	for _, unit := range []string{"<uploads>", "</uploads>", "<uploads></", "[附件", "<uploads ", "[uploaded file ",
		"I uploaded ", "the attached file, ", "I uploaded a.pdf and ", "附件", "我上传了", "attached", "我上传了报告.pdf，"} {
		took := func(n int) time.Duration {
			s := strings.Repeat(unit, n/len(unit))
			start := time.Now()
			extract.Filter([]message.Message{user(s)}, extract.FilterOptions{})
			return time.Since(start)
		}
		small, large := took(1<<17), took(1<<20)
		if large > 40*small && large > 2*time.Second {
			t.Errorf("%q: %v for 128 KiB and %v for 1 MiB", unit, small, large)
		}
	}
}
