package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

func quarantined(id, turn string, at time.Time) store.Quarantined {
	return store.Quarantined{ID: id, Scope: alice, Event: "e", Thread: "t", Turn: turn, Extractor: "llm/1", Reason: "ungrounded",
		Operation: []byte(`{"content":"x"}`), At: at}
}

// quarantine: what waits for review is listed newest first, read, dropped, and goes with the turn that it rests on.
func quarantine(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	var want []store.Quarantined
	w := store.Write{ID: "w", Scope: alice}
	for i := range 5 {
		w.Quarantine = append(w.Quarantine, quarantined(fmt.Sprint("q", i), fmt.Sprint("turn", i/2), now.Add(time.Duration(i/2)*time.Second)))
	}
	must(t, l.Record(ctx, w))
	must(t, l.Record(ctx, w)) // the same write again is a no-op
	for _, i := range []int{4, 3, 2, 1, 0} {
		w.Quarantine[i].Times = 1
		want = append(want, w.Quarantine[i])
	}
	var got []store.Quarantined
	q := store.QuarantineQuery{Limit: 2}
	for {
		page, err := l.ListQuarantined(ctx, "acme", q)
		must(t, err)
		if got = append(got, page.Entries...); page.Next == "" {
			break
		}
		q.Cursor = page.Next
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	one, err := l.GetQuarantined(ctx, "acme", "q3")
	must(t, err)
	if diff := cmp.Diff(w.Quarantine[3], one); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	_, err = l.GetQuarantined(ctx, "other", "q3")
	wantErr(t, "another tenant's entry", err, store.ErrNotFound)
	for tenant, want := range map[string]int{"other": 0, "acme": 1} {
		n, err := l.DropQuarantined(ctx, tenant, []string{"q3", "unknown"})
		must(t, err)
		if n != want {
			t.Errorf("%d dropped by %s, want %d", n, tenant, want)
		}
	}
	must(t, l.Record(ctx, store.Write{ID: "bob forgets", Scope: bob, Change: store.Change{Delete: []string{"turn0"}}}))
	must(t, l.Record(ctx, store.Write{ID: "alice forgets", Scope: alice, Change: store.Change{Delete: []string{"turn2"}}}))
	page, err := l.ListQuarantined(ctx, "acme", store.QuarantineQuery{Scope: &alice})
	must(t, err)
	if len(page.Entries) != 3 || page.Entries[0].ID != "q2" {
		t.Errorf("left are %+v, want q2, q1, q0", page.Entries)
	}
	page, err = l.ListQuarantined(ctx, "acme", store.QuarantineQuery{Scope: &bob})
	must(t, err)
	if len(page.Entries) != 0 {
		t.Errorf("bob sees %+v", page.Entries)
	}
	wantErr(t, "an id again", l.Record(ctx, store.Write{ID: "again", Scope: alice, Quarantine: []store.Quarantined{quarantined("q0", "x", now)}}), store.ErrConflict)
	wantErr(t, "no turn", l.Record(ctx, store.Write{ID: "none", Scope: alice, Quarantine: []store.Quarantined{quarantined("q9", "", now)}}), store.ErrInvalid)
}

// quarantineFolds: proposals of the same count as one, of which the oldest is listed, and each still goes with its own turn.
func quarantineFolds(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	w := store.Write{ID: "w", Scope: alice}
	for i, key := range []string{"k", "k", "other", "", ""} {
		q := quarantined(fmt.Sprint("q", i), fmt.Sprint("turn", i), now.Add(time.Duration(i)*time.Second))
		q.Key, q.Reason = key, []string{"x", "y"}[i%2]
		q.Operation = fmt.Appendf(nil, `{"Category":%q}`, []string{"goal", "context"}[i%2])
		w.Quarantine = append(w.Quarantine, q)
	}
	must(t, l.Record(ctx, w))
	elsewhere := quarantined("bob's", "turn", now)
	elsewhere.Scope, elsewhere.Key = bob, "k"
	must(t, l.Record(ctx, store.Write{ID: "w2", Scope: bob, Quarantine: []store.Quarantined{elsewhere}}))
	list := func(q store.QuarantineQuery, want ...string) {
		t.Helper()
		if q.Scope == nil {
			q.Scope = &alice
		}
		page, err := l.ListQuarantined(ctx, "acme", q)
		must(t, err)
		got := []string{}
		for _, e := range page.Entries {
			got = append(got, fmt.Sprintf("%s %d", e.ID, e.Times))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", q, got, want)
		}
	}
	list(store.QuarantineQuery{}, "q4 1", "q3 1", "q2 1", "q0 2")
	list(store.QuarantineQuery{Reason: "x"}, "q4 1", "q2 1", "q0 2")
	list(store.QuarantineQuery{Category: store.Context}, "q3 1")
	list(store.QuarantineQuery{Before: now.Add(2 * time.Second)}, "q0 2")
	list(store.QuarantineQuery{Extractor: "none"})
	list(store.QuarantineQuery{Thread: "t", Scope: &bob}, "bob's 1")
	must(t, l.Record(ctx, store.Write{ID: "forget", Scope: alice, Change: store.Change{Delete: []string{"turn0"}}}))
	list(store.QuarantineQuery{Category: store.Context}, "q3 1", "q1 1")
	edited := w.Quarantine[1]
	edited.Operation, edited.Key = []byte(`{"Category":"goal"}`), "other"
	must(t, l.EditQuarantined(ctx, "acme", edited))
	one, err := l.GetQuarantined(ctx, "acme", "q1")
	must(t, err)
	if !one.Edited || string(one.Operation) != string(edited.Operation) || one.Times != 2 {
		t.Errorf("%+v", one)
	}
	wantErr(t, "another tenant's entry", l.EditQuarantined(ctx, "other", edited), store.ErrNotFound)
	n, err := l.DropQuarantined(ctx, "acme", []string{"q2", "q1"})
	must(t, err)
	if n != 1 {
		t.Errorf("%d dropped, want the one that both are", n)
	}
	list(store.QuarantineQuery{}, "q4 1", "q3 1")
	list(store.QuarantineQuery{Scope: &bob}, "bob's 1")
}

func usage(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	add := func(tenant, day string, calls int64) {
		must(t, l.AddUsage(ctx, tenant, store.Usage{Day: day, Calls: calls, PromptTokens: 10 * calls, CompletionTokens: calls + 1}))
	}
	add("acme", "2026-11-30", 1)
	add("acme", "2026-11-30", 2)
	add("acme", "2026-11-29", 4)
	add("acme", "2026-12-01", 8)
	add("other", "2026-11-30", 16)
	got, err := l.Usage(ctx, "acme", "2026-11-29", "2026-11-30")
	must(t, err)
	want := []store.Usage{{Day: "2026-11-29", Calls: 4, PromptTokens: 40, CompletionTokens: 5}, {Day: "2026-11-30", Calls: 3, PromptTokens: 30, CompletionTokens: 5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	wantErr(t, "a day that is none", l.AddUsage(ctx, "acme", store.Usage{Day: "today"}), store.ErrInvalid)
	wantErr(t, "less than nothing", l.AddUsage(ctx, "acme", store.Usage{Day: "2026-11-30", Calls: -1}), store.ErrInvalid)
}

// listEvents: newest first, by state, memory and thread, a page at a time.
func listEvents(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	for i := range 6 {
		sc := []store.Scope{alice, bob}[i%2]
		state := []store.EventState{store.EventDead, store.EventPending, store.EventQuarantined}[i/2]
		addEvent(t, l, sc, store.Event{ID: fmt.Sprint("e", i), Thread: fmt.Sprint("t", i/3), From: i, UpTo: i + 1, State: state,
			CreatedAt: now.Add(time.Duration(i/2) * time.Second)})
	}
	addEvent(t, l, store.Scope{Tenant: "other", User: "alice"}, store.Event{ID: "theirs", CreatedAt: now})
	for name, c := range map[string]struct {
		q    store.EventQuery
		want []string
	}{
		"all":        {store.EventQuery{}, []string{"e5", "e4", "e3", "e2", "e1", "e0"}},
		"by pages":   {store.EventQuery{Limit: 2}, []string{"e5", "e4", "e3", "e2", "e1", "e0"}},
		"dead":       {store.EventQuery{State: store.EventDead, Limit: 1}, []string{"e1", "e0"}},
		"a memory's": {store.EventQuery{Scope: &bob}, []string{"e5", "e3", "e1"}},
		"a thread's": {store.EventQuery{Thread: "t0", Scope: &alice}, []string{"e2", "e0"}},
	} {
		var got []string
		for {
			page, err := l.ListEvents(ctx, "acme", c.q)
			must(t, err)
			for _, e := range page.Events {
				got = append(got, e.ID)
			}
			if c.q.Cursor = page.Next; page.Next == "" {
				break
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	_, err := l.ListEvents(ctx, "acme", store.EventQuery{Limit: 1001})
	wantErr(t, "too many", err, store.ErrInvalid)
	_, err = l.ListEvents(ctx, "acme", store.EventQuery{Cursor: "?"})
	wantErr(t, "a cursor of no page", err, store.ErrInvalid)
	_, err = l.ListEvents(ctx, "other", store.EventQuery{Scope: &alice})
	wantErr(t, "another tenant's memory", err, store.ErrTenant)
}

// reviveEvents: a dead event gets another try from its first turn on, also while a run holds its thread.
func reviveEvents(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	must(t, l.Record(ctx, store.Write{ID: "thread", Scope: alice, Thread: &store.ThreadState{Thread: "t", Next: 6, Cursor: 6}}))
	addEvent(t, l, alice, store.Event{ID: "dead", Thread: "t", From: 2, UpTo: 4, State: store.EventDead, Note: "unavailable", CreatedAt: now, DoneAt: now})
	addEvent(t, l, alice, store.Event{ID: "stored", Thread: "t", From: 4, UpTo: 6, State: store.EventStored, Facts: 1, CreatedAt: now, DoneAt: now})
	revive := func(tenant string, want int, ids ...string) {
		t.Helper()
		n, err := l.ReviveEvents(ctx, tenant, ids, now)
		must(t, err)
		if n != want {
			t.Errorf("%d revived, want %d", n, want)
		}
	}
	a := arming{t: t, l: l}
	a.arm(alice, "t", now.Add(-time.Hour))
	running := claimOne(t, l, now)
	revive("other", 0, "dead")
	revive("acme", 1, "dead", "stored", "unknown")
	revive("acme", 0, "dead")
	st, err := l.Thread(ctx, alice, "t")
	must(t, err)
	if st.Next != 6 || st.Cursor != 2 {
		t.Errorf("thread %+v, want its cursor at 2", st)
	}
	wantErr(t, "the run that began before", l.Record(ctx, finish("old run", running, now)), store.ErrConflict)
	e, err := l.Event(ctx, "acme", "dead")
	must(t, err)
	if e.State != store.EventPending || e.Note != "" || !e.DoneAt.IsZero() || e.From != 2 {
		t.Errorf("revived event %+v", e)
	}
	j := claimOne(t, l, now)
	if j.Attempts != 0 {
		t.Errorf("%d failed attempts", j.Attempts)
	}
	f := finish("f", j, now)
	f.Finish.Extractor = "rules/1"
	must(t, l.Record(ctx, f))
	wantState(t, l, "dead", store.EventStored, 1)
	if e, err = l.Event(ctx, "acme", "dead"); err != nil || e.Extractor != "rules/1" {
		t.Errorf("event %+v (%v)", e, err)
	}
	if e, err = l.Event(ctx, "acme", "stored"); err != nil || e.Extractor != "" {
		t.Errorf("an ended event changed: %+v (%v)", e, err)
	}
}

// fair: tenants take turns, within a claim and from one to the next.
func fair(t *testing.T, l store.Ledger) {
	a := arming{t: t, l: l}
	scopes := map[string]store.Scope{}
	for i, tenant := range []string{"big", "small", "late"} {
		scopes[tenant] = store.Scope{Tenant: tenant, User: "u"}
		for n := range []int{50, 2, 1}[i] {
			a.arm(scopes[tenant], fmt.Sprintf("t%02d", n), now.Add(time.Duration(100*i+n)*time.Second))
		}
	}
	at := now.Add(time.Hour)
	var got []string
	for _, n := range []int{1, 1, 2, 2} {
		for _, j := range claim(t, l, at, n) {
			got = append(got, j.Scope.Tenant+" "+j.Thread)
		}
	}
	want := []string{"big t00", "small t00", "late t00", "big t01", "small t01", "big t02"}
	if !slices.Equal(got, want) {
		t.Errorf("claimed %v, want %v", got, want)
	}
}

// extend: a heartbeat keeps a lease; who lost it is told.
func extend(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	a := arming{t: t, l: l}
	a.arm(alice, "t", now)
	at := now.Add(quiet)
	j := claimOne(t, l, at)
	must(t, l.Extend(ctx, j, at.Add(2*lease)))
	claimNone(t, l, at.Add(2*lease-time.Microsecond), "the lease was extended")
	second := claimOne(t, l, at.Add(2*lease))
	wantErr(t, "a lost lease", l.Extend(ctx, j, at.Add(time.Hour)), store.ErrConflict)
	must(t, l.Record(ctx, finish("f", second, at)))
	wantErr(t, "an ended job", l.Extend(ctx, second, at.Add(time.Hour)), store.ErrConflict)
}

func queueStats(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	a := arming{t: t, l: l}
	other := store.Scope{Tenant: "other", User: "u"}
	a.arm(alice, "t1", now)
	a.arm(alice, "t2", now.Add(time.Second))
	a.arm(bob, "t", now.Add(time.Hour))
	a.arm(other, "t", now.Add(2*time.Second))
	at := now.Add(quiet + 5*time.Second)
	if jobs := claim(t, l, at, 1); len(jobs) != 1 || jobs[0].Thread != "t1" {
		t.Fatalf("claimed %+v", jobs)
	}
	for _, c := range []struct {
		tenant string
		at     time.Time
		want   store.QueueStats
	}{
		{"acme", at, store.QueueStats{Waiting: 2, Due: 1, Leased: 1, Oldest: now.Add(quiet + time.Second)}},
		{"", at, store.QueueStats{Waiting: 3, Due: 2, Leased: 1, Oldest: now.Add(quiet + time.Second)}},
		{"other", now, store.QueueStats{Waiting: 1}},
		{"acme", at.Add(lease), store.QueueStats{Waiting: 3, Due: 2, Oldest: now.Add(quiet)}},
		{"none", at, store.QueueStats{}},
	} {
		got, err := l.QueueStats(ctx, c.tenant, c.at)
		must(t, err)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.tenant, diff)
		}
	}
}
