package evoke

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"evoke/embed"
	"evoke/embed/modelstore"
	"evoke/recall"
	"evoke/scoring"
	"evoke/store"
)

// fifty are the same fifty facts about one made-up person in every language: pairs of a sentence and a question that
// words it otherwise, in the same order. "emoji" is English with pictures in the place of words.
//
//go:embed benchmarks/testdata/fifty.json
var fiftyJSON []byte

const english = "en"

func fifty(tb testing.TB) map[string][][2]string {
	tb.Helper()
	var all map[string][][2]string
	if err := json.Unmarshal(fiftyJSON, &all); err != nil {
		tb.Fatal(err)
	}
	return all
}

// importFifty gives each language a memory of its own, the user being the language's name, the item's id the fact's number.
func importFifty(t *testing.T, m *Memory, facts map[string][][2]string) {
	t.Helper()
	for lang, pairs := range facts {
		var lines bytes.Buffer
		for i, p := range pairs {
			line, err := json.Marshal(map[string]string{"id": strconv.Itoa(i), "text": p[0]})
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
		res, err := m.Import(t.Context(), Who{User: lang}, &lines, nil)
		if err != nil || res.Imported != len(pairs) || res.FailedN != 0 {
			t.Fatalf("%s: %+v, %v", lang, res, err)
		}
	}
}

// rank is the fact's place among the first five hits, from 1, or 0; recall is asked as it comes.
func rank(t *testing.T, m *Memory, lang, query string, fact int) int {
	t.Helper()
	res, err := m.Recall(t.Context(), RecallRequest{Who: Who{User: lang}, Request: recall.Request{Query: query, Limit: 5}})
	if err != nil || m.vectors != nil && (len(res.Degraded) > 0 || res.PendingVectors > 0) {
		t.Fatalf("%s: %q: %v, degraded %v, %d vectors pending", lang, query, err, res.Degraded, res.PendingVectors)
	}
	return 1 + slices.IndexFunc(res.Hits, func(h recall.Hit) bool { return h.Item.ID == strconv.Itoa(fact) })
}

// askFifty gives the shares of the questions, in per cent, whose fact is the first hit and among the first five.
func askFifty(t *testing.T, m *Memory, lang string, pairs [][2]string) (at1, at5 float64) {
	t.Helper()
	for i, p := range pairs {
		switch rank(t, m, lang, p[1], i) {
		case 0:
			t.Logf("%s misses %q for %q", lang, p[0], p[1])
			continue
		case 1:
			at1++
		}
		at5++
	}
	n := float64(len(pairs)) / 100
	return at1 / n, at5 / n
}

func compareToEnglish(t *testing.T, m *Memory) {
	t.Helper()
	facts := fifty(t)
	importFifty(t, m, facts)
	settle(t, m)
	scores := map[string]float64{}
	var report strings.Builder
	for _, lang := range slices.Sorted(maps.Keys(facts)) {
		at1, at5 := askFifty(t, m, lang, facts[lang])
		scores[lang] = at5
		fmt.Fprintf(&report, " %s %.0f (%.0f)", lang, at5, at1)
	}
	t.Logf("hit@5 (hit@1) in per cent:%s", report.String())
	if scores[english] < 96 {
		t.Errorf("English: hit@5 %.0f, want 96 at least, or the comparison means little", scores[english])
	}
	for lang, s := range scores {
		if s < scores[english]-5 {
			t.Errorf("%s: hit@5 %.0f, more than 5 points behind English (%.0f)", lang, s, scores[english])
		}
	}
}

func TestFiftyLexical(t *testing.T) { compareToEnglish(t, open(t, nil)) }

func TestFiftyModel(t *testing.T) { compareToEnglish(t, open(t, &Options{Embedder: multilingual(t)})) }

// multilingual is the default model, where it is installed.
func multilingual(t *testing.T) embed.Embedder {
	t.Helper()
	if testing.Short() {
		t.Skip("embeds 800 texts; it runs without -short")
	}
	models, err := modelstore.New(nil)
	if err != nil {
		t.Skipf("no folder of models: %v", err)
	}
	e, err := models.Open(t.Context(), modelstore.Default, nil)
	if errors.Is(err, modelstore.ErrNotInstalled) {
		t.Skipf("the multilingual model is not installed (evoke model pull): %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A word of two characters, the usual length in these languages, finds its fact without a model.
func TestFiftyShortWords(t *testing.T) {
	oneByOne(t)
	m := open(t, nil)
	facts := fifty(t)
	importFifty(t, m, facts)
	for lang, words := range map[string]map[string]int{
		"zh": {
			"花生": 2, "香菜": 3, "咖啡": 4, "牙医": 16, "眼镜": 17, "小说": 22, "电池": 27, "钥匙": 30, "兰花": 32, "阳台": 33,
			"结婚": 34, "女儿": 36, "丈夫": 37, "绿茶": 39, "厨房": 40, "老板": 42, "会议": 43, "鲸鱼": 44, "缆车": 46, "邮件": 42,
		},
		"ja": {
			"祖父": 9, "列車": 10, "窓側": 13, "眼鏡": 17, "陶芸": 19, "小説": 22, "配列": 26, "電池": 27, "合鍵": 30, "本棚": 31,
			"結婚": 34, "水泳": 36, "パン": 38, "緑茶": 39, "台所": 40, "上司": 42, "会議": 43, "先生": 45, "部屋": 43, "献血": 49,
		},
		"ko": {
			"땅콩": 2, "수프": 3, "커피": 4, "후추": 5, "천둥": 6, "무릎": 14, "치과": 16, "안경": 17, "도예": 19, "첼로": 20,
			"체스": 21, "소설": 22, "열쇠": 30, "난초": 32, "수영": 36, "남편": 37, "녹차": 39, "상사": 42, "회의": 43, "고래": 44,
		},
		"emoji": {"🥜": 2, "🇲🇦": 10, "✈": 12, "🏃": 14, "♟": 21, "🐋": 44},
	} {
		for word, fact := range words {
			if rank(t, m, lang, word, fact) == 0 {
				t.Errorf("%s: %q does not find %q", lang, word, facts[lang][fact][0])
			}
		}
	}
}

// What was said is kept as it was said: nothing is translated, composed, folded or reordered.
func TestFiftyKeptByteForByte(t *testing.T) {
	oneByOne(t)
	m := open(t, nil)
	facts := fifty(t)
	facts["forms"] = [][2]string{
		{"cafe\u0301 decomposed, caf\u00e9 composed"}, {"ﾊﾝｶｸ ｶﾅ ＡＢＣ １２３ ㈱ ﬁ"}, {"\u1112\u1161\u11ab\u1100\u1173\u11af jamo, 한글"},
		{"\u202bعربي\u202c \u200fabc\u200e \u2067x\u2069"}, {"👩\u200d👩\u200d👧 ☕\ufe0e ☕\ufe0f 👍🏽 🏴\U000e0067\U000e0062\U000e007f"},
		{"𠮷野家 𝒳 \U0010fffd"}, {"no\u00a0break, zero\u200bwidth, soft\u00adhyphen\r\nand\ta line"},
	}
	importFifty(t, m, facts)
	var out bytes.Buffer
	if _, err := m.Export(t.Context(), Who{}, &out); err != nil {
		t.Fatal(err)
	}
	exported := map[string]bool{}
	for line := range bytes.Lines(out.Bytes()) {
		var item struct{ Content string }
		if err := json.Unmarshal(line, &item); err != nil {
			t.Fatal(err)
		}
		exported[item.Content] = true
	}
	for lang, pairs := range facts {
		for i, p := range pairs {
			it, err := m.Get(t.Context(), Who{User: lang}, strconv.Itoa(i))
			if err != nil || it.Content != p[0] || !exported[p[0]] {
				t.Errorf("%s: %q was kept as %q (exported: %t), %v", lang, p[0], it.Content, exported[p[0]], err)
			}
		}
		said := pairs[0][0]
		res, err := m.Ingest(t.Context(), IngestRequest{Who: Who{User: "said in " + lang, Thread: "t"}, Messages: chat(said)})
		if err != nil || len(res.Turns) != 1 {
			t.Fatalf("%s: %+v, %v", lang, res, err)
		}
		if it, err := m.Get(t.Context(), Who{User: "said in " + lang}, res.Turns[0].ID); err != nil || it.Content != said {
			t.Errorf("%s: the turn %q was kept as %q, %v", lang, said, it.Content, err)
		}
	}
}

// A block is never cut inside a character, however small its budget is.
func TestFiftyBlocksAreWhole(t *testing.T) {
	oneByOne(t)
	m := open(t, nil)
	facts := fifty(t)
	importFifty(t, m, facts)
	for lang, pairs := range facts {
		for budget := 0; budget <= 240; budget += 7 {
			r := ContextRequest{Who: Who{User: lang}, Request: recall.Request{Query: pairs[budget%50][1], Limit: 50}, MaxTokens: &budget}
			res, err := m.Context(t.Context(), r)
			if err != nil || res.Tokens > budget || !utf8.ValidString(res.Text) || strings.ContainsRune(res.Text, utf8.RuneError) {
				t.Fatalf("%s, budget %d: %d tokens, %v: %q", lang, budget, res.Tokens, err, res.Text)
			}
		}
	}
}

// Halves of surrogate pairs come as escapes in JSON: a lone one is repaired, a pair is its character.
func TestImportSurrogates(t *testing.T) {
	m := open(t, nil)
	lines := `{"id":"lone","text":"half \ud83d end"}` + "\n" + `{"id":"pair","text":"whole \ud83d\ude00 end"}` + "\n" + `{"id":"turned","text":"\ude00\ud83d"}`
	if res, err := m.Import(t.Context(), Who{}, strings.NewReader(lines), nil); err != nil || res.Imported != 3 {
		t.Fatalf("%+v, %v", res, err)
	}
	for id, want := range map[string]string{"lone": "half \ufffd end", "pair": "whole 😀 end", "turned": "\ufffd\ufffd"} {
		if it, err := m.Get(t.Context(), Who{}, id); err != nil || it.Content != want {
			t.Errorf("%s: %q, %v", id, it.Content, err)
		}
	}
}

// Whatever bytes come in, what comes out is whole UTF-8 without NUL, good text is left alone, and words find it.
func FuzzUnicode(f *testing.F) {
	for _, s := range []string{
		"\xed\xa0\x80 \xed\xb0\x80 halves", "\xed\xa0\xbd\xed\xb8\x80", "a\x00b\x00", "\x00", "\u202eright to left\u202c \u200f\u061c\u2067x\u2069",
		"שלום \u200fعالم", "𠮷 😀 𝒳 \U0010ffff", "\ufffe\uffff\ufeff", "\xc0\x80\xf5\x80\x80\x80", "\xf0\x9f\x98", "\u0301\u0301", "👩\u200d👧\ufe0f🏽🇩🇪🇩",
		"\u1112\u1161\u11ab", "ฉันทำไม", "เ\u0e48\u0e48", "I\u0307ſßŉ", "ﷺ㍿ﬀ", "花生", "\u3000 \u200b", "%s%d{{.}}", "\x1b[31m\u2028\u2029\u0085",
	} {
		f.Add(s, s)
		f.Add(s, "peanuts 花生")
	}
	m, err := Open(f.Context(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := m.Close(); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(t *testing.T, content, query string) {
		who := Who{User: "fuzz"}
		kept, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: content})
		switch got := kept.Item.Content; {
		case errors.Is(err, store.ErrInvalid):
			if whole(content) && strings.TrimSpace(content) != "" && len(content) < 1000 {
				t.Fatalf("%q was refused: %v", content, err)
			}
			return
		case err != nil:
			t.Fatalf("remember %q: %v", content, err)
		case !whole(got):
			t.Fatalf("%q was kept as %q", content, got)
		case whole(content) && got != strings.TrimSpace(content):
			t.Fatalf("good text %q was changed to %q", content, got)
		}
		for _, q := range []string{query, content} {
			res, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: q}})
			if err != nil && !errors.Is(err, store.ErrInvalid) {
				t.Fatalf("recall %q: %v", q, err)
			}
			if text := contents(res.Hits); !whole(text) {
				t.Fatalf("recall %q gives %q", q, text)
			}
			if q == content && len(res.Hits) == 0 && len(content) < 200 && len(scoring.Tokens(kept.Item.Content)) > 0 {
				t.Fatalf("%q does not find itself", content)
			}
			block, err := m.Context(t.Context(), ContextRequest{Who: who, Request: recall.Request{Query: q}, MaxTokens: ptr(len(query) % 100)})
			if err != nil && !errors.Is(err, store.ErrInvalid) || !whole(block.Text) {
				t.Fatalf("block for %q: %q, %v", q, block.Text, err)
			}
		}
		if _, err := m.Forget(t.Context(), ForgetRequest{Who: who, All: true}); err != nil {
			t.Fatal(err)
		}
	})
}

func whole(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
