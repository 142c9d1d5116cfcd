package llm

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"evoke/extract"
	"evoke/store"
)

// shown are the sources of one turn of May 2026.
func shown(t *testing.T, texts ...string) *sources {
	t.Helper()
	x := extractor(t, nil)
	b := batchOf(texts...)
	return newRun(x, b).said(nil, nil, x.unitsOf(b.Turns, 10_000))
}

func TestNumbersMustHaveBeenShown(t *testing.T) {
	for _, c := range []struct {
		said, written string
		ok            bool
	}{
		{"I have 3 cats", "The user has 3 cats", true},
		{"I have three cats", "The user has 3 cats", true},
		{"I have 3 cats", "The user has 4 cats", false},
		{"我有两只猫", "用户有 2 只猫", true},
		{"我今年二十三岁", "用户 23 岁", true},
		{"我今年二十三岁", "用户 32 岁", false},
		{"我花了三万五千块", "用户花了 35000 元", true},
		{"二零二五年我毕业了", "用户 2025 年毕业", true},
		{"I am twenty-three", "The user is 23", true},
		{"I paid 1,200 euros", "The user paid 1200 euros", true},
		{"I paid 1200 euros", "The user paid 1,200 euros", true},
		{"We meet at 2 pm", "They meet at 14:00", true},
		{"我六点起床", "用户 6:00 起床", true},
		{"I moved yesterday", "The user moved on 2026-04-30", true},
		{"I moved yesterday", "The user moved on April 30, 2026", true},
		{"I moved yesterday", "The user moved on 30 April", true},
		{"我昨天搬家了", "用户于 2026年4月30日 搬家", true},
		{"我昨天搬家了", "用户 4 月 30 日搬家", false}, // blanks as nobody writes them
		{"I moved last year", "The user moved in 2025", true},
		{"I moved some time ago", "The user moved in 1999", false},
		{"I moved some time ago", "The user moved on 1999-05-04", false},
		{"I moved in 1999", "The user moved in 1999", true},
		{"two hundred people came", "200 people came", true},
		{"My flight is LH0042", "The flight is LH42", true},
		{"no number", "No number", true},
	} {
		if got := shown(t, c.said).isCounted(c.written); got != c.ok {
			t.Errorf("%q of %q: %t", c.written, c.said, got)
		}
	}
}

func TestChineseNumerals(t *testing.T) {
	for in, want := range map[string]int{"十": 10, "十二": 12, "二十": 20, "一百零五": 105, "三千二百": 3200, "三万": 30000, "两": 2, "廿三": 23, "二零二五": 2025, "零": 0} {
		if got := hanNumber(in); got != want {
			t.Errorf("%s: %d", in, got)
		}
	}
	if got := spelled("twenty-three of two hundred, one"); !slices.Contains(got, "23") || !slices.Contains(got, "200") || !slices.Contains(got, "1") {
		t.Error(got)
	}
}

// Texts of a model's own making hold words that were said; what shares nothing was not.
func TestWordsMustHaveBeenShown(t *testing.T) {
	for _, c := range []struct {
		said, written   string
		text, statement bool
	}{
		{"I moved to Oslo to work as a nurse at the university hospital", "The user is a nurse at the university hospital in Oslo.", true, true},
		{"我上个月从北京搬到上海了，在一家做医疗影像的创业公司当后端工程师，主要写 Go。", "用户是后端工程师，在上海一家医疗影像创业公司工作，主要使用 Go 语言。", true, true},
		{"I like tea", "The user owns a yacht in Monaco and races horses.", false, false},
		{"我喜欢喝茶", "用户在摩纳哥有一艘游艇，还养了赛马。", false, false},
		{"I don't eat meat", "The user is vegetarian", false, true}, // a word for it is no invention of a statement
		{"我是素食者", "用户不吃肉", false, true},
		{"Yes, I do", "The user likes tea", false, true},
		{"I like tea", "The user likes tea", true, true},
	} {
		s := shown(t, c.said)
		if got := s.bears(c.written); got != c.text {
			t.Errorf("%q of %q as a text: %t", c.written, c.said, got)
		}
		if got := s.allows(c.written, ""); got != c.statement {
			t.Errorf("%q of %q as a statement: %t", c.written, c.said, got)
		}
	}
}

func batchOf(texts ...string) *extract.Batch {
	b := &extract.Batch{Now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	for i, text := range texts {
		b.Turns = append(b.Turns, store.Item{ID: strconv.Itoa(i), Content: text, ValidFrom: b.Now, Turn: store.Turn{Role: "user"}})
	}
	return b
}

// What was said is always borne by what was said, in whole and sentence by sentence.
func TestWhatWasSaidIsBorne(t *testing.T) {
	x := extractor(t, nil)
	said := rapid.OneOf(texts, rapid.StringOfN(rapid.RuneFrom([]rune("0123456789,.' 年月日:/-二十百ab茶，。")), 1, 60, -1))
	rapid.Check(t, func(t *rapid.T) {
		text := said.Draw(t, "text")
		b := batchOf(text)
		s := newRun(x, b).said(nil, nil, x.unitsOf(b.Turns, 100_000))
		if !s.bears(text) || !s.allows(text, "") {
			t.Fatalf("%q is not borne by itself", text)
		}
	})
}

// A shared word is not enough for a statement to rest on, nor a number that is known of another matter; and what a turn does
// not concern is neither taken back nor replaced.
func TestASharedWordIsNotEnough(t *testing.T) {
	for _, c := range []struct {
		said, written, known string
		ok                   bool
	}{
		{"I like tea", "The user likes yachts in Monaco", "", false},
		{"I work a lot", "The user works at Google in Zurich", "", false},
		{"I work at Google in Zurich", "The user works at Google in Zurich", "", true},
		{"I live in NYC", "The user lives in New York City", "", true},
		{"I don't eat meat", "The user is vegetarian", "", true},
		{"Yes, I do", "The user likes tea", "", true},
		{"I have a horse and I like horses", "The user likes horses", "", true},
		{"One of my cats died", "The user has 4 cats", "The user's flat number is 4", false}, // the number of another matter
		{"One of my cats died", "One of the 4 cats of the user died", "The user has 4 cats", true},
	} {
		x := extractor(t, nil)
		b := batchOf(c.said)
		s := newRun(x, b).said(nil, []*store.Item{{Content: "The user's flat number is 4"}}, x.unitsOf(b.Turns, 10_000))
		about := c.known
		if !c.ok {
			about = "" // it does not name the item
		}
		if got := s.allows(c.written, about); got != c.ok {
			t.Errorf("%q of %q: %t", c.written, c.said, got)
		}
	}
	for _, c := range []struct {
		said, known string
		ok          bool
	}{
		{"I like tea", "The user lives in Rome", false},
		{"I like tea", "The user likes horses", false},
		{"I like green tea best", "The user likes tea", true},
		{"Scrap that", "The user lives in Rome", true},
		{"I moved to Bergen", "The user lives in Oslo", true},
		{"我喜欢喝茶", "用户住在罗马", false},
		{"别记这个了", "用户住在罗马", true},
		{"我喜欢喝茶", "The user lives in Rome", true}, // in another script nothing can be told
	} {
		if got := concerns(c.said, c.known); got != c.ok {
			t.Errorf("%q about %q: %t", c.said, c.known, got)
		}
	}
}
