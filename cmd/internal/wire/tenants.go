package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/extract"
	"evoke/extract/redact"
	"evoke/extract/rules"
	"evoke/store"
)

// inForce are settings in the engine's form: built once, looked up at every call.
type inForce struct {
	config  *config.Config
	tenants map[string]evoke.TenantOptions // of those that have a section
	others  evoke.TenantOptions
	models  models
}

// forTenant is what the engine asks at every call.
func (e *Engine) forTenant(tenant string) evoke.TenantOptions { return e.set.Load().of(tenant) }

func (s *inForce) of(tenant string) evoke.TenantOptions {
	if t, ok := s.tenants[tenant]; ok {
		return t
	}
	return s.others
}

// TenantOptions gives the settings' tenants to an engine that was opened without Open.
func TenantOptions(c *config.Config) (func(tenant string) evoke.TenantOptions, error) {
	set, err := build(c, nil, shared{})
	if err != nil {
		return nil, err
	}
	return set.of, nil
}

// Prepare builds what the settings say for each tenant and returns what puts it in force; an error leaves everything as
// it is. What a running engine cannot change (see config.NeedRestart) stays.
func (e *Engine) Prepare(c *config.Config) (commit func(), err error) {
	set, err := build(c, e.set.Load(), shared{e.gate, e.logger})
	if err != nil {
		return nil, err
	}
	return func() {
		before := e.set.Swap(set)
		if before == nil || e.Memory == nil {
			return // at the start nothing waits for another one
		}
		if err := e.changed(before.config, c); err != nil && e.logger != nil {
			e.logger.Warn("what waits for a model of the settings before goes on waiting for the time that was set", "error", err)
		}
	}, nil
}

// changed has what waits tried at once for those tenants whose model or budget is another one now.
func (e *Engine) changed(before, now *config.Config) error {
	ctx := context.Background()
	var named []string
	for name := range before.Tenants {
		named = append(named, name)
	}
	for name := range now.Tenants {
		named = append(named, name)
	}
	var errs []error
	for _, name := range named {
		if before.For(name).LLM != now.For(name).LLM {
			errs = append(errs, e.ModelChanged(ctx, name))
		}
	}
	if before.LLM != now.LLM {
		errs = append(errs, e.ModelChanged(ctx, "", named...))
	}
	return errors.Join(errs...)
}

// build takes over the extractors of before, nil for none, whose settings stay.
func build(c *config.Config, before *inForce, sh shared) (*inForce, error) {
	set := &inForce{config: c, tenants: map[string]evoke.TenantOptions{}, models: models{}}
	var known models
	if before != nil {
		known = before.models
	}
	var err error
	if set.others, err = set.tenantOptions(c.For(""), known, sh); err != nil {
		return nil, fmt.Errorf("llm: %w", err)
	}
	for name := range c.Tenants {
		if set.tenants[name], err = set.tenantOptions(c.For(name), known, sh); err != nil {
			return nil, fmt.Errorf("tenants.%s.llm: %w", name, err)
		}
	}
	return set, nil
}

func (s *inForce) tenantOptions(t config.Tenant, known models, sh shared) (evoke.TenantOptions, error) {
	x, err := s.models.extractor(t.LLM, known, sh)
	if err != nil {
		return evoke.TenantOptions{}, err
	}
	redactor, err := redactor(t.Redaction)
	if err != nil {
		return evoke.TenantOptions{}, err
	}
	review, err := review(t.Review)
	if err != nil {
		return evoke.TenantOptions{}, err
	}
	return evoke.TenantOptions{
		Review:    review,
		Retention: retention(t.Retention),
		Redactor:  redactor,
		Extractor: x, Interim: interim(t.LLM),
		Memory: memory(t.Memory), Policy: policy(t.Policy),
		Recall: evoke.RecallDefaults{Limit: t.Recall.Limit, MinScore: &t.Recall.MinScore, Profile: t.Recall.Profile},
	}, nil
}

// interim is what takes a model's place; nothing where the rules are all there is.
func interim(c config.LLM) extract.Extractor {
	if c.Model == "" || !c.Budget.InterimRules {
		return nil
	}
	return rules.New(nil)
}

func redactor(r config.Redaction) (evoke.Redactor, error) {
	o := redact.Options{Mode: redact.Mode(r.Mode)}
	for _, p := range r.Patterns {
		o.Patterns = append(o.Patterns, redact.Pattern{Name: p.Name, Match: p.Match})
	}
	return redact.New(&o)
}

// tenants are those of the keys, of the tenants' sections, and the one without keys.
func tenants(c *config.Config) []string {
	all := []string{c.Tenant}
	for _, k := range c.Keys {
		if k.Tenant != "" { // that of the installation has none
			all = append(all, k.Tenant)
		}
	}
	for name := range c.Tenants {
		all = append(all, name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func review(r config.Review) (*evoke.ReviewPolicy, error) {
	p := &evoke.ReviewPolicy{Mode: extract.ReviewMode(r.Mode), Below: r.Below}
	for name := range strings.SplitSeq(r.Categories, ",") {
		if name = strings.TrimSpace(name); name != "" {
			p.Categories = append(p.Categories, store.Category(name))
		}
	}
	return p, p.Validate()
}
