package cli_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A server takes changed settings without a restart, tells which need one, and keeps those in force when the new ones
// are broken.
func TestServeTakesChangedSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "evoke.yaml")
	put := func(yaml string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte("memory: { enabled: true }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--config", file, "--store", filepath.Join(dir, "data"))
	remember := func() string { return post(t, "http://"+s.address+"/v1/memories", `{"content":"x"}`) }
	if got := remember(); strings.Contains(got, "disabled") {
		t.Fatalf("before: %s", got)
	}
	put("memory: { enabled: false }\nserver: { max_body_bytes: 2048 }\n")
	s.logged("new settings are in force")
	s.logged("server.max_body_bytes")
	if got := remember(); !strings.Contains(got, "disabled") {
		t.Errorf("after: %s", got)
	}
	put("memory: { max_facts: 3 }\n")
	s.logged("from 10 to 500")
	if got := remember(); !strings.Contains(got, "disabled") {
		t.Errorf("broken settings: %s", got)
	}
}

// A file that is empty for a moment, as an editor truncates it before it writes, does not open a server that had keys.
func TestServeKeepsItsKeys(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "evoke.yaml")
	put := func(yaml string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keyed := "keys: { " + strings.Repeat("0f", 32) + ": { tenant: acme, role: write } }\n"
	put(keyed)
	s := serve(t, "--config", file, "--store", filepath.Join(dir, "data"))
	put("")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.logged("the keys in force are gone")
	if got := post(t, "http://"+s.address+"/v1/memories", `{"content":"x"}`); !strings.Contains(got, "unauthorized") {
		t.Errorf("without keys: %s", got)
	}
	put(keyed + "memory: { enabled: false }\n")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.logged("new settings are in force")
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// logged waits until the log holds a text.
func (s *served) logged(what string) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.log.String(), what); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the log does not say %q: %s", what, s.log.String())
		}
	}
}
