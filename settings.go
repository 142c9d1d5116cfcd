package evoke

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"evoke/store"
)

// SettingsWithin is how soon what another process of the same store changed - keys, policies, tenants - holds in this one.
// Changes made through this process hold at once.
const SettingsWithin = 5 * time.Second

// live are the settings that are kept in the store and change while the engine runs.
type live struct {
	change   sync.Mutex // held over a change of a policy or a tenant and what it makes of the tables here
	mu       sync.RWMutex
	policies map[string]tenantPolicy // by tenant
	tenants  map[string]registered   // by name
}

// loadSettings reads keys, policies and tenants of the whole store.
func (e *engine) loadSettings(ctx context.Context) error {
	err := errors.Join(e.loadKeys(ctx), e.loadPolicies(ctx), e.loadTenants(ctx))
	e.holdBack()
	return err
}

// startSettings reads the settings again and again until Close. While they cannot be read, those in force stay.
func (e *engine) startSettings(every time.Duration, log *slog.Logger) {
	if every == 0 {
		every = SettingsWithin / 2
	}
	e.background(func(ctx context.Context) {
		t := time.NewTicker(every)
		defer t.Stop()
		failed := false
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			err := e.loadSettings(ctx)
			if err != nil && !failed && ctx.Err() == nil {
				log.WarnContext(ctx, "keys, policies and tenants cannot be read; those in force stay", "error", err)
			}
			failed = err != nil
		}
	})
}

// policyOf is the policy that a tenant set for itself; empty when it has none.
func (e *engine) policyOf(tenant string) (inForcePolicy, error) {
	e.live.mu.RLock()
	p, ok := e.live.policies[tenant]
	e.live.mu.RUnlock()
	if ok && p.err != nil {
		return inForcePolicy{}, fmt.Errorf("the tenant's policy: %w", p.err)
	}
	return p.inForcePolicy, nil
}

// Readiness says that an installation answers, and with what.
type Readiness struct {
	Embedder string `json:"embedder"`       // "none" without a model
	Note     string `json:"note,omitempty"` // why there is no dense search, when there is none
}

// Ready fails when the store or the ledger cannot be read.
func (i *Installation) Ready(ctx context.Context) (Readiness, error) {
	_, err := i.m.store.Get(ctx, store.Scope{Tenant: i.m.tenant, User: "ready"}, []string{"ready"}) // nobody's: what counts is that it answers
	if _, other := i.m.ledger.QueueStats(ctx, "", i.m.now()); err == nil {
		err = other
	}
	if err != nil {
		return Readiness{}, fmt.Errorf("ready: %w", err)
	}
	return Readiness{i.m.embedderID(), i.m.noDense()}, nil
}

// Enabled reports whether the tenant, known or not, is not disabled (Installation.DisableTenant). It is cheap.
func (m *Memory) Enabled() bool { return m.enabled(m.tenant) == nil }

// enabled is an error of store.ErrTenant for a tenant that was disabled.
func (e *engine) enabled(tenant string) error {
	e.live.mu.RLock()
	t, ok := e.live.tenants[tenant]
	e.live.mu.RUnlock()
	if ok && t.Disabled {
		return fmt.Errorf("%w: the tenant is disabled until its operator enables it (evoke tenants enable)", store.ErrTenant)
	}
	return nil
}

// holdBack keeps the extraction of tenants waiting that are disabled, or whose policy cannot be read.
func (e *engine) holdBack() {
	if e.worker == nil {
		return // it is done when there is one
	}
	var names []string
	e.live.mu.RLock()
	for name, t := range e.live.tenants {
		if t.Disabled {
			names = append(names, name)
		}
	}
	for name, p := range e.live.policies {
		if p.err != nil {
			names = append(names, name)
		}
	}
	e.live.mu.RUnlock()
	e.worker.HoldTenants(names)
}
