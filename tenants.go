package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"evoke/store"
)

// Installation is what whoever runs the whole store may do: make, list, disable and enable tenants, and make keys for any
// of them. It reads and writes no memory. A tenant's own administrator has no part in it.
type Installation struct{ m *Memory }

// Installation is the store as a whole.
func (m *Memory) Installation() *Installation {
	return &Installation{&Memory{engine: m.engine, tenant: "*"}} // the audit log's name for it; no tenant is called so
}

// Tenant is one of the installation.
type Tenant struct {
	Name string `json:"name"`
	// Disabled tenants are refused: their keys, calls for them, and their background work, until they are enabled again.
	// Nothing of theirs is removed.
	Disabled  bool      `json:"disabled,omitempty"`
	CreatedAt time.Time `json:"created_at,omitzero"` // zero: known from the settings, its keys or its items alone
	By        string    `json:"by,omitempty"`        // name of the credential that made it
	Keys      int       `json:"keys"`                // made while running, those of the settings apart
	Policy    bool      `json:"policy"`              // whether it has one of its own
	Items     bool      `json:"items"`               // whether it holds any
	Settings  bool      `json:"settings"`            // whether the settings know it
}

// TenantsRequest selects a page of the tenants, by name.
type TenantsRequest struct {
	Limit  int    // 1–1000; 0 means 100
	Cursor string // name of the last of the page before
}

// TenantsResult is one page of tenants.
type TenantsResult struct {
	Tenants []Tenant `json:"tenants"`
	Next    string   `json:"next,omitempty"`
}

// registered is a tenant as the ledger keeps it.
type registered struct {
	CreatedAt time.Time `json:"created_at"`
	By        string    `json:"by,omitempty"`
	Disabled  bool      `json:"disabled,omitempty"`
}

const tenantSettings = "tenant"

// loadTenants reads which tenants were made or disabled.
func (e *engine) loadTenants(ctx context.Context) error {
	all, err := e.ledger.Settings(ctx, "", tenantSettings)
	if err != nil {
		return fmt.Errorf("read tenants: %w", err)
	}
	next := make(map[string]registered, len(all))
	for i := range all {
		var r registered
		if err := json.Unmarshal(all[i].Value, &r); err != nil {
			e.log.ErrorContext(ctx, "a tenant's entry cannot be read: it counts as disabled", "tenant", all[i].Name)
			r.Disabled = true
		}
		next[all[i].Name] = r
	}
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	e.live.tenants = next
	return nil
}

// Tenants lists those that were made here, that the settings know, that have keys or a policy, or that hold items.
func (i *Installation) Tenants(ctx context.Context, r TenantsRequest) (TenantsResult, error) {
	if r.Limit == 0 {
		r.Limit = 100
	}
	if r.Limit < 1 || r.Limit > 1000 {
		return TenantsResult{}, store.Invalid("limit", "from 1 to 1000", fmt.Sprint(r.Limit))
	}
	if err := store.ValidateName("cursor", r.Cursor); err != nil {
		return TenantsResult{}, err
	}
	all, err := i.all(ctx)
	if err != nil {
		return TenantsResult{}, fmt.Errorf("list tenants: %w", err)
	}
	res := TenantsResult{Tenants: []Tenant{}}
	for _, t := range all {
		if t.Name <= r.Cursor {
			continue
		}
		if len(res.Tenants) == r.Limit {
			res.Next = res.Tenants[r.Limit-1].Name
			break
		}
		res.Tenants = append(res.Tenants, t)
	}
	return res, nil
}

// Tenant returns one, or store.ErrNotFound.
func (i *Installation) Tenant(ctx context.Context, name string) (Tenant, error) {
	if err := validTenant(name); err != nil {
		return Tenant{}, err
	}
	all, err := i.all(ctx)
	if err != nil {
		return Tenant{}, fmt.Errorf("tenant: %w", err)
	}
	n, ok := slices.BinarySearchFunc(all, name, func(t Tenant, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return Tenant{}, fmt.Errorf("tenant: %w", store.ErrNotFound)
	}
	return all[n], nil
}

// all are the tenants by name.
func (i *Installation) all(ctx context.Context) ([]Tenant, error) {
	m := i.m
	byName := map[string]*Tenant{}
	of := func(name string) *Tenant {
		t := byName[name]
		if t == nil {
			t = &Tenant{Name: name}
			byName[name] = t
		}
		return t
	}
	if err := m.loadTenants(ctx); err != nil {
		return nil, err
	}
	m.live.mu.RLock()
	for name, r := range m.live.tenants {
		t := of(name)
		t.CreatedAt, t.By, t.Disabled = r.CreatedAt, r.By, r.Disabled
	}
	m.live.mu.RUnlock()
	keys, err := m.ledger.Settings(ctx, "*", keySettings)
	if err != nil {
		return nil, err
	}
	for k := range keys {
		of(keys[k].Tenant).Keys++
	}
	policies, err := m.ledger.Settings(ctx, "*", policySettings)
	if err != nil {
		return nil, err
	}
	for k := range policies {
		of(policies[k].Tenant).Policy = true
	}
	holding, err := m.store.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range holding {
		of(name).Items = true
	}
	if m.settingsKnow != nil {
		for _, name := range m.settingsKnow() {
			of(name).Settings = true
		}
	}
	list := make([]Tenant, 0, len(byName))
	for _, t := range byName {
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b Tenant) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// CreateTenant makes a tenant known, so that keys can be made for it. One that is known already is ErrConflict.
func (i *Installation) CreateTenant(ctx context.Context, name string) (_ Tenant, err error) {
	defer func() { i.m.audit(ctx, deed("create tenant", Who{}, err, nil, name)) }()
	if err := store.ValidateNewTenant("tenant", name); err != nil {
		return Tenant{}, err
	}
	i.m.live.change.Lock()
	defer i.m.live.change.Unlock()
	all, err := i.all(ctx)
	if err != nil {
		return Tenant{}, fmt.Errorf("tenant: %w", err)
	}
	if slices.ContainsFunc(all, func(t Tenant) bool { return t.Name == name }) {
		return Tenant{}, fmt.Errorf("tenant: %w: there is one of this name", store.ErrConflict)
	}
	if err := i.save(ctx, name, registered{CreatedAt: i.m.now(), By: actorOf(ctx).Name}, 0); err != nil {
		return Tenant{}, err
	}
	return i.Tenant(ctx, name)
}

// DisableTenant has everything of a tenant refused until EnableTenant: its keys, calls for it, and the extraction of what
// waits. It holds at once here and within SettingsWithin in other processes of the store.
func (i *Installation) DisableTenant(ctx context.Context, name string) (_ Tenant, err error) {
	defer func() { i.m.audit(ctx, deed("disable tenant", Who{}, err, nil, name)) }()
	return i.turn(ctx, name, true)
}

// EnableTenant ends a DisableTenant.
func (i *Installation) EnableTenant(ctx context.Context, name string) (_ Tenant, err error) {
	defer func() { i.m.audit(ctx, deed("enable tenant", Who{}, err, nil, name)) }()
	return i.turn(ctx, name, false)
}

func (i *Installation) turn(ctx context.Context, name string, disabled bool) (Tenant, error) {
	t, err := i.Tenant(ctx, name)
	if err != nil {
		return Tenant{}, err
	}
	i.m.live.change.Lock()
	defer i.m.live.change.Unlock()
	s, err := i.m.oneSetting(ctx, "", tenantSettings, name)
	if err != nil {
		return Tenant{}, fmt.Errorf("tenant: %w", err)
	}
	r := registered{CreatedAt: t.CreatedAt, By: t.By, Disabled: disabled}
	if err := i.save(ctx, name, r, s.Version); err != nil {
		return Tenant{}, err
	}
	if !disabled {
		i.m.worker.Wake()
	}
	return i.Tenant(ctx, name)
}

func (i *Installation) save(ctx context.Context, name string, r registered, version int64) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode tenant: %w", err)
	}
	s := store.Setting{Kind: tenantSettings, Name: name, Value: b, Version: version, At: i.m.now()}
	if _, err := i.m.ledger.SaveSetting(ctx, s); err != nil {
		return fmt.Errorf("tenant: %w", err)
	}
	err = i.m.loadTenants(ctx)
	i.m.holdBack()
	return err
}

// of is the memory of a tenant that is known, disabled or not, for its keys; ErrNotFound for any other.
func (i *Installation) of(ctx context.Context, tenant string) (*Memory, error) {
	if _, err := i.Tenant(ctx, tenant); err != nil {
		return nil, err
	}
	return &Memory{engine: i.m.engine, tenant: tenant}, nil
}

// Keys lists a tenant's keys; see Memory.Keys.
func (i *Installation) Keys(ctx context.Context, tenant string) ([]Key, error) {
	m, err := i.of(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return m.Keys(ctx)
}

// CreateKey makes a key of a tenant; see Memory.CreateKey.
func (i *Installation) CreateKey(ctx context.Context, tenant string, r KeyRequest) (KeySecret, error) {
	m, err := i.of(ctx, tenant)
	if err != nil {
		return KeySecret{}, err
	}
	return m.CreateKey(ctx, r)
}

// RotateKey gives a key of a tenant a new secret; see Memory.RotateKey.
func (i *Installation) RotateKey(ctx context.Context, tenant, name string, grace time.Duration) (KeySecret, error) {
	m, err := i.of(ctx, tenant)
	if err != nil {
		return KeySecret{}, err
	}
	return m.RotateKey(ctx, name, grace)
}

// RevokeKey ends a key of a tenant; see Memory.RevokeKey.
func (i *Installation) RevokeKey(ctx context.Context, tenant, name string) (Key, error) {
	m, err := i.of(ctx, tenant)
	if err != nil {
		return Key{}, err
	}
	return m.RevokeKey(ctx, name)
}

// Audit lists what was done to tenants, without what they did themselves.
func (i *Installation) Audit(ctx context.Context, r AuditRequest) (AuditResult, error) {
	return i.m.Audit(ctx, r)
}

// checkNew refuses to begin a tenant whose name is none for a new one. One that holds something, or was made, stays what it is.
func (i *Installation) checkNew(ctx context.Context, name string) error {
	bad := store.ValidateNewTenant("tenant", name)
	if bad == nil {
		return nil
	}
	t, err := i.Tenant(ctx, name)
	if err == nil && (t.Items || t.Policy || t.Keys > 0 || !t.CreatedAt.IsZero()) {
		return nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return bad
}

// validTenant checks the name of a tenant that may be there already.
func validTenant(name string) error {
	if strings.TrimSpace(name) == "" || name == "*" {
		return store.Invalid("tenant", `a name, and not "*"`, "")
	}
	return store.ValidateName("tenant", name)
}
