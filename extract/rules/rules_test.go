package rules_test

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/rules"
	"evoke/store"
)

type example struct {
	text string
	want []string
}

func turn(text string) store.Item {
	return store.Item{ID: "t1", Kind: store.Episodic, Content: text, Turn: store.Turn{Thread: "th", Session: "th", Speaker: "user", Role: "user"}}
}

func run(t testing.TB, items ...store.Item) []extract.Operation {
	t.Helper()
	ops, err := rules.New(nil).Extract(context.Background(), extract.Batch{Turns: items})
	if err != nil {
		t.Fatal(err)
	}
	return ops
}

func contents(ops []extract.Operation) (out []string) {
	for _, op := range ops {
		out = append(out, op.Content)
	}
	return out
}

func check(t *testing.T, examples []example) {
	t.Helper()
	for _, e := range examples {
		ops := run(t, turn(e.text))
		if d := cmp.Diff(e.want, contents(ops)); d != "" {
			t.Errorf("%s\n%s", e.text, d)
		}
		for _, op := range ops {
			if !strings.Contains(e.text, op.Quote) || op.Quote == "" || op.Turn != "t1" || op.Speaker != "user" || op.Confidence < 0.7 || op.Category == "" {
				t.Errorf("%s: badly grounded: %+v", e.text, op)
			}
		}
	}
}

func refuse(t *testing.T, texts []string) {
	t.Helper()
	for _, text := range texts {
		if got := contents(run(t, turn(text))); got != nil {
			t.Errorf("%q gave %q", text, got)
		}
	}
}

func one(t *testing.T, text string) extract.Operation {
	t.Helper()
	ops := run(t, turn(text))
	if len(ops) != 1 {
		t.Fatalf("%q gave %d operations: %q", text, len(ops), contents(ops))
	}
	return ops[0]
}

func TestSubjectsAndCategories(t *testing.T) {
	for _, c := range []struct {
		text      string
		category  store.Category
		kind      store.Kind
		subject   string
		exclusive bool
	}{
		{"My name is Bob.", store.Context, store.Semantic, "name", true},
		{"我叫李雪。", store.Context, store.Semantic, "name", true},
		{"私の名前は田中葵です。", store.Context, store.Semantic, "name", true},
		{"I live in Rome.", store.Context, store.Semantic, "home", true},
		{"我住在上海。", store.Context, store.Semantic, "home", true},
		{"京都に住んでいます。", store.Context, store.Semantic, "home", true},
		{"I work at Northwind.", store.Context, store.Semantic, "employer", true},
		{"My birthday is 3 May.", store.Context, store.Semantic, "birthday", true},
		{"My favourite tea is Assam.", store.Preference, store.Semantic, "favourite:tea", true},
		{"I like Green Tea.", store.Preference, store.Semantic, "likes:green_tea", true},
		{"I hate green tea!", store.Preference, store.Semantic, "likes:green_tea", true},
		{"我喜欢喝茶。", store.Preference, store.Semantic, "likes:喝茶", true},
		{"I want to learn Welsh.", store.Goal, store.Semantic, "goal:learn_welsh", true},
		{"Always answer in French.", store.Behavior, store.Procedural, "", false},
		{"以后都用中文回答我。", store.Behavior, store.Procedural, "", false},
		{"これからは日本語で答えてください。", store.Behavior, store.Procedural, "", false},
		{"No, actually I live in Rome.", store.Correction, store.Semantic, "home", true},
		{"说错了，我住在杭州。", store.Correction, store.Semantic, "home", true},
	} {
		op := one(t, c.text)
		if op.Category != c.category || op.Kind != c.kind || op.Subject != c.subject || op.Exclusive != c.exclusive || op.Action != extract.Add {
			t.Errorf("%s: %+v", c.text, op)
		}
	}
	if a, b := one(t, "Always answer in French."), one(t, "I like tea."); a.Importance <= b.Importance {
		t.Error("an instruction must weigh more than a taste")
	}
	if a, b := one(t, "No, actually I like tea."), one(t, "I like tea."); a.Importance <= b.Importance || a.Confidence < b.Confidence {
		t.Error("a correction must weigh more than a statement")
	}
}

func TestTheSpeakersNameStandsForThePronoun(t *testing.T) {
	for _, c := range []struct{ speaker, text, want string }{
		{"Ann", "I like my garden.", "Ann likes their garden"},
		{"李雪", "我喜欢爬山。", "李雪喜欢爬山"},
		{"葵", "猫が好きです。", "葵は猫が好き"},
		{"user", "I like tea.", "The user likes tea"},
		{"User", "我喜欢爬山。", "用户喜欢爬山"},
		{"{v}", "I like {who} and {x}.", "{v} likes {who} and {x}"},
	} {
		it := turn(c.text)
		it.Turn.Speaker = c.speaker
		if d := cmp.Diff([]string{c.want}, contents(run(t, it))); d != "" {
			t.Error(d)
		}
	}
}

func TestASpeakersOwnNameIsNoNews(t *testing.T) {
	it := turn("我叫李雪，我喜欢爬山。")
	it.Turn.Speaker = "李雪"
	if d := cmp.Diff([]string{"李雪喜欢爬山"}, contents(run(t, it))); d != "" {
		t.Error(d)
	}
}

func TestOnlyUsersAreHeardUnlessAsked(t *testing.T) {
	it := turn("I live in Rome.")
	it.Turn.Role = "assistant"
	for _, c := range []struct {
		speaker string
		opts    *rules.Options
		want    int
	}{
		{"assistant", nil, 0}, {"Ben", nil, 0}, {"Ben", &rules.Options{Assistants: true}, 1}, {"assistant", &rules.Options{Assistants: true}, 0},
	} {
		it.Turn.Speaker = c.speaker
		ops, err := rules.New(c.opts).Extract(context.Background(), extract.Batch{Turns: []store.Item{it}})
		if err != nil || len(ops) != c.want {
			t.Errorf("%s %+v: %d operations, %v", c.speaker, c.opts, len(ops), err)
		}
	}
	other := turn("I live in Rome.")
	other.Turn.Role = ""
	if got := run(t, other); got != nil {
		t.Errorf("no role: %v", got)
	}
}

func TestCorrectionReplacesTheOneKnownFact(t *testing.T) {
	known := func(id, content string) store.Item {
		return store.Item{ID: id, Kind: store.Semantic, Content: content, Turn: store.Turn{Speaker: "user"}, Provenance: store.Provenance{Subject: "meeting"}}
	}
	for _, c := range []struct {
		text  string
		known []store.Item
		want  string
		to    string
	}{
		{"I meant Tuesday, not Monday.", []store.Item{known("k1", "The user's meeting is on Monday"), known("k2", "The user likes tea")}, "The user's meeting is on Tuesday", "k1"},
		{"不是北京，是上海", []store.Item{known("k1", "用户住在北京")}, "用户住在上海", "k1"},
		{"月曜日じゃなくて火曜日です", []store.Item{known("k1", "会議は月曜日")}, "会議は火曜日", "k1"},
		{"I meant Tuesday, not Monday.", []store.Item{known("k1", "Gym on Monday"), known("k2", "Choir on Monday")}, "The user corrected: I meant Tuesday, not Monday", ""},
		{"说错了，是周五", nil, "用户更正：是周五", ""},
	} {
		ops, err := rules.New(nil).Extract(context.Background(), extract.Batch{Turns: []store.Item{turn(c.text)}, Known: c.known})
		if err != nil || len(ops) != 1 {
			t.Fatalf("%s: %q, %v", c.text, contents(ops), err)
		}
		op := ops[0]
		if op.Content != c.want || op.Target != c.to || op.Category != store.Correction || (op.Action == extract.Supersede) != (c.to != "") {
			t.Errorf("%s: %+v", c.text, op)
		}
	}
}

func TestFactsAtBeginningMiddleAndEnd(t *testing.T) {
	filler := strings.Repeat("The weather was fine that day and the train was on time. ", 9000)
	text := "I live in Lisbon. " + filler + "I'm allergic to peanuts. " + filler + "My name is Marta."
	want := []string{"The user lives in Lisbon", "The user is allergic to peanuts", "The user's name is Marta"}
	if d := cmp.Diff(want, contents(run(t, turn(text)))); d != "" {
		t.Error(d)
	}
	long := "i walked " + strings.Repeat("on and on ", 300) + "and then it ended"
	run(t, turn(long+" "+strings.Repeat("x", 5000)+" I live in Rome"))
}

func TestTimeGrowsWithLengthOnly(t *testing.T) {
	for _, unit := range []string{"x", "我", "はが", "I like ", "I like tea. ", "我喜欢", "我喜欢茶。", "猫が好きです。", "，", ", i ", "\"", "“", "no, ", "不对，", "if ", "and I ", "\xff", "私は"} {
		var ops []extract.Operation
		took := func(n int) time.Duration {
			text := strings.ToValidUTF8(strings.Repeat(unit, n/len(unit)), "\ufffd")
			start := time.Now()
			ops = run(t, turn(text))
			return time.Since(start)
		}
		small, large := took(1<<17), took(1<<20) // linear is 8 times, square 64 times
		if large > 40*small && large > 2*time.Second {
			t.Errorf("%q: %v for 128 KiB and %v for 1 MiB", unit, small, large)
		}
		t.Logf("%q: %v", unit, large)
		if len(ops) > 300 {
			t.Errorf("1 MiB of %q gave %d operations", unit, len(ops))
		}
	}
}

func TestAContextThatEndsEndsTheWork(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := rules.New(nil).Extract(ctx, extract.Batch{Turns: []store.Item{turn("I like tea.")}}); err == nil {
		t.Error("no error")
	}
	if rules.New(nil).Name() != "rules/1" {
		t.Error(rules.New(nil).Name())
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{"I like tea, and I live in Rome.", "我叫李雪，住在上海，喜欢爬山。", "私の名前は葵です。猫が好きです。", "No, actually I meant Tuesday, not Monday.", "不是北京，是上海",
		"Always answer in \"French\".", "\xff\xfe I like \x00 tea", "I like İstanbul. I’m from K", "“我喜欢”", "I like 😀👩‍👩‍👧."} {
		f.Add(s, "user")
	}
	f.Fuzz(func(t *testing.T, text, speaker string) {
		it := turn(text)
		it.Turn.Speaker = speaker
		if it.Prepare(store.Limits{}) != nil {
			return
		}
		for _, op := range run(t, it) {
			if op.Quote == "" || !strings.Contains(it.Content, op.Quote) || !utf8.ValidString(op.Quote) {
				t.Fatalf("quote %q is not of %q", op.Quote, it.Content)
			}
			if !utf8.ValidString(op.Content) || !utf8.ValidString(op.Subject) || op.Content == "" {
				t.Fatalf("%+v", op)
			}
			if store.InUnit("", op.Confidence) != nil || store.InUnit("", op.Importance) != nil || op.Category.Validate() != nil || op.Kind.Validate() != nil {
				t.Fatalf("%+v", op)
			}
		}
	})
}
