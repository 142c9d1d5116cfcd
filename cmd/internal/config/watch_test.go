package config_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"evoke/cmd/internal/config"
)

// syncedBuffer is a log that is read while it is written.
type syncedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

func TestChangedFilesAreTakenAndBrokenOnesAreNot(t *testing.T) {
	dir := t.TempDir()
	file, secret := filepath.Join(dir, "evoke.yaml"), filepath.Join(dir, "secret")
	put(t, secret, "one")
	const base = "embed: { api_key_file: %SECRET% }\nmemory: { max_facts: 50 }\n"
	text := func(s string) string { return strings.ReplaceAll(s, "%SECRET%", secret) }
	put(t, file, text(base))
	o := config.Options{File: file}
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	taken, log := make(chan *config.Config), &syncedBuffer{}
	ctx, stop := context.WithCancel(t.Context())
	ended, hup := make(chan struct{}), make(chan os.Signal)
	refuse := errors.New("refused by the engine")
	go func() {
		defer close(ended)
		c.Watch(ctx, o, time.Millisecond, hup, slog.New(slog.NewTextHandler(log, nil)), func(next *config.Config) error {
			taken <- next
			if next.Memory.MaxFacts == 77 {
				return refuse
			}
			return nil
		})
	}()
	next := func() *config.Config {
		t.Helper()
		select {
		case n := <-taken:
			return n
		case <-time.After(10 * time.Second):
			t.Fatal("a change was not taken")
			return nil
		}
	}
	said := func(what string) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); !strings.Contains(log.String(), what); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the log does not say %q: %s", what, log)
			}
		}
	}
	put(t, file, text(strings.ReplaceAll(base, "50", "60")))
	if n := next(); n.Memory.MaxFacts != 60 {
		t.Errorf("max_facts %d", n.Memory.MaxFacts)
	}
	put(t, file, "memory: { max_facts: 5 }\n")
	said("from 10 to 500")
	put(t, file, text(strings.ReplaceAll(base, "50", "77")))
	next()
	said("refused by the engine")
	put(t, secret, "two")
	if n := next(); n.Embed.APIKey != "two" {
		t.Error("a changed secret was not read")
	}
	hup <- syscall.SIGHUP // reads again though nothing changed
	n := next()
	stop()
	<-ended
	if strings.Contains(log.String(), "two") {
		t.Errorf("the log shows a secret: %s", log)
	}
	if got := c.NeedRestart(n); !slices.Equal(got, []string{"embed.api_key"}) {
		t.Errorf("need a restart: %v", got)
	}
}

func TestWhatNeedsARestart(t *testing.T) {
	at, err := load(t, "memory: { max_facts: 20 }")
	if err != nil {
		t.Fatal(err)
	}
	next, err := load(t, "{ memory: { max_facts: 30, debounce_seconds: 2 }, log: { level: debug, format: json }, server: { listen: '127.0.0.1:1' }, tenants: { a: { recall: { limit: 2 } } }, policy: { preset: experts } }")
	if err != nil {
		t.Fatal(err)
	}
	if got := at.NeedRestart(next); !slices.Equal(got, []string{"server.listen", "log.format"}) {
		t.Errorf("%v", got)
	}
}
