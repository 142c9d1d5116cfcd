package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"log/slog"

	"evoke/cmd/internal/config"
	"evoke/store"
)

const promptText = "Read <conversation>, answer {\"operations\":[]}."

func TestPromptsOfATenant(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "en.acme-3.md"), promptText)
	put(t, filepath.Join(dir, "README.txt"), "not a prompt")
	c, err := load(t, "tenants: { acme: { llm: { prompts: "+dir+" } } }")
	if err != nil {
		t.Fatal(err)
	}
	own := c.For("acme").LLM
	if own.English.Version != "acme-3" || own.English.Text != promptText || own.Chinese.Text != "" || c.LLM.English.Text != "" {
		t.Errorf("%+v", own)
	}
	for name, text := range map[string]string{"en.4.md": promptText, "de.1.md": promptText, "zh.1.md": " "} {
		bad := filepath.Join(dir, name)
		put(t, bad, text)
		_, err := load(t, "tenants: { acme: { llm: { prompts: "+dir+" } } }")
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "tenants.acme.llm.prompts") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(bad); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := load(t, "llm: { prompts: "+t.TempDir()+" }"); err == nil || !strings.Contains(err.Error(), "en.VERSION.md") {
		t.Error(err)
	}
}

// A prompt that changes, and a file that is added to the folder, are read while the server runs.
func TestChangedPromptsAreTaken(t *testing.T) {
	dir := t.TempDir()
	prompts := filepath.Join(dir, "prompts")
	if err := os.Mkdir(prompts, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(prompts, "en.1.md"), promptText)
	put(t, filepath.Join(dir, "evoke.yaml"), "llm: { prompts: "+prompts+" }")
	o := config.Options{File: filepath.Join(dir, "evoke.yaml")}
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan *config.Config)
	go c.Watch(t.Context(), o, time.Millisecond, nil, slog.New(slog.DiscardHandler), func(next *config.Config) error {
		select {
		case taken <- next:
		case <-t.Context().Done():
		}
		return nil
	})
	next := func(what string) *config.Config {
		t.Helper()
		select {
		case n := <-taken:
			return n
		case <-time.After(10 * time.Second):
			t.Fatalf("%s was not taken within 10 s", what)
			return nil
		}
	}
	put(t, filepath.Join(prompts, "en.1.md"), promptText+" Be brief.")
	for n := next("a changed prompt"); n.LLM.English.Text != promptText+" Be brief."; n = next("a changed prompt") { // a folder may change twice for one file
		if n.LLM.English.Text != promptText {
			t.Fatalf("%+v", n.LLM.English)
		}
	}
	put(t, filepath.Join(prompts, "zh.1.md"), promptText)
	for next("an added prompt").LLM.Chinese.Version != "1" { // a folder may change twice for one file
	}
}
