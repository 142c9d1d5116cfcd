package extract_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// counting is a ledger that counts claims.
type counting struct {
	*sqlitestore.DB
	claims atomic.Int64
}

func (c *counting) Claim(ctx context.Context, now time.Time, lease time.Duration, n int, of store.Tenants) ([]store.Job, error) {
	c.claims.Add(1)
	return c.DB.Claim(ctx, now, lease, n, of)
}

// crowd is a worker over a counting ledger, with what brings conversations in.
func crowd(t *testing.T, opts extract.WorkerOptions) (*counting, *extract.Worker, func(tenant, thread string) *extract.Result) {
	t.Helper()
	db := &counting{DB: open(t)}
	opts.Locks = new(extract.Locks)
	w, err := extract.NewWorker(db, db, &script{}, &opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	g := ingester(t, db.DB, &extract.IngestOptions{Locks: opts.Locks, Wake: w.Wake})
	return db, w, func(tenant, thread string) *extract.Result {
		t.Helper()
		r, err := g.Ingest(t.Context(), store.Scope{Tenant: tenant, User: "u"}, thread, []message.Message{user("it rains " + thread), assistant("ok")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// A tenant whose service is away costs the others nothing: no slot, no call in vain; one thread asks for all of its tenant.
func TestAServiceThatIsAwayIsAskedOnceForAll(t *testing.T) {
	threads, long := 40, time.Hour
	if testing.Short() {
		threads, long = 8, 10*time.Minute
	}
	for _, interim := range []bool{false, true} {
		t.Run(fmt.Sprint("interim ", interim), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				down := away(long+40*time.Minute, func(extract.Batch) []extract.Operation { return nil })
				up, rules := &script{}, &script{}
				db, w, tell := crowd(t, extract.WorkerOptions{MaxAttempts: 2, Concurrency: 2, Tenant: func(tenant string) extract.Tenant {
					if tenant == "up" {
						return extract.Tenant{Extractor: up}
					}
					own := extract.Tenant{Extractor: down}
					if interim {
						own.Interim = rules
					}
					return own
				}})
				var waiting []*extract.Result
				for i := range threads {
					waiting = append(waiting, tell("down", fmt.Sprint("th", i)))
				}
				time.Sleep(20 * time.Minute)
				for i := range threads / 2 {
					begin := time.Now()
					r := tell("up", fmt.Sprint("th", i))
					ev, err := w.Settle(t.Context(), "up", r.Event)
					if d := time.Since(begin); err != nil || ev.State != store.EventNothing || d > 31*time.Second {
						t.Fatalf("%+v %v after %v", ev, err, d)
					}
				}
				time.Sleep(long)
				// The pause grows to 5 minutes at random down to its half, of which half passes before another thread asks.
				if n := down.calls(); n > 90 || n < 30 && !testing.Short() {
					t.Errorf("a service that is away was asked %d times in 90 minutes", n)
				}
				if n := db.claims.Load(); n > 1000 {
					t.Errorf("%d claims", n)
				}
				if n := len(rules.seen()); interim && n != threads || !interim && n != 0 {
					t.Errorf("%d interim extractions", n)
				}
				for _, r := range waiting {
					ev, err := w.Settle(t.Context(), "down", r.Event)
					if err != nil || ev.State != store.EventNothing {
						t.Fatalf("%+v %v", ev, err)
					}
				}
				if n := down.calls(); n > 140 {
					t.Errorf("%d calls in all", n)
				}
			})
		})
	}
}

// A thread that always fails keeps neither its tenant's other threads nor a slot.
func TestAThreadThatFailsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &script{do: func(b extract.Batch, _ int) ([]extract.Operation, error) {
			if b.Thread == "bad" {
				return nil, store.ErrUnavailable
			}
			return nil, nil
		}}
		_, w, tell := crowd(t, extract.WorkerOptions{MaxAttempts: 3, Concurrency: 1, Tenant: of(x, nil)})
		bad := tell("t", "bad")
		for i := range 20 {
			begin := time.Now()
			r := tell("t", fmt.Sprint("th", i))
			ev, err := w.Settle(t.Context(), "t", r.Event)
			if d := time.Since(begin); err != nil || ev.State != store.EventNothing || d > 45*time.Second {
				t.Fatalf("%d: %+v %v after %v", i, ev, err, d)
			}
		}
		if ev, err := w.Settle(t.Context(), "t", bad.Event); err != nil || ev.State != store.EventDead || ev.Note != "unavailable" {
			t.Errorf("%+v %v", ev, err)
		}
	})
}

// Flush asks a service that is away at once, unless that asked for time; another extractor is asked at once, too.
func TestFlushAsksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &script{do: func(_ extract.Batch, call int) ([]extract.Operation, error) {
			if call == 1 {
				return nil, extract.ErrService
			}
			return nil, asks{store.ErrUnavailable, time.Hour}
		}}
		other := &renamed{script{}}
		var changed atomic.Bool
		_, w, tell := crowd(t, extract.WorkerOptions{Tenant: func(string) extract.Tenant {
			if changed.Load() {
				return extract.Tenant{Extractor: other}
			}
			return extract.Tenant{Extractor: x}
		}})
		sc := store.Scope{Tenant: "t", User: "u"}
		tell("t", "th")
		flush := func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, _ = w.Flush(ctx, sc, "")
		}
		flush()
		flush()
		if n := len(x.seen()); n != 2 {
			t.Errorf("asked %d times, want once more by the second flush", n)
		}
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := w.Flush(ctx, sc, "")
		cancel()
		var away *extract.AwayError // at once, as the time that it asked for is longer than anybody waits
		if !errors.As(err, &away) || !errors.Is(err, store.ErrUnavailable) || away.Why == "" || time.Until(away.Until) < 50*time.Minute || time.Since(begun) > 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		if n := len(x.seen()); n != 2 {
			t.Errorf("asked %d times, though the service asked for an hour", n)
		}
		changed.Store(true)
		begin := time.Now()
		if err := w.Reconsider(t.Context(), "t", nil); err != nil { // what waited for the other one need not wait for this
			t.Fatal(err)
		}
		synctest.Wait()
		if n := len(other.seen()); n != 1 {
			t.Errorf("the other one was asked %d times", n)
		}
		r := tell("t", "th2")
		if ev, err := w.Settle(t.Context(), "t", r.Event); err != nil || ev.State != store.EventNothing || time.Since(begin) > time.Minute {
			t.Errorf("%+v %v after %v", ev, err, time.Since(begin))
		}
	})
}

type renamed struct{ script }

func (*renamed) Name() string { return "renamed/1" }

// A pace is no outage: the tenant's threads wait for it without being claimed in vain, and no interim extractor runs.
func TestAPaceIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next time.Time
		x, interim := &script{}, &script{}
		x.do = func(extract.Batch, int) ([]extract.Operation, error) {
			if wait := time.Until(next); wait > 0 {
				return nil, asks{fmt.Errorf("gate: %w", extract.ErrPaced), wait}
			}
			next = time.Now().Add(time.Minute)
			return nil, nil
		}
		db, w, tell := crowd(t, extract.WorkerOptions{Concurrency: 1, MaxAttempts: 1, Tenant: of(x, interim)})
		var all []*extract.Result
		for i := range 20 {
			all = append(all, tell("t", fmt.Sprint("th", i)))
		}
		for _, r := range all {
			if ev, err := w.Settle(t.Context(), "t", r.Event); err != nil || ev.State != store.EventNothing {
				t.Fatalf("%+v %v", ev, err)
			}
		}
		if n, claims := len(x.seen()), db.claims.Load(); n > 60 || claims > 150 || len(interim.seen()) != 0 {
			t.Errorf("asked %d times, %d claims, %d interim runs", n, claims, len(interim.seen()))
		}
	})
}
