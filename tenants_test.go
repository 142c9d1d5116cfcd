package evoke

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"evoke/store"
)

func TestTenantsAreMadeDisabledAndEnabled(t *testing.T) {
	dir := t.TempDir()
	opts := &Options{Path: dir, KnownTenants: func() []string { return []string{"default", "settled"} }}
	m, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx := WithActor(t.Context(), Actor{Name: "root"})
	all := m.Installation()
	if _, err := all.CreateKey(ctx, "acme", KeyRequest{Name: "boss", Role: "admin"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a key of a tenant that is not there: %v", err)
	}
	if made, err := all.CreateTenant(ctx, "acme"); err != nil || made.By != "root" || made.CreatedAt.IsZero() {
		t.Fatal(made, err)
	}
	for _, taken := range []string{"acme", "settled"} {
		if _, err := all.CreateTenant(ctx, taken); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s again: %v", taken, err)
		}
	}
	for _, bad := range []string{"", " ", "*", "a\nb"} {
		if _, err := all.CreateTenant(ctx, bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	key, err := all.CreateKey(ctx, "acme", KeyRequest{Name: "boss", Role: "admin", Agents: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	if k, ok := m.Authenticate(key.Secret); !ok || k.Tenant != "acme" {
		t.Errorf("%+v, %v", k, ok)
	}
	acme, err := m.ForTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	item, err := acme.Remember(ctx, RememberRequest{Content: "Ada lives in Oslo"})
	if err != nil {
		t.Fatal(err)
	}
	orphan, err := m.ForTenant("orphan")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := orphan.Remember(ctx, RememberRequest{Content: "Bob lives in Rome"}); err != nil {
		t.Fatal(err)
	}
	if off, err := all.DisableTenant(ctx, "acme"); err != nil || !off.Disabled || off.Keys != 1 {
		t.Errorf("%+v, %v", off, err)
	}
	if _, err := all.DisableTenant(ctx, "unknown"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err = Open(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	all = m.Installation()
	if acme, err = m.ForTenant("acme"); err != nil {
		t.Fatal(err)
	}
	if _, err := acme.Get(ctx, Who{}, item.Item.ID); !errors.Is(err, store.ErrTenant) {
		t.Errorf("reading while disabled: %v", err)
	}
	if _, err := acme.Remember(ctx, RememberRequest{Content: "x is y"}); !errors.Is(err, store.ErrTenant) {
		t.Errorf("writing while disabled: %v", err)
	}
	if !m.worker.TenantPaused("acme") || m.worker.TenantPaused("orphan") || acme.Enabled() || !m.Enabled() {
		t.Error("the extraction of a disabled tenant goes on, or another's does not")
	}
	if on, err := all.EnableTenant(ctx, "acme"); err != nil || on.Disabled || on.CreatedAt.IsZero() {
		t.Errorf("%+v, %v", on, err)
	}
	if got, err := acme.Get(ctx, Who{}, item.Item.ID); err != nil || got.Content != "Ada lives in Oslo" || m.worker.TenantPaused("acme") {
		t.Errorf("enabled again: %+v, %v", got, err)
	}
	var names []string
	for r := (TenantsRequest{Limit: 1}); ; {
		page, err := all.Tenants(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page.Tenants {
			names = append(names, one.Name)
			if one.Items != (one.Name == "acme" || one.Name == "orphan") || one.Settings != (one.Name == "default" || one.Name == "settled") {
				t.Errorf("%+v", one)
			}
		}
		if r.Cursor = page.Next; r.Cursor == "" {
			break
		}
	}
	if want := []string{"acme", "default", "orphan", "settled"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	log, err := all.Audit(ctx, AuditRequest{})
	if err != nil || len(log.Entries) != 6 || log.Entries[0].Verb != "enable tenant" || log.Entries[0].IDs[0] != "acme" || log.Entries[0].By != "root" {
		t.Errorf("%+v, %v", log, err)
	}
}

// A name that reads like another, or that no address can hold, is refused for a tenant that is not there yet; one that was
// named so before opens still.
func TestNamesOfNewTenants(t *testing.T) {
	dir := t.TempDir()
	m := open(t, &Options{Path: dir})
	bad := []string{".", "..", " acme", "acme ", "acme\u00a0", "\u3000acme", "ac\tme", "ac\u0085me", "ac\u202eme", "ac\u200bme", "acme\ufeff",
		"ac\u00adme", "ac\u2060me", "ac\u2063me", "ac\u034fme", "ac\u115fme", "ac\u3164me", "ac\u180eme", "acme\ufe0f", "acme\U000e0061", "ac\u00a0me", "ac\u2003me", "ac\u2800me"}
	for _, name := range bad {
		if _, err := m.Installation().CreateTenant(t.Context(), name); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q was made: %v", name, err)
		}
	}
	if _, err := m.Installation().CreateTenant(t.Context(), "acme "); err == nil || !strings.Contains(err.Error(), `blanks at its ends ("acme")`) {
		t.Errorf("the error does not say what to write: %v", err)
	}
	for _, name := range []string{"...", "a.b", "Ü 汉 b", "می‌خواهم", "a/b"} {
		if _, err := m.Installation().CreateTenant(t.Context(), name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	old, err := m.ForTenant("acme ")
	if err == nil {
		_, err = old.Remember(t.Context(), RememberRequest{Content: "from before"})
	}
	if err := errors.Join(err, m.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range bad {
		m, err := Open(t.Context(), &Options{Path: dir, Tenant: name})
		if name == "acme " {
			if err != nil {
				t.Errorf("%q was there before: %v", name, err)
			}
		} else if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q was begun: %v", name, err)
		}
		if err == nil {
			m.Close()
		}
	}
}
