package evoke

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"evoke/extract/redact"
	"evoke/store"
)

// TenantPolicy is what a tenant has decided for itself while the engine runs (SetPolicy). A section that is nil is as the
// settings say (Options, Options.TenantOptions); one that is given takes their place as a whole, but for Budget.
type TenantPolicy struct {
	Redaction *RedactionPolicy `json:"redaction,omitempty"`
	Namespace *NamespacePolicy `json:"namespace,omitempty"`
	Budget    *BudgetPolicy    `json:"budget,omitempty"`
	Retention *RetentionPolicy `json:"retention,omitempty"`

	Consolidation *ConsolidationPolicy `json:"consolidation,omitempty"`
	Review        *ReviewPolicy        `json:"review,omitempty"`
}

// RedactionPolicy says what happens to personal data and secrets in what is written and asked.
type RedactionPolicy struct {
	Mode redact.Mode `json:"mode"` // off, mask or reject
	// Patterns are regular expressions (RE2) of what is found on top of the known kinds, by name: 1–40 of a-z, 0-9 and _.
	// At most 100, each at most 1000 bytes.
	Patterns map[string]string `json:"patterns,omitempty"`
}

// NamespacePolicy says whose memory an agent works on: rules of the tenant's own, then those of a preset.
type NamespacePolicy struct {
	Preset string       `json:"preset,omitempty"` // default (DefaultPolicy, also "") or experts (ExpertsPolicy)
	Rules  []PolicyRule `json:"rules,omitempty"`  // at most 1000; the first that matches decides
}

// BudgetPolicy limits what the tenant takes of its language model. A tenant cannot give itself more than the settings do:
// of two limits the lower one holds. nil: none of its own.
type BudgetPolicy struct {
	CallsPerDay    *int64 `json:"calls_per_day,omitempty"`    // 1–10⁹
	TokensPerDay   *int64 `json:"tokens_per_day,omitempty"`   // 1–10¹²
	CallsPerMinute *int   `json:"calls_per_minute,omitempty"` // 1–100,000
}

const (
	maxPolicyBytes   = 64 << 10 // of the whole document
	maxPatterns      = 100
	maxPatternBytes  = 1000
	maxPolicyRules   = 1000
	maxCallsPerDay   = 1_000_000_000
	maxTokensPerDay  = 1_000_000_000_000
	maxCallsAMinute  = 100_000
	presetOfExperts  = "experts"
	presetOfDefaults = "default"
)

// Validate checks the document. An error names the field, its limit and the mend.
func (p *TenantPolicy) Validate() error {
	_, err := p.compile()
	return err
}

// inForcePolicy is a policy in the form in which every call uses it.
type inForcePolicy struct {
	doc       TenantPolicy
	redactor  *redact.Redactor // nil: that of the settings
	namespace *Policy          // nil: that of the settings
}

func (p *TenantPolicy) compile() (c inForcePolicy, err error) {
	c.doc = *p
	b, err := json.Marshal(p)
	if err != nil {
		return c, fmt.Errorf("encode policy: %w", err)
	}
	if len(b) > maxPolicyBytes {
		return c, store.Invalid("policy", fmt.Sprintf("at most %d bytes in all", maxPolicyBytes), fmt.Sprint(len(b)))
	}
	if p.Redaction != nil {
		if c.redactor, err = p.Redaction.redactor(); err != nil {
			return c, err
		}
	}
	if p.Namespace != nil {
		if c.namespace, err = p.Namespace.policy(); err != nil {
			return c, err
		}
	}
	if p.Review != nil {
		if err := p.Review.Validate(); err != nil {
			return c, err
		}
	}
	return c, errors.Join(p.Budget.validate(), p.Retention.Validate(), p.Consolidation.Validate())
}

func (r *RedactionPolicy) redactor() (*redact.Redactor, error) {
	if r.Mode == "" {
		return nil, store.Invalid("redaction.mode", "off, mask or reject", "")
	}
	if len(r.Patterns) > maxPatterns {
		return nil, store.Invalid("redaction.patterns", fmt.Sprintf("at most %d", maxPatterns), fmt.Sprint(len(r.Patterns)))
	}
	o := redact.Options{Mode: r.Mode}
	for _, name := range slices.Sorted(maps.Keys(r.Patterns)) {
		match := r.Patterns[name]
		if len(match) > maxPatternBytes {
			return nil, store.Invalid("redaction.patterns."+name, fmt.Sprintf("at most %d bytes", maxPatternBytes), fmt.Sprint(len(match)))
		}
		o.Patterns = append(o.Patterns, redact.Pattern{Name: name, Match: match})
	}
	return redact.New(&o)
}

func (n *NamespacePolicy) policy() (*Policy, error) {
	after := DefaultPolicy()
	switch n.Preset {
	case "", presetOfDefaults:
	case presetOfExperts:
		after = ExpertsPolicy()
	default:
		return nil, store.Invalid("namespace.preset", "default or experts", "")
	}
	if len(n.Rules) > maxPolicyRules {
		return nil, store.Invalid("namespace.rules", fmt.Sprintf("at most %d", maxPolicyRules), fmt.Sprint(len(n.Rules)))
	}
	for i, r := range n.Rules {
		if err := store.ValidateName(fmt.Sprintf("namespace.rules[%d].agent", i), r.Agent); err != nil {
			return nil, err
		}
	}
	own := &Policy{Rules: n.Rules}
	if err := own.validate("namespace"); err != nil {
		return nil, err
	}
	return &Policy{Rules: slices.Concat(n.Rules, after.Rules)}, nil
}

func (b *BudgetPolicy) validate() error {
	if b == nil {
		return nil
	}
	for _, f := range []struct {
		name string
		n    *int64
		most int64
	}{
		{"calls_per_day", b.CallsPerDay, maxCallsPerDay}, {"tokens_per_day", b.TokensPerDay, maxTokensPerDay},
		{"calls_per_minute", wide(b.CallsPerMinute), maxCallsAMinute},
	} {
		if f.n != nil && (*f.n < 1 || *f.n > f.most) {
			return store.Invalid("budget."+f.name, fmt.Sprintf("from 1 to %d (leave it out for no limit of its own)", f.most), fmt.Sprint(*f.n))
		}
	}
	return nil
}

func wide(n *int) *int64 {
	if n == nil {
		return nil
	}
	return ptr(int64(*n))
}

// Where a value of a policy comes from.
const (
	FromPolicy   = "policy"   // SetPolicy
	FromSettings = "settings" // Options, or a server's configuration
	FromDefault  = "default"  // neither says anything
)

// Within puts the lower of two limits in place of the settings' and returns where each limit comes from, by its name.
func (b *BudgetPolicy) Within(settings *Budget) map[string]string {
	from := map[string]string{}
	if b == nil {
		b = &BudgetPolicy{}
	}
	perMinute := int64(settings.CallsPerMinute)
	for _, f := range []struct {
		name string
		of   *int64 // of the settings; 0: none
		own  *int64
	}{
		{"calls_per_day", &settings.CallsPerDay, b.CallsPerDay}, {"tokens_per_day", &settings.TokensPerDay, b.TokensPerDay},
		{"calls_per_minute", &perMinute, wide(b.CallsPerMinute)},
	} {
		switch {
		case f.own != nil && (*f.of == 0 || *f.own < *f.of):
			*f.of, from[f.name] = *f.own, FromPolicy
		case *f.of > 0:
			from[f.name] = FromSettings
		default:
			from[f.name] = FromDefault
		}
	}
	settings.CallsPerMinute = int(perMinute)
	settings.Spent = settings.Spent || settings.CallsPerDay > 0 && settings.Calls >= settings.CallsPerDay ||
		settings.TokensPerDay > 0 && settings.Tokens >= settings.TokensPerDay
	return from
}

// limits is the budget as a document; nil where there is no limit.
func (b *Budget) limits() *BudgetPolicy {
	var l BudgetPolicy
	if b.CallsPerDay > 0 {
		l.CallsPerDay = ptr(b.CallsPerDay)
	}
	if b.TokensPerDay > 0 {
		l.TokensPerDay = ptr(b.TokensPerDay)
	}
	if b.CallsPerMinute > 0 {
		l.CallsPerMinute = ptr(b.CallsPerMinute)
	}
	if l == (BudgetPolicy{}) {
		return nil
	}
	return &l
}
