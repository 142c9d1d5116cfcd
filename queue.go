package evoke

import (
	"context"
	"errors"
	"fmt"
	"time"

	"evoke/store"
)

// QueueState is how a tenant's queue of extractions stands.
type QueueState struct {
	store.QueueStats
	Paused bool `json:"paused"` // nothing is claimed until Resume
	// Away tells why the tenant's model is not asked just now ("unavailable"), and AwayUntil when it is again; "" when it is
	// asked.
	Away      string    `json:"away,omitempty"`
	AwayUntil time.Time `json:"away_until,omitzero"`
}

// The setting by which a pause outlives the process.
const (
	queueSettings = "queue"
	pausedSetting = "paused"
)

// QueueStats tells how the tenant's queue of extractions stands.
func (m *Memory) QueueStats(ctx context.Context) (QueueState, error) {
	st, err := m.ledger.QueueStats(ctx, m.tenant, m.now())
	if err != nil {
		return QueueState{}, fmt.Errorf("queue: %w", err)
	}
	away, until := m.worker.Away(m.tenant)
	return QueueState{QueueStats: st, Paused: m.worker.TenantPaused(m.tenant), Away: away, AwayUntil: until}, nil
}

// Pause lets no further extraction of the tenant begin until Resume, also after a restart. What runs goes on; turns are
// taken in, and found by recall, as ever.
func (m *Memory) Pause(ctx context.Context) (err error) {
	defer func() { m.audit(ctx, deed("pause", Who{}, err, nil)) }()
	s := store.Setting{Tenant: m.tenant, Kind: queueSettings, Name: pausedSetting, Value: []byte("true"), At: m.now()}
	if _, err := m.ledger.SaveSetting(ctx, s); err != nil && !errors.Is(err, store.ErrConflict) { // it is there
		return fmt.Errorf("pause: %w", err)
	}
	m.worker.PauseTenant(m.tenant)
	return nil
}

// Resume ends a Pause.
func (m *Memory) Resume(ctx context.Context) (err error) {
	defer func() { m.audit(ctx, deed("resume", Who{}, err, nil)) }()
	if err := m.ledger.DropSetting(ctx, m.tenant, queueSettings, pausedSetting); ignoreNotFound(err) != nil {
		return fmt.Errorf("resume: %w", err)
	}
	m.worker.ResumeTenant(m.tenant)
	return nil
}

// Drain pauses the tenant and waits until none of its extractions runs any more. It stays paused, also when the context
// ends first and its error is returned.
func (m *Memory) Drain(ctx context.Context) error {
	if err := m.Pause(ctx); err != nil {
		return err
	}
	if err := m.worker.DrainTenant(ctx, m.tenant); err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	return nil
}

// running fails while the tenant is paused, for calls that wait for extraction.
func (m *Memory) running() error {
	if m.worker.TenantPaused(m.tenant) {
		return fmt.Errorf("queue: %w: extraction is paused (resume it first)", store.ErrConflict)
	}
	return nil
}

// ModelChanged says that Options.TenantOptions now gives a tenant, or with "" all but those of except, another model or
// another budget: what waits for the one before, be it for hours as its service asked, is tried at once.
func (m *Memory) ModelChanged(ctx context.Context, tenant string, except ...string) error {
	return m.worker.Reconsider(ctx, tenant, except)
}

// pausedTenants are the tenants that were paused when the process before this one ended.
func (e *engine) pausedTenants(ctx context.Context) ([]string, error) {
	settings, err := e.ledger.Settings(ctx, "*", queueSettings)
	if err != nil {
		return nil, fmt.Errorf("read pauses: %w", err)
	}
	var tenants []string
	for _, s := range settings {
		if s.Name == pausedSetting {
			tenants = append(tenants, s.Tenant)
		}
	}
	return tenants, nil
}
