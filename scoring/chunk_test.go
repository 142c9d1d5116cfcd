package scoring

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func sentence(words int) string {
	return strings.TrimSpace(strings.Repeat("word ", words-1)) + " end."
}

func TestChunks(t *testing.T) {
	han := func(n int) string { return strings.Repeat("汉", n) }
	for _, c := range []struct {
		name string
		in   string
		want []int // characters of each chunk
	}{
		{"empty", "", []int{0}},
		{"blank", " \n\t", []int{0}},
		{"short", "Hello there.", []int{12}},
		{"130 words stay whole", strings.TrimSpace(strings.Repeat("a ", 130)), []int{259}},
		{"131 words of one sentence", strings.TrimSpace(strings.Repeat("a ", 131)), []int{199, 61}},
		{"two sentences of 90 words", sentence(90) + " " + sentence(90), []int{449, 449}},
		{"sentences are filled up", sentence(40) + " " + sentence(40) + " " + sentence(60), []int{399, 299}},
		{"lines", strings.Repeat("a ", 90) + "\n\n" + strings.Repeat("b ", 90), []int{179, 179}},
		{"221 han characters stay whole", han(221), []int{221}},
		{"han without punctuation", han(400), []int{170, 170, 60}},
		{"han sentences", han(99) + "。" + han(99) + "。" + han(99) + "。", []int{100, 100, 100}},
		{"no blanks", strings.Repeat("x", 3000), []int{1200, 1200, 600}},
		{"few long words", strings.Repeat(strings.Repeat("x", 500)+" ", 4), []int{1001, 1001}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Chunks(c.in)
			var lens []int
			for _, s := range got {
				lens = append(lens, utf8.RuneCountInString(s))
			}
			if len(lens) != len(c.want) {
				t.Fatalf("chunks of %v characters, want %v", lens, c.want)
			}
			for i := range lens {
				if lens[i] != c.want[i] {
					t.Fatalf("chunks of %v characters, want %v", lens, c.want)
				}
			}
		})
	}
}

func TestChunksOfOneMegabyteLine(t *testing.T) {
	for _, unit := range []string{"x", "汉", "é", "e\u0301\u0302", "a ", "\u0301", "👩‍👩‍👧", ". "} {
		text := strings.Repeat(unit, 1_000_000/len(unit))
		checkChunks(t, text)
	}
}

// A chunk never separates a letter from the marks on it.
func TestChunksKeepMarks(t *testing.T) {
	for _, c := range Chunks(strings.Repeat("xe\u0301", 2000))[1:] {
		if r, _ := utf8.DecodeRuneInString(c); unicode.Is(unicode.M, r) {
			t.Fatalf("a chunk begins with the mark %U", r)
		}
	}
}

func checkChunks(t interface{ Fatalf(string, ...any) }, text string) {
	chunks, rest := splitChunks(text)
	if len(chunks) == 0 || len(chunks) > MaxChunks {
		t.Fatalf("%d chunks", len(chunks))
	}
	var all strings.Builder
	for _, c := range chunks {
		if n := utf8.RuneCountInString(c); n > MaxChunkRunes || !utf8.ValidString(c) || c == "" && len(chunks) > 1 {
			t.Fatalf("chunk of %d characters, valid %v", n, utf8.ValidString(c))
		}
		if w := measure(c).words; w > chunkWords*chunkTolerance {
			t.Fatalf("chunk of %v words", w)
		}
		all.WriteString(c)
	}
	all.WriteString(rest)
	if len(chunks) < MaxChunks && rest != "" {
		t.Fatalf("%d chunks, and a rest", len(chunks))
	}
	squeeze := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s)
	}
	if squeeze(all.String()) != squeeze(strings.ToValidUTF8(text, "\uFFFD")) {
		t.Fatalf("chunks and rest are not the text")
	}
}

func TestChunksLoseNothing(t *testing.T) {
	piece := rapid.OneOf(
		rapid.StringN(0, 40, -1),
		rapid.SampledFrom([]string{". ", "\n", "。", "word ", "汉字", "ภาษา", "\xff", "e\u0301", strings.Repeat("x", 700), strings.Repeat("tea ", 60)}),
	)
	rapid.Check(t, func(t *rapid.T) {
		checkChunks(t, strings.Join(rapid.SliceOfN(piece, 0, 120).Draw(t, "pieces"), ""))
	})
}

func TestWordCount(t *testing.T) {
	for in, want := range map[string]int{"": 0, "one two  three\n": 3, strings.Repeat("汉", 17): 10, "我用 Python 写": 3, "ภาษาไทยดี": 2} {
		if got := WordCount(in); got != want {
			t.Errorf("WordCount(%q) = %d, want %d", in, got, want)
		}
	}
}

func FuzzChunks(f *testing.F) {
	for _, s := range []string{"", "a. b? c!\n\nd", strings.Repeat("汉字。", 200), strings.Repeat("x", 2000), "e\u0301\u200d\xff"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, times int) {
		checkChunks(t, strings.Repeat(s, min(max(times, 1), 200)))
	})
}
