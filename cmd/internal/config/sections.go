package config

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"evoke/extract/redact"
	"evoke/store"
)

// Policy is the namespace policy: a preset, then rules in front of the preset's own.
type Policy struct {
	Preset string // "default" or "experts"
	Rules  []Rule
}

// Rule maps an agent-name pattern ("*" is any run of characters) to a namespace: user, pair, own or none.
type Rule struct {
	Agent     string
	Namespace string
}

// Role is what a key may do. Each role includes those before it.
type Role string

// The roles.
const (
	Read  Role = "read"  // recall, context, read, list, stats
	Write Role = "write" // and ingest, remember, update, feedback, delete one
	Admin Role = "admin" // and the /v1/admin routes

	// Installation is above tenants: the /v1/installation routes, and no memory of anybody.
	Installation Role = "installation"
)

// Allows reports whether the role includes what wants asks for. An unknown role allows nothing.
func (r Role) Allows(want Role) bool {
	if r == Installation || want == Installation {
		return r == want
	}
	order := []Role{Read, Write, Admin}
	have, need := slices.Index(order, r), slices.Index(order, want)
	return have >= 0 && need >= 0 && have >= need
}

// Key is what one API key grants.
type Key struct {
	Name   string // for the log; never the key
	Tenant string
	Role   Role
	Agents []string // patterns of the agents granted; none: calls without an agent only
	Users  []string // the users granted; none: every user of the tenant
}

// Keys maps the lower-case hex SHA-256 of a key to what it grants.
type Keys map[string]Key

var sectionNames = []string{"policy", "tenants", "keys"}

// takeSections removes the sections that are lists and maps from the file's tree.
func takeSections(tree map[string]any) map[string]any {
	taken := map[string]any{}
	for _, name := range sectionNames {
		if v, ok := tree[name]; ok {
			taken[name] = v
			delete(tree, name)
		}
	}
	taken[patternsName] = takePatterns(tree)
	return taken
}

const patternsName = "redaction.patterns"

// takePatterns removes redaction.patterns, whose names are the user's own, from a tree.
func takePatterns(tree map[string]any) any {
	m, ok := tree["redaction"].(map[string]any)
	if !ok {
		return nil
	}
	v := m["patterns"]
	m = maps.Clone(m)
	delete(m, "patterns")
	if tree["redaction"] = m; len(m) == 0 {
		delete(tree, "redaction")
	}
	return v
}

// readPatterns reads and checks patterns; none leaves those of all tenants.
func readPatterns(at string, v any, of Redaction) ([]Pattern, error) {
	m, err := section(at, v)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return of.Patterns, nil
	}
	list := make([]Pattern, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		s, ok := m[name].(string)
		if !ok {
			return nil, store.Invalid(at+"."+name, "a regular expression (RE2 syntax) as text", short(m[name]))
		}
		if _, err := redact.New(&redact.Options{Patterns: []redact.Pattern{{Name: name, Match: s}}}); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", at, name, err)
		}
		list = append(list, Pattern{name, s})
	}
	return list, nil
}

func (c *Config) readSections(base *koanf.Koanf, sections map[string]any) error {
	var err error
	if c.Policy, err = readPolicy("policy", sections["policy"]); err != nil {
		return err
	}
	if c.Redaction.Patterns, err = readPatterns(patternsName, sections[patternsName], Redaction{}); err != nil {
		return err
	}
	if err := c.readTenants(base, sections["tenants"]); err != nil {
		return err
	}
	return c.readKeys(sections["keys"])
}

func section(at string, v any) (map[string]any, error) {
	if v == nil {
		return nil, nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, store.Invalid(at, "a section of keys and values", short(v))
	}
	return m, nil
}

func readPolicy(at string, v any) (*Policy, error) {
	m, err := section(at, v)
	if err != nil || m == nil {
		return nil, err
	}
	p := &Policy{Preset: "default"}
	for name, v := range m {
		switch name {
		case "preset":
			s, _ := v.(string)
			if s != "default" && s != "experts" {
				return nil, store.Invalid(at+".preset", "default or experts", short(v))
			}
			p.Preset = s
		case "rules":
			if p.Rules, err = readRules(at+".rules", v); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%w: %w", store.ErrInvalid, unknownKey(at, name, []string{"preset", "rules"}))
		}
	}
	return p, nil
}

func readRules(at string, v any) ([]Rule, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, store.Invalid(at, "a list of {agent, namespace}", short(v))
	}
	var rules []Rule
	for i, e := range list {
		at := fmt.Sprintf("%s[%d]", at, i)
		m, ok := e.(map[string]any)
		if !ok {
			return nil, store.Invalid(at, "{agent, namespace}", short(e))
		}
		for name := range m {
			if name != "agent" && name != "namespace" {
				return nil, fmt.Errorf("%w: %w", store.ErrInvalid, unknownKey(at, name, []string{"agent", "namespace"}))
			}
		}
		agent, _ := m["agent"].(string)
		namespace, _ := m["namespace"].(string)
		if agent == "" {
			return nil, store.Invalid(at+".agent", `a name or a pattern such as "project-*"`, "")
		}
		if !slices.Contains([]string{"user", "pair", "own", "none"}, namespace) {
			return nil, store.Invalid(at+".namespace", "user, pair, own or none", short(m["namespace"]))
		}
		rules = append(rules, Rule{agent, namespace})
	}
	return rules, nil
}

// readTenants lays each tenant's section over the settings of all.
func (c *Config) readTenants(base *koanf.Koanf, v any) error {
	m, err := section("tenants", v)
	if err != nil {
		return err
	}
	c.Tenants = map[string]Tenant{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		at := "tenants." + name
		if err := validTenant(at, name); err != nil {
			return err
		}
		own, err := section(at, m[name])
		if err != nil {
			return err
		}
		policy, err := readPolicy(at+".policy", own["policy"])
		if err != nil {
			return err
		}
		if policy == nil {
			policy = c.Policy
		}
		own = maps.Clone(own)
		delete(own, "policy")
		patterns, err := readPatterns(at+"."+patternsName, takePatterns(own), c.Redaction)
		if err != nil {
			return err
		}
		flat, err := flatten(at, own)
		if err != nil {
			return err
		}
		merged := base.Copy()
		for name, v := range flat {
			name, p, err := c.ofTenant(at, name, v, flat)
			if err != nil {
				return err
			}
			if err := merged.Load(confmap.Provider(map[string]any{name: p}, "."), nil); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		}
		t := Tenant{}
		if err := merged.Unmarshal("", &t); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		t.Policy, t.Redaction.Patterns = policy, patterns
		c.Tenants[name] = t
	}
	return nil
}

// ofTenant checks one setting of a tenant's section, whose settings flat are, and reads the secret that it names a file of.
func (c *Config) ofTenant(at, name string, v any, flat map[string]any) (string, any, error) {
	base := name
	k, direct := find(name)
	if !direct {
		base = strings.TrimSuffix(name, fileSuffix)
		k, _ = find(base)
	}
	if !k.tenant {
		return "", nil, fmt.Errorf("%w: %s: %s is a setting of the whole server; move it to the top of the file", store.ErrInvalid, at, name)
	}
	if direct {
		p, err := k.parse(at+"."+name, v)
		return name, p, err
	}
	secret, err := c.readSecret(at+"."+name, name, v, flat)
	return base, secret, err
}

func validTenant(at, name string) error {
	if strings.TrimSpace(name) == "" || name == "*" {
		return store.Invalid(at, `a tenant's name, and not "*"`, short(name))
	}
	return store.ValidateName(at, name)
}

func (c *Config) readKeys(v any) error {
	m, err := section("keys", v)
	if err != nil {
		return err
	}
	c.Keys = Keys{}
	for _, hash := range slices.Sorted(maps.Keys(m)) {
		at := "keys." + abbreviate(hash)
		if b, err := hex.DecodeString(hash); err != nil || len(b) != 32 || hash != strings.ToLower(hash) {
			return store.Invalid(at, "the SHA-256 of a key as 64 lower-case hex digits (`evoke key new` prints it)", "")
		}
		k, err := readKey(at, m[hash])
		if err != nil {
			return err
		}
		c.Keys[hash] = k
	}
	return nil
}

func abbreviate(hash string) string {
	if len(hash) > 12 {
		return hash[:12] + "…"
	}
	return hash
}

func readKey(at string, v any) (Key, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return Key{}, store.Invalid(at, "a section with tenant and role", short(v))
	}
	var k Key
	var err error
	for name, v := range m {
		s, isText := v.(string)
		switch name {
		case "name":
			k.Name = s
		case "tenant":
			k.Tenant = s
		case "role":
			k.Role = Role(s)
		case "agents":
			k.Agents, err = texts(at+".agents", v)
			isText = true
		case "users":
			if k.Users, err = texts(at+".users", v); err == nil && len(k.Users) == 0 {
				err = store.Invalid(at+".users", "a list of at least one user (leave it out to grant all)", "")
			}
			isText = true
		default:
			return Key{}, fmt.Errorf("%w: %w", store.ErrInvalid, unknownKey(at, name, []string{"name", "tenant", "role", "agents", "users"}))
		}
		if err == nil && !isText {
			err = store.Invalid(at+"."+name, "text", short(v))
		}
		if err != nil {
			return Key{}, err
		}
	}
	if k.Role == Installation {
		if k.Tenant != "" || k.Agents != nil || k.Users != nil {
			return Key{}, store.Invalid(at, "without tenant, agents and users, as its role is installation: such a key reads no memory", "")
		}
		return k, nil
	}
	if err := validTenant(at+".tenant", k.Tenant); err != nil {
		return Key{}, err
	}
	if !k.Role.Allows(Read) {
		return Key{}, store.Invalid(at+".role", "read, write or admin (or installation)", short(string(k.Role)))
	}
	return k, nil
}

func texts(at string, v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, store.Invalid(at, "a list of names", short(v))
	}
	out := make([]string, len(list))
	for i, e := range list {
		s, ok := e.(string)
		if !ok || s == "" {
			return nil, store.Invalid(fmt.Sprintf("%s[%d]", at, i), "a name", short(e))
		}
		out[i] = s
	}
	return out, nil
}

// check holds what concerns several keys at once.
func (c *Config) check() error {
	if err := validTenant("tenant", c.Tenant); err != nil {
		return err
	}
	for name, t := range c.Tenants {
		if err := checkWait("tenants."+name+".memory", t.Memory); err != nil {
			return err
		}
		if err := t.LLM.check("tenants." + name + ".llm"); err != nil {
			return err
		}
	}
	if err := checkWait("memory", c.Memory); err != nil {
		return err
	}
	if err := c.LLM.check("llm"); err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(c.Server.Listen); err != nil {
		return store.Invalid("server.listen", "host:port", short(c.Server.Listen))
	}
	return nil
}

func checkWait(at string, m Memory) error {
	if m.MaxWaitSeconds < m.DebounceSeconds {
		return store.Invalid(at+".max_wait_seconds", fmt.Sprintf("at least debounce_seconds (%d)", m.DebounceSeconds), fmt.Sprint(m.MaxWaitSeconds))
	}
	return nil
}

// ErrNoKeys is returned by CheckListen for an address that others can reach while no key is configured, and to a running
// server that is to go on without the keys it had.
var ErrNoKeys = errors.New("refused to listen without keys")

// CheckListen refuses an address other than loopback while no keys are configured.
func (c *Config) CheckListen() error {
	if len(c.Keys) > 0 || Loopback(c.Server.Listen) {
		return nil
	}
	return fmt.Errorf("%w: %w: server.listen is %q, which others can reach; make a key with `evoke key new` and add it to the file, or listen on 127.0.0.1",
		store.ErrInvalid, ErrNoKeys, c.Server.Listen)
}

// Loopback reports whether host:port names this machine only. A name other than localhost is not looked up: it counts
// as reachable.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
