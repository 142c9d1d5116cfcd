package evoke

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"evoke/store"
)

// Key is a credential of a tenant that was made while running, without the secret, which is kept nowhere.
type Key struct {
	Name   string `json:"name"` // unique within the tenant; what the log and the audit log say
	Role   string `json:"role"` // read, write or admin
	Tenant string `json:"-"`
	// Agents are patterns of the agents granted ("*" for all); none: calls without an agent only. Users are those granted;
	// none: every user.
	Agents    []string  `json:"agents,omitempty"`
	Users     []string  `json:"users,omitempty"`
	By        string    `json:"by,omitempty"` // name of the credential that made it
	CreatedAt time.Time `json:"created_at"`
	RotatedAt time.Time `json:"rotated_at,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // zero: never
	OldUntil  time.Time `json:"old_until,omitzero"`  // until when the secret before the last rotation is taken, too
}

// KeyRequest asks for a key.
type KeyRequest struct {
	Name      string
	Role      string // read, write or admin
	Agents    []string
	Users     []string
	ExpiresAt time.Time // zero: never
}

// KeySecret is a key with its secret, which is shown this once.
type KeySecret struct {
	Key    Key    `json:"key"`
	Secret string `json:"secret"`
}

// storedKey is a key as the ledger keeps it: secrets as SHA-256 in hex. They have 256 random bits, so a plain hash is enough.
type storedKey struct {
	Key
	Hash string `json:"hash"`
	Old  string `json:"old,omitempty"` // of the secret before, until OldUntil
}

const (
	keySettings = "key"
	maxKeys     = 1000 // of a tenant
	maxGrants   = 1000 // users or agents of a key
)

// keyring finds keys by the hash of their secret.
type keyring struct {
	change sync.Mutex // held over a change and what it makes of the ring
	mu     sync.RWMutex
	byHash map[string]storedKey
}

// loadKeys reads the keys of all tenants.
func (e *engine) loadKeys(ctx context.Context) error {
	all, err := e.ledger.Settings(ctx, "*", keySettings)
	if err != nil {
		return fmt.Errorf("read keys: %w", err)
	}
	ring := make(map[string]storedKey, len(all))
	for i := range all {
		k, err := readKey(&all[i])
		if err != nil { // it is not taken, and keeps nobody else out
			e.log.ErrorContext(ctx, "a key cannot be read", "tenant", all[i].Tenant, "name", all[i].Name, "error", err)
			continue
		}
		if ring[k.Hash] = k; k.Old != "" {
			ring[k.Old] = k
		}
	}
	e.keys.mu.Lock()
	defer e.keys.mu.Unlock()
	e.keys.byHash = ring
	return nil
}

func readKey(s *store.Setting) (k storedKey, err error) {
	if err := json.Unmarshal(s.Value, &k); err != nil || k.Hash == "" {
		return k, fmt.Errorf("a stored key: %w", store.ErrCorrupt)
	}
	k.Tenant = s.Tenant
	return k, nil
}

// Authenticate returns the key, of whatever tenant, that a secret is of, unless it has expired.
func (m *Memory) Authenticate(secret string) (Key, bool) {
	hash, now := hashSecret(secret), m.now()
	m.keys.mu.RLock()
	k, ok := m.keys.byHash[hash]
	m.keys.mu.RUnlock()
	switch {
	case !ok, !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt), k.Hash != hash && !now.Before(k.OldUntil):
		return Key{}, false
	}
	return k.Key, true
}

func hashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func newSecret() (secret, hash string) {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	secret = "evk_" + base64.RawURLEncoding.EncodeToString(b)
	return secret, hashSecret(secret)
}

// Keys lists the tenant's keys that were made while running, by name. Those of a server's settings are not among them.
func (m *Memory) Keys(ctx context.Context) ([]Key, error) {
	all, err := m.ledger.Settings(ctx, m.tenant, keySettings)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	keys := make([]Key, len(all))
	for i := range all {
		k, err := readKey(&all[i])
		if err != nil {
			return nil, err
		}
		keys[i] = k.Key
	}
	return keys, nil
}

// CreateKey makes a key of the tenant. A name that is taken is ErrConflict.
func (m *Memory) CreateKey(ctx context.Context, r KeyRequest) (_ KeySecret, err error) {
	defer func() { m.audit(ctx, deed("create key", Who{}, err, nil, r.Name)) }()
	if err := r.validate(m.now()); err != nil {
		return KeySecret{}, err
	}
	m.keys.change.Lock()
	defer m.keys.change.Unlock()
	have, err := m.Keys(ctx)
	if err != nil {
		return KeySecret{}, err
	}
	taken := fmt.Errorf("key %q: %w: the name is taken (rotate the key for a new secret, or revoke it first)", r.Name, store.ErrConflict)
	if slices.ContainsFunc(have, func(k Key) bool { return k.Name == r.Name }) {
		return KeySecret{}, taken
	}
	if len(have) >= maxKeys {
		return KeySecret{}, fmt.Errorf("%w: the tenant has %d keys, the most there may be (revoke what is not used)", store.ErrConflict, maxKeys)
	}
	secret, hash := newSecret()
	k := storedKey{Hash: hash, Key: Key{
		Name: r.Name, Role: r.Role, Tenant: m.tenant, Agents: r.Agents, Users: r.Users, ExpiresAt: r.ExpiresAt.UTC(), By: actorOf(ctx).Name, CreatedAt: m.now(),
	}}
	if err := m.saveKey(ctx, k, 0); errors.Is(err, store.ErrConflict) { // another process made one meanwhile
		return KeySecret{}, taken
	} else if err != nil {
		return KeySecret{}, fmt.Errorf("key %q: %w", r.Name, err)
	}
	return KeySecret{k.Key, secret}, nil
}

// RotateKey gives a key a new secret. The old one is taken for so long as grace says, at most 30 days; 0: no longer.
func (m *Memory) RotateKey(ctx context.Context, name string, grace time.Duration) (_ KeySecret, err error) {
	defer func() { m.audit(ctx, deed("rotate key", Who{}, err, nil, name)) }()
	if grace < 0 || grace > 30*24*time.Hour {
		return KeySecret{}, store.Invalid("grace", "from 0 to 30 days", "")
	}
	m.keys.change.Lock()
	defer m.keys.change.Unlock()
	k, version, err := m.key(ctx, name)
	if err != nil {
		return KeySecret{}, err
	}
	secret, hash := newSecret()
	now := m.now()
	k.Old, k.Hash, k.RotatedAt, k.OldUntil = k.Hash, hash, now, now.Add(grace)
	if grace == 0 {
		k.Old, k.OldUntil = "", time.Time{}
	}
	if err := m.saveKey(ctx, k, version); err != nil {
		return KeySecret{}, fmt.Errorf("key: %w", err)
	}
	return KeySecret{k.Key, secret}, nil
}

// RevokeKey ends a key: from the next call on it is not taken.
func (m *Memory) RevokeKey(ctx context.Context, name string) (_ Key, err error) {
	defer func() { m.audit(ctx, deed("revoke key", Who{}, err, nil, name)) }()
	m.keys.change.Lock()
	defer m.keys.change.Unlock()
	k, _, err := m.key(ctx, name)
	if err != nil {
		return Key{}, err
	}
	if err := m.ledger.DropSetting(ctx, m.tenant, keySettings, name); err != nil {
		return Key{}, fmt.Errorf("key: %w", err)
	}
	return k.Key, m.loadKeys(ctx)
}

func (m *Memory) key(ctx context.Context, name string) (storedKey, int64, error) {
	if err := store.ValidateName("name", name); err != nil {
		return storedKey{}, 0, err
	}
	all, err := m.ledger.Settings(ctx, m.tenant, keySettings)
	if err != nil {
		return storedKey{}, 0, fmt.Errorf("read keys: %w", err)
	}
	i := slices.IndexFunc(all, func(s store.Setting) bool { return s.Name == name })
	if i < 0 {
		return storedKey{}, 0, fmt.Errorf("key: %w", store.ErrNotFound)
	}
	k, err := readKey(&all[i])
	return k, all[i].Version, err
}

func (m *Memory) saveKey(ctx context.Context, k storedKey, version int64) error {
	b, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	s := store.Setting{Tenant: m.tenant, Kind: keySettings, Name: k.Name, Value: b, Version: version, At: m.now()}
	if _, err := m.ledger.SaveSetting(ctx, s); err != nil {
		return err
	}
	return m.loadKeys(ctx)
}

func (r *KeyRequest) validate(now time.Time) error {
	if r.Name == "" {
		return store.Invalid("name", "given", "")
	}
	if err := store.ValidateName("name", r.Name); err != nil {
		return err
	}
	if !slices.Contains([]string{"read", "write", "admin"}, r.Role) {
		return store.Invalid("role", "read, write or admin", "")
	}
	if !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(now) {
		return store.Invalid("expires_at", "in the future", "")
	}
	for field, names := range map[string][]string{"agents": r.Agents, "users": r.Users} {
		if len(names) > maxGrants {
			return store.Invalid(field, fmt.Sprintf("at most %d", maxGrants), fmt.Sprint(len(names)))
		}
		for i, n := range names {
			at := fmt.Sprintf("%s[%d]", field, i)
			if n == "" {
				return store.Invalid(at, "given", "")
			}
			if err := store.ValidateName(at, n); err != nil {
				return err
			}
		}
	}
	return nil
}
