package tokens

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"evoke/store"
)

func counter(t testing.TB, name string) *Counter {
	t.Helper()
	c, err := For(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Counts that the published tokenizers give for these texts.
func TestKnownCounts(t *testing.T) {
	for _, tc := range []struct {
		encoding, text string
		want           int
	}{
		{"cl100k_base", "", 0},
		{"o200k_base", "", 0},
		{"cl100k_base", "hello world", 2},
		{"o200k_base", "hello world", 2},
		{"cl100k_base", "tiktoken is great!", 6},
		{"r50k_base", "hello world", 2},
		{"p50k_base", "hello world", 2},
	} {
		if got := counter(t, tc.encoding).Count(tc.text); got != tc.want {
			t.Errorf("%s: %q has %d tokens, want %d", tc.encoding, tc.text, got, tc.want)
		}
	}
}

func TestEncodingOf(t *testing.T) {
	for model, want := range map[string]string{
		"": "o200k_base", "o200k_base": "o200k_base", "cl100k_base": "cl100k_base", "gpt-4o": "o200k_base",
		"gpt-4o-mini-2024-07-18": "o200k_base", "gpt-4.1-nano": "o200k_base", "gpt-4.5-preview": "o200k_base", "gpt-5": "o200k_base",
		"gpt-5-mini": "o200k_base", "o1": "o200k_base", "o3-mini": "o200k_base", "o4-mini": "o200k_base", "chatgpt-4o-latest": "o200k_base",
		"gpt-4": "cl100k_base", "gpt-4-turbo": "cl100k_base", "GPT-4-32k": "cl100k_base", "gpt-3.5-turbo-0125": "cl100k_base",
		"openai/gpt-4": "cl100k_base", "ft:gpt-3.5-turbo:acme::x": "cl100k_base", "text-embedding-3-small": "cl100k_base",
		"text-davinci-003": "p50k_base", "davinci": "r50k_base", "qwen2.5": "o200k_base", "claude": "o200k_base",
	} {
		if got := EncodingOf(model); got != want {
			t.Errorf("%q: %s, want %s", model, got, want)
		}
	}
}

func TestNameTooLong(t *testing.T) {
	if _, err := For(strings.Repeat("x", 129)); !errors.Is(err, store.ErrInvalid) {
		t.Fatalf("got %v", err)
	}
}

func TestEncodingIsShared(t *testing.T) {
	var wg sync.WaitGroup
	got := make([]*Counter, 8)
	for i := range got {
		wg.Go(func() {
			got[i], _ = For("gpt-4")
			if got[i] != nil && got[i].Count("shared between goroutines") == 0 {
				t.Error("no tokens")
			}
		})
	}
	wg.Wait()
	for _, c := range got {
		if c == nil || c != got[0] {
			t.Fatal("each encoding is to be built once")
		}
	}
}

// randomText mixes scripts, blanks, marks and long runs.
func randomText(r *rand.Rand, maxRunes int) string {
	alphabets := [...]string{
		"abcdefghijklmnopqrstuvwxyz", "ABCDEFG", "0123456789", "    \t", "\n\r\n ", "'.,!?-–/<>[](){}#*`\"", "我喜欢喝茶住在上海", "ありがとう今日は東京カタカナ",
		"안녕하세요", "مرحبا كيف حالك", "שלום", "Привет", "ไทยครับ", "😀👩‍👩‍👧🇯🇵👍🏽", "éàüñçß", "\u200d\u0301\u00a0\u3000", "'s't'LL'D",
	}
	var b strings.Builder
	for n := r.IntN(maxRunes); n > 0; {
		a := []rune(alphabets[r.IntN(len(alphabets))])
		for range 1 + r.IntN(12) {
			b.WriteRune(a[r.IntN(len(a))])
			n--
		}
		if r.IntN(60) == 0 {
			b.WriteString(strings.Repeat(string(a[0]), r.IntN(300)))
		}
	}
	return b.String()
}

// The counter agrees with the library's own encoder on its own definition of each encoding, on both of its ways.
func TestAgreesWithTiktoken(t *testing.T) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	for _, name := range []string{"o200k_base", "cl100k_base", "p50k_base", "r50k_base"} {
		ref, err := tiktoken.GetEncoding(name)
		if err != nil {
			t.Fatal(err)
		}
		c := counter(t, name)
		r := rand.New(rand.NewPCG(7, uint64(len(name))))
		texts := 1000
		if testing.Short() {
			texts = 100
		}
		for range texts {
			s := randomText(r, 200)
			want := len(ref.EncodeOrdinary(s))
			if got := c.Count(s); got != want {
				t.Fatalf("%s: Count(%q) = %d, want %d", name, s, got, want)
			}
			if got := c.Fast(s); got != want {
				t.Fatalf("%s: Fast(%q) = %d, want %d", name, s, got, want)
			}
		}
	}
}

func TestLongRunsAreFastAndExact(t *testing.T) {
	if testing.Short() {
		t.Skip("its clock means nothing under the race detector; it runs without -short")
	}
	c := counter(t, "o200k_base")
	for _, unit := range []string{"a", "ab", "x1", "我", "é", "😀", " ", "\n", "-", "A", "A\u0301"} {
		short := strings.Repeat(unit, 1500/len(unit))
		if got, want := c.Fast(short), len(c.bpe.EncodeOrdinary(short)); got != want {
			t.Errorf("%q × %d: %d tokens, want %d", unit, len(short)/len(unit), got, want)
		}
		start := time.Now()
		n := c.Count(strings.Repeat(unit, 200_000/len(unit)))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("200 kB of %q took %v", unit, took)
		}
		if n == 0 {
			t.Errorf("200 kB of %q have no tokens", unit)
		}
	}
}

func TestInvalidUTF8IsCounted(t *testing.T) {
	c := counter(t, "o200k_base")
	if got := c.Count("a\xff\xfeb"); got == 0 {
		t.Fatal("no tokens")
	}
}

// Both counters agree on any text, in every encoding, down to broken UTF-8.
func FuzzFast(f *testing.F) {
	for _, s := range []string{"", "Hello, World's end", "ǅ ʰA\u0301B我aB", " \n \t x", "a\xffb", "!\u0301ABC 12345 \r\n/x", "'S'LL 'Re", "ſ'ſ", "  leading", "Ⅷ½٣", "\u0301\u0302 A"} {
		f.Add(s)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add(randomText(r, 100))
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range []string{"o200k_base", "cl100k_base", "r50k_base", "p50k_base"} {
			c := counter(t, name)
			if got, want := c.Fast(s), len(c.bpe.EncodeOrdinary(s)); got != want {
				t.Fatalf("%s: Fast(%q) = %d, want %d", name, s, got, want)
			}
		}
	})
}

func BenchmarkFast(b *testing.B) {
	c := counter(b, "o200k_base")
	text := "On Tuesday I moved from Berlin to 上海 and I like green tea more than coffee now, which surprised my sister. "
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c.Fast(text)
	}
}

func BenchmarkCount(b *testing.B) {
	c := counter(b, "o200k_base")
	text := "On Tuesday I moved from Berlin to 上海 and I like green tea more than coffee now, which surprised my sister. "
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c.Count(text)
	}
}
