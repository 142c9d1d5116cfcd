package foreign_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
	"evoke/store/lifecycle/foreign"
)

// read returns each line in short, and each error of an entry.
func read(t *testing.T, f foreign.Format, text string) (got []string, err error) {
	t.Helper()
	for line, lineErr := range foreign.Lines(f, strings.NewReader(text)) {
		var bad *foreign.EntryError
		switch {
		case errors.As(lineErr, &bad):
			got = append(got, fmt.Sprintf("%d bad", bad.Entry))
			continue
		case lineErr != nil:
			return got, lineErr
		}
		var it struct {
			store.Item
			User string `json:"user"`
		}
		if err := json.Unmarshal(line.JSON, &it); err != nil {
			t.Fatal(err)
		}
		s := fmt.Sprintf("%d %s|%s|%s|%s", line.Entry, it.ID, it.Kind, it.Content, it.ValidFrom.Format(time.RFC3339))
		if it.Category != "" {
			s += "|" + string(it.Category)
		}
		if it.User != "" {
			s += "|user " + it.User
		}
		if it.Turn.IsTurn() {
			s += fmt.Sprintf("|%d %s", it.Turn.Position, it.Turn.Role)
		}
		if it.IsProfile() {
			s += "|profile"
		}
		got = append(got, s)
	}
	return got, nil
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name   string
		format foreign.Format
		text   string
		want   []string
	}{
		{
			"deer-flow", foreign.DeerFlow, `{"version":"1.0","lastUpdated":"2026-03-01T10:00:00Z",
"user":{"workContext":{"summary":"Builds bridges.","updatedAt":"2026-03-01T10:00:00Z"},"personalContext":{"summary":"","updatedAt":""},"topOfMind":{}},
"history":{"longTermBackground":{"summary":"长大在成都。","updatedAt":"2026-02-01T00:00:00.123456Z"}},
"facts":[{"id":"fact_1","content":"Likes tea","category":"preference","confidence":0.9,"createdAt":"2026-01-02T03:04:05Z","source":"th1"},
{"id":7,"content":"x"},{"id":"fact_2","content":"Moves house","category":"plan","confidence":0.5,"createdAt":1767323045.5,"source":"th2"}]}`,
			[]string{
				"1 deer-flow:profile:work|semantic|Builds bridges.|2026-03-01T10:00:00Z|profile",
				"6 deer-flow:profile:long_term|semantic|长大在成都。|2026-02-01T00:00:00Z|profile",
				"7 deer-flow:fact_1|semantic|Likes tea|2026-01-02T03:04:05Z|preference",
				"8 bad",
				"9 deer-flow:fact_2|semantic|Moves house|2026-01-02T03:04:05Z",
			},
		},
		{
			"memory registry", foreign.Registry, `{"id":"m1","type":"procedural","content":"Run the tests first","metadata":{"tags":["ci"],"deep":{"a":1}},"created_at":"2026-01-02 03:04:05","updated_at":"2026-01-03 03:04:05","access_count":3,"importance":0.8}
not json

{"id":"m2","type":"note","content":"记住买茶","metadata":null,"created_at":1767323045,"updated_at":0,"access_count":0,"importance":0.2}
{"id":"m3","type":"semantic","content":"half a li`,
			[]string{
				"1 memory-registry:m1|procedural|Run the tests first|2026-01-03T03:04:05Z", "2 bad",
				"4 memory-registry:m2|semantic|记住买茶|2026-01-02T03:04:05Z", "5 bad",
			},
		},
		{
			"mem0", foreign.Mem0, `{"total":2,"results":[{"id":"a1","memory":"Is a vegetarian","hash":"h","metadata":null,"created_at":"2026-01-02T03:04:05.678-08:00","updated_at":null,
"user_id":"alice","categories":["food"]},{"id":"a2","memory":{"nested":true}},{"memory":"no id","user_id":"bob"}]}`,
			[]string{
				"1 mem0:a1|semantic|Is a vegetarian|2026-01-02T11:04:05Z|user alice", "2 bad",
				"3 mem0:" + store.ContentKey(store.Semantic, "no id") + "|semantic|no id|0001-01-01T00:00:00Z|user bob",
			},
		},
		{
			"chatgpt", foreign.ChatGPT, `[{"title":"Tea","create_time":1767323045,"conversation_id":"c1","current_node":"n4","mapping":{
"n0":{"id":"n0","message":null,"parent":null,"children":["n1"]},
"n1":{"id":"n1","message":{"id":"n1","author":{"role":"system"},"content":{"content_type":"text","parts":[""]}},"parent":"n0"},
"n2":{"id":"n2","message":{"id":"n2","author":{"role":"user"},"create_time":1767323046.5,"content":{"content_type":"multimodal_text","parts":[{"asset_pointer":"x"},"Which tea?"]}},"parent":"n1"},
"n3a":{"id":"n3a","message":{"id":"n3a","author":{"role":"assistant"},"content":{"content_type":"text","parts":["edited away"]}},"parent":"n2"},
"n3t":{"id":"n3t","message":{"id":"n3t","author":{"role":"tool"},"content":{"content_type":"text","parts":["tool"]}},"parent":"n2"},
"n4":{"id":"n4","message":{"id":"n4","author":{"role":"assistant"},"create_time":null,"content":{"content_type":"text","parts":["Longjing."]}},"parent":"n3t"}}},
{"title":"loop","conversation_id":"c2","current_node":"x","mapping":{"x":{"parent":"y"},"y":{"parent":"x"}}},
{"title":"no messages","conversation_id":"c3"}, 5]`,
			[]string{
				"1 chatgpt:c1:n2|episodic|Which tea?|2026-01-02T03:04:06Z|0 user", "1 chatgpt:c1:n4|episodic|Longjing.|2026-01-02T03:04:05Z|1 assistant",
				"3 bad", "4 bad",
			},
		},
		{
			"claude", foreign.Claude, `[{"uuid":"u1","name":"Tea","created_at":"2026-01-02T03:04:05.000000Z","chat_messages":[
{"uuid":"m1","text":"old form","sender":"human","created_at":"2026-01-02T03:04:06Z"},
{"uuid":"m2","text":"","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"龙井。"}],"sender":"assistant"},
{"uuid":"m3","text":" ","sender":"human"},{"uuid":"m4","text":"thanks","sender":"human"}]},{"name":"no id"}]`,
			[]string{
				"1 claude:u1:m1|episodic|old form|2026-01-02T03:04:06Z|0 user", "1 claude:u1:m2|episodic|龙井。|2026-01-02T03:04:05Z|1 assistant",
				"1 claude:u1:m4|episodic|thanks|2026-01-02T03:04:05Z|2 user", "2 bad",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(t, tt.format, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOtherFormats(t *testing.T) {
	for _, tt := range []struct {
		format foreign.Format
		text   string
	}{
		{foreign.DeerFlow, `[]`},
		{foreign.DeerFlow, `{"results":[]}`},
		{foreign.DeerFlow, `{"facts":[`},
		{foreign.Mem0, `{"facts":[]}`},
		{foreign.Mem0, `{"results":5}`},
		{foreign.ChatGPT, ``},
		{foreign.ChatGPT, `[{"title":"cut o`},
		{foreign.Claude, `"text"`},
		{"winamp", `{}`},
	} {
		if got, err := read(t, tt.format, tt.text); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s %s: %v, error %v", tt.format, tt.text, got, err)
		}
	}
}

// An entry without an end does not fill the memory.
func TestLargeEntry(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`[{"uuid":"`), &repeated{left: 2 * foreign.MaxEntry})
	for _, err := range foreign.Lines(foreign.Claude, endless) {
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("error %v", err)
		}
	}
}

type repeated struct{ left int }

func (r *repeated) Read(p []byte) (int, error) {
	if r.left -= len(p); r.left <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestStops(t *testing.T) {
	n := 0
	for range foreign.Lines(foreign.Registry, strings.NewReader("{\"content\":\"a\"}\n{\"content\":\"b\"}\n")) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d lines", n)
	}
}

func FuzzLines(f *testing.F) {
	f.Add(0, `{"facts":[{"id":"a","content":"b"}]}`)
	f.Add(3, `[{"conversation_id":"c","current_node":"n","mapping":{"n":{"message":{"id":"n","author":{"role":"user"},"content":{"content_type":"text","parts":["x"]}}}}}]`)
	f.Add(4, `[{"uuid":"u","chat_messages":[{"uuid":"m","text":"t","sender":"human"}]}]`)
	f.Fuzz(func(t *testing.T, format int, text string) {
		formats := foreign.Formats()
		for line, err := range foreign.Lines(formats[uint(format)%uint(len(formats))], strings.NewReader(text)) {
			if err == nil && !json.Valid(line.JSON) {
				t.Errorf("a line that is not JSON: %s", line.JSON)
			}
		}
	})
}
