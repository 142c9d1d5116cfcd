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
	"evoke/extract/llm/internal/reply/replytest"
	"evoke/store"
)

var expect = reply.Expect{
	Turns: map[string]bool{"t1": true, "t2": true, "t3": true},
	Known: map[string]bool{"k1": true, "k2": true},
}

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

func TestShapes(t *testing.T) {
	if len(replytest.Shapes()) < 60 {
		t.Errorf("%d shapes", len(replytest.Shapes()))
	}
	for _, c := range replytest.Shapes() {
		t.Run(c.Name, func(t *testing.T) {
			got := reply.Parse(c.Text, expect)
			if d := cmp.Diff(c.Ops, brief(got.Ops)); d != "" {
				t.Error(d)
			}
			if c.Bad != "*" && reasons(got.Bad) != c.Bad {
				t.Errorf("bad: %q, want %q", reasons(got.Bad), c.Bad)
			}
			if c.Bad == "*" && len(got.Bad) == 0 {
				t.Error("the bad one is not counted")
			}
			understood := c.Bad != "truncated" && !strings.Contains(c.Text, "｛") || c.Ops != ""
			if got.Understood != understood || got.Truncated != (c.Bad == "truncated") {
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
	if d := cmp.Diff(want, one(replytest.Moved)); d != "" {
		t.Error(d)
	}
	for in, v := range map[string]float64{`0`: 0, `1`: 1, `"0.8"`: .8, `"80%"`: .8, `"80％"`: .8, `80`: .8, `100`: 1, `"8/10"`: .8, `"High"`: .85, `"很高"`: .95, `"low"`: .3, `"no idea"`: .75, `true`: .75, `"1/0"`: .75, `[0.4]`: .4, `""`: .75} {
		if got := one(replytest.With(replytest.Tea, `0.9`, in)).Confidence; got != v {
			t.Errorf("confidence %s: %v, want %v", in, got, v)
		}
	}
	for in, v := range map[string]string{`"QUESTION"`: "question", `"role-play"`: "role_play", `"假设"`: "hypothetical", `"转述"`: "quoted", `null`: "asserted", `"whispered"`: "unknown", `7`: "unknown", `"陈述"`: "asserted"} {
		if got := one(replytest.With(replytest.Tea, `"asserted"`, in)).Modality; got != v {
			t.Errorf("modality %s: %v, want %v", in, got, v)
		}
	}
	for in, v := range map[string]string{`"this task only"`: "task", `"仅此任务"`: "task", `"session"`: "task", `"Project"`: "project", `"代理"`: "agent", `null`: "user", `"??"`: "user"} {
		if got := one(replytest.With(replytest.Tea, `"durability":"user"`, `"durability":`+in)).Durability; got != v {
			t.Errorf("durability %s: %v, want %v", in, got, v)
		}
	}
	for in, v := range map[string]store.Kind{`"procedural"`: store.Procedural, `"流程"`: store.Procedural, `"episodic"`: store.Semantic, `null`: store.Semantic, `"?"`: store.Semantic} {
		if got := one(replytest.With(replytest.Tea, `"semantic"`, in)).Kind; got != v {
			t.Errorf("kind %s: %v, want %v", in, got, v)
		}
	}
	for in, v := range map[string]store.Category{`"Behaviour"`: store.Behavior, `"目标"`: store.Goal, `"corrections"`: store.Correction, `null`: store.Context, `"weather"`: store.Context} {
		if got := one(replytest.With(replytest.Tea, `"preference"`, in)).Category; got != v {
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
		op := replytest.With(replytest.With(replytest.Tea, `"time":null`, `"time":`+c.in), `"precision":null`, `"precision":"精确"`)
		got := reply.Parse(`[`+op+`]`, x).Ops
		if len(got) != 1 || got[0].Time.Format(time.RFC3339Nano) != c.want || got[0].Precision != c.precision {
			t.Errorf("%s: %+v", c.in, got)
		}
	}
	coarse := replytest.With(replytest.With(replytest.Tea, `"time":null`, `"time":"2023-05-07T14:30:05Z"`), `"precision":null`, `"precision":"月"`)
	if got := reply.Parse(`[`+coarse+`]`, x).Ops; got[0].Precision != "month" || !got[0].Time.Equal(time.Date(2023, 5, 1, 0, 0, 0, 0, x.Zone)) {
		t.Errorf("%+v", got)
	}
}

func TestLimits(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(replytest.Tea+",", 300), ",")
	x := expect
	x.MostOps = 10
	if got := reply.Parse("["+many+"]", x); len(got.Ops) != 10 || len(got.Bad) != 290 || got.Bad[0].Reason != reply.TooMany {
		t.Errorf("%d, %d", len(got.Ops), len(got.Bad))
	}
	if got := reply.Parse("["+strings.Repeat(replytest.Tea+",", 5000)+"]", expect); !got.Truncated || len(got.Ops) != 256 {
		t.Errorf("%t %d", got.Truncated, len(got.Ops))
	}
	long := replytest.With(replytest.With(replytest.With(replytest.Tea, `"likes:tea"`, `"`+strings.Repeat("茶", 100)+`"`), `"user"`, `"`+strings.Repeat("u", 500)+`"`), `"kind":"semantic"`, `"kind":"`+strings.Repeat("k", 500)+`"`)
	if got := reply.Parse(long, expect).Ops; len(got) != 1 || len(got[0].Subject) > 200 || len(got[0].Speaker) > 200 || !utf8.ValidString(got[0].Subject) {
		t.Errorf("%+v", got)
	}
	// A list too long to be mended as a whole still gives its good elements.
	broken := "[" + strings.Repeat(replytest.Tea+",", 100) + `{"action":"add" "turn" : : },` + replytest.Moved + "]"
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
	validSections(t, r)
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
	for _, c := range replytest.Shapes() {
		f.Add(c.Text)
	}
	for _, c := range replytest.Sections() {
		f.Add(c.Text)
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
			t.Skip("what stands before would itself be an answer, or is too long")
		}
		got := reply.Parse(before+`{"operations":[`+replytest.Tea+`,`+replytest.Moved+`]}`+after, expect)
		valid(t, got)
		if len(got.Ops) < 2 || brief(got.Ops[:2]) != replytest.Both {
			t.Errorf("%+v", got)
		}
	})
}
