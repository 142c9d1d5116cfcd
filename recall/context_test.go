package recall

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"evoke/store"
)

func TestContextBlock(t *testing.T) {
	f := conversation()
	f.add(alice, turn("9", "s3", 0, "Jonas", "no, ONLY green tea now!!", now))
	e := engine(t, f, nil, Options{})
	b, err := e.Context(t.Context(), []store.Scope{alice}, BlockRequest{Request: Request{Query: "What does Jonas drink, green tea?"}, MaxTokens: 300, Tokenizer: "gpt-4"})
	if err != nil {
		t.Fatal(err)
	}
	if b.Tokenizer != "cl100k_base" || b.Tokens > 300 || b.Tokens == 0 || b.Budget != 300 || len(FindBlocks(b.Text)) != 1 || FindBlocks(b.Text)[0].Hash != b.Hash {
		t.Errorf("%+v", b)
	}
	if !strings.Contains(b.Text, "green tea now") || len(b.Response.Hits) == 0 {
		t.Errorf("%s", b.Text)
	}
	dup := slices.ContainsFunc(b.LeftOut, func(l LeftOut) bool { return l.Reason == "duplicate" && (l.ID == "8" || l.ID == "9") })
	if !dup || slices.Contains(b.Items, "8") == slices.Contains(b.Items, "9") {
		t.Errorf("one of 8 and 9 is to be left out: %v, %+v", b.Items, b.LeftOut)
	}

	for _, n := range []int{0, 5} {
		b, err = e.Context(t.Context(), []store.Scope{alice}, BlockRequest{Request: Request{Query: "tea"}, MaxTokens: n})
		if err != nil || b.Text != "" || b.Tokens != 0 || len(b.Items) != 0 {
			t.Errorf("budget %d: %+v, %v", n, b, err)
		}
		if n == 5 && len(b.LeftOut) == 0 {
			t.Error("what was left out is not named")
		}
	}
	for _, n := range []int{-1, maxTokens + 1} {
		if _, err := e.Context(t.Context(), []store.Scope{alice}, BlockRequest{MaxTokens: n}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("budget %d: %v", n, err)
		}
	}
	if _, err := e.Context(t.Context(), []store.Scope{alice}, BlockRequest{MaxTokens: 10, Tokenizer: strings.Repeat("x", 200)}); !errors.Is(err, store.ErrInvalid) {
		t.Error(err)
	}
}
