package benchmarks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"evoke"
	"evoke/extract"
	"evoke/extract/message"
	"evoke/store"
)

// liver lives a life through the façade.
type liver struct {
	t     *testing.T
	m     *evoke.Memory
	clock *Clock
	now   time.Time
	say   string // of the assistant
	step  int
}

var livesWho = evoke.Who{User: "life"}

func newLiver(t *testing.T, l *life, x extract.Extractor) *liver {
	t.Helper()
	v := &liver{t: t, clock: &Clock{}, now: time.Date(2024, 1, 1, 9, 0, 0, 0, time.UTC), say: l.Assistant}
	v.clock.Set(v.now)
	m, err := evoke.Open(t.Context(), &evoke.Options{Clock: v.clock.Now, Extractor: x, Memory: evoke.MemoryOptions{MaxFacts: 500}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	v.m = m
	return v
}

// tell says one thing on a new day and returns the current facts afterwards.
func (v *liver) tell(text string) []store.Item {
	v.t.Helper()
	v.step++
	v.now = v.now.Add(24 * time.Hour)
	v.clock.Set(v.now)
	w := livesWho
	w.Thread = fmt.Sprintf("day-%d", v.step/10) // ten days make a conversation
	res, err := v.m.Ingest(v.t.Context(), evoke.IngestRequest{Who: w, Messages: []message.Message{
		{Role: message.User, Content: text, Time: v.now}, {Role: message.Assistant, Content: fmt.Sprintf("%s (%d)", v.say, v.step), Time: v.now},
	}})
	if err != nil || res.Skipped != "" {
		v.t.Fatalf("%q: %+v, %v", text, res, err)
	}
	if _, err := v.m.Flush(v.t.Context(), w); err != nil {
		v.t.Fatal(err)
	}
	return v.facts()
}

func (v *liver) facts() []store.Item {
	v.t.Helper()
	items, err := listAll(context.Background(), v.m, livesWho)
	if err != nil {
		v.t.Fatal(err)
	}
	return slices.DeleteFunc(items, func(it store.Item) bool { return it.Provenance.Extractor == "" })
}

func anyHolds(items []store.Item, part string) bool {
	return slices.ContainsFunc(items, func(it store.Item) bool { return strings.Contains(it.Content, part) })
}

// right reports whether the current facts say what the change says, and wrong which facts it should not have touched.
func (c *change) judge(before, after []store.Item) (right bool, lost []string) {
	right = c.holds() == "" || anyHolds(after, c.holds())
	if c.Subject == "" { // nothing changes: nothing new either
		right = len(after) <= len(before)
	}
	for _, not := range c.Against {
		if anyHolds(after, not) {
			right = false
		}
	}
	for _, b := range before {
		still := slices.ContainsFunc(after, func(a store.Item) bool { return a.ID == b.ID && a.Content == b.Content })
		mayGo := slices.ContainsFunc(append(c.Against, c.holds()), func(s string) bool { return s != "" && strings.Contains(b.Content, s) })
		if !still && !mayGo {
			lost = append(lost, b.Content)
		}
	}
	return right && len(lost) == 0, lost
}

func TestLivesWithTheRulesAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("calls one after another: they run without -short")
	}
	for _, lang := range []string{"en", "zh"} {
		t.Run(lang, func(t *testing.T) {
			l := loadLife(t, lang)
			v := newLiver(t, l, nil)
			var covered, right, others, rightOthers, merges, again, confirmed int
			before := []store.Item{}
			for _, c := range l.changes() {
				after := v.tell(c.Text)
				ok, lost := c.judge(before, after)
				if len(lost) > 0 {
					merges++
					t.Errorf("%q took away %q", c.Text, lost)
				}
				switch {
				case !c.Covered:
					others++
					if ok {
						rightOthers++
					}
				case ok:
					covered, right = covered+1, right+1
				default:
					covered++
					t.Logf("wrong (%s): %q gave %q; against %q", c.Kind, c.Text, news(before, after), c.Against)
				}
				if c.Covered && c.Again {
					again++
					if !grew(before, after, c.holds()) {
						confirmed--
					}
					confirmed++
				}
				before = after
			}
			t.Logf("%s: covered %d, right %d (%.1f %%); said otherwise %d, right %d; wrong merges %d; said again %d, counted as such %d",
				lang, covered, right, 100*float64(right)/float64(covered), others, rightOthers, merges, again, confirmed)
			if float64(right) < 0.9*float64(covered) {
				t.Errorf("only %d of %d covered changes are right", right, covered)
			}
		})
	}
}

func news(before, after []store.Item) (out []string) {
	for _, a := range after {
		if !slices.ContainsFunc(before, func(b store.Item) bool { return b.ID == a.ID }) {
			out = append(out, a.Content)
		}
	}
	return out
}

// grew reports whether the fact that holds part gained evidence.
func grew(before, after []store.Item, part string) bool {
	n := func(items []store.Item) (n int) {
		for _, it := range items {
			if strings.Contains(it.Content, part) {
				n += len(it.Provenance.Turns)
			}
		}
		return n
	}
	return n(after) > n(before)
}
