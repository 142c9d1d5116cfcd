package reply_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"evoke/extract/llm/internal/reply"
	"evoke/store"
)

var expect = reply.Expect{
	Turns: map[string]bool{"t1": true, "t2": true, "t3": true},
	Known: map[string]bool{"k1": true, "k2": true},
}

// Two good operations, as they were asked for.
const (
	tea   = `{"action":"add","target":null,"kind":"semantic","category":"preference","content":"The user likes tea","quote":"I like tea","turn":"t1","speaker":"user","modality":"asserted","durability":"user","time":null,"precision":null,"confidence":0.9,"importance":0.6,"subject":"likes:tea","about":null}`
	moved = `{"action":"supersede","target":"k2","kind":"semantic","category":"context","content":"The user lives in Oslo","quote":"moved to Oslo","turn":"t2","speaker":"user","modality":"asserted","durability":"user","time":"2026-03","precision":"month","confidence":0.95,"importance":0.7,"subject":"home","about":null}`
)

// brief is what a test looks at of an operation.
func brief(ops []reply.Op) string {
	var out []string
	for _, o := range ops {
		out = append(out, strings.TrimRight(fmt.Sprint(o.Action, " ", o.Turn, " ", o.Target), " "))
	}
	return strings.Join(out, "; ")
}

func reasons(bad []reply.Bad) string {
	var out []string
	for _, b := range bad {
		out = append(out, string(b.Reason))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func with(op, old, new string) string {
	if !strings.Contains(op, old) {
		panic("no " + old)
	}
	return strings.Replace(op, old, new, 1)
}

const both = "add t1; supersede t2 k2"

var shapes = []struct {
	name, text, ops, bad string
}{
	{"as asked", `{"operations":[` + tea + `,` + moved + `]}`, both, ""},
	{"a list", `[` + tea + `,` + moved + `]`, both, ""},
	{"one object", tea, "add t1", ""},
	{"fence", "```json\n{\"operations\":[" + tea + "]}\n```", "add t1", ""},
	{"fence without end", "```json\n{\"operations\":[" + tea + "]}", "add t1", ""},
	{"tildes and another language", "~~~JSON5\n[" + tea + "]\n~~~", "add t1", ""},
	{"prose before", "Sure! Here are the operations:\n\n{\"operations\":[" + tea + "]}", "add t1", ""},
	{"prose after", "{\"operations\":[" + tea + "]}\nLet me know if you need more {or less}.", "add t1", ""},
	{"braces in the prose", "Given {the rules} and [all of them]: {\"operations\":[" + tea + "]}", "add t1", ""},
	{"an unclosed brace in the prose", "I used { as asked.\n{\"operations\":[" + tea + "]}", "add t1", ""},
	{"an unclosed bracket in the prose", "See [1 for more.\n" + tea, "add t1", ""},
	{"a link in the prose", "By [the guide](http://example.com): " + tea, "add t1", ""},
	{"several objects", tea + "\n" + moved, both, ""},
	{"one object a line, with commas", tea + ",\n" + moved + ",", both, ""},
	{"several answers", `{"operations":[` + tea + `]} {"operations":[` + moved + `]}`, both, ""},
	{"two fences", "```json\n" + tea + "\n```\nand\n```json\n" + moved + "\n```", both, ""},
	{"a draft in thoughts", "<think>{\"operations\":[" + moved + "]}</think>{\"operations\":[" + tea + "]}", "add t1", ""},
	{"trailing comma in the list", `{"operations":[` + tea + `,` + moved + `,]}`, both, ""},
	{"trailing comma in the object", `{"operations":[` + strings.TrimSuffix(tea, "}") + `,},],}`, "add t1", ""},
	{"missing comma", `{"operations":[` + tea + ` ` + moved + `]}`, both, ""},
	{"missing end", `{"operations":[` + tea + `,` + moved, both, "truncated"},
	{"cut in a string", `{"operations":[` + tea + `,{"action":"add","content":"The user lives in Be`, "add t1", "truncated"},
	{"cut after a key", `{"operations":[` + tea + `,{"action":`, "add t1", "truncated"},
	{"cut after a comma", `{"operations":[` + tea + `,`, "add t1", "truncated"},
	{"cut in the first", `{"operations":[{"action":"add","turn":"t1","quote":"I like tea","content":"The us`, "", "truncated"},
	{"cut in the last of several objects", tea + "\n" + moved[:len(moved)-90], "add t1", "truncated"},
	{"cut list", `[` + tea + `,` + moved[:100], "add t1", "truncated"},
	{"single quotes", `{'operations':[{'action':'add','turn':'t1','quote':'I like tea','content':'The user likes tea'}]}`, "add t1", ""},
	{"no quotes around keys", `{operations:[{action:"add",turn:"t1",quote:"I like tea",content:"The user likes tea"}]}`, "add t1", ""},
	{"curly quotes", `{“operations”:[{“action”:“add”,“turn”:“t1”,“quote”:“I like tea”,“content”:“The user likes tea”}]}`, "add t1", ""},
	{"full-width signs", `｛“操作”：［｛“动作”：“新增”，“轮次”：“t1”，“引用”：“我喜欢茶，真的”，“内容”：“用户喜欢茶”｝］｝`, "", ""}, // no opener at all: see below
	{"full-width signs within", `{"操作"：[{"动作"："新增"，"轮次"："t1"，"引用"："我喜欢茶，真的"，"内容"："用户喜欢茶"}]}`, "add t1", ""},
	{"Python", `{'operations': [{'action': 'add', 'turn': 't1', 'target': None, 'quote': 'I like tea', 'content': 'The user likes tea', 'x': True}]}`, "add t1", ""},
	{"comments", "{\"operations\":[ // the list\n" + tea + "/* one */]}", "add t1", ""},
	{"quotes within a quote", `{"operations":[{"action":"add","turn":"t1","quote":"she said "tea" to me","content":"The user likes tea"}]}`, "add t1", ""},
	{"newline within a string", "{\"operations\":[{\"action\":\"add\",\"turn\":\"t1\",\"quote\":\"I like\ntea\",\"content\":\"The user likes tea\"}]}", "add t1", ""},
	{"a broken neighbour", `{"operations":[` + tea + `,{"action":"add" "content" "x" : : "turn"},` + moved + `]}`, both, "*"},
	{"escaped as a string", `"{\"operations\":[{\"action\":\"add\",\"turn\":\"t1\",\"quote\":\"I like tea\",\"content\":\"The user likes tea\"}]}"`, "add t1", ""},
	{"JSON in a string", `{"operations":"[{\"action\":\"add\",\"turn\":\"t1\",\"quote\":\"I like tea\",\"content\":\"The user likes tea\"}]"}`, "add t1", ""},
	{"elements as strings", `{"operations":["{\"action\":\"add\",\"turn\":\"t1\",\"quote\":\"q\",\"content\":\"c\"}"]}`, "add t1", ""},
	{"another list name", `{"memories":[` + tea + `]}`, "add t1", ""},
	{"an unknown list name", `{"extracted_stuff":[` + tea + `]}`, "add t1", ""},
	{"wrapped twice", `{"response":{"result":{"operations":[` + tea + `]}}}`, "add t1", ""},
	{"a list of answers", `[{"operations":[` + tea + `]},{"operations":[` + moved + `]}]`, both, ""},
	{"an object for the list", `{"operations":` + tea + `}`, "add t1", ""},
	{"by action", `{"add":[{"turn":"t1","quote":"I like tea","content":"The user likes tea"}],"retract":[{"turn":"t2","quote":"no","target":"k1"}],"confirm":[]}`, "add t1; retract t2 k1", ""},
	{"by action, one each", `{"add":{"turn":"t1","quote":"I like tea","content":"The user likes tea"}}`, "add t1", ""},
	{"by number", `{"1":` + tea + `,"2":` + moved + `}`, both, ""},
	{"no action", `{"facts":[{"turn":"t1","quote":"I like tea","content":"The user likes tea"}]}`, "add t1", ""},
	{"update for supersede", `[` + with(moved, `"supersede"`, `"UPDATE"`) + `]`, "supersede t2 k2", ""},
	{"supersede without target", `[` + with(moved, `"k2"`, `null`) + `]`, "add t2", ""},
	{"Chinese keys", `{"操作":[{"动作":"取代","目标":"k1","类别":"偏好","内容":"用户喜欢茶","引用":"我喜欢茶","轮次":"t1","语气":"陈述","置信度":0.9}]}`, "supersede t1 k1", ""},
	{"traditional Chinese keys", `{"操作":[{"動作":"添加","類別":"偏好","內容":"用戶喜歡茶","内容":"用戶喜歡茶","引用":"我喜歡茶","輪次":"t1"}]}`, "add t1", ""},
	{"Japanese keys", `{"操作リスト":[{"アクション":"add","内容":"ユーザーはお茶が好き","引用":"お茶が好き","ターン":"t1"}]}`, "add t1", ""},
	{"capital keys", `{"Operations":[{"Action":"ADD","Turn_ID":"T1","Quoted Span":"I like tea","Content":"The user likes tea"}]}`, "add t1", ""},
	{"ids as numbers", `[` + with(with(moved, `"t2"`, `2`), `"k2"`, `2`) + `]`, "supersede t2 k2", ""},
	{"ids in brackets", `[` + with(with(moved, `"t2"`, `"[t2]"`), `"k2"`, `"item K2"`) + `]`, "supersede t2 k2", ""},
	{"ids in lists", `[` + with(with(moved, `"t2"`, `["t2","t3"]`), `"k2"`, `["k2"]`) + `]`, "supersede t2 k2", ""},
	{"all nulls but what counts", `[{"action":"add","target":null,"kind":null,"category":null,"content":"x","quote":"y","turn":"t1","speaker":null,"modality":null,"durability":null,"time":null,"confidence":null,"importance":null,"subject":null}]`, "add t1", ""},
	{"wrong types", `[{"action":"add","target":[],"kind":7,"category":{},"content":"x","quote":"y","turn":"t1","speaker":3,"modality":"asserted","durability":[],"time":12,"confidence":"0.8","importance":[],"subject":{}}]`, "add t1", ""},
	{"a null element", `{"operations":[null,` + tea + `]}`, "add t1", ""},
	{"elements of wrong types", `{"operations":[7,"none",` + tea + `,true]}`, "add t1", "not_an_object not_an_object not_an_object"},
	{"nothing", `{"operations":[{"action":"nothing"}]}`, "", ""},
	{"nothing beside something", `{"operations":[{"action":"none"},` + tea + `]}`, "add t1", ""},

	{"unknown action", `[` + with(tea, `"add"`, `"celebrate"`) + `,` + moved + `]`, "supersede t2 k2", "unknown_action"},
	{"a target without action", `[{"target":"k1","content":"c","quote":"q","turn":"t1"}]`, "", "unknown_action"},
	{"unknown turn", `[` + with(tea, `"t1"`, `"t9"`) + `,` + moved + `]`, "supersede t2 k2", "unknown_turn"},
	{"no turn", `[` + with(tea, `"t1"`, `null`) + `]`, "", "unknown_turn"},
	{"an item for a turn", `[` + with(tea, `"t1"`, `"k1"`) + `]`, "", "unknown_turn"},
	{"unknown target", `[` + with(moved, `"k2"`, `"k77"`) + `,` + tea + `]`, "add t1", "unknown_target"},
	{"a turn for a target", `[` + with(moved, `"k2"`, `"t2"`) + `]`, "", "unknown_target"},
	{"confirm of nothing", `[{"action":"confirm","quote":"q","turn":"t1"}]`, "", "unknown_target"},
	{"retract of nothing", `[{"action":"retract","content":"c","quote":"q","turn":"t1"}]`, "", "unknown_target"},
	{"retract by subject", `[{"action":"retract","quote":"q","turn":"t1","subject":"home"}]`, "retract t1", ""},
	{"no content", `[` + with(tea, `"The user likes tea"`, `"  "`) + `]`, "", "no_content"},
	{"no quote", `[` + with(tea, `"I like tea"`, `null`) + `]`, "", "no_quote"},
	{"confidence above", `[` + with(tea, `0.9`, `1.5`) + `,` + moved + `]`, "supersede t2 k2", "bad_confidence"},
	{"confidence below", `[` + with(tea, `0.9`, `-0.1`) + `]`, "", "bad_confidence"},
	{"confidence beyond all numbers", `[` + with(tea, `0.9`, `1e999`) + `]`, "", "bad_confidence"},
	{"confidence that is no number", `[` + with(tea, `0.9`, `"NaN"`) + `]`, "", "bad_confidence"},
	{"importance out of range", `[` + with(tea, `0.6`, `-3`) + `]`, "add t1", ""},
	{"content without end", `[` + with(tea, `The user likes tea`, strings.Repeat("tea ", 3000)) + `]`, "", "too_long"},
}

func TestShapes(t *testing.T) {
	if len(shapes) < 60 {
		t.Errorf("%d shapes", len(shapes))
	}
	for _, c := range shapes {
		t.Run(c.name, func(t *testing.T) {
			got := reply.Parse(c.text, expect)
			if d := cmp.Diff(c.ops, brief(got.Ops)); d != "" {
				t.Error(d)
			}
			if c.bad != "*" && reasons(got.Bad) != c.bad {
				t.Errorf("bad: %q, want %q", reasons(got.Bad), c.bad)
			}
			if c.bad == "*" && len(got.Bad) == 0 {
				t.Error("the bad one is not counted")
			}
			understood := c.bad != "truncated" && !strings.Contains(c.text, "｛") || c.ops != ""
			if got.Understood != understood || got.Truncated != (c.bad == "truncated") {
				t.Errorf("understood %t, truncated %t", got.Understood, got.Truncated)
			}
			valid(t, got)
		})
	}
}

// Only a reply that says so means that there is nothing.
func TestNothingIsSaid(t *testing.T) {
	for text, understood := range map[string]bool{
		`{"operations":[]}`: true, `{"operations":null}`: true, `[]`: true, "```json\n[ ]\n```": true, `{"memories":[]}`: true, `{"操作":[]}`: true,
		`{"operations":"none"}`: true, `{"operations":"[]"}`: true, `{"nothing":true}`: true, `{"add":[],"retract":[]}`: true,
		"Nothing to do here: {\"operations\": []}": true, `{"action":"无"}`: true, `{"result":{"operations":[]}}`: true,

		``: false, ` `: false, `null`: false, `{}`: false, `[{}]`: false, `[[]]`: false, `I cannot help with that.`: false, `nothing`: false,
		"An empty array [] is what I would not return.": false, `{"error":{"message":"overloaded"}}`: false, `{"error":"x","operations":[]}`: false,
		`{"data":[]}`: false, `{"results":[]}`: false, `{"operations":{}}`: false, `{"operations":7}`: false, `["ok"]`: false, `[1,2]`: false,
		`<html><body>502 Bad Gateway</body></html>`: false, `<think>{"operations":[]}`: false, `{"nothing":false}`: false,
		`{"type":"object","properties":{"operations":{"type":"array","items":{"type":"object","properties":{"action":{"type":"string"},"content":{"type":"string"},"turn":{"type":"string"}}}}}}`: false,
		`{{{{{{{{`: false, strings.Repeat("[", 100_000): false, strings.Repeat(`{"operations":`, 5000): false, "\xff\xfe\x00": false,
	} {
		got := reply.Parse(text, expect)
		if len(text) > 100 {
			text = text[:100]
		}
		if got.Understood != understood || len(got.Ops) != 0 {
			t.Errorf("%q: understood %t: %+v", text, got.Understood, got)
		}
	}
}

func TestFields(t *testing.T) {
	one := func(op string) reply.Op {
		t.Helper()
		got := reply.Parse(`{"operations":[`+op+`]}`, expect)
		if len(got.Ops) != 1 {
			t.Fatalf("%s: %+v", op, got)
		}
		return got.Ops[0]
	}
	want := reply.Op{
		Action: reply.Supersede, Target: "k2", Kind: store.Semantic, Category: store.Context, Content: "The user lives in Oslo", Quote: "moved to Oslo", Turn: "t2",
		Speaker: "user", Modality: "asserted", Durability: "user", Time: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Precision: "month", Confidence: .95, Importance: .7, Subject: "home",
	}
	if d := cmp.Diff(want, one(moved)); d != "" {
		t.Error(d)
	}
	for in, v := range map[string]float64{`0`: 0, `1`: 1, `"0.8"`: .8, `"80%"`: .8, `"80％"`: .8, `80`: .8, `100`: 1, `"8/10"`: .8, `"High"`: .85, `"很高"`: .95, `"low"`: .3, `"no idea"`: .75, `true`: .75, `"1/0"`: .75, `[0.4]`: .4, `""`: .75} {
		if got := one(with(tea, `0.9`, in)).Confidence; got != v {
			t.Errorf("confidence %s: %v, want %v", in, got, v)
		}
	}
	for in, v := range map[string]string{`"QUESTION"`: "question", `"role-play"`: "role_play", `"假设"`: "hypothetical", `"转述"`: "quoted", `null`: "asserted", `"whispered"`: "unknown", `7`: "unknown", `"陈述"`: "asserted"} {
		if got := one(with(tea, `"asserted"`, in)).Modality; got != v {
			t.Errorf("modality %s: %v, want %v", in, got, v)
		}
	}
	for in, v := range map[string]string{`"this task only"`: "task", `"仅此任务"`: "task", `"session"`: "task", `"Project"`: "project", `"代理"`: "agent", `null`: "user", `"??"`: "user"} {
		if got := one(with(tea, `"durability":"user"`, `"durability":`+in)).Durability; got != v {
			t.Errorf("durability %s: %v, want %v", in, got, v)
		}
	}
	for in, v := range map[string]store.Kind{`"procedural"`: store.Procedural, `"流程"`: store.Procedural, `"episodic"`: store.Semantic, `null`: store.Semantic, `"?"`: store.Semantic} {
		if got := one(with(tea, `"semantic"`, in)).Kind; got != v {
			t.Errorf("kind %s: %v, want %v", in, got, v)
		}
	}
	for in, v := range map[string]store.Category{`"Behaviour"`: store.Behavior, `"目标"`: store.Goal, `"corrections"`: store.Correction, `null`: store.Context, `"weather"`: store.Context} {
		if got := one(with(tea, `"preference"`, in)).Category; got != v {
			t.Errorf("category %s: %v, want %v", in, got, v)
		}
	}
}

func TestTimes(t *testing.T) {
	x := expect
	x.Zone = time.FixedZone("", 8*3600)
	for _, c := range []struct{ in, want, precision string }{
		{`"2023"`, "2022-12-31T16:00:00Z", "year"},
		{`2023`, "2022-12-31T16:00:00Z", "year"},
		{`"2023-05"`, "2023-04-30T16:00:00Z", "month"},
		{`"2023-5-7"`, "2023-05-06T16:00:00Z", "day"},
		{`"2023/05/07"`, "2023-05-06T16:00:00Z", "day"},
		{`"2023年5月7日"`, "2023-05-06T16:00:00Z", "day"},
		{`"2023年5月"`, "2023-04-30T16:00:00Z", "month"},
		{`"２０２３年"`, "2022-12-31T16:00:00Z", "year"},
		{`"2023-05-07T14:30"`, "2023-05-07T06:30:00Z", "minute"},
		{`"2023-05-07 14:30"`, "2023-05-07T06:30:00Z", "minute"},
		{`"2023-05-07T14:30:05Z"`, "2023-05-07T14:30:05Z", ""},
		{`"2023-05-07T14:30:05.123456789+02:00"`, "2023-05-07T12:30:05.123456Z", ""},
		{`"last week"`, "0001-01-01T00:00:00Z", ""},
		{`"2023-13-45"`, "0001-01-01T00:00:00Z", ""},
		{`"0000-01-01"`, "0001-01-01T00:00:00Z", ""},
		{`null`, "0001-01-01T00:00:00Z", ""},
	} {
		op := with(with(tea, `"time":null`, `"time":`+c.in), `"precision":null`, `"precision":"精确"`)
		got := reply.Parse(`[`+op+`]`, x).Ops
		if len(got) != 1 || got[0].Time.Format(time.RFC3339Nano) != c.want || got[0].Precision != c.precision {
			t.Errorf("%s: %+v", c.in, got)
		}
	}
	coarse := with(with(tea, `"time":null`, `"time":"2023-05-07T14:30:05Z"`), `"precision":null`, `"precision":"月"`)
	if got := reply.Parse(`[`+coarse+`]`, x).Ops; got[0].Precision != "month" || !got[0].Time.Equal(time.Date(2023, 5, 1, 0, 0, 0, 0, x.Zone)) {
		t.Errorf("%+v", got)
	}
}

func TestLimits(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(tea+",", 300), ",")
	x := expect
	x.MostOps = 10
	if got := reply.Parse("["+many+"]", x); len(got.Ops) != 10 || len(got.Bad) != 290 || got.Bad[0].Reason != reply.TooMany {
		t.Errorf("%d, %d", len(got.Ops), len(got.Bad))
	}
	if got := reply.Parse("["+strings.Repeat(tea+",", 5000)+"]", expect); !got.Truncated || len(got.Ops) != 256 {
		t.Errorf("%t %d", got.Truncated, len(got.Ops))
	}
	long := with(with(with(tea, `"likes:tea"`, `"`+strings.Repeat("茶", 100)+`"`), `"user"`, `"`+strings.Repeat("u", 500)+`"`), `"kind":"semantic"`, `"kind":"`+strings.Repeat("k", 500)+`"`)
	if got := reply.Parse(long, expect).Ops; len(got) != 1 || len(got[0].Subject) > 200 || len(got[0].Speaker) > 200 || !utf8.ValidString(got[0].Subject) {
		t.Errorf("%+v", got)
	}
	// A list too long to be mended as a whole still gives its good elements.
	broken := "[" + strings.Repeat(tea+",", 100) + `{"action":"add" "turn" : : },` + moved + "]"
	if got := reply.Parse(broken, expect); len(got.Ops) != 101 {
		t.Errorf("%d operations", len(got.Ops))
	}
}

// Hostile replies take bounded time.
func TestTime(t *testing.T) {
	for name, text := range map[string]string{
		"strings":  "[" + strings.Repeat(`"action":"b" `, 60_000),
		"openers":  strings.Repeat(`{"action":[`, 40_000),
		"unquoted": strings.Repeat(`{'action':"b `, 40_000),
		"closed":   strings.Repeat(`{"action" 1 `, 60) + strings.Repeat("x", 200_000) + strings.Repeat("}", 60),
		"objects":  strings.Repeat(`{"action":'x" }`, 30_000),
	} {
		start := time.Now()
		valid(t, reply.Parse(text, expect))
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s: %v", name, d)
		} else {
			t.Log(name, d)
		}
	}
}

// valid checks what every kept operation promises.
func valid(t testing.TB, r reply.Result) {
	t.Helper()
	if len(r.Ops) > 0 && !r.Understood {
		t.Error("operations in a reply that was not understood")
	}
	for _, o := range r.Ops {
		switch {
		case !expect.Turns[o.Turn],
			o.Target != "" && !expect.Known[o.Target],
			o.Target == "" && (o.Action == reply.Supersede || o.Action == reply.Confirm),
			o.Action == reply.Add && o.Target != "",
			o.Action != reply.Add && o.Action != reply.Supersede && o.Action != reply.Confirm && o.Action != reply.Retract,
			o.Quote == "", o.Content == "" && (o.Action == reply.Add || o.Action == reply.Supersede),
			o.Kind != store.Semantic && o.Kind != store.Procedural, o.Category == "" || o.Category.Validate() != nil,
			store.InUnit("", o.Confidence) != nil, store.InUnit("", o.Importance) != nil,
			!slices.Contains([]string{"asserted", "hypothetical", "question", "quoted", "role_play", "unknown"}, o.Modality),
			!slices.Contains([]string{"user", "agent", "project", "task"}, o.Durability),
			o.Time.IsZero() && o.Precision != "", !o.Time.IsZero() && (o.Time.Year() < 0 || o.Time.Year() > 10_000):
			t.Errorf("%+v", o)
		}
		for _, s := range []string{o.Content, o.Quote, o.Speaker, o.Subject, o.About} {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				t.Errorf("%q", s)
			}
		}
	}
}

// FuzzParse: it never panics and every kept operation is valid.
func FuzzParse(f *testing.F) {
	for _, c := range shapes {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) { valid(t, reply.Parse(text, expect)) })
}

// FuzzSurvivors: an operation that is well formed survives whatever stands before and behind the list.
func FuzzSurvivors(f *testing.F) {
	f.Add("Here you go: ", " Bye.")
	f.Add("```json\n", "\n```")
	f.Add("1) \"x\" 'y' ", "{}")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.ContainsAny(before, "{[<") || len(before) > 1000 || len(after) > 1000 {
			t.Skip()
		}
		got := reply.Parse(before+`{"operations":[`+tea+`,`+moved+`]}`+after, expect)
		valid(t, got)
		if len(got.Ops) < 2 || brief(got.Ops[:2]) != both {
			t.Errorf("%+v", got)
		}
	})
}
