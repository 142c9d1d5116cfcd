package scoring

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"stop words only", "it was not the same", ""},
		{"stems", "Running dogs ran happily", "run dog ran happili"},
		{"possessive", "Caroline's kids don’t swim", "carolin kid swim"},
		{"iso date", "2023-05-08", "2023 5 8"},
		{"english date", "8 May 2023", "8 may 2023"},
		{"ordinal", "May 8th, the 21st", "may 8 21"},
		{"chinese date", "2023年5月8日", "2023 年 5 月 8 日"},
		{"full width", "ＡＢＣ　１２３", "abc 123"},
		{"arabic digits", "٢٠٢٣", "2023"},
		{"thousands", "$1,200 or 1200, 12,345,678 but 1,2 and 1,2345", "1200 1200 12345678 1 2 1 2345"},
		{"decimals", "3.14 v18.15.0", "3 14 v18 15 0"},
		{"zero", "0 00 007", "0 0 7"},
		{"accents", "café Ångström", "cafe angstrom"},
		{"languages named by a letter", "C++ C# c, F#!", "c++ c# c f#"},
		{"han", "我喜欢喝咖啡", "喜欢 欢喝 喝咖 咖啡"},
		{"han function characters", "我的目的地是哪里？", "目的 的地 地是"},
		{"lone function character", "我", ""},
		{"lone han", "猫 和 狗", "猫 和 狗"},
		{"mixed scripts", "小明用Python3写代码", "小明 明用 python3 写代 代码"},
		{"japanese", "昨日、寿司を食べた", "昨日 寿司 食 べた"},
		{"katakana", "コーヒー", "コー ーヒ ヒー"},
		{"half-width katakana", "ｺｰﾋｰ", "コー ーヒ ヒー"},
		{"hangul", "한국어 좋아", "한국 국어 좋아"},
		{"thai", "ภาษาไทย", "ภา าษ ษา าไ ไท ทย"},
		{"russian", "Мы купили новые книги", "куп нов книг"},
		{"arabic", "الكِتَاب", "كتاب"},
		{"greek", "Ο σκύλος", "ο σκυλοσ"},
		{"hebrew points", "שָׁלוֹם", "שלום"},
		{"hindi keeps its vowel signs", "हिन्दी", "हिन्दी"},
		{"soft hyphen", "hap\u00adpy", "happi"},
		{"thai function words", "ฉันชอบอะไร", "ชอ อบ"},
		{"emoji", "🎉🎉", "🎉 🎉"},
		{"emoji with tones, genders, styles", "👍🏽 🏃🏽‍♀️ ☕️ cat🐱dog", "👍 🏃 ☕ cat 🐱 dog"},
		{"emoji of a family", "👩‍👧", "👩 👧"},
		{"flags", "🇯🇵🇩🇪", "🇯🇵 🇩🇪"},
		{"signs of lists", "☑ tea ✓ milk ➔ rice • 1", "tea milk rice 1"},
		{"invalid", "a\xffb cat\xfe", "b cat"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(Tokens(c.in), " "); got != c.want {
				t.Errorf("Tokens(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestTokensDatesShareDigits(t *testing.T) {
	for _, text := range []string{"8 May 2023", "2023年5月8日", "2023-05-08", "May 8th, 2023"} {
		toks := Tokens(text)
		for _, want := range []string{"2023", "8"} {
			if !slices.Contains(toks, want) {
				t.Errorf("Tokens(%q) = %q lacks %q", text, toks, want)
			}
		}
	}
}

// A short query without any function word must meet the longer text it asks for.
func TestTokensShortQueryMeetsLongText(t *testing.T) {
	for _, c := range []struct{ query, text string }{
		{"Häuser", "Wir haben gestern die alten Häuser in der Stadt gesehen und ich mag sie."},
		{"Haus", "Ich habe mir mit meiner Frau die Häuser angesehen, aber wir sind nicht sicher."},
		{"Wie heißt mein Hund?", "Mein Hund heißt Bello und er ist nicht sehr groß."},
		{"Welche Bücher habe ich gelesen?", "Buch gelesen: Faust"},
		{"chats", "J'ai deux chats et un chien dans la maison avec ma famille."},
		{"Quel est le nom de mon chien ?", "Mon chien est un labrador, je ne sais pas son âge."},
		{"canciones", "Me gusta escuchar una canción cuando estoy en casa con los niños, pero no mucho."},
		{"¿Cuál es mi canción favorita?", "canciones favoritas"},
		{"книга", "Вчера я купил новые книги для сестры"},
		{"running shoes", "He bought a new pair of shoes and now he runs."},
	} {
		text := Tokens(c.text)
		if !slices.ContainsFunc(Tokens(c.query), func(q string) bool { return slices.Contains(text, q) }) {
			t.Errorf("query %q (%q) does not meet %q (%q)", c.query, Tokens(c.query), c.text, text)
		}
	}
}

func TestVote(t *testing.T) {
	for _, c := range []struct {
		text   string
		lang   string // a word and its stem in that language, "" for English
		stemOf string
	}{
		{"Where did I put the keys?", "", ""},
		{"I was in Los Angeles with El and La and Le for the game", "", ""},
		{"She will die in the war", "", ""},
		{"Ich habe die Bücher nicht gelesen", "buch", "bücher"},
		{"Nous avons mangé les pommes avec des amis", "pomm", "pommes"},
		{"Dónde están los niños que viven en mi casa", "niñ", "niños"},
		{"Ik heb een fiets en mijn huis is niet groot", "fiet", "fiets"},
	} {
		l := vote(segment(c.text))
		if (l == nil) != (c.lang == "") {
			t.Errorf("vote(%q) = %v, want English: %v", c.text, l, c.lang == "")
			continue
		}
		if l != nil && l.stemWord(c.stemOf) != c.lang {
			t.Errorf("vote(%q) stems %q to %q, want %q", c.text, c.stemOf, l.stemWord(c.stemOf), c.lang)
		}
	}
}

// Words of no language's stop list give their first token whatever surrounds them.
func TestTokensIndependentOfContext(t *testing.T) {
	surroundings := []string{"%s", "the %s and I", "der %s ist nicht", "le %s est dans une", "los %s son muy", "мой %s это", "我的%s"}
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.StringMatching(`[a-zäöüßéèñç]{4,12}`).Draw(t, "word")
		want := Tokens(w)
		for _, s := range surroundings {
			got := Tokens(strings.ReplaceAll(s, "%s", w))
			if len(want) > 0 && !slices.Contains(got, want[0]) && !stopAnywhere(foldAccents(w)) {
				t.Fatalf("%q gives %q alone and %q in %q", w, want, got, s)
			}
		}
	})
}

func stopAnywhere(w string) bool {
	for _, s := range stemmers {
		if s.stop.has(w) {
			return true
		}
	}
	return englishStop.has(w)
}

func TestHashTermIsStable(t *testing.T) {
	for tok, want := range map[string]Term{"": 2166136261, "a": 0xe40c292c, "foobar": 0xbf9cf968} {
		if got := HashTerm(tok); got != want {
			t.Errorf("HashTerm(%q) = %#x, want %#x", tok, got, want)
		}
	}
}

func TestTermsSortedUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		fs := Terms(text)
		for i := range fs {
			if fs[i].N == 0 || i > 0 && fs[i].Term <= fs[i-1].Term {
				t.Fatalf("Terms(%q) = %v", text, fs)
			}
		}
		if got, want := length(fs), len(Tokens(text)); got != want {
			t.Fatalf("%d frequencies for %d tokens", got, want)
		}
		n := 0
		for _, q := range QueryTerms(text) {
			n += q.N
			if HashTerm(q.Token) != q.Term || freqOf(fs, q.Term) != q.N {
				t.Fatalf("query term %+v in %v", q, fs)
			}
		}
		if n != length(fs) {
			t.Fatalf("query has %d tokens, text %d", n, length(fs))
		}
	})
}

// A megabyte of anything is analysed in time that grows with its length alone.
func TestTokensOfMegabytes(t *testing.T) {
	for _, unit := range []string{"x", "1,111", "111,", "汉", "e\u0301", "\u0301", "ก", "ー", "#", "++", "\xff", "i\u0307"} {
		text := strings.Repeat(unit, 1_000_000/len(unit))
		for _, tok := range Tokens(text) {
			if n := utf8.RuneCountInString(tok); n > 4*maxWordRunes && unit != "\u0301" {
				t.Errorf("a token of %d characters from %q", n, unit)
				break
			}
		}
	}
}

func TestCountsSaturate(t *testing.T) {
	fs := Terms(strings.Repeat("tea ", 70_000))
	if diff := cmp.Diff([]TermFreq{{HashTerm("tea"), 65535}}, fs); diff != "" {
		t.Error(diff)
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"", "8 May 2023", "2023年5月8日", "1,200,300", "c++ #", "Ich habe die Häuser", "ภาษาไทย", "ﷺ", "\u0301", "İı", "a\xff\xfe", "ヽヾ々ー", "12\u0301,345"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, tok := range Tokens(s) {
			if tok == "" || !utf8.ValidString(tok) {
				t.Fatalf("Tokens(%q) gives %q", s, tok)
			}
		}
	})
}
