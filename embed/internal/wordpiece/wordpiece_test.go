package wordpiece

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// file makes a tokenizer.json with a small vocabulary.
func tokenizerFile(normalizer string) []byte {
	vocab := map[string]int{}
	for i, p := range []string{
		"[UNK]", "[CLS]", "[SEP]", "walk", "##ing", "##s", "a", "##a", "train", "世", "!", ".", "cafe", "##e", "É", "é", "Train", "##界",
	} {
		vocab[p] = i
	}
	v, err := json.Marshal(vocab)
	if err != nil {
		panic(err) // strings and numbers
	}
	return fmt.Appendf(nil, `{"normalizer":%s,"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":10,"vocab":%s}}`, normalizer, v)
}

const bertNormalizer = `{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}`

func parse(t testing.TB, normalizer string) *Tokenizer {
	t.Helper()
	tok, err := Parse(tokenizerFile(normalizer))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func encode(tok *Tokenizer, text string, limit int) string {
	var s []string
	for _, id := range tok.Encode(text, limit) {
		s = append(s, tok.Piece(id))
	}
	return strings.Join(s, " ")
}

func TestEncode(t *testing.T) {
	tok := parse(t, bertNormalizer)
	for text, want := range map[string]string{
		"":                     "[CLS] [SEP]",
		"walking":              "[CLS] walk ##ing [SEP]",
		"WALKING  walks\n":     "[CLS] walk ##ing walk ##s [SEP]",
		"walk!walk.":           "[CLS] walk ! walk . [SEP]",
		"世世a":                  "[CLS] 世 世 a [SEP]",
		"Café cafe\u0301":      "[CLS] cafe cafe [SEP]",
		"zebra":                "[CLS] [UNK] [SEP]",
		"walkx":                "[CLS] [UNK] [SEP]",
		"aaaaaaaaaa":           "[CLS] a" + strings.Repeat(" ##a", 9) + " [SEP]",
		"aaaaaaaaaaa":          "[CLS] [UNK] [SEP]",
		"wa\u00adlk\u200b\x00": "[CLS] walk [SEP]",
		"walk\u00a0walk":       "[CLS] walk walk [SEP]",
		"\ufffd":               "[CLS] [SEP]",
		"walk\x85walk":         "[CLS] [UNK] [SEP]",
		"[SEP]":                "[CLS] [UNK] [UNK] [UNK] [SEP]",
		"a\u09fda":             "[CLS] [UNK] [SEP]",
	} {
		if got := encode(tok, text, 100); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct{ normalizer, text, want string }{
		{`{"type":"BertNormalizer","lowercase":false}`, "Train train É", "[CLS] Train train É [SEP]"},
		{`{"type":"BertNormalizer","lowercase":true,"strip_accents":false}`, "É", "[CLS] é [SEP]"},
		{`{"type":"BertNormalizer","handle_chinese_chars":false}`, "世界", "[CLS] 世 ##界 [SEP]"},
		{`{"type":"BertNormalizer","clean_text":false}`, "a\x00a", "[CLS] [UNK] [SEP]"},
	} {
		if got := encode(parse(t, c.normalizer), c.text, 100); got != c.want {
			t.Errorf("%s: %q gives %q, want %q", c.normalizer, c.text, got, c.want)
		}
	}
}

func TestLimit(t *testing.T) {
	tok := parse(t, bertNormalizer)
	for _, text := range []string{strings.Repeat("walking ", 100), strings.Repeat("世", 1<<16), strings.Repeat("a", 1<<16), "aaaaaaaaa"} {
		for _, limit := range []int{2, 3, 9} {
			ids := tok.Encode(text, limit)
			if len(ids) > limit || ids[0] != tok.begin || ids[len(ids)-1] != tok.end {
				t.Errorf("limit %d gives %v", limit, ids)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, file := range map[string]string{
		"not JSON":   "{",
		"other":      `{"normalizer":{"type":"NFC"},"model":{"type":"BPE"}}`,
		"no special": `{"normalizer":{"type":"BertNormalizer"},"model":{"type":"WordPiece","vocab":{"a":1}}}`,
		"id":         `{"normalizer":{"type":"BertNormalizer"},"model":{"vocab":{"a":-1}}}`,
		"huge id":    `{"normalizer":{"type":"BertNormalizer"},"model":{"vocab":{"a":1000000000}}}`,
		"wrong form": `{"normalizer":{"type":"BertNormalizer"},"model":{"vocab":[1,2]}}`,
	} {
		if _, err := Parse([]byte(file)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	tok, err := Parse([]byte(`{"normalizer":{"type":"BertNormalizer"},"model":{"vocab":{"[CLS]":1,"[SEP]":2,"[UNK]":7}}}`))
	if err != nil || tok.Size() != 8 || tok.maxChars != 100 || tok.Piece(5) != "" {
		t.Errorf("an old file: %+v, %v", tok, err)
	}
}

// FuzzEncode checks what holds for any text.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{"", "walking!", "世a\u0301\x00", "zzz [SEP]", "\u1100\u1161"} {
		f.Add(s, 20)
	}
	tok := parse(f, bertNormalizer)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 2 + int(uint(limit)%100)
		text = strings.ToValidUTF8(text, "\uFFFD")
		ids := tok.Encode(text, limit)
		if len(ids) < 2 || len(ids) > limit || ids[0] != tok.begin || ids[len(ids)-1] != tok.end {
			t.Fatalf("%q: %v", text, ids)
		}
		for _, id := range ids[1 : len(ids)-1] {
			if id == tok.begin || id == tok.end || tok.Piece(id) == "" {
				t.Fatalf("%q gives id %d", text, id)
			}
		}
	})
}

// FuzzParse: any tokenizer file gives a tokenizer that works, or an error.
func FuzzParse(f *testing.F) {
	f.Add(tokenizerFile(bertNormalizer))
	f.Add([]byte(`{"normalizer":{"type":"BertNormalizer"},"model":{"vocab":{"[CLS]":1,"[SEP]":2,"[UNK]":7,"##":3}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := Parse(data)
		if err != nil {
			return
		}
		if n := len(tok.Encode("walking 世界!", 10)); n < 2 || n > 10 {
			t.Errorf("%d tokens", n)
		}
	})
}
