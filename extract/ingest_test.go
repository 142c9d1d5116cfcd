package extract_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/store"
)

func TestIngestStoresTurnsAsTheyWereSaid(t *testing.T) {
	db := open(t)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	g := ingester(t, db, &extract.IngestOptions{Clock: func() time.Time { return now }})
	then := now.Add(-48 * time.Hour)
	msgs := []message.Message{
		{Role: message.System, Content: "be nice"},
		{ID: "m1", Role: message.User, Name: "Ann", Content: "  I like tea\x00 ", Time: then},
		{Role: message.Assistant, Content: "Noted."},
	}
	r, err := g.Ingest(context.Background(), ann, "th", msgs, &extract.Call{Metadata: store.Metadata{"source": store.String("web")}})
	if err != nil {
		t.Fatal(err)
	}
	if r.State != store.EventPending || len(r.Turns) != 2 || r.Turns[0].Index != 1 || r.Turns[0].ID != "m1" || r.Turns[1].Position != 1 {
		t.Errorf("%+v", r)
	}
	if d := cmp.Diff([]extract.Dropped{{Index: 0, Reason: extract.DropSystem}}, r.Dropped); d != "" {
		t.Error(d)
	}
	items, err := db.Get(context.Background(), ann, []string{"m1", r.Turns[1].ID})
	if err != nil || len(items) != 2 {
		t.Fatalf("%v %v", items, err)
	}
	want := store.Item{
		ID: "m1", Kind: store.Episodic, Content: "I like tea", Metadata: store.Metadata{"source": store.String("web")}, Importance: 0.5, Confidence: 1,
		ValidFrom: then, RecordedAt: now, Turn: store.Turn{Thread: "th", Session: "th", Speaker: "Ann", Role: "user"},
		Provenance: store.Provenance{Origin: "turn"}, ContentKey: store.ContentKey(store.Episodic, "I like tea"),
	}
	if d := cmp.Diff(want, items[0]); d != "" {
		t.Error(d)
	}
	if it := items[1]; it.Turn.Speaker != "assistant" || it.Turn.Position != 1 || !it.ValidFrom.Equal(now) {
		t.Errorf("%+v", it)
	}
	if n, err := db.CountEmbeds(context.Background(), ann); err != nil || n != 2 {
		t.Errorf("%d items wait for vectors, %v", n, err)
	}
	if say(t, g, "th", user("and coffee")).Turns[0].Position != 2 {
		t.Error("the thread did not go on")
	}
	if say(t, g, "other", user("x")).Turns[0].Position != 0 {
		t.Error("another thread does not begin at 0")
	}
}

func TestIngestRefuses(t *testing.T) {
	db := open(t)
	g := ingester(t, db, nil)
	ctx := context.Background()
	ok := []message.Message{user("x")}
	for _, c := range []struct {
		name   string
		scope  store.Scope
		thread string
		msgs   []message.Message
		call   *extract.Call
		want   error
		says   string
	}{
		{"no tenant", store.Scope{User: "ann"}, "th", ok, nil, store.ErrTenant, "tenant"},
		{"no user", store.Scope{Tenant: "acme"}, "th", ok, nil, store.ErrInvalid, "user"},
		{"no thread", ann, "", ok, nil, store.ErrInvalid, "thread"},
		{"thread too long", ann, strings.Repeat("x", 257), ok, nil, store.ErrInvalid, "thread"},
		{"thread with a control character", ann, "a\nb", ok, nil, store.ErrInvalid, "thread"},
		{"unknown role", ann, "th", []message.Message{{Role: "robot"}}, nil, store.ErrInvalid, "messages[0].role"},
		{"reserved metadata", ann, "th", ok, &extract.Call{Metadata: store.Metadata{"evoke_x": store.Bool(true)}}, store.ErrInvalid, "messages[0]: metadata key"},
		{"debounce", ann, "th", ok, &extract.Call{Debounce: time.Hour}, store.ErrInvalid, "memory.debounce_seconds"},
		{"max wait", ann, "th", ok, &extract.Call{MaxWait: 2 * time.Hour}, store.ErrInvalid, "memory.max_wait_seconds"},
		{"too many", ann, "th", make([]message.Message, 10_001), nil, store.ErrInvalid, "10000"},
		{"too long", ann, "th", []message.Message{user(strings.Repeat("x", 1<<20+1))}, nil, store.ErrInvalid, "messages[0].content"},
		{"key too long", ann, "th", ok, &extract.Call{Key: strings.Repeat("k", 300)}, store.ErrInvalid, "idempotency key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := g.Ingest(ctx, c.scope, c.thread, c.msgs, c.call)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
	if n := len(turnsOf(t, db)); n != 0 {
		t.Errorf("%d turns of refused calls were stored", n)
	}
	for _, o := range []extract.IngestOptions{{Debounce: time.Millisecond}, {MaxWait: 2 * time.Hour}} {
		if _, err := extract.NewIngester(db, db, &o); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := g.Ingest(ended, ann, "th", ok, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestIdempotencyKey(t *testing.T) {
	db := open(t)
	g := ingester(t, db, nil)
	ctx := context.Background()
	msgs := []message.Message{user("hello"), assistant("hi")}
	first, err := g.Ingest(ctx, ann, "th", msgs, &extract.Call{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := g.Ingest(ctx, ann, "th", msgs, &extract.Call{Key: "k"})
	if err != nil || !again.Replayed {
		t.Fatalf("%+v %v", again, err)
	}
	again.Replayed = false
	if d := cmp.Diff(first, again); d != "" {
		t.Error(d)
	}
	for name, call := range map[string]func() error{
		"other words":    func() error { _, err := g.Ingest(ctx, ann, "th", msgs[:1], &extract.Call{Key: "k"}); return err },
		"another thread": func() error { _, err := g.Ingest(ctx, ann, "other", msgs, &extract.Call{Key: "k"}); return err },
		"other metadata": func() error {
			_, err := g.Ingest(ctx, ann, "th", msgs, &extract.Call{Key: "k", Metadata: store.Metadata{"a": store.Bool(true)}})
			return err
		},
	} {
		if err := call(); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(turnsOf(t, db)); n != 2 {
		t.Errorf("%d turns", n)
	}
	bob := store.Scope{Tenant: "acme", User: "bob"}
	if r, err := g.Ingest(ctx, bob, "th", msgs[:1], &extract.Call{Key: "k"}); err != nil || r.Replayed {
		t.Errorf("another user's key: %+v %v", r, err)
	}
}

func TestSentAgainWithIDs(t *testing.T) {
	db := open(t)
	g := ingester(t, db, nil)
	a, b := withID(user("one"), "a"), withID(assistant("two"), "b")
	say(t, g, "th", a)
	r := say(t, g, "th", a, b, b)
	if len(r.Turns) != 1 || r.Turns[0].ID != "b" || r.Turns[0].Position != 1 {
		t.Errorf("%+v", r.Turns)
	}
	if d := cmp.Diff([]extract.Dropped{{Index: 0, Reason: extract.DropStored}, {Index: 2, Reason: extract.DropRepeated}}, r.Dropped); d != "" {
		t.Error(d)
	}
	if r := say(t, g, "th", a, b); r.State != store.EventNothing || len(r.Turns) != 0 {
		t.Errorf("%+v", r)
	}
	for name, msgs := range map[string][]message.Message{
		"other text":     {withID(user("three"), "a")},
		"other role":     {withID(assistant("one"), "a")},
		"twice, unequal": {withID(user("x"), "c"), withID(user("y"), "c")},
	} {
		if _, err := g.Ingest(context.Background(), ann, "th", append(msgs, user("new")), nil); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := g.Ingest(context.Background(), ann, "other", []message.Message{a}, nil); !errors.Is(err, store.ErrConflict) {
		t.Errorf("another thread: %v", err)
	}
	if n := len(turnsOf(t, db)); n != 2 {
		t.Errorf("%d turns", n)
	}
}

func TestALoneTurnWaitsForItsCounterpart(t *testing.T) {
	db := open(t)
	g := ingester(t, db, nil)
	ctx := context.Background()
	event := func(r *extract.Result) store.Event {
		ev, err := db.Event(ctx, ann.Tenant, r.Event)
		if err != nil {
			t.Fatal(err)
		}
		return ev
	}
	if r := say(t, g, "th", message.Message{Role: message.System, Content: "s"}); event(r).State != store.EventNothing || event(r).Note != "no turn to keep" {
		t.Errorf("%+v", event(r))
	}
	if r := say(t, g, "th", user("one"), user("two")); event(r).State != store.EventNothing || !strings.Contains(event(r).Note, "assistant") || event(r).DoneAt.IsZero() {
		t.Errorf("%+v", event(r))
	}
	if n, err := db.WaitingThreads(ctx, ann); n != 0 || err != nil {
		t.Errorf("%d threads wait, %v", n, err)
	}
	if r := say(t, g, "th", assistant("hm")); r.State != store.EventPending || event(r).State != store.EventPending {
		t.Errorf("%+v", event(r))
	}
	if n, err := db.WaitingThreads(ctx, ann); n != 1 || err != nil {
		t.Errorf("%d threads wait, %v", n, err)
	}
}

// With a clock that stands still, times do not tell new turns from old ones.
func TestACounterpartIsFoundWhateverTheClock(t *testing.T) {
	db := open(t)
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var back atomic.Int64 // how far the clock is set back
	clock := func() time.Time { return noon.Add(-time.Duration(back.Load())) }
	w := start(t, db, &script{}, &extract.WorkerOptions{Clock: clock})
	g := ingester(t, db, &extract.IngestOptions{Clock: clock, Wake: w.Wake})
	for range 30 {
		say(t, g, "th", user("u"), assistant("a"))
	}
	if n, err := w.Flush(context.Background(), ann, "th"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for _, by := range []time.Duration{0, time.Hour} {
		back.Store(int64(by))
		say(t, g, "th", assistant("a"))
		if r := say(t, g, "th", user("u")); r.State != store.EventPending {
			t.Errorf("clock set back by %v: %+v", by, r)
		}
		back.Store(0)
		// Armed an hour ago by its clock, the thread may have been taken before this flush: then none waits any more.
		if n, err := w.Flush(context.Background(), ann, "th"); n > 1 || err != nil {
			t.Fatal(n, err)
		}
		if n, err := db.WaitingThreads(context.Background(), ann); n != 0 || err != nil {
			t.Errorf("clock set back by %v: %d threads wait, %v", by, n, err)
		}
	}
}

func TestAnImportedThreadGoesOn(t *testing.T) {
	db := open(t)
	var c store.Change
	for i := range 150 {
		c.Put = append(c.Put, store.Item{ID: fmt.Sprint("i", i), Kind: store.Episodic, Content: "imported", RecordedAt: time.Now(),
			Turn: store.Turn{Thread: "th", Session: "th", Position: i, Role: "user", Speaker: "user"}})
	}
	if err := db.Apply(context.Background(), ann, c); err != nil {
		t.Fatal(err)
	}
	x := &script{}
	w := start(t, db, x, nil)
	g := ingester(t, db, &extract.IngestOptions{Wake: w.Wake})
	if r := say(t, g, "th", user("new"), assistant("yes")); r.Turns[0].Position != 150 {
		t.Errorf("%+v", r.Turns)
	}
	if n, err := w.Flush(context.Background(), ann, "th"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if d := cmp.Diff([][]string{{"new", "yes"}}, x.seen()); d != "" {
		t.Error(d)
	}
}

func TestConcurrentIngestGivesEveryTurnItsOwnPosition(t *testing.T) {
	db := open(t)
	g := ingester(t, db, nil)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() { say(t, g, "th", user(fmt.Sprint("u", i)), assistant(fmt.Sprint("a", i))) })
	}
	wg.Wait()
	seen := map[int]bool{}
	for _, it := range turnsOf(t, db) {
		seen[it.Turn.Position] = true
	}
	for p := range 80 {
		if !seen[p] {
			t.Errorf("no turn at %d", p)
		}
	}
}

func TestTenThousandMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector; it runs without -short")
	}
	db := open(t)
	g := ingester(t, db, nil)
	msgs := make([]message.Message, 10_000)
	for i := range msgs {
		msgs[i] = user(fmt.Sprint("message ", i))
		if i%2 == 1 {
			msgs[i] = assistant("noted")
		}
	}
	if r := say(t, g, "th", msgs...); len(r.Turns) != 10_000 || r.Turns[9999].Position != 9999 {
		t.Errorf("%d turns", len(r.Turns))
	}
}

func TestLocks(t *testing.T) {
	var l extract.Locks
	unlock := l.Lock(ann)
	other := l.Lock(store.Scope{Tenant: "acme", User: "bob"})
	other()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := l.LockContext(ctx, ann); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	unlock()
	unlock() // harmless
	again, err := l.LockContext(context.Background(), ann)
	if err != nil {
		t.Fatal(err)
	}
	again()
	var wg sync.WaitGroup
	n := 0
	for range 50 {
		wg.Go(func() {
			defer l.Lock(ann)()
			n++
		})
	}
	wg.Wait()
	if n != 50 {
		t.Errorf("%d of 50 counted: the lock does not exclude", n)
	}
}
