package evoke

import (
	"slices"
	"strings"
	"testing"
	"time"

	"evoke/recall"
	"evoke/store"
)

// What was true and what was known are asked for apart, wherever the past can be looked at: a move that was told of late is
// seen on its day by what is known today, and not by what was known then.
func TestWhatWasTrueByWhatWasKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][3]string{
		"en": {"Lives in Rome", "Lives in Oslo", "where does the user live"}, "zh": {"用户住在北京", "用户住在上海", "用户住在哪里"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			day := func(n int) time.Time { return time.Date(2026, 1, n, 9, 0, 0, 0, time.UTC) }
			clock := clockAt(day(1))
			m := open(t, &Options{Clock: clock.now})
			w := Who{User: "u"}
			for i, from := range []int{1, 5} {
				clock.set(day(1 + 9*i)) // the move is told on the tenth
				if _, err := m.Remember(t.Context(), RememberRequest{Who: w, Content: c[i], Subject: "home", ValidFrom: day(from)}); err != nil {
					t.Fatal(err)
				}
			}
			clock.set(day(20))
			for _, look := range []struct {
				asOf, known int
				want        string
			}{{0, 0, c[1]}, {7, 0, c[0]}, {7, 20, c[1]}, {3, 20, c[0]}, {0, 7, c[0]}, {0, 12, c[1]}, {12, 7, c[0]}} {
				var asOf, known time.Time
				if look.asOf > 0 {
					asOf = day(look.asOf)
				}
				if look.known > 0 {
					known = day(look.known)
				}
				page, err := m.List(t.Context(), ListRequest{Who: w, AsOf: asOf, Known: known})
				if err != nil || len(page.Items) != 1 || page.Items[0].Content != look.want {
					t.Errorf("%+v: list: %+v, %v", look, page.Items, err)
				}
				st, err := m.StatsAt(t.Context(), StatsRequest{Who: w, AsOf: asOf, Known: known})
				if err != nil || st.Semantic != 1 {
					t.Errorf("%+v: stats: %+v, %v", look, st, err)
				}
				p, err := m.Profile(t.Context(), ProfileRequest{Who: w, AsOf: asOf, Known: known})
				if err != nil || !slices.ContainsFunc(p.Facts, func(g FactGroup) bool {
					return len(g.Items) == 1 && g.Items[0].Content == look.want
				}) {
					t.Errorf("%+v: profile: %+v, %v", look, p, err)
				}
				q := recall.Request{Query: c[2], AsOf: asOf, Known: known, MinScore: ptr(0.0)}
				hits, err := m.Recall(t.Context(), RecallRequest{Who: w, Request: q})
				if err != nil || contents(hits.Hits) != look.want {
					t.Errorf("%+v: recall: %q, %v", look, contents(hits.Hits), err)
				}
				block, err := m.Context(t.Context(), ContextRequest{Who: w, Request: q})
				if err != nil || !strings.Contains(block.Text, look.want) {
					t.Errorf("%+v: context: %q, %v", look, block.Text, err)
				}
			}
			if st, err := m.StatsAt(t.Context(), StatsRequest{Who: w, AsOf: day(1).Add(-time.Hour), Known: day(20)}); err != nil || st.Total != 0 {
				t.Errorf("%+v, %v", st, err)
			}
			if got := store.At(day(20), time.Time{}, time.Time{}); got.KnownAt != (time.Time{}) {
				t.Errorf("%+v", got)
			}
		})
	}
}
