package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

var allTime = store.View{All: true}

func commit(t *testing.T, p Pair) {
	ctx := context.Background()
	put(t, p.Store, alice, item("deleted-w", "text"))
	w := write("w", alice)
	must(t, store.Commit(ctx, p.Store, p.Ledger, w))
	got, err := p.Store.Get(ctx, alice, []string{"put-w", "plain-w", "deleted-w"})
	must(t, err)
	if diff := cmp.Diff(w.Put, got, byValue); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	ws, err := p.Ledger.Unapplied(ctx)
	must(t, err)
	if len(ws) != 0 {
		t.Errorf("%d intents remain", len(ws))
	}
	st, err := p.Ledger.Thread(ctx, alice, "t")
	must(t, err)
	if st != *w.Thread {
		t.Errorf("thread %+v, want %+v", st, *w.Thread)
	}
	if _, err := p.Ledger.Reply(ctx, alice, "key-w"); err != nil {
		t.Errorf("reply: %v", err)
	}
	if e, err := p.Ledger.Event(ctx, "acme", "event-w"); err != nil || e.State != store.EventPending {
		t.Errorf("event %+v, %v", e, err)
	}
	wantPending(t, p.Ledger, now, "alice/put-w", "alice/plain-w")
	claimOne(t, p.Ledger, now.Add(quiet))
}

// commitOnce: the same write again makes nothing. Over one database that holds even for an item that was deleted since;
// elsewhere the change is applied again.
func commitOnce(t *testing.T, p Pair) {
	ctx := context.Background()
	w := write("w", alice)
	must(t, store.Commit(ctx, p.Store, p.Ledger, w))
	joint := any(p.Store) == any(p.Ledger)
	if joint {
		must(t, p.Store.Apply(ctx, alice, store.Change{Delete: []string{"put-w"}}))
	}
	must(t, store.Commit(ctx, p.Store, p.Ledger, w))
	page, err := p.Store.List(ctx, alice, store.ListQuery{View: allTime, Order: store.ByID})
	must(t, err)
	want := []string{"plain-w", "put-w"}
	if joint {
		want = want[:1]
	}
	if !slices.Equal(ids(page.Items), want) {
		t.Errorf("items %v, want %v", ids(page.Items), want)
	}
	counts, err := p.Ledger.CountEvents(ctx, "acme")
	must(t, err)
	if counts[store.EventPending] != 1 {
		t.Errorf("events %v, want one", counts)
	}
}

// commitConflict: a write that is refused changes nothing at all.
func commitConflict(t *testing.T, p Pair) {
	ctx := context.Background()
	must(t, store.Commit(ctx, p.Store, p.Ledger, write("w", alice)))
	second := write("second", alice)
	second.Reply = &store.Reply{Key: "key-w", BodyHash: "another body", At: now}
	second.Thread = &store.ThreadState{Thread: "t", Next: 50}
	wantErr(t, "the key of another body", store.Commit(ctx, p.Store, p.Ledger, second), store.ErrConflict)
	must(t, store.Replay(ctx, p.Store, p.Ledger))
	got, err := p.Store.Get(ctx, alice, []string{"put-second", "plain-second"})
	must(t, err)
	if len(got) != 0 {
		t.Errorf("the refused write left %v", ids(got))
	}
	st, err := p.Ledger.Thread(ctx, alice, "t")
	must(t, err)
	if st.Next != 4 {
		t.Errorf("the refused write moved the thread to %d", st.Next)
	}
}

func commitRefused(t *testing.T, p Pair) {
	ctx := context.Background()
	wantErr(t, "no tenant", store.Commit(ctx, p.Store, p.Ledger, store.Write{ID: "w"}), store.ErrTenant)
	wantErr(t, "no id", store.Commit(ctx, p.Store, p.Ledger, store.Write{Scope: alice}), store.ErrInvalid)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	wantErr(t, "cancelled", store.Commit(cancelled, p.Store, p.Ledger, write("w", alice)), context.Canceled)
	page, err := p.Store.List(ctx, alice, store.ListQuery{View: allTime})
	must(t, err)
	if len(page.Items) != 0 {
		t.Errorf("refused writes left %v", ids(page.Items))
	}
}

// commitExtraction: facts, the thread's cursor and the end of the job come true together, or not at all.
func commitExtraction(t *testing.T, p Pair) {
	ctx := context.Background()
	must(t, store.Commit(ctx, p.Store, p.Ledger, write("turns", alice)))
	lost := claimOne(t, p.Ledger, now.Add(quiet))
	held := claimOne(t, p.Ledger, now.Add(quiet+lease))
	facts := func(id string, j store.Job) store.Write {
		w := finish(id, j, now.Add(time.Hour))
		w.Put = []store.Item{item("fact "+id, "likes tea")}
		w.Embed = []string{"fact " + id}
		w.Thread = &store.ThreadState{Thread: "t", Next: 4, Cursor: 4}
		return w
	}
	wantErr(t, "a lost lease", store.Commit(ctx, p.Store, p.Ledger, facts("lost", lost)), store.ErrConflict)
	must(t, store.Commit(ctx, p.Store, p.Ledger, facts("held", held)))
	got, err := p.Store.Get(ctx, alice, []string{"fact lost", "fact held"})
	must(t, err)
	if !slices.Equal(ids(got), []string{"fact held"}) {
		t.Errorf("facts %v", ids(got))
	}
	st, err := p.Ledger.Thread(ctx, alice, "t")
	must(t, err)
	n, err := p.Ledger.WaitingThreads(ctx, alice)
	must(t, err)
	if st.Cursor != 4 || n != 0 {
		t.Errorf("cursor %d, %d threads wait; want 4 and none", st.Cursor, n)
	}
	wantState(t, p.Ledger, "event-turns", store.EventStored, 1)
}

// replay: what was recorded and not applied is applied, in order, once.
func replay(t *testing.T, p Pair) {
	ctx := context.Background()
	first := store.Write{ID: "1", Scope: alice, Change: store.Change{Put: []store.Item{item("a", "old"), item("b", "goes")}}}
	second := store.Write{ID: "2", Scope: alice, Change: store.Change{Put: []store.Item{item("a", "new")}, Delete: []string{"b"}}}
	for _, w := range []store.Write{first, second} {
		must(t, p.Ledger.Record(ctx, w))
	}
	must(t, p.Store.Apply(ctx, alice, first.Change)) // the crash came between Apply and Applied
	for range 2 {
		must(t, store.Replay(ctx, p.Store, p.Ledger))
	}
	page, err := p.Store.List(ctx, alice, store.ListQuery{View: allTime})
	must(t, err)
	if len(page.Items) != 1 || page.Items[0].Content != "new" {
		t.Errorf("after the replay: %+v", page.Items)
	}
	ws, err := p.Ledger.Unapplied(ctx)
	must(t, err)
	if len(ws) != 0 {
		t.Errorf("%d intents remain", len(ws))
	}
}

// commitParallel: writers of many scopes, some of whom repeat themselves; everything is there once.
func commitParallel(t *testing.T, p Pair) {
	ctx := context.Background()
	const writers, each = 8, 25
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for i := range writers {
		sc := store.Scope{Tenant: "acme", User: fmt.Sprint("u", i)}
		wg.Go(func() {
			for j := range each {
				w := write(fmt.Sprintf("w%d-%d", i, j), sc)
				for range 1 + j%2 {
					if err := store.Commit(ctx, p.Store, p.Ledger, w); err != nil {
						mu.Lock()
						errs = append(errs, err)
						mu.Unlock()
					}
				}
			}
		})
	}
	wg.Wait()
	must(t, errors.Join(errs...))
	for i := range writers {
		st, err := p.Store.Stats(ctx, store.Scope{Tenant: "acme", User: fmt.Sprint("u", i)}, allTime)
		must(t, err)
		if st.Total != 2*each {
			t.Errorf("writer %d: %d items, want %d", i, st.Total, 2*each)
		}
	}
	counts, err := p.Ledger.CountEvents(ctx, "acme")
	must(t, err)
	if counts[store.EventPending] != writers*each {
		t.Errorf("%d events, want %d", counts[store.EventPending], writers*each)
	}
}
