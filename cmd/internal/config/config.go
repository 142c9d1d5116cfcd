// Package config reads the settings of the one binary: defaults, one YAML file, EVOKE_* variables, flags, each over the
// one before. Unknown keys are refused with the nearest name, values out of range with the key and the range, and
// secrets may come from files.
package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	envprovider "github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"

	"evoke/store"
)

// Config is what is in force.
type Config struct {
	Tenant    string    `koanf:"tenant"`
	Store     Store     `koanf:"store"`
	Embed     Embed     `koanf:"embed"`
	Rerank    Rerank    `koanf:"rerank"`
	LLM       LLM       `koanf:"llm"`
	Memory    Memory    `koanf:"memory"`
	Review    Review    `koanf:"review"`
	Retention Retention `koanf:"retention"`
	Recall    Recall    `koanf:"recall"`
	Recent    Recent    `koanf:"recent"`
	Redaction Redaction `koanf:"redaction"`
	Limits    Limits    `koanf:"limits"`
	Server    Server    `koanf:"server"`
	Log       Log       `koanf:"log"`
	Policy    *Policy   `koanf:"-"` // nil: the default policy
	// Tenants are the sections of single tenants, complete: what a section does not name is as above.
	Tenants map[string]Tenant `koanf:"-"`
	Keys    Keys              `koanf:"-"`

	file   string            // the file read, "" for none
	origin map[string]string // key → "file", a variable's name, or "flag"; absent: default
	values map[string]any    // key → value in force

	contents contents // of the files read
}

// Store says where items are kept.
type Store struct {
	Path       string `koanf:"path"`
	URL        string `koanf:"url"`
	APIKey     string `koanf:"api_key"`
	Collection string `koanf:"collection"`
	Durability string `koanf:"durability"`
	LedgerDays int    `koanf:"ledger_days"`
	AuditDays  int    `koanf:"audit_days"`
	BlockDays  int    `koanf:"block_days"`
}

// Embed says where vectors come from.
type Embed struct {
	Model          string `koanf:"model"`
	URL            string `koanf:"url"`
	APIKey         string `koanf:"api_key"`
	Dimension      int    `koanf:"dimension"`
	TimeoutSeconds int    `koanf:"timeout_seconds"`
}

// Rerank says which service has a say on the best candidates.
type Rerank struct {
	URL       string `koanf:"url"`
	Model     string `koanf:"model"`
	APIKey    string `koanf:"api_key"`
	Depth     int    `koanf:"depth"`
	TimeoutMS int    `koanf:"timeout_ms"`
}

// Memory sets the write path and the budget of a block.
type Memory struct {
	Enabled                 bool    `koanf:"enabled"`
	InjectionEnabled        bool    `koanf:"injection_enabled"`
	DebounceSeconds         int     `koanf:"debounce_seconds"`
	MaxWaitSeconds          int     `koanf:"max_wait_seconds"`
	FactConfidenceThreshold float64 `koanf:"fact_confidence_threshold"`
	MaxFacts                int     `koanf:"max_facts"`
	MaxInjectionTokens      int     `koanf:"max_injection_tokens"`

	CategoryCaps  CategoryCaps `koanf:"category_caps"`
	ToolSummaries bool         `koanf:"tool_summaries"`
	TaskHours     int          `koanf:"task_hours"`
	ForgetDays    int          `koanf:"forget_days"`
}

// Recall sets what a call that says nothing gets.
type Recall struct {
	Limit    int     `koanf:"limit"`
	MinScore float64 `koanf:"min_score"`
	Profile  string  `koanf:"profile"`
}

// Recent sets the length of the list of recent items.
type Recent struct {
	Limit int `koanf:"limit"`
}

// Redaction says what happens to personal data and secrets.
type Redaction struct {
	Mode     string    `koanf:"mode"`
	Patterns []Pattern `koanf:"-"` // by name; what is found on top of the kinds that are known
}

// Pattern is something else to find: a regular expression.
type Pattern struct{ Name, Match string }

// Limits bound one item.
type Limits struct {
	ContentBytes  int `koanf:"content_bytes"`
	MetadataKeys  int `koanf:"metadata_keys"`
	MetadataBytes int `koanf:"metadata_bytes"`
}

// Server sets the REST server.
type Server struct {
	Listen                string `koanf:"listen"`
	MaxBodyBytes          int    `koanf:"max_body_bytes"`
	RequestTimeoutSeconds int    `koanf:"request_timeout_seconds"`
	ShutdownSeconds       int    `koanf:"shutdown_seconds"`
	MetricsPublic         bool   `koanf:"metrics_public"`
	UI                    bool   `koanf:"ui"`
}

// Log sets the log on standard error.
type Log struct {
	Level  string `koanf:"level"`
	Format string `koanf:"format"`
}

// Tenant is the part of the settings that one tenant may have of its own.
type Tenant struct {
	LLM       LLM       `koanf:"llm"`
	Memory    Memory    `koanf:"memory"`
	Review    Review    `koanf:"review"`
	Retention Retention `koanf:"retention"`
	Recall    Recall    `koanf:"recall"`
	Recent    Recent    `koanf:"recent"`
	Redaction Redaction `koanf:"redaction"`
	Policy    *Policy   `koanf:"-"`
}

// Options say where Load looks.
type Options struct {
	File    string         // "": EVOKE_CONFIG, else config.yaml in the user's configuration folder when it is there
	Environ []string       // as os.Environ gives it
	Flags   map[string]any // key → value, over everything else
}

// Load reads and checks the settings. An error names the file, variable or key at fault and the mend, and is a
// store.ErrInvalid.
func Load(o Options) (*Config, error) {
	c := &Config{origin: map[string]string{}, contents: contents{}}
	k := koanf.New(".")
	if err := k.Load(confmap.Provider(defaults(), "."), nil); err != nil {
		return nil, fmt.Errorf("defaults: %w", err)
	}
	tree, err := c.readFile(o)
	if err != nil {
		return nil, err
	}
	sections := takeSections(tree)
	fromFile, err := flatten(c.file, tree)
	if err != nil {
		return nil, err
	}
	fromEnv, err := environment(o.Environ)
	if err != nil {
		return nil, err
	}
	for _, layer := range []struct {
		values map[string]any
		origin func(name string) string
	}{
		{fromFile, func(string) string { return "file" }},
		{fromEnv, env},
		{o.Flags, func(string) string { return "flag" }},
	} {
		parsed, err := c.parseLayer(layer.values, layer.origin)
		if err != nil {
			return nil, err
		}
		if err := k.Load(confmap.Provider(parsed, "."), nil); err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
	}
	c.values = k.All()
	if err := k.Unmarshal("", c); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	if err := c.readSections(k, sections); err != nil {
		return nil, err
	}
	if err := c.readAllPrompts(); err != nil {
		return nil, err
	}
	return c, c.check()
}

// File is the file that was read, "" for none.
func (c *Config) File() string { return c.file }

// For returns the settings of a tenant.
func (c *Config) For(tenant string) Tenant {
	if t, ok := c.Tenants[tenant]; ok {
		return t
	}
	return Tenant{LLM: c.LLM, Memory: c.Memory, Review: c.Review, Retention: c.Retention, Recall: c.Recall, Recent: c.Recent, Redaction: c.Redaction, Policy: c.Policy}
}

func defaults() map[string]any {
	m := make(map[string]any, len(keys))
	for _, k := range keys {
		m[k.name] = k.def
	}
	return m
}

// maxFile bounds the file and every secret; a setting is never longer.
const maxFile = 4 << 20

func (c *Config) readFile(o Options) (map[string]any, error) {
	name, must := o.fileName()
	if name == "" {
		return map[string]any{}, nil
	}
	b, err := c.read(name)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return map[string]any{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: configuration file: %w", store.ErrInvalid, err)
	}
	tree, err := yaml.Parser().Unmarshal(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is not YAML: %w", store.ErrInvalid, name, err)
	}
	c.file = name
	return tree, nil
}

// fileName is the file that is read, and whether it must be there; "" on a machine without a home.
func (o Options) fileName() (name string, must bool) {
	name = o.File
	if name == "" {
		name = lookup(o.Environ, "EVOKE_CONFIG")
	}
	if name != "" {
		return name, true
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", false
	}
	return filepath.Join(dir, "evoke", "config.yaml"), false
}

// read reads a file and notes what was in it.
func (c *Config) read(name string) ([]byte, error) {
	b, err := readLimited(name)
	c.contents[name] = [sha256.Size]byte{}
	if err == nil {
		c.contents[name] = sha256.Sum256(b)
	}
	return b, err
}

func readLimited(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, maxFile)
	}
	return b, nil
}

// parseLayer checks one layer's values, reads the files that *_file keys name, and notes where each key came from.
func (c *Config) parseLayer(values map[string]any, origin func(string) string) (map[string]any, error) {
	parsed := map[string]any{}
	for name, v := range values {
		at := name
		if o := origin(name); strings.HasPrefix(o, "EVOKE_") {
			at = fmt.Sprintf("%s (%s)", name, o)
		}
		k, ok := find(name)
		if !ok {
			secret, err := c.readSecret(at, name, v, values)
			if err != nil {
				return nil, err
			}
			name = strings.TrimSuffix(name, fileSuffix)
			parsed[name] = secret
			c.origin[name] = origin(name + fileSuffix)
			continue
		}
		p, err := k.parse(at, v)
		if err != nil {
			return nil, err
		}
		parsed[name] = p
		c.origin[name] = origin(name)
	}
	return parsed, nil
}

// readSecret reads the file that a NAME_file key names.
func (c *Config) readSecret(at, name string, v any, layer map[string]any) (string, error) {
	base := strings.TrimSuffix(name, fileSuffix)
	if k, ok := find(base); base == name || !ok || !k.secret {
		return "", fmt.Errorf("%w: %w", store.ErrInvalid, unknownKey(at, name, names()))
	}
	if _, both := layer[base]; both {
		return "", store.Invalid(at, "left out when "+base+" is given: one of the two", "")
	}
	path, ok := v.(string)
	if !ok || path == "" {
		return "", store.Invalid(at, "the path of a file that holds the secret", "")
	}
	b, err := c.read(path)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", store.ErrInvalid, at, err)
	}
	secret := strings.TrimSpace(string(b))
	if secret == "" {
		return "", store.Invalid(at, "the path of a file that is not empty", short(path))
	}
	return secret, nil
}

// flatten turns the file's tree into dotted keys and refuses those that are none.
func flatten(file string, tree map[string]any) (map[string]any, error) {
	flat := map[string]any{}
	known := slices.Concat(names(), sectionNames, groups())
	var walk func(prefix string, m map[string]any) error
	walk = func(prefix string, m map[string]any) error {
		for part, v := range m {
			name := prefix + part
			if child, ok := v.(map[string]any); ok && isSection(name) {
				if err := walk(name+".", child); err != nil {
					return err
				}
				continue
			}
			if v == nil && isSection(name) || v == nil && isKey(name) {
				continue // "store:" with nothing below it says nothing
			}
			if !isKey(name) {
				return fmt.Errorf("%w: %w", store.ErrInvalid, unknownKey(file, name, known))
			}
			flat[name] = v
		}
		return nil
	}
	return flat, walk("", tree)
}

func isKey(name string) bool {
	if _, ok := find(name); ok {
		return true
	}
	base, cut := strings.CutSuffix(name, fileSuffix)
	k, ok := find(base)
	return cut && ok && k.secret
}

func isSection(name string) bool {
	for _, k := range keys {
		if strings.HasPrefix(k.name, name+".") {
			return true
		}
	}
	return false
}

// othersVariables are EVOKE_* variables that are no settings of the binary: where the file is, what the tests and the
// containers read.
var othersVariables = []string{"EVOKE_CONFIG", "EVOKE_DATA", "EVOKE_SOAK", "EVOKE_MODELS", "EVOKE_TARGET", "EVOKE_PORT", "EVOKE_KEYS_FILE", "EVOKE_TEST_*", "EVOKE_CI_*"}

// environment reads the EVOKE_* variables. An empty one counts as not set.
func environment(environ []string) (map[string]any, error) {
	byVariable := map[string]string{}
	for _, n := range names() {
		byVariable[env(n)] = n
	}
	var unknown error
	provider := envprovider.Provider("\x00", envprovider.Opt{
		Prefix: "EVOKE_", EnvironFunc: func() []string { return environ },
		TransformFunc: func(variable, value string) (string, any) {
			name, ok := byVariable[variable]
			switch {
			case value == "" || isOthers(variable):
				return "", nil
			case !ok:
				variables := make([]string, 0, len(byVariable))
				for _, n := range names() {
					variables = append(variables, env(n))
				}
				unknown = fmt.Errorf("%w: %w", store.ErrInvalid, unknownKey("environment", variable, variables))
				return "", nil
			}
			return name, value
		},
	})
	values, err := provider.Read()
	if err != nil {
		return nil, fmt.Errorf("environment: %w", err)
	}
	return values, unknown
}

func isOthers(variable string) bool {
	for _, o := range othersVariables {
		if prefix, ok := strings.CutSuffix(o, "*"); variable == o || ok && strings.HasPrefix(variable, prefix) {
			return true
		}
	}
	return false
}

func lookup(environ []string, name string) string {
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}
