package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke/cmd/internal/config"
	"evoke/store"
)

const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "evoke.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func load(t *testing.T, text string, environ ...string) (*config.Config, error) {
	t.Helper()
	return config.Load(config.Options{File: write(t, text), Environ: environ})
}

func TestDefaultsAreTheDesigns(t *testing.T) {
	c, err := load(t, "")
	if err != nil {
		t.Fatal(err)
	}
	want := config.Tenant{
		LLM: config.LLM{TimeoutSeconds: 45, MaxInputTokens: 16000, MaxOutputTokens: 4096, Zone: "UTC", Budget: config.Budget{InterimRules: true}},
		Memory: config.Memory{Enabled: true, InjectionEnabled: true, DebounceSeconds: 30, MaxWaitSeconds: 300,
			FactConfidenceThreshold: 0.7, MaxFacts: 100, MaxInjectionTokens: 2000, TaskHours: 24, ForgetDays: 30},
		Recall: config.Recall{Limit: 5, MinScore: 0.1, Profile: "default"},
		Review: config.Review{Mode: "off", Below: 0.85},
		Recent: config.Recent{Limit: 10}, Redaction: config.Redaction{Mode: "off"},
	}
	if diff := cmp.Diff(want, c.For("anyone")); diff != "" {
		t.Error(diff)
	}
	if c.Tenant != "default" || c.LLM.Model != "" || c.Server.Listen != "127.0.0.1:8080" {
		t.Errorf("tenant %q, llm %q, listen %q", c.Tenant, c.LLM.Model, c.Server.Listen)
	}
}

func TestEachLayerIsOverTheOneBefore(t *testing.T) {
	file := write(t, "recall: { limit: 6, min_score: 0.2 }\nrecent: { limit: 7 }\n")
	c, err := config.Load(config.Options{
		File:    file,
		Environ: []string{"EVOKE_RECALL_LIMIT=8", "EVOKE_RECENT_LIMIT=9", "EVOKE_LOG_LEVEL=", "HOME=/nowhere"},
		Flags:   map[string]any{"recent.limit": 11},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Recall.MinScore != 0.2 || c.Recall.Limit != 8 || c.Recent.Limit != 11 || c.Log.Level != "info" {
		t.Errorf("recall %+v, recent %+v, log %+v", c.Recall, c.Recent, c.Log)
	}
	origin := map[string]string{}
	for _, l := range c.Show() {
		origin[l.Key] = l.Origin
	}
	for key, want := range map[string]string{"recall.min_score": "file", "recall.limit": "EVOKE_RECALL_LIMIT", "recent.limit": "flag", "log.level": "default"} {
		if origin[key] != want {
			t.Errorf("%s comes from %q, want %q", key, origin[key], want)
		}
	}
}

func TestBadSettingsNameTheKeyAndTheMend(t *testing.T) {
	for _, c := range []struct {
		name, text string
		environ    []string
		want       []string
	}{
		{"unknown key", "memory: { debounce_second: 3 }", nil, []string{`"memory.debounce_second"`, `"memory.debounce_seconds"`}},
		{"unknown section", "recal: { limit: 3 }", nil, []string{`"recal"`, `did you mean "recall"?`}},
		{"too large", "memory: { debounce_seconds: 301 }", nil, []string{"memory.debounce_seconds", "from 1 to 300", "301"}},
		{"too small", "memory: { max_facts: 9 }", nil, []string{"memory.max_facts", "from 10 to 500", "9"}},
		{"negative", "recall: { limit: -1 }", nil, []string{"recall.limit", "from 1 to 1000"}},
		{"not a number", "recall: { min_score: .nan }", nil, []string{"recall.min_score", "from 0 to 1"}},
		{"fraction", "recall: { limit: 1.5 }", nil, []string{"recall.limit", "whole number"}},
		{"text for a number", "recall: { limit: many }", nil, []string{"recall.limit", `"many"`}},
		{"list for a number", "recall: { limit: [1] }", nil, []string{"recall.limit"}},
		{"section for a key", "recall: { limit: { a: 1 } }", nil, []string{"recall.limit"}},
		{"text for yes or no", "memory: { enabled: perhaps }", nil, []string{"memory.enabled", "true or false"}},
		{"unknown choice", "store: { durability: none }", nil, []string{"store.durability", "full or normal"}},
		{"prompt of no length", "llm: { max_input_tokens: 10 }", nil, []string{"llm.max_input_tokens", "from 4000 to 1000000"}},
		{"prompts of nowhere", "llm: { prompts: /nowhere/at/all }", nil, []string{"llm.prompts", "/nowhere/at/all"}},
		{"calls below none", "llm: { calls_per_day: -1 }", nil, []string{"llm.calls_per_day", "from 0 to 1000000000"}},
		{"tokens in words", "llm: { tokens_per_day: lots }", nil, []string{"llm.tokens_per_day", "whole number"}},
		{"tokens for no request", "llm: { tokens_per_day: 1000 }", nil, []string{"llm.tokens_per_day", "at least 20096", "1000"}},
		{"tenant's tokens for no request", "tenants: { acme: { llm: { tokens_per_day: 5000, max_input_tokens: 4000, max_output_tokens: 2000 } } }", nil, []string{"tenants.acme.llm.tokens_per_day", "at least 6000"}},
		{"pace without end", "llm: { calls_per_minute: 1000000 }", nil, []string{"llm.calls_per_minute", "from 0 to 100000"}},
		{"cap above all", "memory: { category_caps: { goal: 501 } }", nil, []string{"memory.category_caps.goal", "from 0 to 500"}},
		{"cap of no category", "memory: { category_caps: { goals: 5 } }", nil, []string{`"memory.category_caps.goals"`, `"memory.category_caps.goal"`}},
		{"tenant's cap", "tenants: { acme: { memory: { category_caps: { goal: x } } } }", nil, []string{"tenants.acme.memory.category_caps.goal"}},
		{"task of no time", "memory: { task_hours: 0 }", nil, []string{"memory.task_hours", "from 1 to 8760"}},
		{"tenant's key file", "tenants: { acme: { llm: { api_key_file: /nowhere/at/all } } }", nil, []string{"tenants.acme.llm.api_key_file"}},
		{"variable out of range", "", []string{"EVOKE_RECALL_LIMIT=0"}, []string{"recall.limit", "EVOKE_RECALL_LIMIT", "from 1 to 1000"}},
		{"unknown variable", "", []string{"EVOKE_RECALL_LIMITS=1"}, []string{`"EVOKE_RECALL_LIMITS"`, `"EVOKE_RECALL_LIMIT"`}},
		{"not YAML", "a: [", nil, []string{"not YAML"}},
		{"key twice", "tenant: a\ntenant: b\n", nil, []string{"not YAML", "tenant"}},
		{"wait below debounce", "memory: { debounce_seconds: 60, max_wait_seconds: 30 }", nil, []string{"memory.max_wait_seconds", "debounce_seconds (60)"}},
		{"no port", "server: { listen: localhost }", nil, []string{"server.listen", "host:port"}},
		{"server setting for a tenant", "tenants: { acme: { server: { listen: 'x:1' } } }", nil, []string{"tenants.acme", "server.listen", "whole server"}},
		{"tenant out of range", "tenants: { acme: { memory: { max_facts: 1 } } }", nil, []string{"tenants.acme.memory.max_facts", "from 10 to 500"}},
		{"unknown key of a tenant", "tenants: { acme: { memry: { max_facts: 11 } } }", nil, []string{"tenants.acme", `"memry"`}},
		{"blank tenant", "tenant: ' '", nil, []string{"tenant"}},
		{"unknown preset", "policy: { preset: expert }", nil, []string{"policy.preset", "default or experts"}},
		{"rule without an agent", "policy: { rules: [ { namespace: own } ] }", nil, []string{"policy.rules[0].agent"}},
		{"unknown namespace", "policy: { rules: [ { agent: a, namespace: all } ] }", nil, []string{"policy.rules[0].namespace", "user, pair, own or none"}},
		{"key as it is", "keys: { my-secret-key: { tenant: a, role: read } }", nil, []string{"SHA-256", "evoke key new"}},
		{"key without a role", "keys: { " + hash + ": { tenant: a } }", nil, []string{"role", "read, write or admin"}},
		{"key without a tenant", "keys: { " + hash + ": { role: read } }", nil, []string{"tenant"}},
		{"unknown role", "keys: { " + hash + ": { tenant: a, role: root } }", nil, []string{"role", "root"}},
		{"no user granted", "keys: { " + hash + ": { tenant: a, role: read, users: [] } }", nil, []string{"users"}},
		{"secret file missing", "embed: { api_key_file: /nowhere/at/all }", nil, []string{"embed.api_key_file", "/nowhere/at/all"}},
		{"secret twice", "embed: { api_key_file: x, api_key: y }", nil, []string{"embed.api_key_file", "one of the two"}},
		{"file for no secret", "embed: { model_file: x }", nil, []string{`"embed.model_file"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, c.text, c.environ...)
			if !errors.Is(err, store.ErrInvalid) {
				t.Fatalf("error %v, want an invalid one", err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
			if strings.Contains(err.Error(), "\n") && c.name != "key twice" && c.name != "not YAML" {
				t.Errorf("%q is longer than a line", err)
			}
		})
	}
}

func TestAMissingFileIsAnErrorOnlyWhenItWasNamed(t *testing.T) {
	if _, err := config.Load(config.Options{File: filepath.Join(t.TempDir(), "no.yaml")}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("named file: %v", err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if _, err := config.Load(config.Options{}); err != nil {
		t.Errorf("default file: %v", err)
	}
}

func TestSecretsComeFromFilesAndAreNotShown(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(t, "embed: { api_key_file: "+secret+" }", "EVOKE_STORE_API_KEY_FILE="+secret)
	if err != nil {
		t.Fatal(err)
	}
	if c.Embed.APIKey != "s3cret" || c.Store.APIKey != "s3cret" {
		t.Errorf("embed %q, store %q", c.Embed.APIKey, c.Store.APIKey)
	}
	for _, l := range c.Show() {
		if s, ok := l.Value.(string); ok && strings.Contains(s, "s3cret") {
			t.Errorf("%s shows the secret", l.Key)
		}
	}
}

func TestATenantsSectionIsLaidOverTheRest(t *testing.T) {
	c, err := load(t, `
memory: { max_facts: 50, debounce_seconds: 5 }
policy: { rules: [ { agent: "s-*", namespace: none } ] }
tenants:
  acme.com: { memory: { max_facts: 300 }, policy: { preset: experts } }
  other: { recall: { limit: 3 } }
`, "EVOKE_MEMORY_DEBOUNCE_SECONDS=6")
	if err != nil {
		t.Fatal(err)
	}
	acme, other := c.For("acme.com"), c.For("other")
	if acme.Memory.MaxFacts != 300 || acme.Memory.DebounceSeconds != 6 || acme.Policy.Preset != "experts" {
		t.Errorf("acme.com: %+v %+v", acme, acme.Policy)
	}
	if other.Memory.MaxFacts != 50 || other.Recall.Limit != 3 || len(other.Policy.Rules) != 1 {
		t.Errorf("other: %+v", other)
	}
}

func TestKeysAndListening(t *testing.T) {
	keyed, err := load(t, "keys: { "+hash+": { tenant: acme, role: write, agents: ['*'] } }\nserver: { listen: '0.0.0.0:80' }")
	if err != nil {
		t.Fatal(err)
	}
	if err := keyed.CheckListen(); err != nil {
		t.Errorf("with keys: %v", err)
	}
	if k := keyed.Keys[hash]; !k.Role.Allows(config.Read) || !k.Role.Allows(config.Write) || k.Role.Allows(config.Admin) {
		t.Errorf("role %q", k.Role)
	}
	for address, loopback := range map[string]bool{
		"127.0.0.1:80": true, "127.9.9.9:1": true, "[::1]:80": true, "localhost:80": true,
		":80": false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false, "example.com:80": false, "127.0.0.1.example.com:80": false,
	} {
		c, err := load(t, "server: { listen: '"+address+"' }")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.CheckListen(); (err == nil) != loopback {
			t.Errorf("%s without keys: %v", address, err)
		}
	}
	if config.Role("").Allows(config.Read) || config.Admin.Allows("") {
		t.Error("an unknown role allows something")
	}
}

// docs/configuration.md is what `evoke config reference` prints.
func TestTheReferenceIsCurrent(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Reference(), string(page)); diff != "" {
		t.Errorf("run `evoke config reference > docs/configuration.md`:\n%s", diff)
	}
}
