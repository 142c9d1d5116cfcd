package centre

import (
	"math"
	"path"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]Script{
		"":                                   Other,
		"1234 !? 🚀":                          Other,
		"Γειά σου":                           Other,
		"hello":                              Latin,
		"Żółw":                               Latin,
		"你好":                                 Han,
		"[8 May 2023] 李娜: 我喜欢茶":              Han,
		"昨日はパン屋":                             Kana,
		"カラオケ":                               Kana,
		"안녕하세요":                              Hangul,
		"Привет":                             Cyrillic,
		"مرحبا":                              Arabic,
		"नमस्ते":                             Devanagari,
		"สวัสดี":                             Thai,
		"the word 你好 means hello in Chinese": Latin,
		"[8 May 2023] user: Мой дед чинил часы": Cyrillic,
		strings.Repeat("a", 10_000) + "你好":      Latin,
		"\xff\xfe":                              Other,
	} {
		if got := Of(text); got != want {
			t.Errorf("%.40q is %v, want %v", text, got, want)
		}
	}
}

// Every embedded file must be readable, for a broken one would silently mean
// raw vectors.
func TestEmbeddedMeans(t *testing.T) {
	files, err := data.ReadDir("data")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		raw, err := data.ReadFile("data/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(raw); err != nil {
			t.Errorf("%s: %v", f.Name(), err)
		}
		m := For(strings.TrimSuffix(f.Name(), path.Ext(f.Name())))
		if m == nil || m.Version() == "" || m.Dim() != 384 {
			t.Fatalf("%s: %+v", f.Name(), m)
		}
		for s, v := range m.vectors {
			var n float64
			for _, x := range v {
				n += float64(x) * float64(x)
			}
			// Means of E5 unit vectors: long, for they are squeezed into a
			// cone, but shorter than 1.
			if n = math.Sqrt(n); !(n > 0.7 && n < 1) {
				t.Errorf("%s, %v: a mean of length %v", f.Name(), Script(s), n)
			}
		}
	}
	if For("no such model") != nil || For("../centre") != nil {
		t.Error("means of an unknown model")
	}
}

func TestApply(t *testing.T) {
	m := &Means{version: "t"}
	for s := range m.vectors {
		m.vectors[s] = []float32{0, 0, float32(s) / 10}
	}
	v := []float32{0.6, 0, 0.8}
	m.Apply(v, "hello") // Latin: 0.1
	want := math.Hypot(0.6, 0.7)
	if math.Abs(float64(v[0])-0.6/want) > 1e-6 || math.Abs(float64(v[2])-0.7/want) > 1e-6 {
		t.Errorf("centred %v", v)
	}
	same := []float32{0, 0, float32(Thai) / 10}
	m.Apply(same, "สวัสดี")
	if same[0] != 1 || same[1] != 0 || same[2] != 0 {
		t.Errorf("a vector equal to its mean becomes %v, want the first axis", same)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, s := range []string{
		"", "version c1\n", "what is this\n", "mean latin 3 ****\n", "mean klingon 3 AAAAAA==\n", "mean latin 3 AAA=\n",
		"version c1\nmean latin 1 AACAPw==\n",
	} {
		if _, err := parse([]byte(s)); err == nil {
			t.Errorf("%q: no error", s)
		}
	}
}
