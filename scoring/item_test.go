package scoring

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var may8 = time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC) // a Monday

func TestNewDoc(t *testing.T) {
	d := NewDoc("Caroline", "I went to a support group yesterday.", may8)
	want := Doc{
		Date:   Terms("8 May 2023"),
		Head:   Terms("Caroline went support group yesterday"),
		Chunks: [][]TermFreq{Terms("Caroline went support group yesterday")},
		Words:  7,
		Timed:  true,
		Ranges: []DateRange{{civil(2023, 5, 7), civil(2023, 5, 7)}},
		Print:  d.Print,
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if zh := NewDoc("李雪", "我最喜欢鼓浪屿", may8); !slices.Equal(zh.Date, Terms("2023年5月8日")) || zh.Words != 4 {
		t.Errorf("Chinese item: %+v", zh)
	}
	if u := NewDoc("", "undated", time.Time{}); u.Date != nil || len(u.Chunks) != 1 {
		t.Errorf("undated item: %+v", u)
	}
	if e := NewDoc("", "", time.Time{}); len(e.Chunks) != 1 || e.Words != 0 {
		t.Errorf("empty item: %+v", e)
	}
}

func TestNewDocKeepsWhatLiesBeyondTheCap(t *testing.T) {
	text := strings.Repeat(sentence(100)+" ", 60) + "The zebra came last."
	d := NewDoc("user", text, may8)
	if len(d.Chunks) != MaxChunks {
		t.Fatalf("%d chunks", len(d.Chunks))
	}
	if freqOf(d.Chunks[MaxChunks-1], HashTerm("zebra")) != 1 {
		t.Error("a word behind the last chunk cannot be found")
	}
	if got, want := freqOf(d.Terms(), HashTerm("word")), 60*99; got != want {
		t.Errorf("%d occurrences kept, want %d", got, want)
	}
	if head := length(d.Head); head > HeadRunes/5+1 {
		t.Errorf("the head has %d terms", head)
	}
}

func docGen() *rapid.Generator[Doc] {
	return rapid.Custom(func(t *rapid.T) Doc {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"tea", "coffee", "yesterday", "in 2021", "not", "7", "我喜欢猫。", "Paris", "two weeks ago", ". ", "\n", "x\xff", strings.Repeat("long ", 120),
		}), 0, 30).Draw(t, "words"), " ")
		at := time.Unix(rapid.Int64Range(-1e10, 1e10).Draw(t, "at"), 0).UTC()
		if rapid.Bool().Draw(t, "undated") {
			at = time.Time{}
		}
		return NewDoc(rapid.SampledFrom([]string{"", "user", "Mel", "李雪"}).Draw(t, "speaker"), text, at)
	})
}

func TestDocRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := docGen().Draw(t, "doc")
		data, err := d.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		got, err := UnmarshalDoc(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Fatal(diff)
		}
		// Cut short or lengthened it is refused.
		if _, err := UnmarshalDoc(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")]); !errors.Is(err, ErrDocCorrupt) {
			t.Fatalf("a cut encoding gives %v", err)
		}
		if _, err := UnmarshalDoc(append(data, 0)); !errors.Is(err, ErrDocCorrupt) {
			t.Fatalf("a lengthened encoding gives %v", err)
		}
		data[1]++
		if _, err := UnmarshalDoc(data); !errors.Is(err, ErrDocVersion) {
			t.Fatalf("another analyzer gives %v", err)
		}
	})
}

func TestMarshalRefuses(t *testing.T) {
	for name, d := range map[string]Doc{
		"unsorted":        {Head: []TermFreq{{2, 1}, {1, 1}}},
		"repeated":        {Head: []TermFreq{{1, 1}, {1, 1}}},
		"too many chunks": {Chunks: make([][]TermFreq, MaxChunks+1)},
	} {
		if _, err := d.MarshalBinary(); err == nil {
			t.Errorf("%s terms are accepted", name)
		}
	}
}

func FuzzUnmarshalDoc(f *testing.F) {
	for _, text := range []string{"", "I went home yesterday", strings.Repeat("word word. ", 100)} {
		data, err := NewDoc("Mel", text, may8).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{docFormat, AnalyzerVersion, 0, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := UnmarshalDoc(data)
		if err != nil {
			if !errors.Is(err, ErrDocCorrupt) && !errors.Is(err, ErrDocVersion) {
				t.Fatalf("unexpected error %v", err)
			}
			return
		}
		// Whatever is accepted can be scored and written again.
		again, err := d.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		e, err := UnmarshalDoc(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, e); diff != "" {
			t.Fatal(diff)
		}
		lex := NewLexical(LexicalParams{}, LexicalStats{Docs: 10, DF: map[Term]int{HashTerm("home"): 2}}, QueryTerms("home"))
		if s, _ := lex.Score(&d, &d, nil); s < 0 || s > 1 {
			t.Fatalf("score %v", s)
		}
	})
}

func TestViews(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{DateText(may8, "hello"), "8 May 2023"},
		{DateText(may8, "你好，今天怎么样"), "2023年5月8日"},
		{DateText(may8, "私はコーヒーが好き"), "2023年5月8日"},
		{DateText(may8, "I read 红楼梦 in two long winter weeks"), "8 May 2023"},
		{DateText(time.Time{}, ""), ""},
		{DateText(time.Date(12023, 1, 1, 0, 0, 0, 0, time.UTC), ""), ""},
		{OwnView("Mel", "Hi!", may8), "[8 May 2023] Mel: Hi!"},
		{OwnView("", "Hi!", time.Time{}), "Hi!"},
		{ContextView("Ann", "Hello", "Mel", "Hi!"), "Ann: Hello\nMel: Hi!"},
		{ContextView("Ann", " ", "Mel", "Hi!"), "Mel: Hi!"},
		{ContextView("", strings.Repeat("汉", 500), "", "好"), strings.Repeat("汉", 400) + "\n好"},
		{clip("abe\u0301x", 3), "ab"},
		{clip("\u0301\u0301\u0301", 2), "\u0301\u0301"},
		{clip("éé", 2), "éé"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestNearDuplicate(t *testing.T) {
	doc := func(s string) *Doc { d := NewDoc("Mel", s, may8); return &d }
	long := "My sister and her husband moved to the quiet village near the lake with their old dogs and a parrot named Kiwi"
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"I love tea!", "i LOVE  tea", true},
		{"Ｉ love tea", "I love tea", true},
		{"I love tea", "I love coffee", false},
		{"I like tea", "I do not like tea", false},
		{"我喜欢喝茶", "我不喜欢喝茶", false},
		{long + ".", long + " now.", true},
		{long + " 3 years ago", long + " 5 years ago", false},
		{"yes", "no", false},
		{"🎉", "👍", false},
		{"🎉", "🎉", true},
		{"", "tea", false},
	} {
		if got := NearDuplicate(doc(c.a), doc(c.b), 0); got != c.want {
			t.Errorf("NearDuplicate(%q, %q) = %v", c.a, c.b, got)
		}
		if got := NearDuplicate(doc(c.b), doc(c.a), 0); got != c.want {
			t.Errorf("NearDuplicate(%q, %q) is not symmetric", c.a, c.b)
		}
	}
	if NearDuplicate(nil, doc("a"), 0) || Similarity(doc("a"), nil) != 0 {
		t.Error("nil is like nothing")
	}
}

func TestSimilarityProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := docGen().Draw(t, "a"), docGen().Draw(t, "b")
		s := Similarity(&a, &b)
		if s < 0 || s > 1 || s != Similarity(&b, &a) || Similarity(&a, &a) != 1 {
			t.Fatalf("similarity %v", s)
		}
	})
}
