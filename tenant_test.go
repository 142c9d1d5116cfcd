package evoke

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"evoke/recall"
	"evoke/store"
)

// One engine serves tenants with settings of their own, and takes new ones while it runs.
func TestSettingsOfATenantHoldFromTheNextCallOn(t *testing.T) {
	var acme atomic.Pointer[TenantOptions]
	acme.Store(&TenantOptions{})
	m := open(t, &Options{TenantOptions: func(tenant string) TenantOptions {
		if tenant == "acme" {
			return *acme.Load()
		}
		return TenantOptions{}
	}})
	a, err := m.ForTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	remember := func(m *Memory, agent, text string) string {
		t.Helper()
		res, err := m.Remember(ctx, RememberRequest{Who: Who{Agent: agent}, Content: text})
		if err != nil {
			t.Fatal(err)
		}
		return res.Skipped
	}
	for _, s := range []string{"green tea is bitter", "black tea is strong", "white tea is mild"} {
		if got := remember(a, "", s); got != "" {
			t.Fatalf("skipped %q with no settings of its own", got)
		}
	}
	hits := func() int {
		res, err := a.Recall(ctx, RecallRequest{Request: recall.Request{Query: "tea"}})
		if err != nil {
			t.Fatal(err)
		}
		return len(res.Hits)
	}
	if n := hits(); n != 3 {
		t.Errorf("%d hits with the defaults", n)
	}
	none := 0
	acme.Store(&TenantOptions{
		Policy: ExpertsPolicy(), Recall: RecallDefaults{Limit: 1}, Memory: MemoryOptions{MaxInjectionTokens: &none},
	})
	if n := hits(); n != 1 {
		t.Errorf("%d hits with a limit of 1", n)
	}
	if got := remember(a, "oracle", "x"); got != "namespace_policy" {
		t.Errorf("the policy was not taken: skipped %q", got)
	}
	if got := remember(m, "oracle", "x"); got != "" {
		t.Errorf("another tenant's policy changed: skipped %q", got)
	}
	block, err := a.Context(ctx, ContextRequest{Request: recall.Request{Query: "tea"}})
	if err != nil || block.Budget != 0 {
		t.Errorf("budget %d, %v", block.Budget, err)
	}
	acme.Store(&TenantOptions{Memory: MemoryOptions{Disabled: true}})
	if got := remember(a, "", "x"); got != "disabled" {
		t.Errorf("memory that was switched off: skipped %q", got)
	}
	acme.Store(&TenantOptions{Memory: MemoryOptions{Debounce: time.Hour}})
	_, err = a.Remember(ctx, RememberRequest{Content: "x"})
	if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "memory.debounce_seconds") {
		t.Errorf("settings out of range: %v", err)
	}
}

// What a tenant's facts need is asked for when they are distilled.
func TestThresholdOfATenant(t *testing.T) {
	all, none := 0.0, 1.0
	m := open(t, &Options{TenantOptions: func(tenant string) TenantOptions {
		if tenant == "strict" {
			return TenantOptions{Memory: MemoryOptions{FactConfidence: &none}}
		}
		return TenantOptions{Memory: MemoryOptions{FactConfidence: &all}}
	}})
	for tenant, want := range map[string]store.EventState{"strict": store.EventNothing, "lax": store.EventStored} {
		of, err := m.ForTenant(tenant)
		if err != nil {
			t.Fatal(err)
		}
		who := Who{User: "ann", Thread: "t"}
		res, err := of.Ingest(t.Context(), IngestRequest{Who: who, Messages: chat("I prefer window seats on long flights.", "Noted.")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := of.Flush(t.Context(), who); err != nil {
			t.Fatal(err)
		}
		ev, err := of.Event(t.Context(), res.EventID, 5*time.Second)
		if err != nil || ev.State != want {
			t.Errorf("%s: %s (%s), %v", tenant, ev.State, ev.Note, err)
		}
	}
}
