package extract_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// homes is an extractor that takes every user's turn for where he lives, and says so in its own words.
type homes struct {
	name, form string
	calls      int
	also       func(b extract.Batch) []extract.Operation
}

func (h *homes) Name() string { return h.name }

func (h *homes) Extract(_ context.Context, b extract.Batch) (ops []extract.Operation, err error) {
	h.calls++
	for _, t := range b.Turns {
		if t.Turn.Role == "user" {
			ops = append(ops, fact(t, fmt.Sprintf(h.form, t.Content), "home"))
		}
	}
	if h.also != nil {
		ops = append(ops, h.also(b)...)
	}
	return ops, nil
}

// told lists all versions of the facts: id's place in the order of recording, content, and what became of each.
func told(t *testing.T, db *sqlitestore.DB) (out []string) {
	t.Helper()
	all := list(t, db, ann, store.View{All: true}, store.Semantic)
	slices.SortFunc(all, func(a, b store.Item) int { return a.RecordedAt.Compare(b.RecordedAt) })
	for _, it := range all {
		s := it.Content
		switch {
		case !it.RetractedAt.IsZero():
			s += ", retracted"
		case it.Closed():
			s += ", replaced"
		}
		if it.Provenance.Interim {
			s += ", interim"
		}
		out = append(out, s+" ("+it.Provenance.Extractor+")")
	}
	return out
}

func wantTold(t *testing.T, db *sqlitestore.DB, when string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, told(t, db)); d != "" {
		t.Errorf("%s: %s", when, d)
	}
}

func of(x, interim extract.Extractor) func(string) extract.Tenant {
	return func(string) extract.Tenant { return extract.Tenant{Extractor: x, Interim: interim} }
}

// While the service is away the interim extractor's facts stand, once, and the events wait; when it answers, what it says
// too stays under its id, what it does not say goes, and what that had replaced holds again.
func TestInterimFactsAreConfirmedOrReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		interim := &homes{name: "interim/1", form: "The user lives in %s", also: func(b extract.Batch) []extract.Operation {
			return []extract.Operation{fact(b.Turns[0], "The user owns "+b.Turns[0].Content, "")}
		}}
		model := &homes{name: "model/1", form: "The user lives in %s"}
		x := away(0, func(b extract.Batch) []extract.Operation { ops, _ := model.Extract(t.Context(), b); return ops })
		g, w := line(t, db, x, extract.WorkerOptions{Tenant: of(x, interim)})
		settled(t, w, say(t, g, "a", user("Oslo"), assistant("ok")), store.EventStored, 1, "")
		wantTold(t, db, "at first", "The user lives in Oslo (service/1)")

		x.become(away(time.Hour, func(b extract.Batch) []extract.Operation {
			if b.Turns[0].Content == "Rome" {
				return nil // it does not think so
			}
			ops, _ := model.Extract(t.Context(), b)
			return ops
		}))
		rome := say(t, g, "b", user("Rome"), assistant("ok"))
		time.Sleep(time.Minute)
		wantTold(t, db, "away", "The user lives in Oslo, replaced (service/1)", "The user lives in Rome, interim (interim/1)", "The user owns Rome, interim (interim/1)")
		time.Sleep(20 * time.Minute)
		paris := say(t, g, "c", user("Paris"), assistant("ok"))
		more := say(t, g, "b", user("Rome"), assistant("ok"))
		time.Sleep(time.Minute)
		if why, until := w.Away(ann.Tenant); why != "unavailable" || !until.After(time.Now()) {
			t.Errorf("away: %q until %v", why, until)
		}
		for _, r := range []*extract.Result{rome, paris, more} {
			if ev := state(t, db, r); ev.State != store.EventPending {
				t.Errorf("%+v", ev)
			}
		}
		var id string
		for _, it := range list(t, db, ann, store.View{All: true}, store.Semantic) { // either may have come last
			if it.Content == "The user lives in Paris" {
				id = it.ID
			}
		}
		settled(t, w, paris, store.EventStored, 1, "")
		settled(t, w, rome, store.EventNothing, 0, "nothing worth keeping")
		settled(t, w, more, store.EventNothing, 0, "nothing worth keeping")
		if why, _ := w.Away(ann.Tenant); why != "" {
			t.Errorf("away, though it answered: %q", why)
		}
		facts := factsOf(t, db)
		if len(facts) != 1 || facts[0].ID != id || facts[0].Provenance.Interim || facts[0].Provenance.Extractor != "service/1" {
			t.Errorf("%+v, want Paris as %s", facts, id)
		}
		for _, s := range told(t, db) {
			if strings.Contains(s, "interim/1") && !strings.Contains(s, "retracted") {
				t.Errorf("left over: %s", s)
			}
		}
		if interim.calls != 3 {
			t.Errorf("the interim extractor ran %d times, want once for each of three batches", interim.calls)
		}
	})
}

// What a retracted interim fact had replaced holds again.
func TestWhatAnInterimFactReplacedHoldsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		interim := &homes{name: "interim/1", form: "The user lives in %s"}
		x := away(0, func(b extract.Batch) []extract.Operation { ops, _ := interim.Extract(t.Context(), b); return ops })
		g, w := line(t, db, x, extract.WorkerOptions{Tenant: of(x, interim)})
		settled(t, w, say(t, g, "a", user("Oslo"), assistant("ok")), store.EventStored, 1, "")
		before := factsOf(t, db)
		x.become(away(10*time.Minute, func(extract.Batch) []extract.Operation { return nil }))
		r := say(t, g, "b", user("Rome"), assistant("ok"))
		time.Sleep(time.Minute)
		r2 := say(t, g, "b", user("Bonn"), assistant("ok"))
		settled(t, w, r, store.EventNothing, 0, "nothing worth keeping")
		settled(t, w, r2, store.EventNothing, 0, "nothing worth keeping")
		if d := cmp.Diff(before, factsOf(t, db)); d != "" {
			t.Errorf("as before the outage: %s", d)
		}
	})
}

// The process dies during the outage, more than once: nothing is doubled.
func TestInterimFactsSurviveARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		x := away(3*time.Hour, func(b extract.Batch) []extract.Operation {
			return []extract.Operation{fact(b.Turns[0], "The user lives in Rome", "home")}
		})
		interim := &homes{name: "interim/1", form: "The user lives in %s"}
		var r *extract.Result
		for life := range 4 {
			db, err := sqlitestore.Open(t.Context(), dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			locks := new(extract.Locks)
			w, err := extract.NewWorker(db, db, x, &extract.WorkerOptions{Locks: locks, Tenant: of(x, interim), Grace: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			if life == 0 {
				r = say(t, ingester(t, db, &extract.IngestOptions{Locks: locks, Wake: w.Wake}), "th", user("Rome"), assistant("ok"))
			}
			if life < 3 {
				time.Sleep(time.Hour)
				wantTold(t, db, "away", "The user lives in Rome, interim (interim/1)")
			} else {
				settled(t, w, r, store.EventStored, 1, "")
				wantTold(t, db, "back", "The user lives in Rome (service/1)")
			}
			w.Stop()
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if interim.calls != 1 {
			t.Errorf("the interim extractor ran %d times", interim.calls)
		}
	})
}

// When the tenant's budget is spent, the interim extractor's result is final; without one, the turns wait for the next day.
func TestASpentBudget(t *testing.T) {
	spent := &service{do: func(context.Context, extract.Batch, int) (extract.Report, error) {
		return extract.Report{}, fmt.Errorf("gate: %w", store.ErrBudget)
	}}
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		interim := &homes{name: "interim/1", form: "The user lives in %s"}
		g, w := line(t, db, spent, extract.WorkerOptions{Tenant: of(spent, interim)})
		ev := settled(t, w, say(t, g, "a", user("Oslo"), assistant("ok")), store.EventStored, 1, "budget spent: rules")
		if ev.Extractor != "interim/1" {
			t.Errorf("%+v", ev)
		}
		wantTold(t, db, "spent", "The user lives in Oslo (interim/1)")
	})
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		begin := time.Now() // midnight
		x := &service{do: func(_ context.Context, b extract.Batch, _ int) (extract.Report, error) {
			if time.Since(begin) < 24*time.Hour {
				return extract.Report{}, store.ErrBudget
			}
			return extract.Report{Operations: []extract.Operation{fact(b.Turns[0], "x", "")}}, nil
		}}
		g, w := line(t, db, x, extract.WorkerOptions{MaxAttempts: 1})
		r := say(t, g, "a", user("Oslo"), assistant("ok"))
		time.Sleep(23 * time.Hour)
		if ev := state(t, db, r); ev.State != store.EventPending || x.calls() != 1 {
			t.Errorf("%+v after %d calls", ev, x.calls())
		}
		settled(t, w, r, store.EventStored, 1, "")
		if d := time.Since(begin); d > 24*time.Hour+2*time.Minute {
			t.Errorf("took %v", d)
		}
	})
}

// A thread of several batches is covered whole, and each of its turns once.
func TestInterimFactsOfALongThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := sized{&script{do: func(extract.Batch, int) ([]extract.Operation, error) { return nil, store.ErrUnavailable }}}
		seen := map[string]int{}
		interim := &script{do: func(b extract.Batch, _ int) (ops []extract.Operation, _ error) {
			for _, turn := range b.Turns {
				seen[turn.Content]++
				ops = append(ops, fact(turn, "The user said "+turn.Content, ""))
			}
			return ops, nil
		}}
		g, _ := line(t, db, x, extract.WorkerOptions{Tenant: of(x, interim)})
		for i := range 6 {
			say(t, g, "th", user(fmt.Sprint("word ", i)), assistant(fmt.Sprint("answer ", i)))
		}
		time.Sleep(10 * time.Minute)
		say(t, g, "th", user("word 6"), assistant("answer 6"))
		time.Sleep(10 * time.Minute)
		if facts := factsOf(t, db); len(facts) != 14 {
			t.Errorf("%d interim facts", len(facts))
		}
		for text, n := range seen {
			if n != 1 {
				t.Errorf("%q was given %d times", text, n)
			}
		}
	})
}

// What was put in the place of an interim fact stays there, whatever the service makes of the turn.
func TestAnEditedInterimFactStays(t *testing.T) {
	for _, agrees := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			db := open(t)
			interim := &homes{name: "interim/1", form: "The user lives in %s"}
			x := away(10*time.Minute, func(b extract.Batch) []extract.Operation {
				if !agrees {
					return nil
				}
				ops, _ := interim.Extract(t.Context(), b)
				return ops
			})
			g, w := line(t, db, x, extract.WorkerOptions{Tenant: of(x, interim)})
			r := say(t, g, "a", user("Rome"), assistant("ok"))
			time.Sleep(time.Minute)
			old := factsOf(t, db)[0]
			next := old
			next.ID, next.Content, next.Supersedes, next.RecordedAt = "edited", "The user lives in Roma, EUR", old.ID, time.Now()
			next.Provenance.Interim = false
			next.ContentKey = store.ContentKey(next.Kind, next.Content)
			old.Close(next.RecordedAt, next.RecordedAt)
			old.SupersededBy = next.ID
			if err := db.Apply(t.Context(), ann, store.Change{Put: []store.Item{old, next}}); err != nil {
				t.Fatal(err)
			}
			if agrees {
				settled(t, w, r, store.EventStored, 1, "")
				wantTold(t, db, "agrees", "The user lives in Rome, replaced (service/1)", "The user lives in Roma, EUR (interim/1)")
			} else {
				settled(t, w, r, store.EventNothing, 0, "nothing worth keeping")
				wantTold(t, db, "disagrees", "The user lives in Rome, retracted, interim (interim/1)", "The user lives in Roma, EUR (interim/1)")
			}
		})
	}
}

// An event that is given up and tried again: what stood in for it is confirmed as any other.
func TestInterimFactsOfADeadEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		interim := &homes{name: "interim/1", form: "The user lives in %s"}
		x := away(10*time.Minute, func(extract.Batch) []extract.Operation { return nil })
		outage := x.do
		x.do = func(ctx context.Context, b extract.Batch, n int) (extract.Report, error) {
			if r, err := outage(ctx, extract.Batch{}, n); err != nil {
				return r, err
			}
			return extract.Report{}, extract.ErrUnreadable
		}
		g, w := line(t, db, x, extract.WorkerOptions{Tenant: of(x, interim)})
		r := say(t, g, "a", user("Rome"), assistant("ok"))
		settled(t, w, r, store.EventDead, 0, extract.ErrUnreadable.Error())
		wantTold(t, db, "dead", "The user lives in Rome, interim (interim/1)")
		before := factsOf(t, db)[0].ID
		x.become(away(0, func(b extract.Batch) []extract.Operation { ops, _ := interim.Extract(t.Context(), b); return ops }))
		if n, err := db.ReviveEvents(t.Context(), ann.Tenant, []string{r.Event}, time.Now()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		w.Wake()
		settled(t, w, r, store.EventStored, 1, "")
		wantTold(t, db, "tried again", "The user lives in Rome (service/1)")
		if id := factsOf(t, db)[0].ID; id != before {
			t.Errorf("%s became %s", before, id)
		}
	})
}
