package evoke

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"evoke/extract"
	"evoke/extract/redact"
	"evoke/store"
)

const (
	policySettings  = "policy"
	policyName      = "current"
	versionSettings = "policy version" // those before the current one
	policyVersions  = 100              // of them are kept
)

// storedPolicy is a policy as the ledger keeps it.
type storedPolicy struct {
	Policy TenantPolicy `json:"policy"`
	By     string       `json:"by,omitempty"`
	At     time.Time    `json:"at"`
	N      int64        `json:"n"` // the version
}

// tenantPolicy is one in force. With err the stored one cannot be read: calls of its tenant are refused, lest what it
// wants masked is kept as it is.
type tenantPolicy struct {
	inForcePolicy
	version int64
	err     error
}

// PolicyResult is a tenant's policy.
type PolicyResult struct {
	Policy  TenantPolicy `json:"policy"`  // what was set, and nothing else
	Version int64        `json:"version"` // 0: nothing was ever set
	At      time.Time    `json:"at,omitzero"`
	By      string       `json:"by,omitempty"` // name of the credential that set it
	// Effective is what holds, with what the settings say where Policy says nothing.
	Effective TenantPolicy `json:"effective"`
	// From says of every part of Effective where it comes from: FromPolicy, FromSettings or FromDefault.
	From map[string]string `json:"from"`
}

// SetPolicyRequest puts a policy in the place of the one before.
type SetPolicyRequest struct {
	Policy  TenantPolicy
	Version int64 // of the one that was read (PolicyResult.Version); any other than the stored one is ErrConflict
}

// PolicyVersion is a policy of before, or the current one.
type PolicyVersion struct {
	Version int64        `json:"version"`
	At      time.Time    `json:"at"`
	By      string       `json:"by,omitempty"`
	Policy  TenantPolicy `json:"policy"`
}

func readPolicy(s *store.Setting) (p storedPolicy, c inForcePolicy, err error) {
	if err := json.Unmarshal(s.Value, &p); err != nil {
		return p, c, fmt.Errorf("a stored policy: %w", store.ErrCorrupt)
	}
	p.N = s.Version
	if c, err = p.Policy.compile(); err != nil {
		return p, c, fmt.Errorf("a stored policy: %w: %w", store.ErrCorrupt, err)
	}
	return p, c, nil
}

// loadPolicies reads the policies of all tenants. One that is in force already is not compiled again.
func (e *engine) loadPolicies(ctx context.Context) error {
	all, err := e.ledger.Settings(ctx, "*", policySettings)
	if err != nil {
		return fmt.Errorf("read policies: %w", err)
	}
	e.live.mu.RLock()
	before := e.live.policies
	e.live.mu.RUnlock()
	next := make(map[string]tenantPolicy, len(all))
	for i := range all {
		s := &all[i]
		if p, ok := before[s.Tenant]; ok && p.version == s.Version {
			next[s.Tenant] = p
			continue
		}
		p := tenantPolicy{version: s.Version}
		if _, p.inForcePolicy, p.err = readPolicy(s); p.err != nil {
			e.log.ErrorContext(ctx, "a tenant's policy cannot be read: its calls are refused until one is set anew", "tenant", s.Tenant, "error", p.err)
		}
		next[s.Tenant] = p
	}
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	e.live.policies = next
	return nil
}

// TenantPolicy tells what the tenant has set for itself, what holds, and where each part of that comes from.
func (m *Memory) TenantPolicy(ctx context.Context) (PolicyResult, error) {
	s, err := m.storedPolicy(ctx)
	if err != nil {
		return PolicyResult{}, fmt.Errorf("policy: %w", err)
	}
	return m.policyResult(ctx, s)
}

// SetPolicy puts a policy in the place of the one before. It holds from the next call on, in other processes of the store
// within SettingsWithin. Errors: store.ErrInvalid; store.ErrConflict when another was set since Version was read.
func (m *Memory) SetPolicy(ctx context.Context, r SetPolicyRequest) (_ PolicyResult, err error) {
	defer func() { m.audit(ctx, deed("set policy", Who{}, err, nil)) }()
	return m.setPolicy(ctx, r)
}

// ResetPolicy takes everything out of the policy, so that the settings hold. Errors as of SetPolicy.
func (m *Memory) ResetPolicy(ctx context.Context, version int64) (_ PolicyResult, err error) {
	defer func() { m.audit(ctx, deed("reset policy", Who{}, err, nil)) }()
	return m.setPolicy(ctx, SetPolicyRequest{Version: version})
}

func (m *Memory) setPolicy(ctx context.Context, r SetPolicyRequest) (PolicyResult, error) {
	if r.Version < 0 {
		return PolicyResult{}, store.Invalid("version", "that of the policy as it was read, 0 when none was set", fmt.Sprint(r.Version))
	}
	if err := r.Policy.Validate(); err != nil {
		return PolicyResult{}, err
	}
	m.live.change.Lock()
	defer m.live.change.Unlock()
	old, err := m.oneSetting(ctx, m.tenant, policySettings, policyName)
	if err != nil {
		return PolicyResult{}, fmt.Errorf("policy: %w", err)
	}
	if old.Version != r.Version {
		return PolicyResult{}, fmt.Errorf("policy: %w: it is at version %d, not %d (read it again and change that)", store.ErrConflict, old.Version, r.Version)
	}
	// What is about to be replaced goes to the history first. It is settled: whoever does so writes the same.
	if err := m.keepVersion(ctx, old); err != nil {
		return PolicyResult{}, fmt.Errorf("policy: %w", err)
	}
	next := storedPolicy{Policy: r.Policy, By: actorOf(ctx).Name, At: m.now(), N: old.Version + 1}
	b, err := json.Marshal(next)
	if err != nil {
		return PolicyResult{}, fmt.Errorf("encode policy: %w", err)
	}
	set := store.Setting{Tenant: m.tenant, Kind: policySettings, Name: policyName, Value: b, Version: old.Version, At: next.At}
	if next.N, err = m.ledger.SaveSetting(ctx, set); err != nil {
		return PolicyResult{}, fmt.Errorf("policy: %w", err)
	}
	if err := m.loadPolicies(ctx); err != nil {
		return PolicyResult{}, err
	}
	m.holdBack()
	if err := m.worker.Reconsider(ctx, m.tenant, nil); err != nil { // a budget may have grown
		return PolicyResult{}, fmt.Errorf("policy: %w", err)
	}
	return m.policyResult(ctx, next)
}

// keepVersion puts a policy that is replaced into the history and drops the oldest there.
func (m *Memory) keepVersion(ctx context.Context, s store.Setting) error {
	if s.Version == 0 {
		return nil
	}
	s.Kind, s.Name, s.Version = versionSettings, versionName(s.Version), 0
	if _, err := m.ledger.SaveSetting(ctx, s); err != nil && !errors.Is(err, store.ErrConflict) {
		return err
	}
	all, err := m.ledger.Settings(ctx, m.tenant, versionSettings)
	if err != nil {
		return err
	}
	for ; len(all) > policyVersions; all = all[1:] {
		if err := m.ledger.DropSetting(ctx, m.tenant, versionSettings, all[0].Name); ignoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// versionName sorts as the versions do.
func versionName(n int64) string { return fmt.Sprintf("%019d", n) }

// PolicyHistory lists the tenant's policies, the current one first, then the last hundred before it. Beside a policy that
// cannot be read any more stands an empty one.
func (m *Memory) PolicyHistory(ctx context.Context) ([]PolicyVersion, error) {
	current, err := m.oneSetting(ctx, m.tenant, policySettings, policyName)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	all, err := m.ledger.Settings(ctx, m.tenant, versionSettings)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if current.Version > 0 {
		all = append(all, current)
	}
	list := make([]PolicyVersion, 0, len(all))
	for i := range all {
		var p storedPolicy
		if json.Unmarshal(all[i].Value, &p) != nil {
			p = storedPolicy{At: all[i].At}
		}
		list = append(list, PolicyVersion{Version: p.N, At: p.At, By: p.By, Policy: p.Policy})
	}
	slices.Reverse(list)
	return list, nil
}

// BudgetPolicy is the tenant's own limits of its language model, for whoever meters it (Options.Budget); the zero value
// when it has none. It is cheap.
func (m *Memory) BudgetPolicy() BudgetPolicy {
	p, err := m.policyOf(m.tenant)
	if err != nil || p.doc.Budget == nil {
		return BudgetPolicy{}
	}
	return *p.doc.Budget
}

func (m *Memory) storedPolicy(ctx context.Context) (storedPolicy, error) {
	s, err := m.oneSetting(ctx, m.tenant, policySettings, policyName)
	if err != nil || s.Version == 0 {
		return storedPolicy{}, err
	}
	p, _, err := readPolicy(&s)
	return p, err
}

// oneSetting returns a setting, one of version 0 when there is none.
func (e *engine) oneSetting(ctx context.Context, tenant, kind, name string) (store.Setting, error) {
	all, err := e.ledger.Settings(ctx, tenant, kind)
	if err != nil {
		return store.Setting{}, err
	}
	if i := slices.IndexFunc(all, func(s store.Setting) bool { return s.Name == name }); i >= 0 {
		return all[i], nil
	}
	return store.Setting{}, nil
}

// policyResult lays a stored policy over the settings.
func (m *Memory) policyResult(ctx context.Context, p storedPolicy) (PolicyResult, error) {
	r := PolicyResult{Policy: p.Policy, Version: p.N, At: p.At, By: p.By, From: map[string]string{}, Effective: p.Policy}
	var t TenantOptions
	if m.perTenant != nil {
		t = m.perTenant(m.tenant)
	}
	own := func(part string, set, fromSettings bool) bool {
		switch {
		case set:
			r.From[part] = FromPolicy
		case fromSettings:
			r.From[part] = FromSettings
		default:
			r.From[part] = FromDefault
		}
		return set
	}
	red := t.Redactor
	if red == nil {
		red = m.base.Redactor
	}
	doc := redactionOf(red)
	if !own("redaction", p.Policy.Redaction != nil, doc.Mode != redact.Off || len(doc.Patterns) > 0) {
		r.Effective.Redaction = doc
	}
	namespace, given := t.Policy, t.Policy != nil
	if !given {
		namespace, given = m.base.Policy, m.ownNamespace
	}
	if !own("namespace", p.Policy.Namespace != nil, given) {
		r.Effective.Namespace = &NamespacePolicy{Rules: namespace.Rules}
	}
	if t.Review == nil {
		t.Review = m.base.Review
	}
	if !own("review", p.Policy.Review != nil, t.Review != nil && t.Review.Mode != "" && t.Review.Mode != extract.ReviewOff) {
		r.Effective.Review = &ReviewPolicy{Mode: extract.ReviewOff}
		if t.Review != nil && t.Review.Mode != "" {
			r.Effective.Review = t.Review
		}
	}
	if t.Retention == nil {
		t.Retention = m.base.Retention
	}
	if !own("retention", p.Policy.Retention != nil, saysAnything(t.Retention)) {
		r.Effective.Retention = cmp.Or(t.Retention, &RetentionPolicy{})
	}
	if !own("consolidation", p.Policy.Consolidation != nil, t.Consolidation != nil) {
		holds, err := cmp.Or(t.Consolidation, &ConsolidationPolicy{}).withDefaults()
		if err != nil {
			return PolicyResult{}, fmt.Errorf("policy: %w", err)
		}
		r.Effective.Consolidation = &holds
	}
	var b Budget
	if m.budget != nil {
		var err error
		if b, err = m.budget(ctx, m.tenant); err != nil {
			return PolicyResult{}, fmt.Errorf("policy: %w", err)
		}
	}
	for name, from := range p.Policy.Budget.Within(&b) {
		r.From["budget."+name] = from
	}
	r.Effective.Budget = b.limits()
	return r, nil
}

// redactionOf describes a Redactor; one that is not of package extract/redact is its own, with a mode of no name.
func redactionOf(by Redactor) *RedactionPolicy {
	r, ok := by.(*redact.Redactor)
	switch {
	case by == nil || ok && r == nil:
		return &RedactionPolicy{Mode: redact.Off}
	case !ok:
		return &RedactionPolicy{Mode: customMode}
	}
	doc := &RedactionPolicy{Mode: r.Mode()}
	for _, p := range r.Patterns() {
		if doc.Patterns == nil {
			doc.Patterns = map[string]string{}
		}
		doc.Patterns[p.Name] = p.Match
	}
	return doc
}

// customMode is shown for a Redactor that the settings bring and that is of another make.
const customMode redact.Mode = "custom"

// saysAnything tells a retention policy from one whose fields are all empty.
func saysAnything(p *RetentionPolicy) bool {
	b, err := json.Marshal(p)
	return p != nil && (err != nil || string(b) != "{}")
}
