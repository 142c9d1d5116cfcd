package extract_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/extract/rules"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// script is an extractor that does what it is told and remembers what it saw.
type script struct {
	mu    sync.Mutex
	calls [][]string // contents of the batches' turns
	at    []time.Time
	do    func(b extract.Batch, call int) ([]extract.Operation, error)
}

func (s *script) Name() string { return "script/1" }

func (s *script) Extract(_ context.Context, b extract.Batch) ([]extract.Operation, error) {
	s.mu.Lock()
	var texts []string
	for _, t := range b.Turns {
		texts = append(texts, t.Content)
	}
	s.calls = append(s.calls, texts)
	s.at = append(s.at, time.Now())
	n := len(s.calls)
	s.mu.Unlock()
	if s.do == nil {
		return nil, nil
	}
	return s.do(b, n)
}

func (s *script) seen() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// start runs a worker until the end of the test.
func start(t testing.TB, db *sqlitestore.DB, x extract.Extractor, opts *extract.WorkerOptions) *extract.Worker {
	t.Helper()
	w, err := extract.NewWorker(db, db, x, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

// line is the engine in small: one lock, one store, ingest that wakes the worker.
func line(t testing.TB, db *sqlitestore.DB, x extract.Extractor, opts extract.WorkerOptions) (*extract.Ingester, *extract.Worker) {
	t.Helper()
	opts.Locks = new(extract.Locks)
	w := start(t, db, x, &opts)
	return ingester(t, db, &extract.IngestOptions{Locks: opts.Locks, Wake: w.Wake}), w
}

func state(t testing.TB, db *sqlitestore.DB, r *extract.Result) store.Event {
	t.Helper()
	ev, err := db.Event(context.Background(), ann.Tenant, r.Event)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func TestDebounceTrailsAndJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, x := open(t), &script{}
		g, _ := line(t, db, x, extract.WorkerOptions{})
		begin := time.Now()
		r1 := say(t, g, "th", user("one"), assistant("1"))
		time.Sleep(20 * time.Second)
		r2 := say(t, g, "th", user("two"), assistant("2"))
		time.Sleep(29 * time.Second)
		synctest.Wait()
		if len(x.seen()) != 0 {
			t.Fatal("extracted before the conversation was quiet")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if d := cmp.Diff([][]string{{"one", "1", "two", "2"}}, x.seen()); d != "" {
			t.Fatal(d)
		}
		if d := x.at[0].Sub(begin); d < 50*time.Second || d > 51*time.Second {
			t.Errorf("extracted after %v, want 50s", d)
		}
		for _, r := range []*extract.Result{r1, r2} {
			if ev := state(t, db, r); ev.State != store.EventNothing || ev.Note != "nothing worth keeping" {
				t.Errorf("%+v", ev)
			}
		}
		say(t, g, "th", user("three"), assistant("3"))
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if got := x.seen(); len(got) != 2 || !slices.Equal(got[1], []string{"three", "3"}) {
			t.Errorf("%q", got)
		}
	})
}

func TestDebounceIsCappedByMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, x := open(t), &script{}
		g, _ := line(t, db, x, extract.WorkerOptions{})
		begin := time.Now()
		for i := 0; time.Since(begin) < 310*time.Second; i++ {
			say(t, g, "th", user(fmt.Sprint("u", i)), assistant("a"))
			time.Sleep(10 * time.Second)
		}
		synctest.Wait()
		if len(x.at) != 1 {
			t.Fatalf("%d extractions", len(x.at))
		}
		if d := x.at[0].Sub(begin); d < 300*time.Second || d > 301*time.Second {
			t.Errorf("extracted after %v, want 300s", d)
		}
	})
}

func TestNewTurnsDuringExtractionAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &script{do: func(_ extract.Batch, call int) ([]extract.Operation, error) {
			if call == 1 {
				time.Sleep(20 * time.Second)
			}
			return nil, nil
		}}
		g, w := line(t, db, x, extract.WorkerOptions{})
		r1 := say(t, g, "th", user("one"), assistant("1"))
		time.Sleep(35 * time.Second)
		r2 := say(t, g, "th", user("two"), assistant("2")) // while the first is being extracted
		time.Sleep(16 * time.Second)
		synctest.Wait()
		if a, b := state(t, db, r1).State, state(t, db, r2).State; a != store.EventNothing || b != store.EventPending {
			t.Errorf("%s, %s", a, b)
		}
		ev, err := w.Settle(context.Background(), ann.Tenant, r2.Event)
		if err != nil || ev.State != store.EventNothing {
			t.Errorf("%+v %v", ev, err)
		}
		if d := cmp.Diff([][]string{{"one", "1"}, {"two", "2"}}, x.seen()); d != "" {
			t.Error(d)
		}
	})
}

// What is forgotten while an extractor reads it must not come back as a fact or a quotation.
func TestATurnForgottenDuringExtractionLeavesNoFact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &script{do: func(b extract.Batch, _ int) ([]extract.Operation, error) {
			time.Sleep(20 * time.Second)
			var ops []extract.Operation
			for _, turn := range b.Turns {
				ops = append(ops, extract.Operation{
					Action: extract.Add, Kind: store.Semantic, Category: store.Knowledge, Content: "They said " + turn.Content,
					Turn: turn.ID, Quote: turn.Content, Speaker: "user", Confidence: 1, Importance: 0.5,
				})
			}
			return ops, nil
		}}
		g, _ := line(t, db, x, extract.WorkerOptions{})
		r := say(t, g, "th", user("the code is 4471"), assistant("noted"))
		time.Sleep(35 * time.Second)
		if err := db.Apply(context.Background(), ann, store.Change{Delete: []string{r.Turns[0].ID}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if facts := factsOf(t, db); len(facts) != 1 || facts[0].Content != "They said noted" {
			t.Errorf("%+v", facts)
		}
		if ev := state(t, db, r); ev.State != store.EventStored || ev.Facts != 1 {
			t.Errorf("%+v", ev)
		}
	})
}

func TestALoneTurnIsExtractedWithItsCounterpart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, x := open(t), &script{}
		g, w := line(t, db, x, extract.WorkerOptions{})
		lone := say(t, g, "th", user("one"))
		time.Sleep(time.Hour)
		r := say(t, g, "th", assistant("1"))
		if _, err := w.Settle(context.Background(), ann.Tenant, r.Event); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([][]string{{"one", "1"}}, x.seen()); d != "" {
			t.Error(d)
		}
		if ev := state(t, db, lone); ev.State != store.EventNothing || !strings.Contains(ev.Note, "assistant") {
			t.Errorf("%+v", ev)
		}
	})
}

func TestRestartInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		db, err := sqlitestore.Open(ctx, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := extract.NewWorker(db, db, &script{do: func(extract.Batch, int) ([]extract.Operation, error) {
			time.Sleep(time.Hour) // hangs: the process "dies" meanwhile
			return nil, nil
		}}, &extract.WorkerOptions{Grace: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		r := say(t, ingester(t, db, &extract.IngestOptions{Wake: w.Wake}), "th", user("I live in Rome."), assistant("ok"))
		time.Sleep(40 * time.Second)
		w.Stop()
		if ev := state(t, db, r); ev.State != store.EventPending {
			t.Fatalf("%+v", ev)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}

		db, err = sqlitestore.Open(ctx, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		w = start(t, db, rules.New(nil), nil)
		ev, err := w.Settle(ctx, ann.Tenant, r.Event)
		w.Stop()
		if err != nil || ev.State != store.EventStored || ev.Facts != 1 {
			t.Errorf("%+v %v", ev, err)
		}
		if got := factsOf(t, db); len(got) != 1 || got[0].Content != "The user lives in Rome" {
			t.Errorf("%+v", got)
		}
	})
}

func TestPoisonKillsItsOwnEventOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &script{do: func(b extract.Batch, _ int) ([]extract.Operation, error) {
			switch b.Turns[0].Content {
			case "poison":
				panic(b.Turns[0].Content)
			case "bad":
				return nil, errors.New("cannot read this")
			}
			return nil, nil
		}}
		g, w := line(t, db, x, extract.WorkerOptions{})
		for _, c := range []struct {
			text  string
			state store.EventState
			note  string
		}{{"poison", store.EventDead, "the extractor panicked"}, {"bad", store.EventDead, "internal error"}, {"good", store.EventNothing, "nothing worth keeping"}} {
			r := say(t, g, "th", user(c.text), assistant("a"))
			if ev, err := w.Settle(context.Background(), ann.Tenant, r.Event); err != nil || ev.State != c.state || ev.Note != c.note {
				t.Errorf("%s: %+v %v", c.text, ev, err)
			}
		}
		if len(x.seen()) != 3 {
			t.Errorf("%q", x.seen())
		}
	})
}

func TestStartAndStop(t *testing.T) {
	db := open(t)
	w, err := extract.NewWorker(db, db, &script{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Flush(context.Background(), ann, ""); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("flush before start: %v", err)
	}
	for range 2 {
		if err := w.Start(); err != nil {
			t.Error(err)
		}
	}
	w.Stop()
	w.Stop()
	if err := w.Start(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("%v", err)
	}
	if _, err := w.Flush(context.Background(), ann, ""); !errors.Is(err, store.ErrClosed) {
		t.Errorf("%v", err)
	}
	never, err := extract.NewWorker(db, db, &script{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	never.Stop()
	for _, o := range []extract.WorkerOptions{{Concurrency: 65}, {Lease: time.Millisecond}, {MaxAttempts: 101}, {RetryMin: time.Second, RetryMax: time.Millisecond},
		{Grace: -1}, {Reconcile: extract.ReconcileOptions{MaxFacts: 9}}, {Reconcile: extract.ReconcileOptions{Threshold: new(1.5)}}} {
		if _, err := extract.NewWorker(db, db, &script{}, &o); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := extract.NewWorker(db, db, nil, nil); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("no extractor: %v", err)
	}
}

func TestManyThreadsRunBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		var mu sync.Mutex
		running, most := 0, 0
		x := &script{do: func(extract.Batch, int) ([]extract.Operation, error) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return nil, nil
		}}
		g, w := line(t, db, x, extract.WorkerOptions{Concurrency: 3})
		for i := range 20 {
			say(t, g, fmt.Sprint("th", i), user("u"), assistant("a"))
		}
		if n, err := w.Flush(context.Background(), ann, ""); n != 20 || err != nil {
			t.Fatalf("%d %v", n, err)
		}
		if most != 3 || len(x.seen()) != 20 {
			t.Errorf("%d ran at once, %d in all", most, len(x.seen()))
		}
	})
}

func TestALongThreadIsExtractedInBatches(t *testing.T) {
	db := open(t)
	var before []int
	x := &script{do: func(b extract.Batch, _ int) ([]extract.Operation, error) {
		before = append(before, len(b.Before))
		return nil, nil
	}}
	g, w := line(t, db, x, extract.WorkerOptions{})
	var msgs []message.Message
	for i := range 600 {
		msgs = append(msgs, user(fmt.Sprint("u", i)))
	}
	say(t, g, "th", append(msgs, assistant("a"))...)
	if _, err := w.Flush(context.Background(), ann, "th"); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range x.seen() {
		all = append(all, c...)
	}
	if len(x.seen()) != 3 || len(all) != 601 || all[0] != "u0" || all[599] != "u599" {
		t.Errorf("%d batches, %d turns", len(x.seen()), len(all))
	}
	if d := cmp.Diff([]int{0, 4, 4}, before); d != "" {
		t.Error(d)
	}
}
