package extract_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// mortal is a database that, after so many writes, answers no more: as to a process that died before or after the last.
type mortal struct {
	*sqlitestore.DB
	left  atomic.Int64
	after bool // the last write is made
}

func (m *mortal) write(f func() error) error {
	switch n := m.left.Add(-1); {
	case n > 0:
		return f()
	case n == 0 && m.after:
		_ = f()
	}
	return fmt.Errorf("dead: %w", store.ErrClosed)
}

func (m *mortal) CommitBoth(ctx context.Context, w store.Write) error {
	return m.write(func() error { return m.DB.CommitBoth(ctx, w) })
}

func (m *mortal) Claim(ctx context.Context, now time.Time, lease time.Duration, n int, of store.Tenants) (jobs []store.Job, err error) {
	err = m.write(func() error { jobs, err = m.DB.Claim(ctx, now, lease, n, of); return err })
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		m.left.Add(1) // nothing was written
	}
	return jobs, nil
}

func (m *mortal) Defer(ctx context.Context, j store.Job, at time.Time, reason string) error {
	return m.write(func() error { return m.DB.Defer(ctx, j, at, reason) })
}

func (m *mortal) Retry(ctx context.Context, j store.Job, at time.Time, reason string) error {
	return m.write(func() error { return m.DB.Retry(ctx, j, at, reason) })
}

// TestDyingAtEveryWrite: wherever the process dies, through an outage with interim facts, several batches and one that is
// dead, every event ends once and no fact is there twice.
func TestDyingAtEveryWrite(t *testing.T) {
	for _, after := range []bool{false, true} {
		step := 1
		if testing.Short() {
			step = 9
		}
		for at := 1; ; at += step {
			died := false
			synctest.Test(t, func(t *testing.T) { died = diesAt(t, at, after) })
			if t.Failed() {
				t.Fatalf("died at write %d (made: %t)", at, after)
			}
			if !died {
				if at < 10 {
					t.Errorf("%d writes are too few", at)
				}
				break
			}
		}
	}
}

func diesAt(t *testing.T, at int, after bool) (died bool) {
	db := open(t)
	x := away(3*time.Minute, func(b extract.Batch) (ops []extract.Operation) {
		for _, turn := range b.Turns {
			if turn.Turn.Role == "user" && turn.Content != "Rome" {
				ops = append(ops, fact(turn, "The user saw "+turn.Content, ""))
			}
		}
		return ops
	})
	answer := x.do
	x.do = func(ctx context.Context, b extract.Batch, n int) (extract.Report, error) {
		r, err := answer(ctx, b, n)
		if err == nil && slices.ContainsFunc(b.Turns, func(it store.Item) bool { return it.Content == "poison" }) {
			return r, extract.ErrUnreadable
		}
		return r, err
	}
	interim := &script{do: func(b extract.Batch, _ int) (ops []extract.Operation, _ error) {
		for _, turn := range b.Turns {
			if turn.Turn.Role == "user" {
				ops = append(ops, fact(turn, "The user saw "+turn.Content, ""))
			}
		}
		return ops, nil
	}}
	begin := func(db interface {
		store.Store
		store.Ledger
	}, locks *extract.Locks) *extract.Worker {
		w, err := extract.NewWorker(db, db, x, &extract.WorkerOptions{Locks: locks, Tenant: of(x, interim), Grace: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		return w
	}
	g := ingester(t, db, nil)
	var all []*extract.Result
	for _, text := range []string{"Oslo", "Rome", "poison", "Bonn"} {
		all = append(all, say(t, g, "th", user(text), assistant("ok")))
	}
	all = append(all, say(t, g, "other", message.Message{Role: message.User, Content: "Kyiv"}, assistant("ok")))
	m := &mortal{DB: db, after: after}
	m.left.Store(int64(at))
	w := begin(m, new(extract.Locks))
	for range 10 * 6 {
		if died = m.left.Load() <= 0; died {
			break
		}
		time.Sleep(10 * time.Second)
	}
	w.Stop()
	w = begin(db, new(extract.Locks))
	defer w.Stop()
	for i, r := range all {
		want := store.EventStored
		switch i {
		case 1:
			want = store.EventNothing
		case 2:
			want = store.EventDead
		}
		ev, err := w.Settle(t.Context(), ann.Tenant, r.Event)
		// What is extracted together ends together: Rome may come with Oslo, never with the dead one.
		if err != nil || ev.State != want && !(i == 1 && ev.State == store.EventStored) {
			t.Errorf("%d: %+v %v", i, ev, err)
		}
	}
	var got []string
	for _, it := range factsOf(t, db) {
		s := it.Content
		if it.Provenance.Interim {
			s += ", interim"
		}
		got = append(got, s)
	}
	slices.Sort(got)
	// The interim facts of the dead event stay, marked: nothing better is to come unless it is tried again.
	want := []string{"The user saw Bonn", "The user saw Kyiv", "The user saw Oslo", "The user saw poison, interim"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	return died
}
