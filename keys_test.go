package evoke

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"evoke/store"
)

func TestKeysAreMadeRotatedAndRevoked(t *testing.T) {
	dir := t.TempDir()
	clock := clockAt(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	opts := &Options{Path: dir, Clock: clock.now}
	m, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	acme, err := m.ForTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	ctx := WithActor(t.Context(), Actor{Name: "root"})
	made, err := acme.CreateKey(ctx, KeyRequest{Name: "chat", Role: "write", Agents: []string{"support-*"}, Users: []string{"ada"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := acme.CreateKey(ctx, KeyRequest{Name: "chat", Role: "read"}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a name that is taken: %v", err)
	}
	brief, err := acme.CreateKey(ctx, KeyRequest{Name: "brief", Role: "read", ExpiresAt: clock.now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	taken := func(m *Memory, want bool, what, secret string) {
		t.Helper()
		if k, ok := m.Authenticate(secret); ok != want || ok && k.Tenant != "acme" {
			t.Errorf("%s: %+v, %v", what, k, ok)
		}
	}
	taken(m, true, "new, asked through another tenant", made.Secret)
	taken(acme, true, "not expired", brief.Secret)
	taken(acme, false, "its hash", hashSecret(made.Secret))
	taken(acme, false, "nothing", "")
	for name, call := range map[string]func(string) error{
		"rotate": func(n string) error { _, err := m.RotateKey(ctx, n, 0); return err },
		"revoke": func(n string) error { _, err := m.RevokeKey(ctx, n); return err },
	} {
		theirs, none := call("chat"), call("unknown")
		if !errors.Is(theirs, store.ErrNotFound) || theirs.Error() != none.Error() {
			t.Errorf("%s of another tenant's key: %v; of none: %v", name, theirs, none)
		}
	}
	turned, err := acme.RotateKey(ctx, "chat", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	taken(acme, true, "the new secret", turned.Secret)
	taken(acme, true, "the old one in its grace", made.Secret)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	secrets := [][]byte{[]byte(made.Secret), []byte(turned.Secret), []byte(brief.Secret)}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range secrets {
			if bytes.Contains(b, s) {
				t.Errorf("a secret is in %s", filepath.Base(f))
			}
		}
	}

	m = open(t, opts)
	if acme, err = m.ForTenant("acme"); err != nil {
		t.Fatal(err)
	}
	taken(acme, true, "after a restart", turned.Secret)
	clock.set(clock.now().Add(time.Hour))
	taken(acme, false, "after its grace", made.Secret)
	taken(acme, false, "expired", brief.Secret)
	keys, err := acme.Keys(ctx)
	if err != nil || len(keys) != 2 || keys[1].Name != "chat" || keys[1].By != "root" || keys[1].RotatedAt.IsZero() || keys[1].Users[0] != "ada" {
		t.Errorf("%+v, %v", keys, err)
	}
	if b, err := json.Marshal(keys); err != nil || bytes.Contains(b, []byte(hashSecret(turned.Secret))) {
		t.Errorf("a list with hashes: %s, %v", b, err)
	}
	again, err := acme.RotateKey(ctx, "chat", 0)
	if err != nil {
		t.Fatal(err)
	}
	taken(acme, false, "without grace", turned.Secret)
	if _, err := acme.RevokeKey(ctx, "chat"); err != nil {
		t.Fatal(err)
	}
	taken(acme, false, "revoked", again.Secret)
	log, err := acme.Audit(ctx, AuditRequest{})
	if err != nil || len(log.Entries) != 6 || log.Entries[0].Verb != "revoke key" || log.Entries[0].By != "root" || log.Entries[0].IDs[0] != "chat" {
		t.Errorf("%+v, %v", log, err)
	}
	for _, bad := range []KeyRequest{
		{Role: "read"}, {Name: "k"}, {Name: "k", Role: "owner"}, {Name: "k\n", Role: "read"}, {Name: "k", Role: "read", Users: []string{""}},
		{Name: "k", Role: "read", Agents: make([]string, 1001)}, {Name: "k", Role: "read", ExpiresAt: clock.now()},
	} {
		if _, err := acme.CreateKey(ctx, bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := acme.RotateKey(ctx, "brief", 31*24*time.Hour); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a grace without end: %v", err)
	}
}
