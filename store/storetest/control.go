package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

func operations(t *testing.T, l store.Ledger) {
	ctx := t.Context()
	var want []store.Operation
	for i := range 3 {
		op := store.Operation{ID: fmt.Sprint("op", i), Tenant: "acme", Kind: "erase", State: store.OperationQueued, By: "key",
			Args: json.RawMessage(`{"user":"u"}`), CreatedAt: now.Add(time.Duration(i/2) * time.Second), UpdatedAt: now}
		v, err := l.SaveOperation(ctx, op)
		must(t, err)
		op.Version = v
		want = append(want, op)
	}
	_, err := l.SaveOperation(ctx, store.Operation{ID: "op0", Tenant: "acme", Kind: "erase", State: store.OperationQueued})
	wantErr(t, "an id again", err, store.ErrConflict)
	_, err = l.SaveOperation(ctx, store.Operation{ID: "x", Kind: "erase"})
	wantErr(t, "no tenant", err, store.ErrTenant)

	op := want[1]
	op.State, op.Checkpoint, op.Done, op.Total, op.Cancel = store.OperationRunning, json.RawMessage(`{"next":"a"}`), 1, 2, true
	op.Version, err = l.SaveOperation(ctx, op)
	must(t, err)
	_, err = l.SaveOperation(ctx, want[1])
	wantErr(t, "an old version", err, store.ErrConflict)
	want[1] = op
	got, err := l.Operation(ctx, "acme", "op1")
	must(t, err)
	if diff := cmp.Diff(op, got); diff != "" {
		t.Error(diff)
	}
	_, err = l.Operation(ctx, "other", "op1")
	wantErr(t, "another tenant's", err, store.ErrNotFound)

	open, err := l.Unfinished(ctx)
	must(t, err)
	if diff := cmp.Diff(want, open); diff != "" {
		t.Error(diff)
	}
	want[0].State, want[0].Result, want[0].DoneAt = store.OperationDone, json.RawMessage(`{"erased":3}`), now.Add(time.Minute)
	want[0].Version, err = l.SaveOperation(ctx, want[0])
	must(t, err)
	if open, err = l.Unfinished(ctx); err != nil || len(open) != 2 {
		t.Errorf("%d unfinished, %v", len(open), err)
	}
	var all []store.Operation
	for q := (store.OperationQuery{Limit: 2}); ; {
		page, err := l.ListOperations(ctx, "acme", q)
		must(t, err)
		all = append(all, page.Operations...)
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]store.Operation{want[2], want[1], want[0]}, all); diff != "" {
		t.Error(diff)
	}
	page, err := l.ListOperations(ctx, "acme", store.OperationQuery{Kind: "erase", State: store.OperationDone})
	must(t, err)
	if diff := cmp.Diff(want[:1], page.Operations); diff != "" {
		t.Error(diff)
	}
}

func audits(t *testing.T, l store.Ledger) {
	ctx := t.Context()
	var want []store.Audit
	for i := range 5 {
		a := store.Audit{At: now.Add(time.Duration(i) * time.Minute), Tenant: "acme", User: fmt.Sprint("u", i%2), By: "key", Verb: "forget",
			IDs: []string{"a"}, Counts: map[string]int{"items": i}, Request: "r"}
		must(t, l.AppendAudit(ctx, a))
		want = append([]store.Audit{a}, want...)
	}
	must(t, l.AppendAudit(ctx, store.Audit{At: now, Tenant: "other", Verb: "forget"}))
	wantErr(t, "no tenant", l.AppendAudit(ctx, store.Audit{Verb: "forget"}), store.ErrTenant)
	var all []store.Audit
	for q := (store.AuditQuery{Limit: 2}); ; {
		page, err := l.ListAudit(ctx, "acme", q)
		must(t, err)
		all = append(all, page.Entries...)
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	page, err := l.ListAudit(ctx, "acme", store.AuditQuery{User: "u1", From: now, To: now.Add(3 * time.Minute)})
	must(t, err)
	if diff := cmp.Diff(want[3:4], page.Entries); diff != "" {
		t.Error(diff)
	}
	if page, err = l.ListAudit(ctx, "acme", store.AuditQuery{Verb: "remember"}); err != nil || len(page.Entries) != 0 {
		t.Errorf("%d entries of a verb that never was, %v", len(page.Entries), err)
	}
	auditsGo(t, l)
}

func tombstones(t *testing.T, l store.Ledger) {
	ctx := t.Context()
	of := func(op string, hashes ...string) (ts []store.Tombstone) {
		for _, h := range hashes {
			ts = append(ts, store.Tombstone{Hash: h, Operation: op, At: now})
		}
		return ts
	}
	must(t, l.AddTombstones(ctx, "acme", of("one", "a", "b")))
	must(t, l.AddTombstones(ctx, "acme", of("two", "b", "c")))
	for tenant, want := range map[string][]store.Tombstone{"acme": append(of("two", "c"), of("one", "a")...), "other": nil} {
		got, err := l.Tombstoned(ctx, tenant, []string{"c", "x", "a"})
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if n, err := l.DropTombstones(ctx, "acme", []string{"a", "x"}); err != nil || n != 1 {
		t.Errorf("dropped %d, %v", n, err)
	}
	if got, err := l.Tombstoned(ctx, "acme", []string{"a", "b"}); err != nil || len(got) != 1 || got[0].Hash != "b" {
		t.Errorf("left %v, %v", got, err)
	}
	for tenant, want := range map[string]int{"other": 0, "acme": 2} {
		if n, err := l.LiftTombstones(ctx, tenant, "two"); err != nil || n != want {
			t.Errorf("%s: lifted %d, %v", tenant, n, err)
		}
	}
	wantErr(t, "no tenant", l.AddTombstones(ctx, "", of("", "a")), store.ErrTenant)
}

func settings(t *testing.T, l store.Ledger) {
	ctx := t.Context()
	s := store.Setting{Tenant: "acme", Kind: "policy", Name: "retention", Value: json.RawMessage(`{"days":3}`), At: now}
	v, err := l.SaveSetting(ctx, s)
	must(t, err)
	_, err = l.SaveSetting(ctx, s)
	wantErr(t, "a name again", err, store.ErrConflict)
	s.Version, s.Value = v, json.RawMessage(`{"days":4}`)
	old := s
	s.Version, err = l.SaveSetting(ctx, s)
	must(t, err)
	_, err = l.SaveSetting(ctx, old)
	wantErr(t, "an old version", err, store.ErrConflict)
	other := store.Setting{Tenant: "other", Kind: "policy", Name: "retention", Value: json.RawMessage(`{}`), At: now}
	other.Version, err = l.SaveSetting(ctx, other)
	must(t, err)
	for tenant, want := range map[string][]store.Setting{"acme": {s}, "*": {s, other}, "third": nil} {
		got, err := l.Settings(ctx, tenant, "policy")
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tenant, diff)
		}
	}
	wantErr(t, "another's", l.DropSetting(ctx, "third", "policy", "retention"), store.ErrNotFound)
	must(t, l.DropSetting(ctx, "acme", "policy", "retention"))
	if got, err := l.Settings(ctx, "acme", "policy"); err != nil || len(got) != 0 {
		t.Errorf("left %v, %v", got, err)
	}
}

// auditsGo: old entries go, and a listing that is under way goes on where it was.
func auditsGo(t *testing.T, l store.Ledger) {
	ctx := t.Context()
	for i := range 6 {
		must(t, l.AppendAudit(ctx, store.Audit{At: now.Add(time.Duration(i) * time.Hour), Tenant: "old", Verb: fmt.Sprint("v", i)}))
	}
	page, err := l.ListAudit(ctx, "old", store.AuditQuery{Limit: 2})
	must(t, err)
	n, err := l.PruneAudit(ctx, now.Add(90*time.Minute))
	must(t, err)
	if n < 2 {
		t.Errorf("%d went, want those of the first two hours", n)
	}
	must(t, l.AppendAudit(ctx, store.Audit{At: now.Add(9 * time.Hour), Tenant: "old", Verb: "v9"}))
	got := []string{}
	for cursor := page.Next; cursor != ""; cursor = page.Next {
		page, err = l.ListAudit(ctx, "old", store.AuditQuery{Limit: 1, Cursor: cursor})
		must(t, err)
		for _, a := range page.Entries {
			got = append(got, a.Verb)
		}
	}
	if fmt.Sprint(got) != "[v3 v2]" {
		t.Errorf("the listing went on with %v", got)
	}
	_, err = l.PruneAudit(ctx, time.Time{})
	wantErr(t, "before no time", err, store.ErrInvalid)
}
