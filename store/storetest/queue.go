package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"evoke/store"
)

const (
	quiet   = 30 * time.Second
	maxWait = 5 * time.Minute
	lease   = time.Minute
)

// arming arms threads in a ledger, each time by a write of its own.
type arming struct {
	t *testing.T
	l store.Ledger
	n int
}

func (a *arming) arm(sc store.Scope, thread string, at time.Time) {
	a.t.Helper()
	a.n++
	must(a.t, a.l.Record(context.Background(), store.Write{ID: fmt.Sprint("arm", a.n), Scope: sc,
		Arm: &store.Arming{Thread: thread, Now: at, Quiet: quiet, MaxWait: maxWait}}))
}

func claim(t *testing.T, l store.Ledger, at time.Time, n int) []store.Job {
	t.Helper()
	jobs, err := l.Claim(context.Background(), at, lease, n, store.Tenants{})
	must(t, err)
	return jobs
}

func claimOne(t *testing.T, l store.Ledger, at time.Time) store.Job {
	t.Helper()
	jobs := claim(t, l, at, 10)
	if len(jobs) != 1 {
		t.Fatalf("%d jobs due, want 1", len(jobs))
	}
	return jobs[0]
}

func claimNone(t *testing.T, l store.Ledger, at time.Time, why string) {
	t.Helper()
	if jobs := claim(t, l, at, 10); len(jobs) != 0 {
		t.Fatalf("%s: %d jobs due, want none", why, len(jobs))
	}
}

func finish(id string, j store.Job, at time.Time) store.Write {
	return store.Write{ID: id, Scope: j.Scope, Finish: &store.Finish{Job: j, UpTo: 1000, State: store.EventStored, Facts: 1, At: at}}
}

// debounce: a job is due when the thread was quiet long enough after its last arming.
func debounce(t *testing.T, l store.Ledger) {
	a := arming{t: t, l: l}
	a.arm(alice, "t", now)
	a.arm(alice, "t", now.Add(20*time.Second))
	a.arm(alice, "t", now.Add(40*time.Second))
	due := now.Add(40*time.Second + quiet)
	claimNone(t, l, due.Add(-time.Microsecond), "not quiet yet")
	j := claimOne(t, l, due)
	if j.Scope != alice || j.Thread != "t" || !j.FirstAt.Equal(now) || !j.DueAt.Equal(due) || j.Attempts != 0 || j.Lease == "" {
		t.Errorf("job %+v", j)
	}
	must(t, l.Record(context.Background(), finish("f", j, due)))
	claimNone(t, l, due.Add(time.Hour), "finished")
	if _, ok, err := l.NextDue(context.Background(), store.Tenants{}); err != nil || ok {
		t.Errorf("a job waits after its finish (%v)", err)
	}
}

// debounceCap: armings without end put a job off no longer than MaxWait.
func debounceCap(t *testing.T, l store.Ledger) {
	a := arming{t: t, l: l}
	for s := 0; s <= 290; s += 10 {
		a.arm(alice, "t", now.Add(time.Duration(s)*time.Second))
	}
	claimNone(t, l, now.Add(maxWait-time.Microsecond), "before the cap")
	j := claimOne(t, l, now.Add(maxWait))
	if !j.DueAt.Equal(now.Add(maxWait)) {
		t.Errorf("due at %v, want %v", j.DueAt, now.Add(maxWait))
	}
}

// generations: what arrives during a run is run again; finishing the old generation keeps it.
func generations(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	a := arming{t: t, l: l}
	a.arm(alice, "t", now)
	first := claimOne(t, l, now.Add(quiet))
	mid := now.Add(quiet + time.Second)
	a.arm(alice, "t", mid)
	claimNone(t, l, mid.Add(quiet), "its thread is being run")
	must(t, l.Record(ctx, finish("f1", first, mid)))
	n, err := l.WaitingThreads(ctx, alice)
	must(t, err)
	if n != 1 {
		t.Fatalf("%d threads wait, want the newer arming", n)
	}
	claimNone(t, l, mid.Add(quiet-time.Microsecond), "the newer arming is not due")
	second := claimOne(t, l, mid.Add(quiet))
	if second.Generation <= first.Generation {
		t.Errorf("generation %d after %d", second.Generation, first.Generation)
	}
	if !second.FirstAt.Equal(mid) {
		t.Errorf("the new window began at %v, want %v", second.FirstAt, mid)
	}
	must(t, l.Record(ctx, finish("f2", second, mid)))
	a.arm(alice, "t", now.Add(time.Hour))
	if third := claimOne(t, l, now.Add(2*time.Hour)); third.Generation <= second.Generation {
		t.Errorf("generation %d after %d, though the job was ended between", third.Generation, second.Generation)
	}
}

// leases: a job whose worker vanished is claimed again when the lease ends.
func leases(t *testing.T, l store.Ledger) {
	a := arming{t: t, l: l}
	a.arm(alice, "t", now)
	at := now.Add(quiet)
	first := claimOne(t, l, at)
	claimNone(t, l, at.Add(lease-time.Microsecond), "leased")
	second := claimOne(t, l, at.Add(lease))
	if second.Lease == first.Lease || second.Generation != first.Generation || second.Attempts != 0 {
		t.Errorf("claimed again as %+v after %+v", second, first)
	}
}

// lostLease: who lost the lease neither ends the job nor gives it back, and writes nothing.
func lostLease(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	a := arming{t: t, l: l}
	a.arm(alice, "t", now)
	first := claimOne(t, l, now.Add(quiet))
	second := claimOne(t, l, now.Add(quiet+lease))
	late := finish("late", first, now)
	late.Put = []store.Item{item("fact", "from the lost run")}
	wantErr(t, "finish with a lost lease", l.Record(ctx, late), store.ErrConflict)
	wantErr(t, "retry with a lost lease", l.Retry(ctx, first, now, "x"), store.ErrConflict)
	ws, err := l.Unapplied(ctx)
	must(t, err)
	if len(ws) != 0 {
		t.Error("the refused finish left an intent")
	}
	must(t, l.Record(ctx, finish("f", second, now)))
	wantErr(t, "a second finish", l.Record(ctx, finish("f again", second, now)), store.ErrConflict)
	must(t, l.Record(ctx, finish("f", second, now))) // the same write again is a no-op
}

func retry(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	a := arming{t: t, l: l}
	a.arm(alice, "t", now)
	at := now.Add(quiet)
	for attempt := range 3 {
		j := claimOne(t, l, at)
		if j.Attempts != attempt {
			t.Errorf("%d failed attempts, want %d", j.Attempts, attempt)
		}
		next := at.Add(time.Duration(attempt+1) * time.Minute)
		must(t, l.Retry(ctx, j, next, "model does not answer"))
		claimNone(t, l, next.Add(-time.Microsecond), "given back for later")
		at = next
	}
}

// retryHoldsArmings: new turns do not bring a job forward that a failure put off, nor is it lost.
func retryHoldsArmings(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	a := arming{t: t, l: l}
	a.arm(alice, "t", now)
	j := claimOne(t, l, now.Add(quiet))
	until := now.Add(time.Hour)
	must(t, l.Retry(ctx, j, until, "outage"))
	a.arm(alice, "t", now.Add(time.Minute))
	claimNone(t, l, until.Add(-time.Microsecond), "put off by the failure")
	again := claimOne(t, l, until)
	if again.Attempts != 1 {
		t.Errorf("%d failed attempts, want 1", again.Attempts)
	}
	must(t, l.Record(ctx, finish("f", again, until)))
	a.arm(alice, "t", until)
	if fresh := claimOne(t, l, until.Add(quiet)); fresh.Attempts != 0 {
		t.Errorf("a new job begins with %d failed attempts", fresh.Attempts)
	}
}

func flush(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	a := arming{t: t, l: l}
	for _, th := range []string{"t1", "t2", "t3"} {
		a.arm(alice, th, now)
	}
	a.arm(bob, "t1", now)
	n, err := l.Flush(ctx, alice, "t2", now)
	must(t, err)
	if n != 1 {
		t.Errorf("%d flushed, want 1", n)
	}
	if j := claimOne(t, l, now); j.Thread != "t2" || j.Scope != alice {
		t.Errorf("claimed %+v", j)
	}
	n, err = l.Flush(ctx, alice, "", now)
	must(t, err)
	if n != 2 {
		t.Errorf("%d flushed, want the 2 that are not being run", n)
	}
	jobs := claim(t, l, now, 10)
	if len(jobs) != 2 || jobs[0].Scope != alice || jobs[1].Scope != alice {
		t.Errorf("claimed %+v, want alice's other two", jobs)
	}
	must(t, l.Retry(ctx, jobs[0], now.Add(time.Hour), "x"))
	n, err = l.Flush(ctx, alice, jobs[0].Thread, now)
	must(t, err)
	if n != 1 {
		t.Errorf("%d flushed, want the one that a failure put off", n)
	}
	if j := claimOne(t, l, now); j.Thread != jobs[0].Thread {
		t.Errorf("claimed %+v", j)
	}
	n, err = l.Flush(ctx, alice, "unknown", now)
	must(t, err)
	if n != 0 {
		t.Errorf("%d flushed of an unknown thread", n)
	}
}

// release makes due what a failure put off, of one tenant or of all but some, and nothing that waits for its conversation.
func release(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	a := arming{t: t, l: l}
	other := store.Scope{Tenant: "other", User: "u"}
	a.arm(alice, "t1", now)
	a.arm(other, "t1", now)
	for _, j := range claim(t, l, now.Add(quiet), 2) {
		must(t, l.Defer(ctx, j, now.Add(48*time.Hour), "x"))
	}
	later := now.Add(quiet)
	a.arm(alice, "quiet", later)
	if jobs := claim(t, l, later, 9); len(jobs) != 0 {
		t.Fatalf("claimed %+v", jobs)
	}
	n, err := l.Release(ctx, "", []string{alice.Tenant, other.Tenant}, later)
	must(t, err)
	if n != 0 {
		t.Errorf("%d released of no tenant", n)
	}
	n, err = l.Release(ctx, alice.Tenant, nil, later)
	must(t, err)
	if j := claimOne(t, l, later); n != 1 || j.Scope != alice || j.Thread != "t1" {
		t.Errorf("%d released, claimed %+v", n, j)
	}
	n, err = l.Release(ctx, "", []string{alice.Tenant}, later)
	must(t, err)
	if j := claimOne(t, l, later); n != 1 || j.Scope != other {
		t.Errorf("%d released, claimed %+v", n, j)
	}
}

func claimOrder(t *testing.T, l store.Ledger) {
	a := arming{t: t, l: l}
	var want []string
	for i := range 7 {
		th := fmt.Sprint("t", 9-i)
		a.arm([]store.Scope{alice, bob}[i%2], th, now.Add(time.Duration(i)*time.Second))
		want = append(want, th)
	}
	var got []string
	for _, n := range []int{0, 3, 1, 10} {
		jobs := claim(t, l, now.Add(time.Hour), n)
		if len(jobs) > n {
			t.Errorf("%d jobs claimed, asked for %d", len(jobs), n)
		}
		for _, j := range jobs {
			got = append(got, j.Thread)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("claimed in the order %v, want oldest due first: %v", got, want)
	}
}

// claimOnce: many workers at once never hold the same job.
func claimOnce(t *testing.T, l store.Ledger) {
	a := arming{t: t, l: l}
	for i := range 60 {
		a.arm(alice, fmt.Sprint("t", i), now)
	}
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for {
				jobs, err := l.Claim(context.Background(), now.Add(time.Hour), lease, 7, store.Tenants{})
				if err != nil {
					t.Error(err)
					return
				}
				if len(jobs) == 0 {
					return
				}
				mu.Lock()
				for _, j := range jobs {
					seen[j.Thread]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 60 {
		t.Errorf("%d threads claimed, want 60", len(seen))
	}
	for th, n := range seen {
		if n != 1 {
			t.Errorf("%s claimed %d times", th, n)
		}
	}
}

func nextDue(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	want := func(at time.Time) {
		t.Helper()
		got, ok, err := l.NextDue(ctx, store.Tenants{})
		must(t, err)
		if !ok || !got.Equal(at) {
			t.Errorf("next due %v (%t), want %v", got, ok, at)
		}
	}
	_, ok, err := l.NextDue(ctx, store.Tenants{})
	must(t, err)
	if ok {
		t.Error("an empty ledger has a job due")
	}
	a := arming{t: t, l: l}
	a.arm(alice, "late", now.Add(time.Minute))
	a.arm(bob, "early", now)
	want(now.Add(quiet))
	claimOne(t, l, now.Add(quiet))
	want(now.Add(time.Minute + quiet)) // sooner than, or as soon as, the lease of the other ends
}
