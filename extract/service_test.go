package extract_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// service is an extractor that reports, as one that asks a model does.
type service struct {
	mu    sync.Mutex
	seen  []extract.Batch
	began []time.Time
	do    func(ctx context.Context, b extract.Batch, call int) (extract.Report, error)
}

func (s *service) Name() string { return "service/1" }

func (s *service) Extract(context.Context, extract.Batch) ([]extract.Operation, error) {
	return nil, errors.New("a reporter is asked for its report")
}

func (s *service) Report(ctx context.Context, b extract.Batch) (extract.Report, error) {
	s.mu.Lock()
	s.seen, s.began = append(s.seen, b), append(s.began, time.Now())
	n, do := len(s.seen), s.do
	s.mu.Unlock()
	return do(ctx, b, n)
}

// become makes the service do as another does.
func (s *service) become(other *service) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do = other.do
}

func (s *service) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// fact is an operation that adds what a turn says, as a fact about a subject that has one value at a time.
func fact(turn store.Item, content, subject string) extract.Operation {
	return extract.Operation{
		Action: extract.Add, Kind: store.Semantic, Category: store.Knowledge, Content: content, Turn: turn.ID, Quote: turn.Content,
		Speaker: "user", Subject: subject, Exclusive: subject != "", Confidence: 0.9, Importance: 0.5,
	}
}

// away is a service that does not answer before a time after the test began, and then as told.
func away(d time.Duration, then func(b extract.Batch) []extract.Operation) *service {
	begin := time.Now()
	return &service{do: func(_ context.Context, b extract.Batch, _ int) (extract.Report, error) {
		r := extract.Report{Usage: extract.Usage{Calls: 1, PromptTokens: 10}}
		if time.Since(begin) < d {
			return r, fmt.Errorf("service: %w", store.ErrUnavailable)
		}
		r.Operations = then(b)
		return r, nil
	}}
}

// settled waits for an event and checks what became of it.
func settled(t *testing.T, w *extract.Worker, r *extract.Result, state store.EventState, facts int, note string) store.Event {
	t.Helper()
	ev, err := w.Settle(t.Context(), ann.Tenant, r.Event)
	if err != nil || ev.State != state || ev.Facts != facts || ev.Note != note {
		t.Fatalf("%+v %v, want %s, %d facts, note %q", ev, err, state, facts, note)
	}
	return ev
}

func usage(t *testing.T, db *sqlitestore.DB) (calls, prompt int64) {
	t.Helper()
	us, err := db.Usage(t.Context(), ann.Tenant, "2000-01-01", "2099-12-31")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range us {
		calls, prompt = calls+u.Calls, prompt+u.PromptTokens
	}
	return calls, prompt
}

// What a reporter refuses waits for review, what it took is counted, failures included, and the event says who ended it.
func TestAReportIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &service{do: func(_ context.Context, b extract.Batch, call int) (extract.Report, error) {
			r := extract.Report{Usage: extract.Usage{Calls: 2, PromptTokens: 100, CompletionTokens: 5}}
			user := b.Turns[0]
			ghost := fact(user, "The user owns a yacht", "")
			ghost.Quote = "I own a yacht"
			strange := ghost
			strange.Turn, strange.Content = "no-such-turn", "x"
			switch call {
			case 1:
				return r, fmt.Errorf("service: %w", store.ErrUnavailable)
			case 2:
				r.Rejected = []extract.Rejected{{Reason: "not_asserted", Operation: ghost}, {Reason: "not_asserted", Operation: ghost}, {Reason: "malformed"}, {Reason: "x", Operation: strange}}
			default:
				other := ghost
				other.Content = "The user owns a house"
				r.Operations = []extract.Operation{fact(user, "The user is called Ann", "name"), other}
				r.Rejected = []extract.Rejected{{Reason: "duplicate", Operation: r.Operations[0]}}
			}
			return r, nil
		}}
		g, w := line(t, db, x, extract.WorkerOptions{})
		first := say(t, g, "th", user("the weather was fine"), assistant("hi"))
		ev := settled(t, w, first, store.EventQuarantined, 0, "1 waits for review")
		if ev.Extractor != "service/1" {
			t.Errorf("ended by %q", ev.Extractor)
		}
		second := say(t, g, "th", user("I am Ann"), assistant("hi Ann"))
		settled(t, w, second, store.EventStored, 1, "")
		page, err := db.ListQuarantined(t.Context(), ann.Tenant, store.QuarantineQuery{Scope: &ann})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, q := range page.Entries {
			got = append(got, strings.Join([]string{q.Event, q.Thread, q.Turn, q.Extractor, q.Reason}, " "))
			if !strings.Contains(string(q.Operation), "The user owns a") {
				t.Errorf("operation %s", q.Operation)
			}
		}
		want := []string{
			second.Event + " th " + second.Turns[0].ID + " service/1 ungrounded",
			first.Event + " th " + first.Turns[0].ID + " service/1 not_asserted",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if calls, prompt := usage(t, db); calls != 6 || prompt != 300 {
			t.Errorf("%d calls with %d tokens are counted, want those of the failed one, too", calls, prompt)
		}
	})
}

// Sections of a profile are kept as versions and given to the extractor the next time.
func TestSectionsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &service{do: func(_ context.Context, b extract.Batch, call int) (r extract.Report, err error) {
			r.Sections = []extract.Section{{Name: "work", Content: fmt.Sprintf("Works on %d things", call), Turns: []string{b.Turns[0].ID}}}
			return r, nil
		}}
		g, w := line(t, db, x, extract.WorkerOptions{})
		for i := range 3 {
			settled(t, w, say(t, g, "th", user(fmt.Sprint("thing ", i)), assistant("ok")), store.EventNothing, 0, "nothing worth keeping")
		}
		var shown [][]string
		for _, b := range x.seen {
			var texts []string
			for _, it := range b.Profile {
				texts = append(texts, it.Content)
			}
			shown = append(shown, texts)
			if len(b.Known) != 0 {
				t.Errorf("known: %+v", b.Known)
			}
		}
		if d := cmp.Diff([][]string{nil, {"Works on 1 things"}, {"Works on 2 things"}}, shown); d != "" {
			t.Error(d)
		}
		if facts := factsOf(t, db); len(facts) != 0 {
			t.Errorf("sections among the facts: %+v", facts)
		}
	})
}

// An extraction may take many times the lease; while it runs nobody else gets its job.
func TestALeaseIsExtendedWhileAnExtractionRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		x := &script{do: func(extract.Batch, int) ([]extract.Operation, error) { time.Sleep(9 * time.Minute); return nil, nil }}
		g, w := line(t, db, x, extract.WorkerOptions{Lease: 20 * time.Second})
		settled(t, w, say(t, g, "th", user("one"), assistant("1")), store.EventNothing, 0, "nothing worth keeping")
		if n := len(x.seen()); n != 1 {
			t.Errorf("extracted %d times", n)
		}
	})
}

// An extraction that takes too long is given up and tried again; one whose lease was lost is cancelled and leaves no trace.
func TestARunThatEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		var ended []error
		x := &service{do: func(ctx context.Context, b extract.Batch, call int) (extract.Report, error) {
			if call < 3 {
				<-ctx.Done()
				ended = append(ended, context.Cause(ctx))
			}
			return extract.Report{Operations: []extract.Operation{fact(b.Turns[0], fmt.Sprint("fact ", call), "")}}, ctx.Err()
		}}
		g, w := line(t, db, x, extract.WorkerOptions{Lease: 30 * time.Second, Limit: 2 * time.Minute})
		r := say(t, g, "th", user("one"), assistant("1"))
		time.Sleep(4 * time.Minute) // the second run is under way
		stolen, err := db.Claim(t.Context(), time.Now().Add(time.Hour), time.Second, 1, store.Tenants{})
		if err != nil || len(stolen) != 1 {
			t.Fatalf("%+v %v", stolen, err)
		}
		settled(t, w, r, store.EventStored, 1, "")
		if len(ended) != 2 || ended[0].Error() != "the extraction took too long" || ended[1].Error() != "the lease on the job was lost" {
			t.Errorf("%v", ended)
		}
		if facts := factsOf(t, db); len(facts) != 1 || facts[0].Content != "fact 3" {
			t.Errorf("%+v", facts)
		}
	})
}

// Each batch of a long thread is committed for itself: what was paid for is not asked again when a later one fails, and
// what cannot be read takes only its own batch along.
func TestBatchesAreCommittedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		failed := false
		x := &script{do: func(b extract.Batch, _ int) ([]extract.Operation, error) {
			switch b.Turns[0].Content {
			case "two":
				if !failed {
					failed = true
					return nil, store.ErrUnavailable
				}
			case "three":
				return nil, extract.ErrUnreadable
			}
			return []extract.Operation{fact(b.Turns[0], "The user said "+b.Turns[0].Content, "")}, nil
		}}
		g, w := line(t, db, sized{x}, extract.WorkerOptions{})
		var results []*extract.Result
		for _, text := range []string{"one", "two", "three", "four"} {
			results = append(results, say(t, g, "th", user(text), assistant("ok")))
		}
		settled(t, w, results[0], store.EventStored, 1, "")
		settled(t, w, results[1], store.EventStored, 1, "")
		settled(t, w, results[2], store.EventDead, 0, extract.ErrUnreadable.Error())
		settled(t, w, results[3], store.EventStored, 1, "")
		if got := fmt.Sprint(x.seen()); got != "[[one ok] [two ok] [two ok] [three ok] [four ok]]" {
			t.Error(got)
		}
		var contents []string
		for _, it := range factsOf(t, db) {
			contents = append(contents, it.Content)
		}
		slices.Sort(contents)
		if d := cmp.Diff([]string{"The user said four", "The user said one", "The user said two"}, contents); d != "" {
			t.Error(d)
		}
		if n, err := db.ReviveEvents(t.Context(), ann.Tenant, []string{results[2].Event}, time.Now()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		w.Wake()
		settled(t, w, results[2], store.EventDead, 0, extract.ErrUnreadable.Error())
	})
}

// Each stage is told, without a word of what was said.
func TestStagesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		var mu sync.Mutex
		var got []string
		observe := func(s extract.Stage) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprintln(s.Tenant, s.Stage, s.Attempts, s.Extractor, s.Operations, s.Rejected, s.Usage, s.State, s.Err))
		}
		x := &service{do: func(_ context.Context, b extract.Batch, call int) (r extract.Report, err error) {
			switch call {
			case 1:
				return extract.Report{Usage: extract.Usage{Calls: 3}}, fmt.Errorf("secret: %w", store.ErrUnavailable)
			case 2:
				return extract.Report{Operations: []extract.Operation{fact(b.Turns[0], "secret", "")}, Rejected: []extract.Rejected{{Reason: "ungrounded"}}}, nil
			}
			return r, extract.ErrRefused
		}}
		g, w := line(t, db, x, extract.WorkerOptions{Observe: observe})
		settled(t, w, say(t, g, "th", user("secret"), assistant("secret")), store.EventStored, 1, "")
		settled(t, w, say(t, g, "th", user("secret"), assistant("secret")), store.EventDead, 0, "the model refuses to answer")
		synctest.Wait()
		want := []string{
			" claim 1  map[] map[] {0 0 0}  \n",
			"acme extract 0 service/1 map[] map[] {3 0 0}  unavailable\n",
			"acme retry 0 service/1 map[] map[] {0 0 0}  unavailable\n",
			" claim 1  map[] map[] {0 0 0}  \n",
			"acme extract 0 service/1 map[add:semantic:1] map[ungrounded:1] {0 0 0}  \n",
			"acme reconcile 0 service/1 map[add:semantic:1] map[] {0 0 0}  \n",
			"acme store 0 service/1 map[] map[] {0 0 0} stored \n",
			" claim 1  map[] map[] {0 0 0}  \n",
			"acme extract 0 service/1 map[] map[] {0 0 0}  the model refuses to answer\n",
			"acme dead 0 service/1 map[] map[] {0 0 0} dead the model refuses to answer\n",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

// A store of items that is away for long buries nothing.
func TestAStoreThatIsAwayBuriesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		s := &items{DB: open(t), before: func() error {
			if down.Load() {
				return fmt.Errorf("items: %w", store.ErrUnavailable)
			}
			return nil
		}}
		ledger, locks := open(t), new(extract.Locks)
		x := &script{do: func(b extract.Batch, _ int) ([]extract.Operation, error) {
			return []extract.Operation{fact(b.Turns[0], "The user counts", "")}, nil
		}}
		w, err := extract.NewWorker(s, ledger, x, &extract.WorkerOptions{Locks: locks, MaxAttempts: 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		g, err := extract.NewIngester(s, ledger, &extract.IngestOptions{Locks: locks, Wake: w.Wake})
		if err != nil {
			t.Fatal(err)
		}
		r := say(t, g, "th", user("one"), assistant("1"))
		other := say(t, g, "other", user("two"), assistant("2"))
		down.Store(true)
		time.Sleep(2 * time.Hour)
		down.Store(false)
		for _, r := range []*extract.Result{r, other} {
			ev, err := w.Settle(t.Context(), ann.Tenant, r.Event)
			if err != nil || ev.State != store.EventStored {
				t.Errorf("%+v %v", ev, err)
			}
		}
	})
}

// Of many known items an extractor is given the most related ones, and those that tell where the user stands.
func TestKnownItemsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		var put []store.Item
		add := func(content, subject string) {
			it := store.Item{
				ID: fmt.Sprintf("f%03d", len(put)), Kind: store.Semantic, Category: store.Knowledge, Content: content, Confidence: 1, RecordedAt: time.Now(),
				Turn: store.Turn{Speaker: "user"}, Provenance: store.Provenance{Origin: "llm", Extractor: "llm/1", Subject: subject},
				ContentKey: store.ContentKey(store.Semantic, content),
			}
			put = append(put, it)
		}
		add("The user lives in Oslo", "home")
		add("The user repairs violins", "")
		for i := range 150 {
			add(fmt.Sprintf("The user counted %d pebbles", i), "")
		}
		if err := db.Apply(t.Context(), ann, store.Change{Put: put}); err != nil {
			t.Fatal(err)
		}
		var known []string
		x := &script{do: func(b extract.Batch, _ int) ([]extract.Operation, error) {
			for _, it := range b.Known {
				known = append(known, it.ID)
			}
			return nil, nil
		}}
		g, w := line(t, db, x, extract.WorkerOptions{Reconcile: extract.ReconcileOptions{MaxFacts: 500}})
		settled(t, w, say(t, g, "th", user("My violins arrived in Rome yesterday"), assistant("ok")), store.EventNothing, 0, "nothing worth keeping")
		if len(known) != 100 || !slices.Contains(known[:2], "f000") || !slices.Contains(known[:2], "f001") {
			t.Errorf("%d known: %v", len(known), known[:min(len(known), 5)])
		}
	})
}
