package evoke

import (
	"strings"
	"testing"

	"evoke/store"
)

// Corrections and agreement through the whole path, by the rules: what was set right holds, is marked and lowers what it
// replaces; what the user agrees to is surer than before.
func TestCorrectionsAndAgreement(t *testing.T) {
	oneByOne(t)
	t.Parallel()
	for _, c := range []struct {
		turns       []string // the user's and the assistant's in turn
		holds       string
		corrections int
		evidence    int
	}{
		{[]string{"I live in Rome.", "Noted.", "No, actually I live in Oslo.", "Sorry."}, "Oslo", 1, 0},
		{[]string{"I live in Rome.", "Noted.", "I meant Oslo, not Rome.", "Sorry."}, "Oslo", 1, 0},
		{[]string{"My name is Ann.", "Hello Ann.", "Sorry, I misspoke. My name is Anna.", "Hello Anna."}, "Anna", 1, 0},
		{[]string{"I live in Rome.", "Noted.", "I live in Oslo now.", "Noted."}, "Oslo", 0, 0},
		{[]string{"I live in Rome.", "So you live in Rome, right?", "Exactly.", "Good."}, "Rome", 0, 1},
		{[]string{"I live in Rome.", "Rome?", "That's right.", "Good."}, "Rome", 0, 1},
		{[]string{"I live in Rome.", "So you live in Rome, right?", "Exactly what do you mean?", "Nothing."}, "Rome", 0, 0},
		{[]string{"I live in Rome.", "Noted.", "Well, I live in Rome.", "Good."}, "Rome", 0, 1},
		{[]string{"我住在北京。", "好的。", "说错了，我住在南京。", "好的。"}, "南京", 1, 0},
		{[]string{"我住在北京。", "好的。", "不是北京，是南京。", "好的。"}, "南京", 1, 0},
		{[]string{"我叫王伟。", "你好。", "不对，我叫王维。", "好的。"}, "王维", 1, 0},
		{[]string{"我住在北京。", "好的。", "我现在住在南京。", "好的。"}, "南京", 0, 0},
		{[]string{"我住在北京。", "你住在北京，对吗？", "没错。", "好的。"}, "北京", 0, 1},
		{[]string{"我住在北京。", "北京？", "对。", "好的。"}, "北京", 0, 1},
		{[]string{"我住在北京。", "你住在北京，对吗？", "对不对？", "对。"}, "北京", 0, 0},
		{[]string{"我住在北京。", "好的。", "我说过，我住在北京。", "好的。"}, "北京", 0, 1},
	} {
		for _, batch := range []int{2, 4} { // extracted pair by pair, and at once
			m := open(t, nil)
			who := Who{User: "u", Thread: "t"}
			for i := 0; i < len(c.turns); i += batch {
				if _, err := m.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat(c.turns[i : i+batch]...)}); err != nil {
					t.Fatal(err)
				}
				if _, err := m.FlushAll(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			page, err := m.List(t.Context(), ListRequest{Who: who, Filter: store.Filter{Kinds: []store.Kind{store.Semantic}}, All: true})
			if err != nil {
				t.Fatal(err)
			}
			var now []store.Item
			for _, it := range page.Items {
				if !it.Closed() {
					now = append(now, it)
				} else if c.corrections > 0 && it.Confidence > 0.5 {
					t.Errorf("%q, %d at once: what was wrong still has confidence %v", c.turns[2], batch, it.Confidence)
				}
			}
			if len(now) != 1 || !strings.Contains(now[0].Content, c.holds) || now[0].Provenance.Corrections != c.corrections || now[0].Provenance.Evidence != c.evidence {
				t.Errorf("%q, %d at once: %+v", c.turns[2], batch, now)
			}
		}
	}
}
