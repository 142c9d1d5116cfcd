package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"evoke/store"
)

func enterEmbeds(t *testing.T, l store.Ledger, id string, sc store.Scope, items ...string) {
	t.Helper()
	must(t, l.Record(context.Background(), store.Write{ID: id, Scope: sc, Embed: items}))
}

func pendingIDs(t *testing.T, l store.Ledger, at time.Time, n int) ([]store.EmbedRef, []string) {
	t.Helper()
	refs, err := l.PendingEmbeds(context.Background(), at, n)
	must(t, err)
	var names []string
	for _, r := range refs {
		names = append(names, r.Scope.User+"/"+r.ID)
	}
	return refs, names
}

func wantPending(t *testing.T, l store.Ledger, at time.Time, want ...string) []store.EmbedRef {
	t.Helper()
	refs, got := pendingIDs(t, l, at, 100)
	if !slices.Equal(got, want) {
		t.Errorf("pending %v, want %v", got, want)
	}
	return refs
}

func embeds(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	wantPending(t, l, now)
	enterEmbeds(t, l, "1", alice, "c", "a")
	enterEmbeds(t, l, "2", bob, "a")
	enterEmbeds(t, l, "3", alice, "b", "c")
	refs := wantPending(t, l, now, "alice/c", "alice/a", "bob/a", "alice/b")
	if _, two := pendingIDs(t, l, now, 2); !slices.Equal(two, []string{"alice/c", "alice/a"}) {
		t.Errorf("the first two are %v", two)
	}
	if _, none := pendingIDs(t, l, now, 0); len(none) != 0 {
		t.Errorf("asked for none, got %v", none)
	}
	for sc, want := range map[store.Scope]int{alice: 3, bob: 1, {Tenant: "other", User: "alice"}: 0} {
		n, err := l.CountEmbeds(ctx, sc)
		must(t, err)
		if n != want {
			t.Errorf("%d pending in %+v, want %d", n, sc, want)
		}
	}
	must(t, l.Embedded(ctx, []store.EmbedRef{refs[1], refs[3], {Scope: bob, ID: "unknown"}}))
	must(t, l.Embedded(ctx, nil))
	wantPending(t, l, now, "alice/c", "bob/a")
	must(t, l.Embedded(ctx, []store.EmbedRef{{Scope: bob, ID: "a"}})) // whatever generation
	wantPending(t, l, now, "alice/c")
	// A deletion ends the wait as well.
	must(t, l.Record(ctx, store.Write{ID: "4", Scope: alice, Change: store.Change{Delete: []string{"c"}}}))
	wantPending(t, l, now)
}

func embedsPostponed(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	enterEmbeds(t, l, "1", alice, "a", "b", "c")
	refs := wantPending(t, l, now, "alice/a", "alice/b", "alice/c")
	until := now.Add(time.Minute)
	must(t, l.Postpone(ctx, refs[:2], until))
	wantPending(t, l, until.Add(-time.Microsecond), "alice/c")
	wantPending(t, l, until, "alice/a", "alice/b", "alice/c")
	n, err := l.CountEmbeds(ctx, alice)
	must(t, err)
	if n != 3 {
		t.Errorf("%d entries, want those set aside counted: 3", n)
	}
	enterEmbeds(t, l, "2", alice, "b") // its text changed: it waits no longer
	wantPending(t, l, now, "alice/b", "alice/c")
}

// embedsAgain: vectors of an item's older text do not end the wait of its newer one.
func embedsAgain(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	enterEmbeds(t, l, "1", alice, "a")
	old := wantPending(t, l, now, "alice/a")
	enterEmbeds(t, l, "2", alice, "a")
	must(t, l.Embedded(ctx, old))
	must(t, l.Postpone(ctx, old, now.Add(time.Hour)))
	newer := wantPending(t, l, now, "alice/a")
	if t.Failed() {
		return
	}
	if newer[0].Generation <= old[0].Generation {
		t.Errorf("generation %d after %d", newer[0].Generation, old[0].Generation)
	}
	must(t, l.Embedded(ctx, newer))
	wantPending(t, l, now)
}

func addEvent(t *testing.T, l store.Ledger, sc store.Scope, e store.Event) {
	t.Helper()
	must(t, l.Record(context.Background(), store.Write{ID: "write of " + sc.Key() + e.ID, Scope: sc, Event: &e}))
}

func wantState(t *testing.T, l store.Ledger, id string, want store.EventState, facts int) {
	t.Helper()
	e, err := l.Event(context.Background(), "acme", id)
	must(t, err)
	if e.State != want || e.Facts != facts {
		t.Errorf("event %s is %s with %d facts, want %s with %d", id, e.State, e.Facts, want, facts)
	}
}

func events(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	counts, err := l.CountEvents(ctx, "acme")
	must(t, err)
	if len(counts) != 5 {
		t.Errorf("counts %v, want every state, zeros included", counts)
	}
	a := arming{t: t, l: l}
	for i := range 4 { // turns 2, 4, 6, 8
		addEvent(t, l, alice, store.Event{ID: fmt.Sprint("e", i), Thread: "t", UpTo: 2*i + 2, CreatedAt: now})
	}
	addEvent(t, l, alice, store.Event{ID: "other thread", Thread: "t2", UpTo: 2, CreatedAt: now})
	addEvent(t, l, bob, store.Event{ID: "bob's", Thread: "t", UpTo: 2, CreatedAt: now})
	addEvent(t, l, alice, store.Event{ID: "at once", Thread: "t", State: store.EventNothing, Note: "no turn", CreatedAt: now, DoneAt: now})
	a.arm(alice, "t", now)
	j := claimOne(t, l, now.Add(quiet))
	done := now.Add(time.Minute)
	must(t, l.Record(ctx, store.Write{ID: "f", Scope: alice,
		Finish: &store.Finish{Job: j, UpTo: 6, State: store.EventStored, Facts: 3, At: done}}))
	for i, want := range []store.EventState{store.EventStored, store.EventStored, store.EventStored, store.EventPending} {
		facts := 3
		if want == store.EventPending {
			facts = 0
		}
		wantState(t, l, fmt.Sprint("e", i), want, facts)
	}
	wantState(t, l, "other thread", store.EventPending, 0)
	wantState(t, l, "bob's", store.EventPending, 0)
	wantState(t, l, "at once", store.EventNothing, 0)
	e, err := l.Event(ctx, "acme", "e0")
	must(t, err)
	if !e.DoneAt.Equal(done) || !e.CreatedAt.Equal(now) || e.Scope != alice || e.Thread != "t" || e.UpTo != 2 {
		t.Errorf("event %+v", e)
	}
	counts, err = l.CountEvents(ctx, "acme")
	must(t, err)
	if counts[store.EventStored] != 3 || counts[store.EventPending] != 3 || counts[store.EventNothing] != 1 || counts[store.EventDead] != 0 {
		t.Errorf("counts %v", counts)
	}
}

// eventsEndOnce: a terminal state is the last one.
func eventsEndOnce(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	a := arming{t: t, l: l}
	addEvent(t, l, alice, store.Event{ID: "e", Thread: "t", UpTo: 2, CreatedAt: now})
	for i, state := range []store.EventState{store.EventDead, store.EventStored} {
		a.arm(alice, "t", now)
		j := claimOne(t, l, now.Add(quiet))
		must(t, l.Record(ctx, store.Write{ID: fmt.Sprint("f", i), Scope: alice,
			Finish: &store.Finish{Job: j, UpTo: 2, State: state, Facts: i, Note: "gave up", At: now}}))
	}
	wantState(t, l, "e", store.EventDead, 0)
	wantErr(t, "an event's id again", l.Record(ctx, store.Write{ID: "again", Scope: alice, Event: &store.Event{ID: "e", Thread: "t", CreatedAt: now}}), store.ErrConflict)
}

func eventsOfOthers(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	other := store.Scope{Tenant: "other", User: "alice"}
	addEvent(t, l, alice, store.Event{ID: "mine", Thread: "t", UpTo: 1, CreatedAt: now})
	addEvent(t, l, other, store.Event{ID: "theirs", Thread: "t", UpTo: 1, CreatedAt: now})
	for tenant, id := range map[string]string{"acme": "theirs", "other": "mine", "third": "mine"} {
		_, err := l.Event(ctx, tenant, id)
		wantErr(t, "another tenant's event", err, store.ErrNotFound)
	}
	_, err := l.Event(ctx, "acme", "unknown")
	wantErr(t, "an unknown event", err, store.ErrNotFound)
	addEvent(t, l, other, store.Event{ID: "mine", Thread: "t", State: store.EventDead, CreatedAt: now}) // an id is a tenant's own
	wantState(t, l, "mine", store.EventPending, 0)
	counts, err := l.CountEvents(ctx, "other")
	must(t, err)
	if counts[store.EventPending] != 1 || counts[store.EventDead] != 1 {
		t.Errorf("the other tenant counts %v", counts)
	}
}
