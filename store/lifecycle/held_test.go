package lifecycle

import (
	"testing"

	"evoke/store"
)

// A summary holds a text only with its numbers, names and negations.
func TestHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		summary, text string
		want          bool
	}{
		{"The garden fence costs 150 euros.", "The garden fence costs 120 euros.", false},
		{"The garden fence costs 120 euros. The garden fence costs 150 euros.", "The garden fence costs 120 euros.", true},
		{"My sister Clara lives in Braga near the river.", "My sister Clara lives in Porto near the river.", false},
		{"Nora: my sister Clara lives in Porto near the river.", "My sister Clara lives in Porto near the river.", true},
		{"Tom eats meat every day. He has no car.", "Tom never eats meat.", false},
		{"Tom never eats meat.", "Tom eats meat.", false},
		{"Tom: I do not eat meat, nor fish.", "I don't eat meat.", true},
		{"Nora signed up for a pottery class.", "Hey Mel! I signed up for a pottery class.", true},
		{"Nora: I like green tea Tom: I don't like strong coffee, nor cold milk, nor any juice", "I like green tea", true},
		{"围栏花了150欧元。", "围栏花了120欧元。", false},
		{"围栏花了120欧元。", "围栏花了120欧元。", true},
		{"Tom isst jeden Tag Fleisch.", "Tom isst kein Fleisch.", false},
		{"Tom isst kein Fleisch.", "Tom isst kein Fleisch.", true},
		{"Nora mange du poisson.", "Nora ne mange pas du poisson.", false},
		{"Nora vive vicino al fiume.", "Nora non vive vicino al fiume.", false},
		{"Nora vive cerca del río.", "Nora no vive cerca del río.", false},
		{"Нора ест рыбу каждый день.", "Нора не ест рыбу каждый день.", false},
		{"Nora reads fiction at night.", "Nora reads non-fiction at night.", true},
		{"小王喜欢他的新工作。", "小王不喜欢他的新工作。", false},
	} {
		if got := Holds(c.summary, c.text); got != c.want {
			t.Errorf("%q holds %q: %v", c.summary, c.text, got)
		}
	}
}

// A summary of quotations never has one of two sentences stand for the other that differ in a value.
func TestQuotationsKeepValues(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{
		{"The garden fence by the river costs 120 euros.", "The garden fence by the river costs 150 euros.", "Nora paints the garden fence."},
		{"My sister Clara lives in Porto near the river.", "My sister Clara lives in Braga near the river.", "Her house is blue."},
		{"Tom likes to eat grilled meat on the terrace.", "Tom doesn't like to eat grilled meat on the terrace.", "The terrace is new."},
		{"花园的围栏一共花了120欧元。", "花园的围栏一共花了150欧元。", "围栏是绿色的。"},
	} {
		items := make([]store.Item, len(texts))
		for i, s := range texts {
			items[i] = store.Item{ID: string(rune('a' + i)), Content: s, Turn: store.Turn{Speaker: "Nora"}}
		}
		text, err := Quotations{}.Summarize(t.Context(), store.Scope{}, items)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range texts[:2] {
			if !Holds(text, s) {
				t.Errorf("%q does not hold %q", text, s)
			}
		}
	}
}
