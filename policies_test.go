package evoke

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"evoke/extract/message"
	"evoke/extract/redact"
	"evoke/store"
)

func TestAPolicyHoldsAtOnceAndAfterARestart(t *testing.T) {
	opts := &Options{Path: t.TempDir(), Budget: func(context.Context, string) (Budget, error) { return Budget{CallsPerDay: 10, Calls: 7}, nil }}
	m, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	acme, err := m.ForTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	ctx := WithActor(t.Context(), Actor{Name: "root"})
	said := func(m *Memory, text string) string {
		t.Helper()
		r, err := m.Remember(ctx, RememberRequest{Content: text})
		if err != nil {
			t.Fatal(err)
		}
		return r.Item.Content
	}
	before, err := acme.TenantPolicy(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if before.Version != 0 || before.From["redaction"] != FromDefault || before.From["namespace"] != FromDefault ||
		before.From["budget.calls_per_day"] != FromSettings || *before.Effective.Budget.CallsPerDay != 10 || before.Effective.Redaction.Mode != redact.Off {
		t.Errorf("before: %+v", before)
	}
	doc := TenantPolicy{
		Redaction: &RedactionPolicy{Mode: redact.Mask, Patterns: map[string]string{"badge": `B-\d{4}`}},
		Namespace: &NamespacePolicy{Preset: "experts", Rules: []PolicyRule{{"clerk", UserNamespace}}},
		Budget:    &BudgetPolicy{CallsPerDay: ptr(int64(7)), TokensPerDay: ptr(int64(500))},
	}
	set, err := acme.SetPolicy(ctx, SetPolicyRequest{Policy: doc})
	if err != nil {
		t.Fatal(err)
	}
	if set.Version != 1 || set.By != "root" || set.From["redaction"] != FromPolicy || set.From["budget.calls_per_day"] != FromPolicy || *set.Effective.Budget.CallsPerDay != 7 {
		t.Errorf("set: %+v", set)
	}
	const text = "Ada's address is ada@example.org and her badge B-1234"
	if got := said(acme, text); got != "Ada's address is [email] and her badge [badge]" {
		t.Errorf("right after: %q", got)
	}
	if got := said(m, text); got != text {
		t.Errorf("another tenant: %q", got)
	}
	if r, err := acme.Remember(ctx, RememberRequest{Who: Who{Agent: "other"}, Content: "x is y"}); err != nil || r.Skipped != skippedByPolicy {
		t.Errorf("an agent without a memory: %+v, %v", r, err)
	}
	if r, err := acme.Remember(ctx, RememberRequest{Who: Who{Agent: "clerk"}, Content: "x is y"}); err != nil || r.Skipped != "" {
		t.Errorf("an agent with a rule: %+v, %v", r, err)
	}
	if u, err := acme.Usage(ctx, UsageRequest{}); err != nil || u.Budget.CallsPerDay != 7 || u.Budget.TokensPerDay != 500 || !u.Budget.Spent {
		t.Errorf("usage: %+v, %v", u.Budget, err)
	}
	// Of two limits the lower one holds: nobody gives himself more than the settings do.
	more := doc
	more.Budget = &BudgetPolicy{CallsPerDay: ptr(int64(1000))}
	set, err = acme.SetPolicy(ctx, SetPolicyRequest{Policy: more, Version: 1})
	if err != nil || *set.Effective.Budget.CallsPerDay != 10 || set.From["budget.calls_per_day"] != FromSettings || set.Effective.Budget.TokensPerDay != nil {
		t.Errorf("more than the settings give: %+v, %v", set, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err = Open(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if acme, err = m.ForTenant("acme"); err != nil {
		t.Fatal(err)
	}
	if got := said(acme, "Bob's address is bob@example.org"); got != "Bob's address is [email]" {
		t.Errorf("after a restart: %q", got)
	}
	if set, err = acme.ResetPolicy(ctx, 2); err != nil || set.Version != 3 || set.From["redaction"] != FromDefault {
		t.Errorf("reset: %+v, %v", set, err)
	}
	if got := said(acme, "Eve's address is eve@example.org"); got != "Eve's address is eve@example.org" {
		t.Errorf("after the reset: %q", got)
	}
	history, err := acme.PolicyHistory(ctx)
	if err != nil || len(history) != 3 || history[0].Version != 3 || history[0].Policy.Redaction != nil || history[2].Policy.Redaction.Mode != redact.Mask || history[2].By != "root" {
		t.Errorf("history: %+v, %v", history, err)
	}
	if log, err := acme.Audit(ctx, AuditRequest{Verb: "set policy"}); err != nil || len(log.Entries) != 2 || log.Entries[0].By != "root" {
		t.Errorf("audit: %+v, %v", log, err)
	}
}

func TestPoliciesAreChangedByOneAtATime(t *testing.T) {
	m := open(t, nil)
	ctx := t.Context()
	mask := TenantPolicy{Redaction: &RedactionPolicy{Mode: redact.Mask}}
	if _, err := m.SetPolicy(ctx, SetPolicyRequest{Policy: mask}); err != nil {
		t.Fatal(err)
	}
	for _, version := range []int64{0, 2} {
		_, err := m.SetPolicy(ctx, SetPolicyRequest{Policy: TenantPolicy{}, Version: version})
		if !errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), "version 1") {
			t.Errorf("version %d: %v", version, err)
		}
	}
	won := make(chan error, 20)
	for range cap(won) {
		go func() {
			_, err := m.SetPolicy(ctx, SetPolicyRequest{Policy: mask, Version: 1})
			won <- err
		}()
	}
	n := 0
	for range cap(won) {
		switch err := <-won; {
		case err == nil:
			n++
		case !errors.Is(err, store.ErrConflict):
			t.Error(err)
		}
	}
	if n != 1 {
		t.Errorf("%d of the same version were taken", n)
	}
	for v := int64(2); v < policyVersions+5; v++ {
		if _, err := m.SetPolicy(ctx, SetPolicyRequest{Policy: mask, Version: v}); err != nil {
			t.Fatal(err)
		}
	}
	if h, err := m.PolicyHistory(ctx); err != nil || len(h) != policyVersions+1 || h[0].Version != policyVersions+5 {
		t.Errorf("the history holds %d, %v", len(h), err)
	}
}

func TestAPolicyThatIsWrongIsRefused(t *testing.T) {
	m := open(t, nil)
	many := map[string]string{}
	for i := range maxPatterns + 1 {
		many[fmt.Sprintf("p%d", i)] = "x"
	}
	for want, doc := range map[string]TenantPolicy{
		"redaction.mode: must be off, mask or reject":                                                      {Redaction: &RedactionPolicy{}},
		"redaction.patterns: must be at most 100, got 101":                                                 {Redaction: &RedactionPolicy{Mode: redact.Mask, Patterns: many}},
		"redaction.patterns[0].match: must be a regular expression (RE2 syntax)":                           {Redaction: &RedactionPolicy{Mode: redact.Mask, Patterns: map[string]string{"x": "("}}},
		"redaction.patterns.x: must be at most 1000 bytes, got 1001":                                       {Redaction: &RedactionPolicy{Mode: redact.Mask, Patterns: map[string]string{"x": strings.Repeat("a", 1001)}}},
		"namespace.preset: must be default or experts":                                                     {Namespace: &NamespacePolicy{Preset: "all"}},
		"namespace.rules[0].namespace: must be user, pair, own or none":                                    {Namespace: &NamespacePolicy{Rules: []PolicyRule{{"a", "b"}}}},
		"budget.calls_per_day: must be from 1 to 1000000000 (leave it out for no limit of its own), got 0": {Budget: &BudgetPolicy{CallsPerDay: ptr(int64(0))}},
	} {
		_, err := m.SetPolicy(t.Context(), SetPolicyRequest{Policy: doc})
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if p, err := m.TenantPolicy(t.Context()); err != nil || p.Version != 0 {
		t.Errorf("after refusals: %+v, %v", p, err)
	}
}

// Another process of the same store learns of a change by itself, and one that cannot read a policy keeps nothing that the
// policy may want masked.
func TestAnotherProcessTakesAPolicyInTime(t *testing.T) {
	a := open(t, nil)
	b, err := Open(t.Context(), &Options{Store: a.store, Ledger: a.ledger, settingsEvery: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ctx := t.Context()
	if _, err := a.SetPolicy(ctx, SetPolicyRequest{Policy: TenantPolicy{Redaction: &RedactionPolicy{Mode: redact.Mask}}}); err != nil {
		t.Fatal(err)
	}
	made, err := a.CreateKey(ctx, KeyRequest{Name: "k", Role: "read"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		set, err := b.settings(b.tenant)
		_, known := b.Authenticate(made.Secret)
		return err == nil && set.Redactor != nil && known
	})
	broken := store.Setting{Tenant: b.tenant, Kind: policySettings, Name: policyName, Value: []byte(`{"policy":{"redaction":{"mode":"maks"}}}`), Version: 1, At: b.now()}
	if _, err := a.ledger.SaveSetting(ctx, broken); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { // the worker is told right after the policy is read
		_, err := b.settings(b.tenant)
		return errors.Is(err, store.ErrCorrupt) && b.worker.TenantPaused(b.tenant)
	})
	_, err = b.Ingest(ctx, IngestRequest{Messages: []message.Message{{Role: message.User, Content: "I am ada@example.org"}}})
	if !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("with a policy that cannot be read: %v", err)
	}
	other, err := b.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Remember(ctx, RememberRequest{Content: "x is y"}); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	if _, err := b.SetPolicy(ctx, SetPolicyRequest{Version: 2}); err != nil {
		t.Errorf("setting it anew: %v", err)
	}
	if _, err := b.Remember(ctx, RememberRequest{Content: "x is y"}); err != nil || b.worker.TenantPaused(b.tenant) {
		t.Errorf("once it is set anew: %v", err)
	}
}

// eventually waits until something holds, for as long as another process may take.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(SettingsWithin); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}
