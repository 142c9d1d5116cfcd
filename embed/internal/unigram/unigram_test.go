package unigram

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// vocabulary is small and chosen so that best splits are easy to tell.
func vocabulary() Vocabulary {
	v := Vocabulary{Begin: 0, End: 2, Unknown: 3, Special: []int32{0, 1, 2, 3}, Normal: map[rune]string{
		'A': "a", 'B': "b", '\t': " ", '\n': " ", '\u3000': " ", 'ﬁ': "fi", '\x00': "", 'Å': "å",
	}}
	for _, p := range []struct {
		text  string
		score float32
	}{
		{"<s>", 0}, {"<pad>", 0}, {"</s>", 0}, {"<unk>", 0}, // 0 … 3
		{"\u2581", -3}, {"a", -4}, {"b", -4}, {"ab", -5}, {"\u2581a", -5}, {"\u2581ab", -6.5}, // 4 … 9
		{"abab", -8.5}, {"世", -6}, {"世界", -7}, {"f", -4}, {"i", -4}, {"å", -5}, // 10 … 15
	} {
		v.Offsets = append(v.Offsets, uint32(len(v.Blob)))
		v.Blob += p.text
		v.Scores = append(v.Scores, p.score)
	}
	v.Offsets = append(v.Offsets, uint32(len(v.Blob)))
	return v
}

func tokenizer(t testing.TB) *Tokenizer {
	t.Helper()
	tok, err := New(vocabulary())
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func pieces(tok *Tokenizer, ids []int32) string {
	var s []string
	for _, id := range ids {
		s = append(s, tok.Piece(id))
	}
	return strings.Join(s, " ")
}

func TestEncode(t *testing.T) {
	tok := tokenizer(t)
	for text, want := range map[string]string{
		"":        "",
		" ":       "▁",
		"a":       "▁a",
		" a":      "▁a",
		"a ":      "▁a ▁",
		"ab":      "▁ab",
		"aba":     "▁ab a",
		"abab":    "▁ abab",
		"a  b":    "▁a ▁ b",
		"a\t\n b": "▁a ▁ b",
		"AB":      "▁ab",
		"世界世":     "▁ 世界 世",
		"\u3000世": "▁ 世",
		"ﬁ":       "▁ f i",
		"xyz":     "▁ <unk>",
		"xay":     "▁ <unk> a <unk>",
		"x y":     "▁ <unk> ▁ <unk>",
		"\x00":    "▁",
		"a▁▁b":    "▁a ▁ ▁ b",
		"<s>":     "▁ <unk>",
		"a\u030a": "▁ å",
		"Å":       "▁ å",
		"\u030a":  "▁ <unk>",
	} {
		want = strings.TrimSpace("<s> "+want) + " </s>"
		if got := pieces(tok, tok.Encode(text, 100)); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

// The reference implementation looks at short grapheme clusters as one: a mark
// that composes is taken in, further marks are lost, as are marks after a
// character that the table maps.
func TestShortClusters(t *testing.T) {
	tok := tokenizer(t)
	for text, want := range map[string]string{
		"a\u030a\u0301": "<s> ▁ å </s>",
		"A\u030a":       "<s> ▁a </s>",
		"A\u030ab":      "<s> ▁ab </s>",
		"世\u030a":       "<s> ▁ 世 <unk> </s>",
	} {
		if got := pieces(tok, tok.Encode(text, 100)); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func TestLimit(t *testing.T) {
	tok := tokenizer(t)
	for _, text := range []string{strings.Repeat("a b ", 100), strings.Repeat("ab", 100), strings.Repeat("世", 1<<16), strings.Repeat("x", 1<<16)} {
		for _, limit := range []int{2, 3, 9} {
			ids := tok.Encode(text, limit)
			if len(ids) > limit || ids[0] != 0 || ids[len(ids)-1] != 2 {
				t.Errorf("limit %d gives %v", limit, ids)
			}
		}
	}
}

func TestConcurrent(t *testing.T) {
	tok := tokenizer(t)
	want := fmt.Sprint(tok.Encode("abab 世界 a b", 50))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if got := fmt.Sprint(tok.Encode("abab 世界 a b", 50)); got != want {
					t.Errorf("%s, want %s", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestNewRefuses(t *testing.T) {
	for name, spoil := range map[string]func(v *Vocabulary){
		"empty":    func(v *Vocabulary) { *v = Vocabulary{} },
		"offsets":  func(v *Vocabulary) { v.Offsets = v.Offsets[1:] },
		"order":    func(v *Vocabulary) { v.Offsets[3] = 1 << 20 },
		"falling":  func(v *Vocabulary) { v.Offsets[3] = 0 },
		"special":  func(v *Vocabulary) { v.Unknown = 99 },
		"negative": func(v *Vocabulary) { v.Begin = -1 },
		"NaN":      func(v *Vocabulary) { v.Scores[5] = float32(math.NaN()) },
		"infinite": func(v *Vocabulary) { v.Scores[5] = float32(math.Inf(1)) },
		"all special": func(v *Vocabulary) {
			v.Special = nil
			for i := range v.Scores {
				v.Special = append(v.Special, int32(i))
			}
		},
	} {
		v := vocabulary()
		spoil(&v)
		if _, err := New(v); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if tok := tokenizer(t); tok.Piece(-1) != "" || tok.Piece(999) != "" || tok.Size() != 16 {
		t.Error("unknown ids have a text, or the size is wrong")
	}
}

// FuzzEncode checks what holds for any text: the marks, the limit, ids in
// range, and the best split being as good as that of brute force.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{"", "abab", "a b", "世界 \x00", "a\u030a\u0301", "xX ﬁ ▁"} {
		f.Add(s, 20)
	}
	tok := tokenizer(f)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 2 + int(uint(limit)%100)
		text = strings.ToValidUTF8(text, "\uFFFD")
		ids := tok.Encode(text, limit)
		if len(ids) < 2 || len(ids) > limit || ids[0] != 0 || ids[len(ids)-1] != 2 {
			t.Fatalf("%q: %v", text, ids)
		}
		for _, id := range ids[1 : len(ids)-1] {
			if id == 0 || id == 1 || id == 2 || int(id) >= tok.Size() {
				t.Fatalf("%q gives id %d", text, id)
			}
		}
		if longer := tok.Encode(text, limit+5); fmt.Sprint(longer[:len(ids)-1]) != fmt.Sprint(ids[:len(ids)-1]) {
			t.Fatalf("%q: the limit %d changes the beginning", text, limit)
		}
	})
}

func TestBestSplitIsBest(t *testing.T) {
	tok := tokenizer(t)
	var try func(word string) float64
	try = func(word string) float64 {
		if word == "" {
			return 0
		}
		best := math.Inf(-1)
		for end := 1; end <= len(word); end++ {
			for id := 4; id < tok.Size(); id++ {
				if tok.Piece(int32(id)) == word[:end] {
					best = max(best, float64(tok.v.Scores[id])+try(word[end:]))
				}
			}
		}
		if _, n := utf8.DecodeRuneInString(word); math.IsInf(best, -1) {
			best = tok.unknown + try(word[n:])
		}
		return best
	}
	for _, word := range []string{"ab", "aab", "ababab", "bababa", "世界世界ab", "fiab"} {
		var got float64
		for _, id := range tok.Encode(word, 100)[1:] {
			if id != 2 {
				got += float64(tok.v.Scores[id])
			}
		}
		if want := try("▁" + word); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s scores %v, the best split %v", word, got, want)
		}
	}
}
