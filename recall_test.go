package evoke

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke/recall"
	"evoke/store"
)

// A block tells the fate of items asked about, those it had no room for and those of somebody else's memory too, and how
// likely the answer is among what was found.
func TestContextTellsWhyNotAndConfidence(t *testing.T) {
	m := open(t, &Options{Embedder: &bagEmbedder{}})
	ctx, who := t.Context(), Who{User: "ann"}
	for _, r := range []RememberRequest{
		{Who: who, ID: "short", Content: "Ann prefers window seats."},
		{Who: who, ID: "long", Content: "Ann prefers window seats." + strings.Repeat(" On long flights she reads.", 40)},
		{Who: Who{User: "bob"}, ID: "bobs", Content: "Bob prefers window seats."},
	} {
		if _, err := m.Remember(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, m)
	ask := recall.Request{Query: "which seats does Ann prefer?", MinScore: ptr(0.0), WhyNot: []string{"long", "short", "bobs"}}
	block, err := m.Context(ctx, ContextRequest{Who: who, Request: ask, MaxTokens: ptr(120)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]recall.Outcome{recall.OverBudget, recall.Returned, recall.NotFound}, outcomes(block.WhyNot)); diff != "" {
		t.Errorf("%s\n%+v", diff, block.WhyNot)
	}
	if block.Confidence <= 0 || block.Confidence > 1 {
		t.Errorf("confidence %v", block.Confidence)
	}
	found, err := m.Recall(ctx, RecallRequest{Who: who, Request: ask})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]recall.Outcome{recall.Returned, recall.Returned, recall.NotFound}, outcomes(found.WhyNot)); diff != "" {
		t.Errorf("%s\n%+v", diff, found.WhyNot)
	}
	if found.Confidence != block.Confidence {
		t.Errorf("recall is %v sure, the block of the same query %v", found.Confidence, block.Confidence)
	}
	ask.WhyNot = make([]string, 21)
	if _, err := m.Context(ctx, ContextRequest{Who: who, Request: ask}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("21 items asked about: %v", err)
	}
}

func outcomes(fates []recall.Fate) []recall.Outcome {
	var out []recall.Outcome
	for _, f := range fates {
		out = append(out, f.Outcome)
	}
	return out
}
