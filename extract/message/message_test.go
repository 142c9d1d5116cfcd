package message_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"evoke/extract/message"
	"evoke/store"
)

func TestParseReadsTheChatFormat(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     message.Message
	}{
		{"plain", `{"role":"user","content":"hi","name":"Ann","id":"m1","time":"2026-03-01T09:30:00+02:00"}`,
			message.Message{ID: "m1", Role: message.User, Name: "Ann", Content: "hi", Time: time.Date(2026, 3, 1, 7, 30, 0, 0, time.UTC)}},
		{"parts", `{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}},{"type":"text","text":"b"},{"type":"input_audio"},{"type":"file"},{"type":"new_thing"}]}`,
			message.Message{Role: message.User, Content: "a\nb", Media: []message.Medium{message.Image, message.Audio, message.File, message.Attachment}}},
		{"bare strings among parts", `{"role":"user","content":["a",{"text":"b"},null]}`, message.Message{Role: message.User, Content: "a\nb"}},
		{"one part", `{"role":"user","content":{"type":"input_text","text":"a"}}`, message.Message{Role: message.User, Content: "a"}},
		{"null content", `{"role":"user","content":null}`, message.Message{Role: message.User}},
		{"tool calls", `{"role":"assistant","content":null,"tool_calls":[{"id":"1"},{"id":"2"}]}`, message.Message{Role: message.Assistant, ToolCalls: 2}},
		{"tool calls, no content", `{"role":"assistant","tool_calls":[{"id":"1"}]}`, message.Message{Role: message.Assistant, ToolCalls: 1}},
		{"empty tool calls", `{"role":"assistant","content":"x","tool_calls":[],"function_call":null}`, message.Message{Role: message.Assistant, Content: "x"}},
		{"function call", `{"role":"assistant","function_call":{"name":"f"}}`, message.Message{Role: message.Assistant, ToolCalls: 1}},
		{"tool use part", `{"role":"assistant","content":[{"type":"tool_use"},{"type":"thinking","thinking":"hm"}]}`, message.Message{Role: message.Assistant, ToolCalls: 1}},
		{"tool result", `{"role":"tool","content":"42","tool_call_id":7}`, message.Message{Role: message.Tool, Content: "42", ToolCallID: "7"}},
		{"refusal", `{"role":"assistant","content":null,"refusal":"I cannot."}`, message.Message{Role: message.Assistant, Content: "I cannot."}},
		{"refusal part", `{"role":"assistant","content":[{"type":"refusal","refusal":"No."}]}`, message.Message{Role: message.Assistant, Content: "No."}},
		{"spoken answer", `{"role":"assistant","content":null,"audio":{"id":"a","transcript":"Hello"}}`, message.Message{Role: message.Assistant, Content: "Hello", Media: []message.Medium{message.Audio}}},
		{"hidden", `{"role":"user","content":"x","hide_from_ui":true}`, message.Message{Role: message.User, Content: "x", Hidden: true}},
		{"hidden in kwargs", `{"role":"user","content":"x","additional_kwargs":{"hide_from_ui":"true"}}`, message.Message{Role: message.User, Content: "x", Hidden: true}},
		{"hidden in metadata", `{"role":"user","content":"x","metadata":{"hidden":1}}`, message.Message{Role: message.User, Content: "x", Hidden: true}},
		{"not hidden", `{"role":"user","content":"x","hidden":false,"metadata":{"internal":"no"}}`, message.Message{Role: message.User, Content: "x"}},
		{"numbers for strings", `{"role":"user","content":42,"name":7,"id":12345678901234567890,"time":1772357400}`,
			message.Message{ID: "12345678901234567890", Role: message.User, Name: "7", Content: "42", Time: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)}},
		{"role in capitals", `{"role":" User ","content":"x"}`, message.Message{Role: message.User, Content: "x"}},
		{"lone surrogate and NUL", `{"role":"user","content":"a\ud83db\u0000c"}`, message.Message{Role: message.User, Content: "a\ufffdbc"}},
		{"broken bytes", "{\"role\":\"user\",\"content\":\"a\xffb\"}", message.Message{Role: message.User, Content: "a\ufffdb"}},
		{"unknown fields", `{"role":"developer","content":"x","weird":{"a":[1]}}`, message.Message{Role: message.Developer, Content: "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, body := range []string{"[" + c.in + "]", ` {"messages": [` + c.in + `]}`, "\ufeff[" + c.in + "]"} {
				got, err := message.Parse([]byte(body), nil)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff([]message.Message{c.want}, got); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	const ok = `{"role":"user","content":"x"}`
	for _, c := range []struct{ name, in, field string }{
		{"unknown role", `[` + ok + `,{"role":"robot","content":"x"}]`, "messages[1].role"},
		{"missing role", `[{"content":"x"}]`, "messages[0].role"},
		{"null role", `[{"role":null,"content":"x"}]`, "messages[0].role"},
		{"number role", `[{"role":3,"content":"x"}]`, "messages[0].role"},
		{"empty role", `[{"role":"","content":"x"}]`, "messages[0].role"},
		{"missing content", `[{"role":"user"}]`, "messages[0].content"},
		{"missing content of an assistant", `[{"role":"assistant","tool_calls":[]}]`, "messages[0].content"},
		{"part is a number", `[{"role":"user","content":[1]}]`, "messages[0].content[0]"},
		{"text is a list", `[{"role":"user","content":[{"type":"text","text":[]}]}]`, "messages[0].content[0].text"},
		{"type is a list", `[{"role":"user","content":[{"type":[],"text":"x"}]}]`, "messages[0].content[0].type"},
		{"name is a list", `[{"role":"user","content":"x","name":[]}]`, "messages[0].name"},
		{"name holds a newline", `[{"role":"user","content":"x","name":"a\nb"}]`, "messages[0].name"},
		{"id too long", `[{"role":"user","content":"x","id":"` + strings.Repeat("x", 257) + `"}]`, "messages[0].id"},
		{"time without zone", `[{"role":"user","content":"x","time":"2026-03-01 09:30"}]`, "messages[0].time"},
		{"time is a list", `[{"role":"user","content":"x","time":[]}]`, "messages[0].time"},
		{"time out of range", `[{"role":"user","content":"x","time":1e300}]`, "messages[0].time"},
		{"year 0", `[{"role":"user","content":"x","time":"0000-01-01T00:00:00Z"}]`, "messages[0].time"},
		{"not an object", `["hi"]`, "messages[0]"},
		{"null message", `[null]`, "messages[0]"},
		{"empty body", ``, "messages"},
		{"a string", `"hi"`, "messages"},
		{"no list", `{"messages":"hi"}`, "messages"},
		{"no messages", `{}`, "messages"},
		{"cut off", `[{"role":"user"`, "messages"},
		{"object cut off", `{"messages":[`, "messages"},
		{"nested too deep", strings.Repeat("[", 20000), "messages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := message.Parse([]byte(c.in), nil)
			var f *store.FieldError
			if !errors.As(err, &f) || f.Field != c.field || !errors.Is(err, store.ErrInvalid) {
				t.Fatalf("got %v, want an error of %s", err, c.field)
			}
			if strings.HasSuffix(c.field, "role") && !strings.Contains(err.Error(), "system, developer, user, assistant, tool or function") {
				t.Errorf("the legal roles are not named: %v", err)
			}
		})
	}
}

func TestLimitsAreKeptAndNamed(t *testing.T) {
	list := func(n int) []byte {
		return []byte("[" + strings.TrimSuffix(strings.Repeat(`{"role":"user","content":"x"},`, n), ",") + "]")
	}
	if got, err := message.Parse(list(10_000), nil); err != nil || len(got) != 10_000 {
		t.Fatalf("10,000 messages: %d, %v", len(got), err)
	}
	if _, err := message.Parse(list(10_001), nil); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "10000") {
		t.Errorf("10,001 messages: %v", err)
	}
	if got, err := message.Parse([]byte("[]"), nil); err != nil || len(got) != 0 {
		t.Errorf("no messages: %v, %v", got, err)
	}
	big := func(n int) []byte {
		return []byte(`[{"role":"user","content":"` + strings.Repeat("x", n) + `"}]`)
	}
	if got, err := message.Parse(big(1<<20), nil); err != nil || len(got[0].Content) != 1<<20 {
		t.Errorf("1 MiB: %v", err)
	}
	for n, opts := range map[int]*message.Options{1<<20 + 1: nil, 11: {MaxMessageBytes: 10}} {
		if _, err := message.Parse(big(n), opts); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "messages[0].content") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for _, o := range []message.Options{{MaxMessages: -1}, {MaxMessageBytes: -1}} {
		if _, err := message.Parse(list(1), &o); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
		if _, err := message.Clean(nil, &o); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestCleanRepairsACopy(t *testing.T) {
	in := []message.Message{{Role: "USER", Content: " a\x00\xff ", Name: " Ann "}}
	got, err := message.Clean(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]message.Message{{Role: message.User, Content: "a\ufffd", Name: "Ann"}}, got); d != "" {
		t.Error(d)
	}
	if in[0].Role != "USER" {
		t.Error("the caller's slice was changed")
	}
	if _, err := message.Clean(make([]message.Message, 3), &message.Options{MaxMessages: 2}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("over the limit: %v", err)
	}
	if _, err := message.Clean([]message.Message{{Role: "x"}}, nil); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("unknown role: %v", err)
	}
}

func TestErrorsHoldNoContent(t *testing.T) {
	const secret = "my-secret-words"
	for _, in := range []string{`[{"role":"user","content":"` + secret, `[{"role":"user","content":{"type":["` + secret + `"]}}]`} {
		if _, err := message.Parse([]byte(in), nil); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%v", err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`[]`, `[{"role":"user","content":"a"}]`, `{"messages":[{"role":"tool","content":[{"type":"text","text":"\ud800"}]}]}`,
		`[{"role":"assistant","tool_calls":{"a":1},"audio":{"transcript":1},"time":-1e9}]`, "[\x00]", `[[[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		msgs, err := message.Parse(data, nil)
		if err != nil {
			if !errors.Is(err, store.ErrInvalid) {
				t.Fatalf("not an ErrInvalid: %v", err)
			}
			return
		}
		again, err := message.Clean(msgs, nil)
		if err != nil {
			t.Fatalf("what Parse accepts, Clean refuses: %v", err)
		}
		if d := cmp.Diff(msgs, again); d != "" {
			t.Fatal("cleaning twice changes a message: " + d)
		}
		for _, m := range msgs {
			if !utf8.ValidString(m.Content) || strings.ContainsRune(m.Content, 0) {
				t.Fatalf("unclean content %q", m.Content)
			}
		}
		if b, err := json.Marshal(msgs); err != nil || len(b) == 0 {
			t.Fatalf("cannot be written: %v", err)
		}
	})
}

func ExampleParse() {
	msgs, err := message.Parse([]byte(`[{"role": "user", "content": "hello", "name": "Ann"}]`), nil)
	fmt.Println(msgs[0].Name, msgs[0].Content, err)
	// Output: Ann hello <nil>
}
