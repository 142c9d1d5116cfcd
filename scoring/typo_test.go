package scoring

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func dfOf(tokens map[string]int) func(Term) int {
	m := map[Term]int{}
	for tok, n := range tokens {
		m[HashTerm(tok)] = n
	}
	return func(t Term) int { return m[t] }
}

func TestCorrectTypos(t *testing.T) {
	df := dfOf(map[string]int{"adopt": 3, "group": 5, "chess": 2, "tea": 9, "grope": 1, "support": 4})
	for in, want := range map[string]string{
		"adotp": "adopt", "adpt": "adopt", "addopt": "adopt", "suport": "support", "suppoqt": "support",
		"adoqt": "adoqt",                  // too short for a wrong letter: horse is no slip of house
		"gruop": "group", "grop": "group", // the more frequent of group and grope
		"chess": "chess", "zebra": "zebra", "dopt": "dopt", "xdopt": "xdopt",
		"tae": "tae", "猫咪": "猫咪", "2o23": "2o23",
	} {
		got := CorrectTypos([]QueryTerm{{HashTerm(in), in, 2, false}}, df)
		if diff := cmp.Diff([]QueryTerm{{HashTerm(want), want, 2, false}}, got); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
	if got := CorrectTypos(QueryTerms("adopt adotp"), df); len(got) != 1 || got[0].N != 2 {
		t.Errorf("a correction must join the term it becomes: %v", got)
	}
	if CorrectTypos(nil, df) != nil {
		t.Error("an empty query stays empty")
	}
}

// Whatever one slip makes of a word whose first letter stays, the word is found again.
func TestCorrectTyposFindsTheWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{6,12}`).Draw(t, "word")
		i := rapid.IntRange(1, len(word)-2).Draw(t, "at")
		var typo string
		switch rapid.IntRange(0, 3).Draw(t, "slip") {
		case 0:
			typo = word[:i] + word[i+1:]
		case 1:
			typo = word[:i] + word[i:i+1] + word[i:]
		case 2:
			typo = word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
		case 3:
			typo = word[:i] + "q" + word[i+1:]
		}
		got := CorrectTypos([]QueryTerm{{HashTerm(typo), typo, 1, false}}, dfOf(map[string]int{word: 1}))
		if kept := CorrectTypos([]QueryTerm{{HashTerm(typo), typo, 1, true}}, dfOf(map[string]int{word: 1})); kept[0].Token != typo {
			t.Fatalf("a known word, %s, became %s", typo, kept[0].Token)
		}
		if got[0].Token != word {
			t.Fatalf("%s gives %s, want %s", typo, got[0].Token, word)
		}
	})
}
