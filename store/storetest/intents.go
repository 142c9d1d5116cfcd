package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

// write makes a write that holds one of everything.
func write(id string, sc store.Scope) store.Write {
	return store.Write{
		ID: id, Scope: sc,
		Change: store.Change{Put: []store.Item{full("put-" + id), item("plain-"+id, "text")}, Delete: []string{"deleted-" + id}},
		Embed:  []string{"put-" + id, "plain-" + id},
		Thread: &store.ThreadState{Thread: "t", Next: 4, Cursor: 2},
		Arm:    &store.Arming{Thread: "t", Now: now, Quiet: 30 * time.Second, MaxWait: 5 * time.Minute},
		Event:  &store.Event{ID: "event-" + id, Thread: "t", UpTo: 4, CreatedAt: now},
		Reply:  &store.Reply{Key: "key-" + id, BodyHash: "hash", Body: []byte(`{"event":"` + id + `"}`), At: now},
	}
}

func intents(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	var want []store.Write
	for i, sc := range []store.Scope{alice, bob, alice} {
		w := write(fmt.Sprint("w", i), sc)
		must(t, l.Record(ctx, w))
		want = append(want, store.Write{ID: w.ID, Scope: w.Scope, Change: w.Change})
	}
	must(t, l.Record(ctx, store.Write{ID: "no items", Scope: alice, Embed: []string{"x"}}))
	got, err := l.Unapplied(ctx)
	must(t, err)
	if diff := cmp.Diff(want, got, byValue); diff != "" {
		t.Errorf("intents (-want +got):\n%s", diff)
	}
	must(t, l.Applied(ctx, "w1"))
	must(t, l.Applied(ctx, "w1"))
	must(t, l.Applied(ctx, "never recorded"))
	got, err = l.Unapplied(ctx)
	must(t, err)
	if len(got) != 2 || got[0].ID != "w0" || got[1].ID != "w2" {
		t.Errorf("%d intents remain, want w0 and w2", len(got))
	}
}

// recordOnce: the id of a write makes it once, also after its intent was closed.
func recordOnce(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	w := write("w", alice)
	must(t, l.Record(ctx, w))
	again := w
	again.Thread = &store.ThreadState{Thread: "t", Next: 99, Cursor: 99}
	again.Arm = &store.Arming{Thread: "t", Now: now.Add(time.Minute), Quiet: time.Minute, MaxWait: time.Hour}
	must(t, l.Record(ctx, again))
	must(t, l.Applied(ctx, "w"))
	must(t, l.Record(ctx, again))
	ws, err := l.Unapplied(ctx)
	must(t, err)
	if len(ws) != 0 {
		t.Errorf("a write that was applied is an intent again: %d", len(ws))
	}
	st, err := l.Thread(ctx, alice, "t")
	must(t, err)
	if st.Next != 4 {
		t.Errorf("the second record moved the thread to %d", st.Next)
	}
	at, ok, err := l.NextDue(ctx, store.Tenants{})
	must(t, err)
	if !ok || !at.Equal(now.Add(30*time.Second)) {
		t.Errorf("the second record moved the debounce to %v", at)
	}
	n, err := l.CountEmbeds(ctx, alice)
	must(t, err)
	if n != 2 {
		t.Errorf("%d vectors pending, want 2", n)
	}
}

func replies(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	_, err := l.Reply(ctx, alice, "key-w")
	wantErr(t, "unknown key", err, store.ErrNotFound)
	w := write("w", alice)
	must(t, l.Record(ctx, w))
	got, err := l.Reply(ctx, alice, "key-w")
	must(t, err)
	if diff := cmp.Diff(*w.Reply, got); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	for _, sc := range []store.Scope{bob, {Tenant: "other", User: "alice"}} {
		_, err = l.Reply(ctx, sc, "key-w")
		wantErr(t, "another scope's key", err, store.ErrNotFound)
	}
	for name, r := range map[string]store.Reply{
		"another body":   {Key: "key-w", BodyHash: "other", Body: w.Reply.Body, At: now},
		"another answer": {Key: "key-w", BodyHash: "hash", Body: []byte("{}"), At: now},
	} {
		next := write("next", alice)
		next.Reply = &r
		wantErr(t, name, l.Record(ctx, next), store.ErrConflict)
	}
	ws, err := l.Unapplied(ctx)
	must(t, err)
	if len(ws) != 1 {
		t.Errorf("a refused write left %d intents, want the first one's", len(ws))
	}
	_, err = l.Event(ctx, "acme", "event-next")
	wantErr(t, "the event of a refused write", err, store.ErrNotFound)
	// The very same answer under another id was made already: it is no conflict and makes nothing.
	same := write("same", alice)
	same.Reply = w.Reply
	must(t, l.Record(ctx, same))
	_, err = l.Event(ctx, "acme", "event-same")
	wantErr(t, "the event of a write that was made before", err, store.ErrNotFound)
	other := write("elsewhere", bob)
	other.Reply = &store.Reply{Key: "key-w", BodyHash: "its own", At: now}
	must(t, l.Record(ctx, other))
}

func threads(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	st, err := l.Thread(ctx, alice, "new")
	must(t, err)
	if st != (store.ThreadState{Thread: "new"}) {
		t.Errorf("a thread never seen stands at %+v", st)
	}
	for i, want := range []store.ThreadState{{Thread: "t", Next: 3}, {Thread: "t", Next: 7, Cursor: 3}, {Thread: "t", Next: 7, Cursor: 7, Interim: 5}} {
		must(t, l.Record(ctx, store.Write{ID: fmt.Sprint(i), Scope: alice, Thread: &want}))
		got, err := l.Thread(ctx, alice, "t")
		must(t, err)
		if got != want {
			t.Errorf("thread stands at %+v, want %+v", got, want)
		}
	}
	for _, sc := range []store.Scope{bob, {Tenant: "other", User: "alice"}, {Tenant: "acme", User: "alice", Agent: "a"}} {
		st, err := l.Thread(ctx, sc, "t")
		must(t, err)
		if st.Next != 0 {
			t.Errorf("scope %+v sees another's thread at %+v", sc, st)
		}
	}
}

func ledgerRefused(t *testing.T, l store.Ledger) {
	ctx := context.Background()
	for name, w := range map[string]store.Write{
		"no id":         {Scope: alice},
		"event":         {ID: "1", Scope: alice, Event: &store.Event{}},
		"key":           {ID: "1", Scope: alice, Reply: &store.Reply{}},
		"negative wait": {ID: "1", Scope: alice, Arm: &store.Arming{Thread: "t", Quiet: -1}},
		"no user":       {ID: "1", Scope: store.Scope{Tenant: "t"}},
	} {
		wantErr(t, name, l.Record(ctx, w), store.ErrInvalid)
	}
	none := store.Scope{User: "u"}
	wantErr(t, "Record", l.Record(ctx, store.Write{ID: "1", Scope: none}), store.ErrTenant)
	_, err := l.Reply(ctx, none, "k")
	wantErr(t, "Reply", err, store.ErrTenant)
	_, err = l.Thread(ctx, none, "t")
	wantErr(t, "Thread", err, store.ErrTenant)
	_, err = l.Flush(ctx, none, "", now)
	wantErr(t, "Flush", err, store.ErrTenant)
	wantErr(t, "Retry", l.Retry(ctx, store.Job{Scope: none}, now, ""), store.ErrTenant)
	wantErr(t, "Defer", l.Defer(ctx, store.Job{Scope: none}, now, ""), store.ErrTenant)
	_, err = l.Prune(ctx, time.Time{})
	wantErr(t, "Prune of all times", err, store.ErrInvalid)
	wantErr(t, "Embedded", l.Embedded(ctx, []store.EmbedRef{{Scope: none, ID: "a"}}), store.ErrTenant)
	_, err = l.CountEmbeds(ctx, none)
	wantErr(t, "CountEmbeds", err, store.ErrTenant)
	_, err = l.WaitingThreads(ctx, none)
	wantErr(t, "WaitingThreads", err, store.ErrTenant)
	_, err = l.Event(ctx, "", "e")
	wantErr(t, "Event", err, store.ErrTenant)
	_, err = l.CountEvents(ctx, "")
	wantErr(t, "CountEvents", err, store.ErrTenant)
	_, err = l.ListEvents(ctx, "", store.EventQuery{})
	wantErr(t, "ListEvents", err, store.ErrTenant)
	_, err = l.ReviveEvents(ctx, "", []string{"e"}, now)
	wantErr(t, "ReviveEvents", err, store.ErrTenant)
	_, err = l.ListQuarantined(ctx, "", store.QuarantineQuery{})
	wantErr(t, "ListQuarantined", err, store.ErrTenant)
	_, err = l.GetQuarantined(ctx, "", "q")
	wantErr(t, "GetQuarantined", err, store.ErrTenant)
	_, err = l.DropQuarantined(ctx, "", []string{"q"})
	wantErr(t, "DropQuarantined", err, store.ErrTenant)
	wantErr(t, "AddUsage", l.AddUsage(ctx, "", store.Usage{Day: "2026-11-30"}), store.ErrTenant)
	_, err = l.Usage(ctx, "", "2026-11-30", "2026-11-30")
	wantErr(t, "Usage", err, store.ErrTenant)
	wantErr(t, "Extend", l.Extend(ctx, store.Job{Scope: none}, now), store.ErrTenant)
	_, err = l.Claim(ctx, now, 0, 1, store.Tenants{})
	wantErr(t, "a lease of no time", err, store.ErrInvalid)
}

// ledgerCalls calls every method and returns the errors.
func ledgerCalls(ctx context.Context, l store.Ledger) map[string]error {
	errs := map[string]error{}
	errs["Record"] = l.Record(ctx, write("late", alice))
	errs["Applied"] = l.Applied(ctx, "w")
	_, errs["Unapplied"] = l.Unapplied(ctx)
	_, errs["Reply"] = l.Reply(ctx, alice, "k")
	_, errs["Thread"] = l.Thread(ctx, alice, "t")
	_, errs["Claim"] = l.Claim(ctx, now, time.Minute, 1, store.Tenants{})
	errs["Retry"] = l.Retry(ctx, store.Job{Scope: alice, Thread: "t"}, now, "")
	errs["Defer"] = l.Defer(ctx, store.Job{Scope: alice, Thread: "t"}, now, "")
	_, errs["Prune"] = l.Prune(ctx, now)
	_, _, errs["NextDue"] = l.NextDue(ctx, store.Tenants{})
	_, errs["Flush"] = l.Flush(ctx, alice, "", now)
	_, errs["Release"] = l.Release(ctx, "acme", nil, now)
	_, errs["PendingEmbeds"] = l.PendingEmbeds(ctx, now, 1)
	errs["Embedded"] = l.Embedded(ctx, []store.EmbedRef{{Scope: alice, ID: "a"}})
	errs["Postpone"] = l.Postpone(ctx, []store.EmbedRef{{Scope: alice, ID: "a"}}, now)
	_, errs["CountEmbeds"] = l.CountEmbeds(ctx, alice)
	_, errs["Event"] = l.Event(ctx, "acme", "e")
	_, errs["CountEvents"] = l.CountEvents(ctx, "acme")
	_, errs["WaitingThreads"] = l.WaitingThreads(ctx, alice)
	_, errs["ListEvents"] = l.ListEvents(ctx, "acme", store.EventQuery{})
	_, errs["ReviveEvents"] = l.ReviveEvents(ctx, "acme", []string{"e"}, now)
	_, errs["ListQuarantined"] = l.ListQuarantined(ctx, "acme", store.QuarantineQuery{})
	_, errs["GetQuarantined"] = l.GetQuarantined(ctx, "acme", "q")
	_, errs["DropQuarantined"] = l.DropQuarantined(ctx, "acme", []string{"q"})
	errs["AddUsage"] = l.AddUsage(ctx, "acme", store.Usage{Day: "2026-11-30"})
	_, errs["Usage"] = l.Usage(ctx, "acme", "2026-11-30", "2026-11-30")
	errs["Extend"] = l.Extend(ctx, store.Job{Scope: alice, Thread: "t"}, now)
	_, errs["QueueStats"] = l.QueueStats(ctx, "acme", now)
	return errs
}

func ledgerCancelled(t *testing.T, l store.Ledger) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, err := range ledgerCalls(ctx, l) {
		wantErr(t, name, err, context.Canceled)
	}
	ws, err := l.Unapplied(context.Background())
	must(t, err)
	if len(ws) != 0 {
		t.Error("a cancelled write was recorded")
	}
}

func ledgerClosed(t *testing.T, l store.Ledger) {
	must(t, l.Record(context.Background(), write("w", alice)))
	must(t, l.Close())
	for name, err := range ledgerCalls(context.Background(), l) {
		wantErr(t, name, err, store.ErrClosed)
	}
	must(t, l.Close())
}
