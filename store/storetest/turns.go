package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"evoke/store"
)

// deferring: a job that is given back without blame counts no failed attempt, keeps armings off and is not lost.
func deferring(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	a := arming{t: t, l: l}
	a.arm(alice, "t", now)
	j := claimOne(t, l, now.Add(quiet))
	until := now.Add(time.Hour)
	must(t, l.Defer(ctx, j, until, "away"))
	wantErr(t, "a second time", l.Defer(ctx, j, until, "away"), store.ErrConflict)
	a.arm(alice, "t", now.Add(time.Minute))
	claimNone(t, l, until.Add(-time.Microsecond), "put off")
	j = claimOne(t, l, until)
	if j.Attempts != 0 {
		t.Errorf("%d failed attempts, want none", j.Attempts)
	}
	must(t, l.Retry(ctx, j, until, "x"))
	if j = claimOne(t, l, until); j.Attempts != 1 {
		t.Errorf("%d failed attempts, want 1", j.Attempts)
	}
	must(t, l.Defer(ctx, j, until, "away"))
	if j = claimOne(t, l, until); j.Attempts != 1 {
		t.Errorf("%d failed attempts after all, want the 1 from before", j.Attempts)
	}
}

// claimOfTenants: tenants are passed over, or only asked for what is new.
func claimOfTenants(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	other := store.Scope{Tenant: "other", User: "olga"}
	a := arming{t: t, l: l}
	for i := range 3 {
		a.arm(alice, fmt.Sprint("a", i), now.Add(time.Duration(i)*time.Second))
		a.arm(other, fmt.Sprint("o", i), now.Add(time.Duration(i)*time.Second))
	}
	at := now.Add(time.Hour)
	want := func(why string, of store.Tenants, n int, threads ...string) []store.Job {
		t.Helper()
		next, waits, err := l.NextDue(ctx, of)
		must(t, err)
		if waits != (len(threads) > 0) || waits && next.After(at) {
			t.Errorf("%s: next due %v (%t)", why, next, waits)
		}
		jobs, err := l.Claim(ctx, at, lease, n, of)
		must(t, err)
		var got []string
		for _, j := range jobs {
			got = append(got, j.Thread)
		}
		if !slices.Equal(got, threads) {
			t.Fatalf("%s: claimed %v, want %v", why, got, threads)
		}
		return jobs
	}
	want("nobody", store.Tenants{Except: []string{"acme", "other"}}, 9)
	tried := want("one", store.Tenants{Except: []string{"other"}}, 1, "a0")[0]
	must(t, l.Defer(ctx, tried, at, "away"))
	second := want("only what is new of one", store.Tenants{Except: []string{"other"}, Fresh: []string{"acme"}}, 1, "a1")[0]
	must(t, l.Retry(ctx, second, at, "away"))
	for _, j := range want("only what is new of one, all of another", store.Tenants{Fresh: []string{"acme"}}, 9, "o0", "a2", "o1", "o2") {
		must(t, l.Defer(ctx, j, at, "away"))
	}
	want("nothing new", store.Tenants{Fresh: []string{"acme", "other"}}, 9)
	a.arm(alice, "a1", now)
	want("armed anew", store.Tenants{Fresh: []string{"acme", "other"}}, 9, "a1")
	want("the rest", store.Tenants{Except: []string{"acme"}}, 9, "o0", "o1", "o2")
}

// event enters a pending event of a thread's turns from first to upTo, and arms the thread.
func pendingEvent(t *testing.T, l store.Ledger, id string, first, upTo int) {
	t.Helper()
	must(t, l.Record(context.Background(), store.Write{
		ID: "event " + id, Scope: alice, Thread: &store.ThreadState{Thread: "t", Next: upTo},
		Event: &store.Event{ID: id, Scope: alice, Thread: "t", From: first, UpTo: upTo, State: store.EventPending, CreatedAt: now},
		Arm:   &store.Arming{Thread: "t", Now: now, Quiet: quiet, MaxWait: maxWait},
	}))
}

// finishInParts: a job ends part by part under one lease; an event ends with its last part and says what came of all.
func finishInParts(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	for i, e := range []struct{ first, upTo int }{{0, 4}, {4, 14}, {14, 20}, {20, 30}, {30, 34}, {34, 44}} {
		pendingEvent(t, l, fmt.Sprint("e", i), e.first, e.upTo)
	}
	j := claimOne(t, l, now.Add(quiet))
	must(t, l.Retry(ctx, j, now, "x"))
	j = claimOne(t, l, now.Add(quiet))
	part := func(upTo int, state store.EventState, facts int, partial bool, waits ...store.Quarantined) {
		t.Helper()
		must(t, l.Record(ctx, store.Write{
			ID: fmt.Sprint("to ", upTo), Scope: alice, Quarantine: waits,
			Finish: &store.Finish{Job: j, UpTo: upTo, State: state, Facts: facts, Note: "note", At: now, Extractor: "x/1", Partial: partial},
		}))
	}
	want := func(id string, state store.EventState, facts int) {
		t.Helper()
		e, err := l.Event(ctx, "acme", id)
		must(t, err)
		if e.State != state || e.Facts != facts {
			t.Errorf("%s is %s with %d facts, want %s with %d", id, e.State, e.Facts, state, facts)
		}
	}
	part(10, store.EventStored, 2, true)
	want("e0", store.EventStored, 2)
	want("e1", store.EventPending, 2)
	claimNone(t, l, now.Add(quiet), "the job goes on")
	q := quarantined("q", "turn", now)
	q.Event = "e2"
	part(16, store.EventQuarantined, 0, true, q)
	want("e1", store.EventStored, 2)
	want("e2", store.EventPending, 0)
	part(24, store.EventNothing, 0, true)
	want("e2", store.EventQuarantined, 0)
	part(26, store.EventDead, 0, true)
	want("e3", store.EventDead, 0)
	part(40, store.EventNothing, 0, true)
	want("e4", store.EventNothing, 0)
	must(t, l.Retry(ctx, j, now.Add(quiet), "x"))
	if j = claimOne(t, l, now.Add(quiet)); j.Attempts != 1 {
		t.Errorf("%d failed attempts, want those since the last part", j.Attempts)
	}
	part(44, store.EventStored, 1, false)
	want("e5", store.EventStored, 1)
	claimNone(t, l, now.Add(time.Hour), "the job ended")
}

// prune: what ended long ago goes, what may still be needed stays.
func prune(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	states := []store.EventState{store.EventStored, store.EventNothing, store.EventQuarantined, store.EventDead, store.EventPending}
	for _, at := range []time.Time{now, now.Add(48 * time.Hour)} {
		for i, s := range states {
			id := fmt.Sprint(s, at.Day())
			e := store.Event{ID: id, Scope: alice, Thread: "t", UpTo: i, State: s, CreatedAt: at, DoneAt: at}
			if s == store.EventPending {
				e.DoneAt = time.Time{}
			}
			must(t, l.Record(ctx, store.Write{ID: id, Scope: alice, Event: &e, Reply: &store.Reply{Key: id, BodyHash: "h", At: at}}))
		}
	}
	n, err := l.Prune(ctx, now.Add(time.Hour))
	must(t, err)
	if n != 3+len(states) {
		t.Errorf("%d entries pruned, want 3 events and %d replies", n, len(states))
	}
	counts, err := l.CountEvents(ctx, "acme")
	must(t, err)
	for _, s := range states {
		want := 1
		if s == store.EventDead || s == store.EventPending {
			want = 2
		}
		if counts[s] != want {
			t.Errorf("%d events are %s, want %d", counts[s], s, want)
		}
	}
	_, err = l.Reply(ctx, alice, fmt.Sprint(store.EventStored, now.Day()))
	wantErr(t, "an old reply", err, store.ErrNotFound)
	_, err = l.Reply(ctx, alice, fmt.Sprint(store.EventStored, now.Add(48*time.Hour).Day()))
	must(t, err)
	if n, err = l.Prune(ctx, now.Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("pruned again: %d, %v", n, err)
	}
}
