package evoke

import (
	"fmt"

	"evoke/extract"
	"evoke/recall"
	"evoke/store"
)

// TenantOptions are the settings of one tenant. Zero fields are those of Options; with MemoryOptions the whole struct
// counts, so that a zero one is that of Options and any other takes the documented defaults for its zero fields.
type TenantOptions struct {
	Memory MemoryOptions
	Policy *Policy
	Recall RecallDefaults
	Review *ReviewPolicy // which facts wait for a person; nil: that of Options

	Extractor extract.Extractor // what distils this tenant's facts
	Interim   extract.Extractor // takes its place while it is away or its budget is spent; nil: none, conversations wait
	Redactor  Redactor          // goes over what is written and asked
	Retention *RetentionPolicy  // what its memories keep no longer, when it is run

	Consolidation *ConsolidationPolicy // how its memories are consolidated, when it is run; nil: by the defaults
}

// RecallDefaults stand in for what a call leaves open.
type RecallDefaults struct {
	Limit    int      // hits of a recall; 0: that of Options.Recall; a block has its own
	MinScore *float64 // nil: that of Options.Recall
	Profile  string   // "": default
}

// settings returns what holds for a tenant now, complete and checked. They are asked for once a call, so that one call
// never sees two versions of them.
func (e *engine) settings(tenant string) (TenantOptions, error) {
	var t TenantOptions
	if err := e.enabled(tenant); err != nil {
		return t, err
	}
	own, err := e.policyOf(tenant)
	if err != nil {
		return t, err
	}
	if e.perTenant != nil {
		t = e.perTenant(tenant)
	}
	if t.Policy == nil {
		t.Policy = e.base.Policy
	}
	if t.Extractor == nil {
		t.Extractor = e.base.Extractor
	}
	if t.Interim == nil {
		t.Interim = e.base.Interim
	}
	if t.Redactor == nil {
		t.Redactor = e.base.Redactor
	}
	if t.Review == nil {
		t.Review = e.base.Review
	}
	if t.Retention == nil {
		t.Retention = e.base.Retention
	}
	if own.redactor != nil {
		t.Redactor = own.redactor
	}
	if own.namespace != nil {
		t.Policy = own.namespace
	}
	if own.doc.Review != nil {
		t.Review = own.doc.Review
	}
	if own.doc.Retention != nil {
		t.Retention = own.doc.Retention
	}
	if own.doc.Consolidation != nil {
		t.Consolidation = own.doc.Consolidation
	}
	if t.Memory == (MemoryOptions{}) {
		t.Memory = e.base.Memory
		return t, nil // checked at Open
	}
	if err := t.Memory.setDefaults(); err != nil {
		return t, fmt.Errorf("settings of the tenant: %w", err)
	}
	return t, nil
}

// place is whose memory a call is about, with the settings that hold for it.
type place struct {
	write store.Scope
	read  []store.Scope
	ok    bool // false under NoNamespace
	set   TenantOptions
}

// place resolves whose memory a call is about.
func (m *Memory) place(w Who) (p place, err error) {
	if p.set, err = m.settings(m.tenant); err != nil {
		return p, err
	}
	p.write, p.read, p.ok, err = p.set.Policy.scopes(m.tenant, w)
	return p, err
}

// fill puts the tenant's defaults where a query says nothing. A block has a limit of its own.
func (d RecallDefaults) fill(r *recall.Request, block bool) {
	if r.Limit == 0 && !block {
		r.Limit = d.Limit
	}
	if r.MinScore == nil {
		r.MinScore = d.MinScore
	}
	if r.Profile == "" {
		r.Profile = d.Profile
	}
}

// extraction is what the worker asks for a tenant. Settings that are out of range refuse calls; work that was accepted
// before goes on with the engine's own.
func (e *engine) extraction(tenant string) extract.Tenant {
	set, err := e.settings(tenant)
	if err != nil {
		set = e.base
	}
	t := extract.Tenant{Reconcile: set.reconcile(), Extractor: set.Extractor, Interim: set.Interim, Review: set.review()}
	if m, ok := set.Redactor.(masker); ok {
		t.Mask = func(text string) string { clean, _ := m.MaskAll(text); return clean }
	}
	return t
}

// asShown are items as a language model may see them: what was kept before redaction was switched on is masked.
func (m *Memory) asShown(items []store.Item) []store.Item {
	return extract.Masked(items, m.extraction(m.tenant).Mask)
}

func (t *TenantOptions) reconcile() extract.ReconcileOptions {
	return extract.ReconcileOptions{
		Threshold: t.Memory.FactConfidence, MaxFacts: t.Memory.MaxFacts, CategoryCaps: t.Memory.CategoryCaps.byCategory(),
		TaskTTL: t.Memory.TaskTTL,
	}
}
