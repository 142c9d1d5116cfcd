package storetest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

// traces: what control data keeps of erased items goes, in every place, and nothing else does.
func traces(t *testing.T, l store.Ledger) {
	ctx := t.Context()
	ann, bob := store.Scope{Tenant: "acme", User: "ann"}, store.Scope{Tenant: "acme", User: "bob"}
	for _, sc := range []store.Scope{ann, bob} {
		u := sc.User
		must(t, l.Record(ctx, store.Write{
			ID: u + "w", Scope: sc, Thread: &store.ThreadState{Thread: "secret talk", Next: 2},
			Arm:        &store.Arming{Thread: "secret talk", Now: now, Quiet: 1, MaxWait: 1},
			Event:      &store.Event{ID: u + "e", Scope: sc, Thread: "secret talk", UpTo: 2, State: store.EventPending, CreatedAt: now},
			Reply:      &store.Reply{Key: u + "k", BodyHash: "h", Body: []byte(`{"turns":[{"id":"secret turn"}]}`), At: now},
			Quarantine: []store.Quarantined{{ID: u + "q", Scope: sc, Thread: "secret talk", Turn: "other", Operation: []byte(`{"target":"secret turn"}`), At: now}},
		}))
		must(t, l.Record(ctx, store.Write{ID: u + "w2", Scope: sc, Reply: &store.Reply{Key: u + "k2", BodyHash: "h", Body: []byte(`{"item":{"id":"kept"}}`), At: now}}))
		must(t, l.NoteBlock(ctx, store.ShownBlock{Tenant: "acme", User: u, Hash: u + "b", Last: now, Items: []store.ShownItem{{ID: "secret turn"}, {ID: "kept"}}}))
	}
	must(t, l.AppendAudit(ctx, store.Audit{At: now, Tenant: "acme", User: "ann", Verb: "update", IDs: []string{"kept", "secret turn"}}))
	must(t, l.AppendAudit(ctx, store.Audit{At: now, Tenant: "other", User: "ann", Verb: "update", IDs: []string{"secret turn"}}))
	_, err := l.SaveOperation(ctx, store.Operation{ID: "o", Tenant: "acme", Kind: "undo", State: store.OperationDone, Args: json.RawMessage(`{"thread":"secret talk"}`)})
	must(t, err)

	x := store.Traced{Scope: ann, IDs: map[string]string{"secret turn": "erased:1"}, Threads: map[string]string{"secret talk": "erased:2"}}
	got, err := l.Traces(ctx, x)
	must(t, err)
	want := store.Traces{Keys: []string{"annk"}, Counts: map[string]int{"replies": 1, "events": 1, "threads": 2, "quarantine": 1, "blocks": 1, "audit": 1, "operations": 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	must(t, l.EraseTraces(ctx, x))
	must(t, l.EraseTraces(ctx, x))
	if got, err = l.Traces(ctx, x); err != nil || got.Total() != 0 {
		t.Errorf("left %+v, %v", got, err)
	}
	if ev, err := l.Event(ctx, "acme", "anne"); err != nil || ev.State != store.EventNothing || ev.Note != "erased" || ev.Thread != "" || ev.DoneAt.IsZero() {
		t.Errorf("%+v, %v", ev, err)
	}
	if ev, err := l.Event(ctx, "acme", "bobe"); err != nil || ev.State != store.EventPending || ev.Thread != "secret talk" {
		t.Errorf("another's: %+v, %v", ev, err)
	}
	if b, err := l.ShownBlock(ctx, "acme", "ann", "", "annb"); err != nil || b.Items[0].ID != "erased:1" || b.Items[1].ID != "kept" {
		t.Errorf("%+v, %v", b, err)
	}
	if _, err := l.Reply(ctx, ann, "annk2"); err != nil {
		t.Errorf("the reply of what is kept: %v", err)
	}
	log, err := l.ListAudit(ctx, "acme", store.AuditQuery{})
	must(t, err)
	if diff := cmp.Diff([]string{"kept", "erased:1"}, log.Entries[0].IDs); diff != "" {
		t.Error(diff)
	}
	if log, err = l.ListAudit(ctx, "other", store.AuditQuery{}); err != nil || log.Entries[0].IDs[0] != "secret turn" {
		t.Errorf("another tenant's: %+v, %v", log, err)
	}
	if op, err := l.Operation(ctx, "acme", "o"); err != nil || strings.Contains(string(op.Args), "secret") {
		t.Errorf("%s, %v", op.Args, err)
	}
	all := store.Traced{Scope: bob, All: true}
	if got, err := l.Traces(ctx, all); err != nil || len(got.Keys) != 2 || got.Counts["events"] != 1 || got.Counts["threads"] != 2 {
		t.Errorf("all of bob: %+v, %v", got, err)
	}
	must(t, l.EraseTraces(ctx, all))
	if _, err := l.Reply(ctx, bob, "bobk2"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("all of bob: a reply is left: %v", err)
	}
	if st, err := l.QueueStats(ctx, "acme", now); err != nil || st.Waiting != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	if got, err := l.Traces(ctx, store.Traced{Scope: store.Scope{Tenant: "acme", User: "nobody"}, All: true}); err != nil || got.Total() != 0 {
		t.Errorf("of nobody: %+v, %v", got, err)
	}
}
