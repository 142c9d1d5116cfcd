package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func loadText(t *testing.T, text string) (*Config, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(Options{File: name})
}

func TestRedaction(t *testing.T) {
	t.Parallel()
	c, err := loadText(t, `
redaction:
  mode: mask
  patterns: { staff_no: 'EMP-\d+' }
tenants:
  strict:
    redaction: { mode: reject }
  own:
    redaction: { patterns: { ship: 'NCC-\d+' } }
  free:
    redaction: { mode: "off" }
`)
	if err != nil {
		t.Fatal(err)
	}
	all := []Pattern{{"staff_no", `EMP-\d+`}}
	for tenant, want := range map[string]Redaction{
		"": {"mask", all}, "strict": {"reject", all}, "own": {"mask", []Pattern{{"ship", `NCC-\d+`}}}, "free": {"off", all},
	} {
		if diff := cmp.Diff(want, c.For(tenant).Redaction); diff != "" {
			t.Errorf("tenant %q: %s", tenant, diff)
		}
	}
	for text, want := range map[string]string{
		"redaction: { mode: hide }":                                   "redaction.mode",
		"redaction: { patterns: { a: '(' } }":                         "redaction.patterns.a",
		"redaction: { patterns: { A: 'x' } }":                         "redaction.patterns.A",
		"redaction: { patterns: { a: 'x*' } }":                        "redaction.patterns.a",
		"redaction: { patterns: [x] }":                                "redaction.patterns",
		"tenants: { t: { redaction: { patterns: { a: 1 } } } }":       "tenants.t.redaction.patterns.a",
		"tenants: { t: { redaction: { mode: mask, pattern: 'x' } } }": "pattern",
	} {
		if _, err := loadText(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that names %s", text, err, want)
		}
	}
}
