package evoke

import (
	"fmt"
	"os"
	"testing"
	"time"

	"evoke/recall"
	"evoke/store/qdrantstore"
	"evoke/store/qdrantstore/qdranttest"
	"evoke/store/sqlitestore"
)

// onBoth runs a test on a memory with its items in SQLite and on one with its items in Qdrant.
func onBoth(t *testing.T, name string, clock *testClock, test func(*testing.T, *Memory)) {
	t.Run("sqlite", func(t *testing.T) { test(t, open(t, &Options{Clock: clock.now})) })
	t.Run("qdrant", func(t *testing.T) {
		o := inQdrant(t, name)
		o.Clock = clock.now
		test(t, open(t, o))
	})
}

// inQdrant is the options of a memory with its items in a Qdrant collection of its own.
func inQdrant(t *testing.T, name string) *Options {
	t.Helper()
	addr, name := qdrantServer.Address(t), fmt.Sprintf("%s_%d", name, os.Getpid())
	qdranttest.DropAfter(t, addr, name)
	items, err := qdrantstore.Open(t.Context(), &qdrantstore.Options{URL: "qdrant://" + addr, Collection: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { items.Close() })
	ledger, err := sqlitestore.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ledger.Close() })
	return &Options{Store: items, Ledger: ledger}
}

// life is a memory whose days are told one by one.
type life struct {
	t     *testing.T
	m     *Memory
	clock *testClock
}

var lifeWho = Who{User: "u"}

func lifeDay(n int) time.Time { return time.Date(2026, 1, n, 9, 0, 0, 0, time.UTC) }

// tell says on one day what holds since another, and returns the id.
func (l life) tell(on, since int, text string) string {
	l.t.Helper()
	l.clock.set(lifeDay(on))
	res, err := l.m.Remember(l.t.Context(), RememberRequest{Who: lifeWho, Content: text, Subject: "home", ValidFrom: lifeDay(since)})
	if err != nil {
		l.t.Fatal(err)
	}
	return res.Item.ID
}

// sees holds what was true on one day by what was known on another against what is wanted, "" for nothing. Day 0 is now.
func (l life) sees(looks []look) {
	l.t.Helper()
	for _, k := range looks {
		r := ListRequest{Who: lifeWho}
		if k.valid > 0 {
			r.AsOf, r.Known = lifeDay(k.valid), lifeDay(k.known)
		}
		page, err := l.m.List(l.t.Context(), r)
		got := ""
		for _, it := range page.Items {
			got += it.Content
		}
		if err != nil || got != k.want {
			l.t.Errorf("%q was true on day %d by what was known on day %d, not %q, %v", got, k.valid, k.known, k.want, err)
		}
	}
}

type look struct {
	valid, known int
	want         string
}

// What is told late between two values ends the earlier one sooner by what is known from then on, and no sooner by what was
// known before.
func TestWhatIsToldLateBetweenTwoValuesChangesNothingOfWhatWasKnown(t *testing.T) {
	clock := clockAt(lifeDay(1))
	onBoth(t, "between", clock, func(t *testing.T, m *Memory) {
		l := life{t, m, clock}
		rome := l.tell(1, 1, "Lives in Rome")
		l.tell(10, 10, "Lives in Oslo")
		l.tell(20, 5, "Lives in Bern")
		clock.set(lifeDay(30))
		l.sees([]look{{0, 0, "Lives in Oslo"}, {7, 3, "Lives in Rome"}, {7, 12, "Lives in Rome"}, {12, 12, "Lives in Oslo"}, {7, 21, "Lives in Bern"},
			{3, 21, "Lives in Rome"}, {3, 12, "Lives in Rome"}, {12, 21, "Lives in Oslo"}, {12, 7, "Lives in Rome"}})
		changes, err := m.Changes(t.Context(), lifeWho, rome)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range changes {
			got += fmt.Sprintf("%d %s, ", c.At.Day(), c.Did)
		}
		if want := "1 added, 10 ended, 10 added, 20 redated, 20 added, 20 replaced, "; got != want {
			t.Errorf("told: %s not %s", got, want)
		}
	})
}

// What is told late that holds from before an edit of the value in whose place it comes ends that value where it begins.
func TestWhatHoldsFromBeforeAnEditEndsWhatWasEdited(t *testing.T) {
	clock := clockAt(lifeDay(1))
	onBoth(t, "edited", clock, func(t *testing.T, m *Memory) {
		l := life{t, m, clock}
		rome := l.tell(1, 1, "Lives in Rome")
		clock.set(lifeDay(10))
		if _, err := m.Update(t.Context(), UpdateRequest{Who: lifeWho, ID: rome, Content: ptr("Lives in Roma")}); err != nil {
			t.Fatal(err)
		}
		l.tell(20, 5, "Lives in Oslo")
		clock.set(lifeDay(30))
		l.sees([]look{{0, 0, "Lives in Oslo"}, {7, 7, "Lives in Rome"}, {7, 12, "Lives in Rome"}, {12, 12, "Lives in Roma"}, {7, 21, "Lives in Oslo"},
			{12, 21, "Lives in Oslo"}, {3, 21, "Lives in Rome"}})
	})
}

// A word that only the past has is no slip of one that the present has, when the past is asked; a slip of a word that only
// the past has is read as that word.
func TestWordsOfThePastAreNoSlips(t *testing.T) {
	clock := clockAt(lifeDay(1))
	onBoth(t, "slips", clock, func(t *testing.T, m *Memory) {
		l := life{t, m, clock}
		l.tell(1, 1, "Stays with Zvonimir")
		l.tell(12, 12, "Stays with Hrvoje")
		l.tell(14, 14, "Stays with Zdenko")
		clock.set(lifeDay(16))
		if _, err := m.Remember(t.Context(), RememberRequest{Who: lifeWho, Content: "Talks to Zvonimil", Subject: "friend"}); err != nil {
			t.Fatal(err)
		}
		clock.set(lifeDay(20))
		for _, c := range []struct {
			day         int
			query, want string
		}{{5, "Zvonimir", "Stays with Zvonimir"}, {13, "Hrvojje", "Stays with Hrvoje"}, {0, "Zdenkko", "Stays with Zdenko"}} {
			r := recall.Request{Query: c.query}
			if c.day > 0 {
				r.AsOf = lifeDay(c.day)
			}
			res, err := m.Recall(t.Context(), RecallRequest{Who: lifeWho, Request: r})
			if err != nil || contents(res.Hits) != c.want {
				t.Errorf("%q on day %d: %q, not %q, %v", c.query, c.day, contents(res.Hits), c.want, err)
			}
		}
	})
}
