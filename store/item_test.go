package store

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPrepare(t *testing.T) {
	zone := time.FixedZone("x", 3600)
	caller := Metadata{"k": String("a\xff"), "l": List("ok", "\xfe"), "n": Number(1)}
	turns := []string{"a\xff", "b"}
	it := Item{ID: "a", Kind: Semantic, Content: " \n te\x00a\xff ", Metadata: caller, Turn: Turn{Speaker: " Ann "},
		Provenance: Provenance{Quote: "q\x00 ", Turns: turns, Origin: "\xff"},
		ValidFrom:  time.Date(2026, 1, 1, 1, 0, 0, 1999, zone), RecordedAt: noon}
	if err := it.Prepare(Limits{}); err != nil {
		t.Fatal(err)
	}
	want := Item{ID: "a", Kind: Semantic, Content: "tea\uFFFD", Metadata: Metadata{"k": String("a\uFFFD"), "l": List("ok", "\uFFFD"), "n": Number(1)},
		Turn: Turn{Speaker: "Ann"}, Provenance: Provenance{Quote: "q", Turns: []string{"a\uFFFD", "b"}, Origin: "\uFFFD", Zone: "+01:00"},
		ValidFrom: time.Date(2026, 1, 1, 0, 0, 0, 1000, time.UTC), RecordedAt: noon}
	if diff := cmp.Diff(want, it, cmp.Comparer(Value.Equal)); diff != "" {
		t.Errorf("prepared (-want +got):\n%s", diff)
	}
	if caller["k"].Str() != "a\xff" || turns[0] != "a\xff" {
		t.Error("the caller's own map or list was changed")
	}
	again := it
	if err := again.Prepare(Limits{}); err != nil || cmp.Diff(it, again, cmp.Comparer(Value.Equal)) != "" {
		t.Errorf("preparing twice changes something (%v)", err)
	}
}

func TestItemRefused(t *testing.T) {
	far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for field, spoil := range map[string]func(*Item){
		"id":             func(it *Item) { it.ID = "" },
		"thread":         func(it *Item) { it.Turn.Thread = "a\nb" },
		"session":        func(it *Item) { it.Turn.Session = strings.Repeat("s", 257) },
		"speaker":        func(it *Item) { it.Turn.Speaker = "a\tb" },
		"role":           func(it *Item) { it.Turn.Role = "\xff" },
		"supersedes":     func(it *Item) { it.Supersedes = "\x01" },
		"kind":           func(it *Item) { it.Kind = "Episodic" },
		"category":       func(it *Item) { it.Category = "PREFERENCE" },
		"content":        func(it *Item) { it.Content = "\x00 \u00a0" },
		"importance":     func(it *Item) { it.Importance = math.NaN() },
		"confidence":     func(it *Item) { it.Confidence = -0.1 },
		"uses":           func(it *Item) { it.Uses = -1 },
		"position":       func(it *Item) { it.Turn.Position = math.MaxInt32 + 1 },
		"valid_from":     func(it *Item) { it.ValidFrom = far },
		"valid_to":       func(it *Item) { it.ValidFrom, it.ValidTo = noon, noon.Add(-1000) },
		"recorded_at":    func(it *Item) { it.RecordedAt = far },
		"closed_at":      func(it *Item) { it.ClosedAt = far },
		"retracted_at":   func(it *Item) { it.RetractedAt = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC) },
		"last_used":      func(it *Item) { it.LastUsed = far },
		"metadata":       func(it *Item) { it.Metadata = Metadata{"k": String(strings.Repeat("x", 16<<10))} },
		"metadata key":   func(it *Item) { it.Metadata = Metadata{"": Bool(true)} },
		"metadata value": func(it *Item) { it.Metadata = Metadata{"x": Number(math.Inf(-1))} },
	} {
		it := Item{ID: "a", Kind: Semantic, Content: "x", RecordedAt: noon}
		spoil(&it)
		err := it.Prepare(Limits{})
		var f *FieldError
		if !errors.Is(err, ErrInvalid) || !errors.As(err, &f) || f.Field != field {
			t.Errorf("%s: error %v, want one that names the field", field, err)
		}
	}
	for key, ok := range map[string]bool{"evoke_id": false, "evoke.x": false, "evoked": true, strings.Repeat("k", 128): true, strings.Repeat("k", 129): false, "a\xff": false, "键": true} {
		it := Item{ID: "a", Kind: Semantic, Content: "x", Metadata: Metadata{key: Bool(true)}}
		if err := it.Prepare(Limits{}); (err == nil) != ok {
			t.Errorf("metadata key %.20q: %v", key, err)
		}
	}
	many := Metadata{}
	for i := range 65 {
		many[strings.Repeat("k", i+1)] = Bool(true)
	}
	it := Item{ID: "a", Kind: Semantic, Content: "x", Metadata: many}
	if err := it.Prepare(Limits{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("65 keys: %v", err)
	}
	if err := it.Prepare(Limits{MetadataKeys: 65}); err != nil {
		t.Errorf("65 keys where 65 are allowed: %v", err)
	}
}

// anyValue draws metadata values of every kind.
func anyValue() *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return String(rapid.String().Draw(t, "string"))
		case 1:
			return Number(rapid.Float64().Draw(t, "number"))
		case 2:
			return Bool(rapid.Bool().Draw(t, "bool"))
		default:
			return List(rapid.SliceOf(rapid.String()).Draw(t, "list")...)
		}
	})
}

// TestItemJSON: an item that was prepared is the same after JSON, which intents and exports rely on.
func TestItemJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) time.Time {
			if rapid.Bool().Draw(t, name) {
				return time.Time{}
			}
			return time.UnixMicro(rapid.Int64Range(minTime.UnixMicro(), maxTime.UnixMicro()).Draw(t, name)).UTC()
		}
		it := Item{ID: rapid.StringMatching(`[^\x00-\x1f\x7f ]{1,20}`).Draw(t, "id"), Kind: rapid.SampledFrom(Kinds()).Draw(t, "kind"),
			Content: "x" + rapid.String().Draw(t, "content"), Importance: rapid.Float64Range(0, 1).Draw(t, "importance"),
			Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"), LastUsed: at("last used"), ValidFrom: at("from"), RecordedAt: at("recorded"),
			ClosedAt: at("closed"), RetractedAt: at("retracted"), Metadata: rapid.MapOfN(rapid.StringMatching(`[a-d键]{1,5}`), anyValue(), 0, 5).Draw(t, "metadata")}
		if err := it.Prepare(Limits{}); err != nil {
			t.Skip(err)
		}
		text, err := json.Marshal(it)
		if err != nil {
			t.Fatal(err)
		}
		var back Item
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if len(it.Metadata) == 0 {
			it.Metadata, back.Metadata = nil, nil
		}
		if diff := cmp.Diff(it, back, cmp.Comparer(Value.Equal)); diff != "" {
			t.Fatalf("after JSON (-want +got):\n%s", diff)
		}
	})
}

func TestValue(t *testing.T) {
	for text, want := range map[string]Value{`"s"`: String("s"), `1.5`: Number(1.5), `true`: Bool(true), `false`: Bool(false), `[]`: List(), `["a",2,true]`: List("a", "2", "true"), ` [ "x" ] `: List("x")} {
		var v Value
		if err := json.Unmarshal([]byte(text), &v); err != nil || !v.Equal(want) {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
	}
	for _, text := range []string{`null`, `{}`, `[[]]`, `[null]`, `[{}]`, `1e999`, `{"a":1}`} {
		var m map[string]Value
		if err := json.Unmarshal([]byte(`{"k":`+text+`}`), &m); err == nil && text != `null` {
			t.Errorf("%s passes as a value", text)
		}
	}
	v := List("a")
	if v.Kind() != ListValue || !v.Has(String("a")) || v.Has(String("b")) || v.Str() != "" || v.Num() != 0 || v.IsTrue() || len(v.Strings()) != 1 {
		t.Errorf("list %+v", v)
	}
	if b := Bool(true); b.Num() != 0 || !b.IsTrue() || b.Equal(Number(1)) {
		t.Error("a boolean is no number")
	}
	if Metadata(nil).Clone() != nil {
		t.Error("a clone of nothing is something")
	}
}

// FuzzValueJSON: a value that can be read is written and read back as the same.
func FuzzValueJSON(f *testing.F) {
	for _, s := range []string{`"a"`, `1`, `-0`, `true`, `["a",1,null]`, `[]`, `{}`, `nul`, `t`, ``} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var v, back Value
		if json.Unmarshal([]byte(s), &v) != nil {
			return
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &back); err != nil || !back.Equal(v) {
			t.Fatalf("%q was read as %+v, written as %s and read back as %+v (%v)", s, v, text, back, err)
		}
	})
}

func TestContentKey(t *testing.T) {
	same := [][]string{
		{"I like green tea.", "i like  GREEN tea", "I like green tea!", "\tI like, green tea…", "Ｉ ｌｉｋｅ ｇｒｅｅｎ ｔｅａ"},
		{"我喜欢绿茶。", "我喜欢绿茶", "我喜欢绿茶！"},
		{"3.14", " 3.14 "}, {"-5 degrees", "-5 degrees."},
	}
	differ := []string{"I like green tea", "I like black tea", "3.14", "314", "3 14", "-5 degrees", "5 degrees", "C#", "C", "50%", "50", "我喜欢绿茶", "我喜欢红茶"}
	for _, group := range same {
		for _, s := range group {
			if ContentKey(Semantic, s) != ContentKey(Semantic, group[0]) {
				t.Errorf("%q and %q say the same and have different keys", s, group[0])
			}
		}
	}
	for i, a := range differ {
		for _, b := range differ[:i] {
			if ContentKey(Semantic, a) == ContentKey(Semantic, b) {
				t.Errorf("%q and %q share a key", a, b)
			}
		}
	}
	if ContentKey(Semantic, "x") == ContentKey(Episodic, "x") {
		t.Error("kinds share a key")
	}
}

// FuzzFoldText: never broken UTF-8, no blanks at the ends or twice, the same whatever the outer blanks.
func FuzzFoldText(f *testing.F) {
	for _, s := range []string{"Hello, World!", "1,200.5", "ＡＢＣ", "\xff\xfe", "a\u0301", "İ", "--", "١٢٣", "  "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := FoldText(s)
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("%q folds to broken UTF-8 %q", s, got)
		}
		if strings.Contains(got, "  ") || strings.TrimSpace(got) != got {
			t.Fatalf("%q folds to %q, which has blanks to spare", s, got)
		}
		if again := FoldText(" " + s + "\n"); again != got {
			t.Fatalf("blanks around %q change its fold from %q to %q", s, got, again)
		}
	})
}

func FuzzCleanText(f *testing.F) {
	f.Add("a\x00b\xff ")
	f.Fuzz(func(t *testing.T, s string) {
		got := CleanText(s)
		if !utf8.ValidString(got) || strings.IndexByte(got, 0) >= 0 || strings.TrimSpace(got) != got || CleanText(got) != got {
			t.Fatalf("%q is cleaned to %q", s, got)
		}
	})
}

func TestTextKey(t *testing.T) {
	base := Item{Kind: Episodic, Content: "text", Turn: Turn{Speaker: "Ann"}, ValidFrom: noon}
	for name, c := range map[string]struct {
		change func(*Item)
		same   bool
	}{
		"importance": {func(it *Item) { it.Importance = 1 }, true}, "hour": {func(it *Item) { it.ValidFrom = noon.Add(time.Hour) }, true},
		"zone": {func(it *Item) { it.ValidFrom = noon.In(time.FixedZone("x", 20*3600)) }, true},
		"day":  {func(it *Item) { it.ValidFrom = noon.AddDate(0, 0, 1) }, false}, "case": {func(it *Item) { it.Content = "Text" }, false},
		"speaker": {func(it *Item) { it.Turn.Speaker = "Bo" }, false}, "kind": {func(it *Item) { it.Kind = Semantic }, false},
		"shifted": {func(it *Item) { it.Turn.Speaker, it.Content = "Annt", "ext" }, false},
	} {
		it := base
		c.change(&it)
		if (it.TextKey() == base.TextKey()) != c.same {
			t.Errorf("a change of %s: same key %t, want %t", name, !c.same, c.same)
		}
	}
}

func TestEmbeddingRows(t *testing.T) {
	e := Embedding{Own: [][]float32{{1, 0}}, Context: []float32{0, 1}}
	if diff := cmp.Diff([][]float32{{1, 1}}, e.Rows()); diff != "" {
		t.Error(diff)
	}
	e = Embedding{Own: [][]float32{{1, 0}, {0, -1}}}
	if diff := cmp.Diff([][]float32{{2, 0}, {0, -2}}, e.Rows()); diff != "" {
		t.Error(diff)
	}
	if e.Own[0][0] != 1 {
		t.Error("the embedding itself was changed")
	}
}

func TestClose(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	day := func(n int) time.Time { return now.AddDate(0, 0, n) }
	for name, c := range map[string]struct {
		from, at, want time.Time
		retracted      bool
	}{
		"held until now":       {day(-9), now, now, false},
		"held until before":    {day(-9), day(-3), day(-3), false},
		"will end":             {day(-9), day(3), day(3), false},
		"not before it began":  {day(-3), day(-9), day(-3), false},
		"was always so":        {time.Time{}, day(-3), day(-3), false},
		"never comes to begin": {day(9), now, day(9), true},
		"ends after it begins": {day(3), day(9), day(9), false},
	} {
		it := Item{ValidFrom: c.from, RecordedAt: day(-9)}
		it.Close(c.at, now)
		if !it.ValidTo.Equal(c.want) || !it.ClosedAt.Equal(now) || it.RetractedAt.IsZero() == c.retracted {
			t.Errorf("%s: %+v", name, it)
		}
		if current := Current(now).Sees(&it); current != (c.want.After(now) && !c.retracted) {
			t.Errorf("%s: current is %v", name, current)
		}
	}
}

// What ends by a clock that went back ends no earlier than it was known, and is out of the current view, whatever the clock
// says; what was to end later is in it until then.
func TestCloseByAClockThatWentBack(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 9, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		from, recorded, at, now time.Time // of the item, and of its end
		look                    time.Time
		closed, retracted       time.Time
		seen                    bool
	}{
		"a steady clock":                   {day(1), day(1), day(3), day(3), day(3), day(3), time.Time{}, false},
		"back before it was recorded":      {day(1), day(5), day(3), day(3), day(3), day(5), time.Time{}, false},
		"back before it began":             {day(5), day(5), day(3), day(3), day(3), day(5), day(5), false},
		"back after the end":               {day(1), day(1), day(5), day(5), day(2), day(5), time.Time{}, false},
		"an end to come":                   {day(1), day(1), day(9), day(3), day(4), day(3), time.Time{}, true},
		"an end to come, and back":         {day(1), day(1), day(9), day(5), day(2), day(5), time.Time{}, true},
		"an end to come, and it has ended": {day(1), day(1), day(9), day(3), day(9), day(3), time.Time{}, false},
	} {
		it := Item{ValidFrom: c.from, RecordedAt: c.recorded}
		it.Close(c.at, c.now)
		if !it.ClosedAt.Equal(c.closed) || !it.RetractedAt.Equal(c.retracted) {
			t.Errorf("%s: closed at %s, retracted at %s", name, it.ClosedAt, it.RetractedAt)
		}
		view := Current(c.look)
		if got := view.Sees(&it); got != c.seen {
			t.Errorf("%s: seen %t", name, got)
		}
	}
}
