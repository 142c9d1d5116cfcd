package recall

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"evoke/store"
)

func fates(t *testing.T, e *Engine, req Request) map[string]Fate {
	t.Helper()
	res := recall(t, e, req)
	out := map[string]Fate{}
	for _, f := range res.WhyNot {
		if f.Detail == "" {
			t.Errorf("%s: no words for %s", f.ID, f.Outcome)
		}
		if sum := f.Parts.Semantic + f.Parts.Recency + f.Parts.Importance + f.Parts.Update; math.Abs(sum-f.Score) > 1e-6 {
			t.Errorf("%s: parts %+v make %g, not %g", f.ID, f.Parts, sum, f.Score)
		}
		if (f.Outcome == NotFound) != (f.Explain == nil) || (f.Outcome == NotFound) != (f.Rank == 0) {
			t.Errorf("%s: %+v", f.ID, f)
		}
		out[f.ID] = f
	}
	return out
}

func TestWhyNot(t *testing.T) {
	f := conversation()
	retracted := item("gone", "Jonas", "The greyhound from the shelter limps.")
	retracted.ValidFrom, retracted.RetractedAt = now.AddDate(0, 0, -9), now.AddDate(0, 0, -2)
	f.add(alice, retracted)
	replaced := item("replaced", "Jonas", "The greyhound sleeps in the hall.")
	replaced.ValidTo, replaced.SupersededBy = now.AddDate(0, 0, -1), "2"
	f.add(alice, replaced)
	again := item("again", "Mira", "I signed up for a pottery class in Valencia!")
	again.ValidFrom = now.AddDate(0, 0, -200)
	f.add(alice, again)
	for i := range 30 {
		f.add(alice, turn(fmt.Sprint("filler", i), "s8", i, "Mira", fmt.Sprintf("Recent words %d about nothing much.", i), now))
	}
	e := engine(t, f, nil, Options{Recent: 5, Important: -1})
	const query = "greyhound from the shelter and the pottery class in Valencia"
	asked := []string{"2", "5", "again", "8", "1", "gone", "replaced", "nowhere", "2"}
	got := fates(t, e, Request{Query: query, Limit: 3, MinScore: ptr(0.05), WhyNot: asked})
	for id, want := range map[string]Outcome{
		"2": Returned, "5": Returned, "again": IsDuplicate, "8": NotNominated, "gone": NotInView, "replaced": NotInView, "nowhere": NotFound,
	} {
		if got[id].Outcome != want {
			t.Errorf("%s: %+v, want %s", id, got[id], want)
		}
	}
	if len(got) != len(asked)-1 {
		t.Errorf("%d fates for %d ids", len(got), len(asked)-1)
	}
	if got["again"].Of != "5" || !strings.Contains(got["gone"].Detail, "retracted on 2026-06-13") || !strings.Contains(got["replaced"].Detail, "replaced by 2") {
		t.Errorf("%+v", got)
	}
	if got["gone"].Score < 0.1 || got["gone"].Explain.Terms["lexical_own"] <= 0 || got["gone"].Rank < 1 {
		t.Errorf("what it would have had: %+v", got["gone"])
	}

	got = fates(t, e, Request{Query: query, Limit: 1, MinScore: ptr(0.0), WhyNot: []string{"5", "2", "filler29"}})
	if x, y := got["2"], got["5"]; (x.Outcome == Returned) == (y.Outcome == Returned) || x.Outcome != BeyondLimit && y.Outcome != BeyondLimit || x.Rank == y.Rank {
		t.Errorf("one of two fits a page of one: %+v", got)
	}
	got = fates(t, e, Request{Query: query, MinScore: ptr(0.9), WhyNot: []string{"2"}})
	if got["2"].Outcome != BelowMinScore {
		t.Errorf("%+v", got)
	}
	got = fates(t, e, Request{Query: query, Filter: store.Filter{Speakers: []string{"Mira"}}, WhyNot: []string{"2", "5"}})
	if got["2"].Outcome != Filtered || got["5"].Outcome != Returned {
		t.Errorf("%+v", got)
	}
	got = fates(t, e, Request{WhyNot: []string{"8", "filler3"}})
	if got["8"].Outcome != NotNominated || got["filler3"].Outcome == NotFound {
		t.Errorf("without a query: %+v", got)
	}
}

func TestAskingWhyChangesNoAnswer(t *testing.T) {
	e := engine(t, conversation(), nil, Options{})
	req := Request{Query: "What does Jonas drink?", Limit: 3}
	plain := recall(t, e, req)
	req.WhyNot = []string{"1", "8", "nowhere"}
	asked := recall(t, e, req)
	if !slices.Equal(ids(plain), ids(asked)) || plain.Hits[0].Score != asked.Hits[0].Score || plain.WhyNot != nil {
		t.Errorf("%v and %v", ids(plain), ids(asked))
	}
	for _, bad := range [][]string{{""}, {strings.Repeat("x", 257)}, make([]string, maxWhyNot+1)} {
		var fe *store.FieldError
		if _, err := e.Recall(t.Context(), []store.Scope{alice}, Request{WhyNot: bad}); !errors.As(err, &fe) || fe.Field != "why_not" {
			t.Errorf("%d ids: %v", len(bad), err)
		}
	}
}

func TestWhyNotOfABlock(t *testing.T) {
	f := conversation()
	f.add(alice, turn("long", "s4", 0, "Jonas", "The greyhound from the shelter. "+strings.Repeat("She ran and ran around the lake until evening fell. ", 40), now))
	e := engine(t, f, nil, Options{})
	b, err := e.Context(t.Context(), []store.Scope{alice}, BlockRequest{Request: Request{Query: "greyhound from the shelter", MinScore: ptr(0.0), WhyNot: []string{"long", "2"}}, MaxTokens: 110})
	if err != nil {
		t.Fatal(err)
	}
	if w := b.Response.WhyNot; len(w) != 2 || w[0].Outcome != OverBudget || !strings.Contains(w[0].Detail, "tokens") || w[1].Outcome != Returned {
		t.Errorf("%+v", w)
	}
}

func TestConfidence(t *testing.T) {
	for name, e := range map[string]*Engine{
		"lexical": engine(t, conversation(), nil, Options{}),
		"dense": engine(t, build(func() (items []store.Item) {
			for _, r := range conversation().scopes[alice].records {
				items = append(items, r.Item)
			}
			return items
		}(), func(int) bool { return true }), toy{axes: []string{"dog", "tea", "run"}}, Options{}),
	} {
		answerable := recall(t, e, Request{Query: "Does Jonas drink green tea now?", Explain: true})
		offTopic := recall(t, e, Request{Query: "Which quantum chromodynamics lecture did the professor cancel?", Explain: true})
		another := recall(t, e, Request{Query: "Which shelter did Mira adopt a greyhound from?", Explain: true})
		// The toy embedder holds all it does not know for alike, so only words tell what is off topic.
		least := map[string]float64{"lexical": 0.3, "dense": answerable.Confidence - 0.3}[name]
		if answerable.Confidence < 0.5 || offTopic.Confidence > least || another.Confidence > answerable.Confidence-0.3 || another.Basis["speaker"] >= 0 {
			t.Errorf("%s: answerable %.2f %v, off topic %.2f %v, of another %.2f %v", name, answerable.Confidence, answerable.Basis,
				offTopic.Confidence, offTopic.Basis, another.Confidence, another.Basis)
		}
		one := recall(t, e, Request{Query: "Does Jonas drink green tea now?", Limit: 1, MinScore: ptr(0.99)})
		if one.Confidence != answerable.Confidence || one.Basis != nil {
			t.Errorf("%s: limit and minimum changed it to %g", name, one.Confidence)
		}
		if blank := recall(t, e, Request{}); blank.Confidence != 0 {
			t.Errorf("%s: nothing was asked and it is %g", name, blank.Confidence)
		}
	}
	if empty := recall(t, engine(t, newFake(), nil, Options{}), Request{Query: "anything"}); empty.Confidence != 0 {
		t.Errorf("an empty memory: %g", empty.Confidence)
	}
}
