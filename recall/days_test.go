package recall

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

// An explained answer, and one that tells of items by name, says which days the question was read to name.
func TestExplainTellsTheDaysThatAQuestionNames(t *testing.T) {
	asked := time.Date(2026, 6, 15, 1, 0, 0, 0, time.FixedZone("", 9*3600))
	for _, tc := range []struct {
		name string
		req  Request
		want []string
	}{
		{"in the zone of as of", Request{Query: "what did I cook yesterday?", AsOf: asked, Explain: true}, []string{"2026-06-14"}},
		{"in a named zone", Request{Query: "what did I cook yesterday?", AsOf: asked, Zone: "UTC", Explain: true}, []string{"2026-06-13"}},
		{"two", Request{Query: "上周和2021年我做了什么", AsOf: asked, Explain: true}, []string{"2026-06-08..2026-06-14", "2021"}},
		{"none", Request{Query: "what do I like to cook?", AsOf: asked, Explain: true}, nil},
		{"nothing asked", Request{AsOf: asked, Explain: true}, nil},
		{"not explained", Request{Query: "what did I cook yesterday?", AsOf: asked}, nil},
		{"of a named item", Request{Query: "what did I cook yesterday?", AsOf: asked, WhyNot: []string{"x"}}, []string{"2026-06-14"}},
	} {
		res, err := engine(t, newFake(), nil, Options{}).Recall(t.Context(), []store.Scope{alice}, tc.req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, res.Days); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}
