package evoke

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
)

// A life of two hundred changes of home, job, age and liking, with returns to old values, in each language: the view of
// any past moment is what held then, the present one the last value only, and the history of what holds now lists every
// version of it.
func TestEveryPastMomentOfALife(t *testing.T) {
	oneByOne(t)
	t.Parallel()
	for name, of := range map[string]map[string][]string{
		"en": {
			"home": {"The user lives in Rome", "The user lives in Oslo", "The user lives in Lima"}, "job": {"The user is a nurse", "The user is a baker"},
			"age": {"The user is 30 years old", "The user is 31 years old", "The user is 32 years old"}, "likes:tea": {"The user likes tea", "The user does not like tea"},
		},
		"zh": {
			"home": {"用户住在北京", "用户住在上海", "用户住在广州"}, "job": {"用户是护士", "用户是面包师"},
			"age": {"用户今年30岁", "用户今年31岁", "用户今年32岁"}, "likes:茶": {"用户喜欢茶", "用户不喜欢茶"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
			clock := clockAt(start)
			m := open(t, &Options{Clock: clock.now})
			who := Who{User: "u"}
			rnd := rand.New(rand.NewPCG(7, 20261130))
			subjects := slices.Sorted(maps.Keys(of))
			now, versions := map[string]string{}, map[string]int{}
			var then []map[string]string
			for i := 0; i < 200; {
				subject := subjects[rnd.IntN(len(subjects))]
				value := of[subject][rnd.IntN(len(of[subject]))]
				if now[subject] == value {
					continue
				}
				clock.set(start.Add(time.Duration(i) * time.Hour))
				if _, err := m.Remember(t.Context(), RememberRequest{Who: who, Content: value, Subject: subject}); err != nil {
					t.Fatal(err)
				}
				now[subject] = value
				versions[subject]++
				then = append(then, maps.Clone(now))
				i++
			}
			view := func(at time.Time) map[string]string {
				page, err := m.List(t.Context(), ListRequest{Who: who, AsOf: at})
				if err != nil {
					t.Fatal(err)
				}
				holds := map[string]string{}
				for _, it := range page.Items {
					if holds[it.Provenance.Subject] != "" {
						t.Fatalf("two values of %s at %v", it.Provenance.Subject, at)
					}
					holds[it.Provenance.Subject] = it.Content
				}
				return holds
			}
			for i, want := range then {
				if d := cmp.Diff(want, view(start.Add(time.Duration(i)*time.Hour+30*time.Minute))); d != "" {
					t.Fatalf("after change %d: %s", i, d)
				}
			}
			if d := cmp.Diff(now, view(time.Time{})); d != "" {
				t.Error(d)
			}
			page, err := m.List(t.Context(), ListRequest{Who: who, Filter: store.Filter{Kinds: []store.Kind{store.Semantic}}})
			if err != nil || len(page.Items) != len(of) {
				t.Fatalf("%d items, %v", len(page.Items), err)
			}
			for _, it := range page.Items {
				h, err := m.History(t.Context(), who, it.ID)
				if err != nil || len(h) != versions[it.Provenance.Subject] {
					t.Errorf("%s: %d versions in the history, want %d, %v", it.Provenance.Subject, len(h), versions[it.Provenance.Subject], err)
				}
			}
		})
	}
}

// A conversation that is extracted later than one that was held after it does not bring the old value back: not by the
// time it goes quiet, nor when it is imported afterwards. What it said stands in the history.
func TestAConversationExtractedLateChangesNothingOfNow(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, c := range [][2]string{{"I live in Rome.", "I live in Oslo."}, {"我住在罗马。", "我住在奥斯陆。"}} {
		clock := clockAt(at.Add(48 * time.Hour))
		m := open(t, &Options{Clock: clock.now})
		say := func(thread, text string, when time.Time) {
			t.Helper()
			ms := chat(text, "Noted.")
			for i := range ms {
				ms[i].Time = when.Add(time.Duration(i) * time.Minute)
			}
			if _, err := m.Ingest(t.Context(), IngestRequest{Who: Who{User: "u", Thread: thread}, Messages: ms}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.FlushAll(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		say("late", c[1], at.Add(time.Hour))
		say("early", c[0], at)
		facts := distilled(t, m, Who{User: "u"})
		if len(facts) != 1 || facts[0].Provenance.Quote != strings.TrimRight(c[1], ".。") {
			t.Fatalf("%+v", facts)
		}
		h, err := m.History(t.Context(), Who{User: "u"}, facts[0].ID)
		if err != nil || len(h) != 2 {
			t.Fatalf("%d versions, %v", len(h), err)
		}
		page, err := m.List(t.Context(), ListRequest{Who: Who{User: "u"}, Filter: store.Filter{Kinds: []store.Kind{store.Semantic}}, All: true})
		if err != nil || len(page.Items) != 2 {
			t.Fatalf("%d items, %v", len(page.Items), err)
		}
		for _, it := range page.Items {
			if it.ID != facts[0].ID && (!it.ValidFrom.Equal(at) || !it.ValidTo.Equal(at.Add(time.Hour)) || it.SupersededBy != facts[0].ID) {
				t.Errorf("%+v", it)
			}
		}
	}
}

// A word that only the past has finds it as of then, by the score that recall wants at the least, whether what has it was
// replaced or taken back.
func TestWordsOfThePastFindIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][3]string{"en": {"Lives in Reykjavik", "Lives in Oslo", "Reykjavik"}, "zh": {"用户住在哈尔滨", "用户住在上海", "哈尔滨"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
			clock := clockAt(start)
			m := open(t, &Options{Clock: clock.now})
			w := Who{User: "u", Thread: "t"}
			found := func(at time.Time) bool {
				t.Helper()
				res, err := m.Recall(t.Context(), RecallRequest{Who: Who{User: "u"}, Request: recall.Request{Query: c[2], AsOf: at}})
				if err != nil {
					t.Fatal(err)
				}
				return len(res.Hits) > 0 && res.Hits[0].Item.Content == c[0]
			}
			for i, content := range c[:2] {
				clock.set(start.AddDate(0, i, 0))
				if _, err := m.Remember(t.Context(), RememberRequest{Who: w, Content: content, Subject: "home"}); err != nil {
					t.Fatal(err)
				}
			}
			then := start.AddDate(0, 0, 9)
			clock.set(start.AddDate(0, 2, 0))
			if found(time.Time{}) || !found(then) {
				t.Error("replaced: found now, or not as of then")
			}
			undo(t, m, Who{User: "u"}, lifecycle.Batch{Thread: "t"})
			clock.set(start.AddDate(0, 3, 0))
			if found(time.Time{}) || !found(then) {
				t.Error("taken back: found now, or not as of then")
			}
		})
	}
}
