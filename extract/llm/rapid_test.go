package llm

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"evoke/store"
)

func extractor(t testing.TB, o *Options) *Extractor {
	t.Helper()
	x, err := New("m", o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

var texts = rapid.OneOf(
	rapid.StringN(0, 800, 3000),
	rapid.StringOfN(rapid.RuneFrom([]rune("我喜欢喝茶。你呢？ab \n\"<\\.1")), 0, 900, -1),
	rapid.StringMatching(`([A-Z][a-z ]{3,20}\. ){0,45}`),
)

// Whatever is said, every turn is asked about whole, in order, and a group is within its bound unless it is one short
// text.
func TestSplitting(t *testing.T) {
	x := extractor(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		var turns []store.Item
		for i, text := range rapid.SliceOfN(texts, 1, 12).Draw(t, "texts") {
			turns = append(turns, store.Item{ID: string(rune('a' + i)), Content: text})
		}
		most := rapid.IntRange(250, 900).Draw(t, "max")
		groups := x.chunks(x.unitsOf(turns, most), most)
		var said []string
		at := ""
		for _, g := range groups {
			size := 0
			for _, u := range g {
				if u.item.ID != at {
					at = u.item.ID
					said = append(said, "")
				}
				said[len(said)-1] += u.text
				size += x.cost(u.text)
				if !utf8.ValidString(u.text) || u.part < 1 || u.part > u.parts {
					t.Fatalf("part %d of %d: %q", u.part, u.parts, u.text)
				}
			}
			if size > most && (len(g) > 1 || len(g[0].text) >= leastPart) {
				t.Fatalf("%d tokens, at most %d", size, most)
			}
		}
		for i := range turns {
			if i >= len(said) || said[i] != turns[i].Content {
				t.Fatalf("turn %d is not whole", i)
			}
		}
		halve(t, groups[0])
	})
}

// halve splits a group until it cannot be split and checks that nothing is lost on the way.
func halve(t *rapid.T, units []unit) {
	parts := halves(units)
	if parts == nil {
		return
	}
	if join(parts[0])+join(parts[1]) != join(units) || len(parts[0]) == 0 || len(parts[1]) == 0 {
		t.Fatalf("%q is not split into its parts", join(units))
	}
	for _, p := range parts {
		halve(t, p)
	}
}

func join(units []unit) string {
	var b strings.Builder
	for _, u := range units {
		b.WriteString(u.text)
	}
	return b.String()
}

// What is shown of earlier turns is within its bound, and the latest of them.
func TestTail(t *testing.T) {
	x := extractor(t, &Options{Overlap: 3})
	rapid.Check(t, func(t *rapid.T) {
		var turns []store.Item
		for _, text := range rapid.SliceOfN(texts, 0, 6).Draw(t, "texts") {
			turns = append(turns, store.Item{Content: text})
		}
		most := rapid.IntRange(45, 300).Draw(t, "max")
		units := x.unitsOf(turns, 10_000)
		got := x.tail(units, most)
		size := 0
		for i, u := range got {
			size += x.cost(u.text)
			of := units[len(units)-len(got)+i].text
			if !strings.HasSuffix(of, strings.TrimPrefix(u.text, "…")) {
				t.Fatalf("%q is not the end of %q", u.text, of)
			}
		}
		if size > most || len(got) > 3 {
			t.Fatalf("%d turns of %d tokens, at most %d", len(got), size, most)
		}
	})
}

func TestMiddle(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"a":                           "",
		"茶":                           "",
		"ab":                          "a",
		"喝茶":                          "喝",
		"One two. Three four":         "One two.",
		"one two three four":          "one two ",
		"第一句话。第二句话":                   "第一句话。",
		"aaaaaaaaaa\nbbbbbbbbbb":      "aaaaaaaaaa\n",
		"x. yyyyyyyyyyyyyyyyyyyyyyyy": "x. yyyyyyyyyy",
	} {
		if got := in[:middle(in)]; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestGrounding(t *testing.T) {
	for _, c := range []struct{ text, quote, want string }{
		{"I like tea.", "I like tea", "I like tea"},
		{"I like tea.", "i LIKE   tea!", "I like tea"},
		{"I like\n\t tea, truly", "like tea", "like\n\t tea"},
		{"I don’t like “tea”", "I don't like \"tea\"", "I don’t like “tea"},
		{"Ｉ　ｌｉｋｅ　ｔｅａ", "I like tea", "Ｉ　ｌｉｋｅ　ｔｅａ"},
		{"我喜欢喝茶，真的。", "我喜欢喝茶", "我喜欢喝茶"},
		{"我喜欢喝茶，真的。", "喝茶 真的", "喝茶，真的"},
		{"我有15只猫", "15只猫", "15只猫"},
		{"我有15只猫", "5只猫", ""},
		{"a party", "art", ""},
		{"art party art", "art", "art"},
		{"party art", "ART", "art"},
		{"I am 42.5 years", "42.5", "42.5"},
		{"I am 42.5 years", "425", ""},
		{"ﬁne café", "fine cafe\u0301", "ﬁne café"},
		{"I like tea", "", ""},
		{"I like tea", "...", ""},
		{"I like... tea", "...", ""},
		{"", "tea", ""},
		{"I like tea", "I like coffee", ""},
		{"I like tea. You like coffee.", "I like coffee", ""},
		{"Привет, мир", "привет мир", "Привет, мир"},
	} {
		if got := newGrounding(c.text).find(c.quote); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.quote, c.text, got, c.want)
		}
	}
}

func TestAPronounCarriesNothing(t *testing.T) {
	for _, c := range []struct {
		text, span string
		want       bool
	}{
		{"I like tea", "I", false}, {"I like tea", "tea", true}, {"ok", "ok", true}, {"Ok!", "ok", true}, {"我喜欢茶", "我", false}, {"我喜欢茶", "喜欢", true}, {"对", "对", true},
		{"I am 42", "42", true}, {"I am 7", "7", true}, {"I am 7", "am", false}, {"I ❤ tea", "I ❤", true},
	} {
		if got := newGrounding(c.text).carries(c.span); got != c.want {
			t.Errorf("%q of %q: %t", c.span, c.text, got)
		}
	}
}

// What is found is a span of the text and says what the quote says; a span of whole words is always found.
func TestGroundingFindsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		g := newGrounding(text)
		fields := strings.Fields(text)
		if len(fields) > 0 {
			i := rapid.IntRange(0, len(fields)-1).Draw(t, "from")
			j := rapid.IntRange(i, len(fields)-1).Draw(t, "to")
			quote := strings.ToUpper(strings.Join(fields[i:j+1], "  "))
			if folded := store.FoldText(quote); folded != "" && strings.Contains(g.folded, folded) && g.find(quote) == "" {
				t.Fatalf("%q is not found in %q", quote, text)
			}
		}
		other := texts.Draw(t, "other")
		if span := g.find(other); span != "" {
			if !strings.Contains(text, span) {
				t.Fatalf("%q is not in %q", span, text)
			}
			if want := store.FoldText(other); !strings.Contains(store.FoldText(span), want) {
				t.Fatalf("%q does not say %q", span, want)
			}
		}
	})
}

func TestSubjects(t *testing.T) {
	for _, c := range []struct {
		subject, about, key string
		exclusive           bool
	}{
		{"home", "", "home", true},
		{" Home ", "", "home", true},
		{"home", "Mia", "about:mia:home", true},
		{"Likes: Green Tea", "", "likes:green_tea", true},
		{"favorite:colour", "", "favourite:colour", true},
		{"likes:茶", "", "likes:茶", true},
		{"has:dog", "", "has:dog", false},
		{"likes:", "", "likes", false},
		{"deploy schedule", "", "deploy_schedule", false},
		{"", "", "", false},
		{"", "Mia", "", false},
		{"likes:" + strings.Repeat("茶", 50), "", "likes:" + strings.Repeat("茶", 26), true},
	} {
		if key, exclusive := subjectOf(c.subject, c.about); key != c.key || exclusive != c.exclusive {
			t.Errorf("%q about %q: %q %t", c.subject, c.about, key, exclusive)
		}
	}
}

func TestEstimate(t *testing.T) {
	for in, want := range map[string]int{"": 0, "a": 1, "abc": 1, "abcd": 2, "茶": 1, "喝茶": 2, "a茶": 2} {
		if got := estimate(in); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

func TestReasonsAreDistinct(t *testing.T) {
	all := Reasons()
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != len(all) || slices.Contains(all, "") {
		t.Errorf("%v", all)
	}
}
