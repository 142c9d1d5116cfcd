package evoke

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"evoke/store"
)

// What belongs to another tenant is as unknown as what does not exist, to the letter.
func TestOperationsOfAnotherTenantAreUnknown(t *testing.T) {
	m := open(t, nil)
	other, err := m.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	op := store.Operation{ID: "theirs", Tenant: "other", Kind: "old", State: store.OperationFailed, CreatedAt: m.now(), UpdatedAt: m.now(), DoneAt: m.now()}
	if _, err := m.ledger.SaveOperation(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(*Memory, string) (store.Operation, error){
		"get":    func(m *Memory, id string) (store.Operation, error) { return m.Operation(t.Context(), id) },
		"wait":   func(m *Memory, id string) (store.Operation, error) { return m.WaitOperation(t.Context(), id) },
		"cancel": func(m *Memory, id string) (store.Operation, error) { return m.CancelOperation(t.Context(), id) },
		"retry":  func(m *Memory, id string) (store.Operation, error) { return m.RetryOperation(t.Context(), id) },
	} {
		_, theirs := call(m, "theirs")
		_, none := call(m, "unknown")
		if !errors.Is(theirs, store.ErrNotFound) || fmt.Sprint(theirs) != fmt.Sprint(none) {
			t.Errorf("%s: %v; of what does not exist: %v", name, theirs, none)
		}
		for _, id := range []string{"a\x00b", string(make([]byte, 300))} {
			if _, err := call(m, id); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%s of an id that none has: %v", name, err)
			}
		}
	}
	if res, err := m.Operations(t.Context(), OperationsRequest{}); err != nil || len(res.Operations) != 0 || res.Operations == nil {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := other.Operations(t.Context(), OperationsRequest{State: store.OperationFailed}); err != nil || len(res.Operations) != 1 {
		t.Errorf("the tenant's own: %+v, %v", res, err)
	}
	for _, bad := range []OperationsRequest{{State: "nonsense"}, {Limit: 1001}, {Limit: -1}, {Cursor: "?"}} {
		if _, err := m.Operations(t.Context(), bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	// One of a kind that this version does not know is tried, fails, and says so.
	if _, err := other.RetryOperation(WithActor(t.Context(), Actor{Name: "ops", Request: "r1"}), "theirs"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if got, err := other.WaitOperation(ctx, "theirs"); err != nil || got.State != store.OperationFailed || got.Note == "" {
		t.Errorf("%+v, %v", got, err)
	}
	log, err := other.Audit(t.Context(), AuditRequest{Verb: "retry operation"})
	if err != nil || len(log.Entries) != 1 || log.Entries[0].By != "ops" || log.Entries[0].Request != "r1" || log.Entries[0].IDs[0] != "theirs" || log.Entries[0].Error != "" {
		t.Errorf("%+v, %v", log, err)
	}
	log, err = m.Audit(t.Context(), AuditRequest{Verb: "retry operation"})
	if err != nil || len(log.Entries) != 2 || log.Entries[0].Error != "not_found" {
		t.Errorf("what failed: %+v, %v", log, err)
	}
}
