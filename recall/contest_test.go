package recall

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"evoke/store"
)

// said fills a scope with dated statements, a day apart, oldest first.
func said(texts ...[3]string) *fake {
	f := newFake()
	for i, t := range texts {
		it := item(t[0], t[1], t[2])
		it.ValidFrom = now.AddDate(0, 0, i-len(texts))
		f.add(alice, it)
	}
	return f
}

func TestTheNewerOfTwoStatementsStandsAbove(t *testing.T) {
	facts := said(
		[3]string{"old", "user", "My monthly budget for running shoes and sports gear is 80 euros."},
		[3]string{"other", "user", "I bought new running shoes in the small shop by the river."},
		[3]string{"new", "user", "The monthly budget for shoes and gear went up to 120 euros."},
		[3]string{"noise", "user", "Our cat sleeps on the warm router."},
	)
	for _, tc := range []struct {
		name, query, profile string
		lifted               bool
	}{
		{"the present state", "What is my monthly budget for running shoes and sports gear?", "", true},
		{"the past", "What was my monthly budget for running shoes before?", "", false},
		{"no question", "monthly budget running shoes", "", false},
		{"a profile without updates", "What is my monthly budget for running shoes and sports gear?", "classic", false},
	} {
		res := recall(t, engine(t, facts, nil, Options{}), Request{Query: tc.query, Profile: tc.profile, MinScore: ptr(0.0), Weights: &Weights{Semantic: 0.96, Recency: 0.02, Importance: 0.02}})
		got := ids(res)
		if lifted := slices.Index(got, "new") < slices.Index(got, "old"); lifted != tc.lifted {
			t.Errorf("%s: %v", tc.name, got)
		}
		for i, h := range res.Hits {
			p := h.Parts
			if math.Abs(p.Semantic+p.Recency+p.Importance+p.Update-h.Score) > 1e-6 || i > 0 && h.Score > res.Hits[i-1].Score {
				t.Errorf("%s: %+v, score %g", tc.name, p, h.Score)
			}
			if (p.Update > 1e-9) != (tc.lifted && h.Item.ID == "new") {
				t.Errorf("%s: update of %s is %g", tc.name, h.Item.ID, p.Update)
			}
		}
	}
}

func TestOnlyWhatSpeaksOfTheSameIsLifted(t *testing.T) {
	const query = "What is my monthly budget for running shoes and sports gear?"
	old := [3]string{"old", "user", "My monthly budget for running shoes and sports gear is 80 euros."}
	for name, next := range map[string][3]string{
		"another speaker": {"new", "assistant", "The monthly budget for shoes and gear went up to 120 euros."},
		"another matter":  {"new", "user", "I ran 12 kilometres in the old shoes."},
		"hardly a word":   {"new", "user", "The budget."},
	} {
		if got := ids(recall(t, engine(t, said(old, next), nil, Options{}), Request{Query: query, MinScore: ptr(0.0)})); got[0] != "old" {
			t.Errorf("%s: %v", name, got)
		}
	}
	undated := newFake()
	undated.add(alice, item("old", "user", old[2]))
	dated := item("new", "user", "The monthly budget for shoes and gear went up to 120 euros.")
	dated.ValidFrom = now
	undated.add(alice, dated)
	if got := ids(recall(t, engine(t, undated, nil, Options{}), Request{Query: query, MinScore: ptr(0.0)})); got[0] != "old" {
		t.Errorf("undated: %v", got)
	}
}

// Links of the write path count without likeness, and also where the question has no tense; never for the past.
func TestLinkedVersionsStandInOrder(t *testing.T) {
	build := func(link func(old, next *store.Item)) *fake {
		f := newFake()
		old := item("old", "", "Lives at 4 Mill Lane, Porto: the address to send letters to.")
		next := item("new", "", "Moved to Lisbon; letters go to the office.")
		old.ValidFrom, next.ValidFrom = now.AddDate(0, -2, 0), now.AddDate(0, -1, 0)
		old.ValidTo = now.AddDate(1, 0, 0) // known to end, still in view
		link(&old, &next)
		f.add(alice, old)
		f.add(alice, next)
		return f
	}
	by := map[string]func(old, next *store.Item){
		"none":          func(*store.Item, *store.Item) {},
		"supersedes":    func(_, next *store.Item) { next.Supersedes = "old" },
		"superseded by": func(old, _ *store.Item) { old.SupersededBy = "new" },
		"subject":       func(old, next *store.Item) { old.Provenance.Subject, next.Provenance.Subject = "home", "home" },
	}
	for name, want := range map[string][3]string{ // first of: no tense, present, past
		"none": {"old", "old", "old"}, "supersedes": {"new", "new", "old"}, "superseded by": {"new", "new", "old"}, "subject": {"old", "new", "old"},
	} {
		e := engine(t, build(by[name]), nil, Options{})
		for i, q := range []string{"address to send letters, Porto", "What is the address to send letters to in Porto?", "What was the address to send letters to in Porto?"} {
			if got := ids(recall(t, e, Request{Query: q, MinScore: ptr(0.0)})); got[0] != want[i] {
				t.Errorf("%s, %q: %v", name, q, got)
			}
		}
	}
}

// A page holds the same items with the contest as without, whatever is lifted.
func TestTheContestOnlyReorders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := genItems.Draw(t, "items")
		for i := range items {
			items[i].Provenance.Subject = rapid.SampledFrom([]string{"", "", "home"}).Draw(t, "subject")
			if i > 0 && rapid.Bool().Draw(t, "linked") {
				items[i].Supersedes = items[rapid.IntRange(0, i-1).Draw(t, "old")].ID
			}
		}
		zero := 0.0
		req := Request{Query: "what is " + genText.Draw(t, "query"), Limit: rapid.IntRange(1, 12).Draw(t, "limit"), MinScore: &zero}
		f := build(items, func(int) bool { return true })
		e, err := New(f, toy{axes: []string{"dog", "tea", "run"}}, &Options{Clock: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		page := func(update bool) []string {
			p, err := e.plan([]store.Scope{alice}, req)
			if err != nil {
				t.Fatal(err)
			}
			p.update = update
			res, _, err := e.answer(t.Context(), []store.Scope{alice}, p)
			if err != nil {
				t.Fatal(err)
			}
			for i, h := range res.Hits {
				if h.Score > 1 || h.Parts.Update < -1e-9 || i > 0 && h.Score > res.Hits[i-1].Score {
					t.Fatalf("%g after %v, %+v", h.Score, ids(res), h.Parts)
				}
			}
			return ids(res)
		}
		with, without := page(true), page(false)
		slices.Sort(with)
		slices.Sort(without)
		if !slices.Equal(with, without) {
			t.Fatalf("%v with, %v without", with, without)
		}
	})
}
