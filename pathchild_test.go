package evoke

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/extract/message"
	"evoke/extract/rules"
	"evoke/store"
	"evoke/store/qdrantstore"
	"evoke/store/sqlitestore"
)

const pathChild = "EVOKE_TEST_PATH_CHILD"

// TestPathChild is the victim of TestKilledOnTheWholePath: it takes conversations in until it dies, and says what was
// acknowledged.
func TestPathChild(t *testing.T) {
	env := func(name string) string { return os.Getenv(pathChild + name) }
	dir := env("")
	if dir == "" {
		t.Log("run by TestKilledOnTheWholePath only")
		return
	}
	run, _ := strconv.Atoi(env("_RUN"))
	steps, _ := strconv.Atoi(env("_STEPS"))
	life := &mortal{}
	life.left.Store(int64(steps))
	o := pathOptions(t.Context(), t, dir, env("_QDRANT"), env("_COLLECTION"), run, life)
	if url := env("_MODEL"); url != "" {
		x, err := llm.New("m", &llm.Options{BaseURL: url, Pause: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		o.Extractor = mortalModel{x, life}
		o.TenantOptions = func(string) TenantOptions { return TenantOptions{Interim: mortalExtractor{rules.New(nil), life}} }
	}
	m, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	say("opened\n")
	var talking sync.WaitGroup
	for thread := range 3 {
		talking.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("%d-%d-%d", run, thread, i)
				res, err := m.Ingest(t.Context(), IngestRequest{
					Who: Who{User: userOf(key), Thread: fmt.Sprint("t", thread)}, IdempotencyKey: key,
					Messages: []message.Message{{Role: message.User, Content: said(key)}, {Role: message.Assistant, Content: "Noted " + key}},
				})
				if err != nil {
					say("FAIL %v\n", err)
					return
				}
				say("acked %s %s %s %s\n", key, res.EventID, res.Turns[0].ID, res.Turns[1].ID)
				time.Sleep(15 * time.Millisecond)
			}
		})
	}
	talking.Wait()
}

// pathOptions opens the stores. The clock goes twenty times as fast as it should, so that conversations go quiet within
// a child's life, and starts ten minutes later in each run, so that what a dead one held is free.
func pathOptions(ctx context.Context, t *testing.T, dir, qdrant, collection string, run int, life *mortal) *Options {
	t.Helper()
	began, start := time.Now(), time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC).Add(time.Duration(run)*10*time.Minute)
	o := &Options{
		Embedder: &bagEmbedder{}, Memory: MemoryOptions{Debounce: time.Second, MaxWait: 2 * time.Second, MaxFacts: 500},
		Clock:     func() time.Time { return start.Add(20 * time.Since(began)) },
		Extractor: mortalExtractor{rules.New(nil), life},
	}
	durability := []sqlitestore.Durability{sqlitestore.Full, sqlitestore.Normal}[run%2]
	db, err := sqlitestore.Open(ctx, dir, &sqlitestore.Options{Durability: durability})
	if err != nil {
		t.Fatal(err)
	}
	both := &mortalDB{db, life}
	o.Store, o.Ledger = both, both
	if life == nil {
		t.Cleanup(func() { db.Close() })
	}
	if qdrant == "" {
		return o
	}
	items, err := qdrantstore.Open(ctx, &qdrantstore.Options{URL: "qdrant://" + qdrant, Collection: collection, Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if life == nil {
		t.Cleanup(func() { items.Close() })
	}
	o.Store = &mortalItems{items, life}
	return o
}

// mortal ends the process at a step; nil, or with none left, never.
type mortal struct{ left atomic.Int64 }

func (m *mortal) step(name string) {
	if m == nil || m.left.Add(-1) != 0 {
		return
	}
	say("dies %s\n", name)
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	say("FAIL alive: %v\n", err)
	select {}
}

// mortalDB is a database whose every write is a step, before and after it.
type mortalDB struct {
	*sqlitestore.DB
	life *mortal
}

// of names the stage that a write belongs to.
func of(w store.Write) string {
	switch {
	case w.Event != nil:
		return "accept"
	case w.Finish != nil:
		return "finish"
	}
	return "write"
}

func (d *mortalDB) CommitBoth(ctx context.Context, w store.Write) error {
	d.life.step("before " + of(w))
	defer d.life.step("after " + of(w))
	return d.DB.CommitBoth(ctx, w)
}

func (d *mortalDB) Record(ctx context.Context, w store.Write) error {
	d.life.step("before " + of(w))
	defer d.life.step("after recording " + of(w))
	return d.DB.Record(ctx, w)
}

func (d *mortalDB) Applied(ctx context.Context, id string) error {
	d.life.step("before the intent's end")
	defer d.life.step("after the intent's end")
	return d.DB.Applied(ctx, id)
}

func (d *mortalDB) Claim(ctx context.Context, now time.Time, lease time.Duration, n int, of store.Tenants) ([]store.Job, error) {
	jobs, err := d.DB.Claim(ctx, now, lease, n, of)
	if len(jobs) > 0 {
		d.life.step("after claim")
	}
	return jobs, err
}

func (d *mortalDB) Retry(ctx context.Context, j store.Job, at time.Time, reason string) error {
	d.life.step("before retry")
	defer d.life.step("after retry")
	return d.DB.Retry(ctx, j, at, reason)
}

func (d *mortalDB) SetEmbeddings(ctx context.Context, sc store.Scope, es []store.Embedding) error {
	defer d.life.step("after vectors")
	return d.DB.SetEmbeddings(ctx, sc, es)
}

func (d *mortalDB) Embedded(ctx context.Context, refs []store.EmbedRef) error {
	defer d.life.step("after the vectors' entries")
	return d.DB.Embedded(ctx, refs)
}

// mortalItems is an item store whose every write is a step.
type mortalItems struct {
	*qdrantstore.DB
	life *mortal
}

func (d *mortalItems) Apply(ctx context.Context, sc store.Scope, c store.Change) error {
	d.life.step("before items")
	defer d.life.step("after items")
	return d.DB.Apply(ctx, sc, c)
}

func (d *mortalItems) SetEmbeddings(ctx context.Context, sc store.Scope, es []store.Embedding) error {
	defer d.life.step("after vectors")
	return d.DB.SetEmbeddings(ctx, sc, es)
}

// mortalExtractor is an extractor whose every run is a step, before and after it.
type mortalExtractor struct {
	extract.Extractor
	life *mortal
}

func (x mortalExtractor) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	x.life.step("before extract")
	defer x.life.step("after extract")
	return x.Extractor.Extract(ctx, b)
}

// mortalModel is the same for an extractor that reports.
type mortalModel struct {
	*llm.Extractor
	life *mortal
}

func (x mortalModel) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	rep, err := x.Report(ctx, b)
	return rep.Operations, err
}

func (x mortalModel) Report(ctx context.Context, b extract.Batch) (extract.Report, error) {
	x.life.step("before extract")
	defer x.life.step("after extract")
	return x.Extractor.Report(ctx, b)
}
