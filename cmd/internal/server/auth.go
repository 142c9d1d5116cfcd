package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/errmap"
	"evoke/store"
)

// HashKey is the form in which a key is configured: lower-case hex of its SHA-256. Keys have 256 random bits, so a
// plain hash is enough.
func HashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// principal is who calls and what that grants.
type principal struct {
	name   string
	tenant string
	role   config.Role
	all    bool // every user and agent of the tenant
	agents []string
	users  []string
}

// allows reports whether the caller may call what needs a role. Only the role itself allows what is above tenants.
func (p principal) allows(need config.Role) bool {
	return p.all || p.role.Allows(need)
}

// keyring looks keys up by their hash.
type keyring struct {
	hashes     [][sha256.Size]byte
	principals []principal
}

func newKeyring(keys config.Keys) (*keyring, error) {
	k := &keyring{}
	for text, grant := range keys {
		b, err := hex.DecodeString(text)
		if err != nil || len(b) != sha256.Size {
			return nil, store.Invalid("keys", "SHA-256 hashes in hex", "")
		}
		k.hashes = append(k.hashes, [sha256.Size]byte(b))
		if grant.Name == "" { // a name for the log and the audit; of a hash so short a part tells nothing
			grant.Name = "key " + text[:8]
		}
		k.principals = append(k.principals, principal{name: grant.Name, tenant: grant.Tenant, role: grant.Role, agents: grant.Agents, users: grant.Users})
	}
	return k, nil
}

// find compares with every key, so that the time taken tells nothing.
func (k *keyring) find(key string) (principal, bool) {
	sum := sha256.Sum256([]byte(key))
	found := -1
	for i := range k.hashes {
		if subtle.ConstantTimeCompare(sum[:], k.hashes[i][:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return principal{}, false
	}
	return k.principals[found], true
}

type contextKey uint8

const principalKey contextKey = 0

func principalOf(ctx context.Context) (principal, bool) {
	p, ok := ctx.Value(principalKey).(principal)
	return p, ok
}

// authenticate finds the caller and refuses one whose role is too small.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := s.caller(c.Request())
		if err != nil {
			s.denied(c, principal{tenant: s.set.Tenant})
			return err
		}
		if need := operationOf(c).role; !p.allows(need) {
			s.denied(c, p)
			return forbidden(fmt.Sprintf("Authorization: this route needs a key of role %s", need))
		}
		if err := s.enabled(p.tenant); err != nil {
			return err
		}
		c.Set(callerKey, p)
		ctx := context.WithValue(c.Request().Context(), principalKey, p)
		by := evoke.Actor{Name: p.name, Request: c.Response().Header().Get(echo.HeaderXRequestID)}
		c.SetRequest(c.Request().WithContext(evoke.WithActor(ctx, by)))
		err = next(c)
		if pe := (*problemError)(nil); errors.As(err, &pe) && pe.status == http.StatusForbidden {
			s.denied(c, p)
		}
		return err
	}
}

// enabled refuses callers of a tenant that is disabled; whoever is above tenants has none.
func (s *Server) enabled(tenant string) error {
	if tenant == "" {
		return nil
	}
	if m, err := s.tenants(tenant); err != nil || !m.Enabled() {
		return forbidden("Authorization: the tenant is disabled until the operator of the installation enables it")
	}
	return nil
}

// denied puts on record that a call was refused for who makes it.
func (s *Server) denied(c echo.Context, p principal) {
	what := c.Request().Method + " " + c.Path()
	if m, err := s.tenants(p.tenant); err == nil {
		m.Denied(evoke.WithActor(c.Request().Context(), evoke.Actor{Name: p.name}), what)
	}
}

func (s *Server) caller(r *http.Request) (principal, error) {
	keys := s.live.Load().keys
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if key = strings.TrimSpace(key); !strings.EqualFold(scheme, "Bearer") {
		key = ""
	}
	if p, ok := s.made(key); ok {
		return p, nil
	}
	switch {
	case keys == nil:
		return s.local, ofThisMachine(r)
	case key == "":
		return principal{}, unauthorized("Authorization: must be \"Bearer\" and a key")
	}
	p, ok := keys.find(key)
	if !ok {
		return principal{}, unauthorized("Authorization: the key is not known here")
	}
	return p, nil
}

// made finds a key that was made while running. A server without configured keys takes one, too: it narrows what the
// caller on this machine may do.
func (s *Server) made(key string) (principal, bool) {
	if key == "" {
		return principal{}, false
	}
	m, err := s.tenants(s.set.Tenant)
	if err != nil {
		return principal{}, false
	}
	k, ok := m.Authenticate(key)
	ok = ok && config.Role(k.Role).Allows(config.Read) // only settings give the role that is above tenants
	return principal{name: k.Name, tenant: k.Tenant, role: config.Role(k.Role), agents: k.Agents, users: k.Users}, ok
}

func unauthorized(detail string) error {
	return &problemError{http.StatusUnauthorized, "unauthorized", "A key is needed", detail}
}

func forbidden(detail string) error {
	e := errmap.Of(store.ErrTenant)
	return &problemError{e.Status, e.Class, e.Title, detail}
}

// ofThisMachine guards the server without keys against web pages: a page whose name was made to point at this machine
// still sends its own name as Host, and one that posts here sends its Origin.
func ofThisMachine(r *http.Request) error {
	if !loopbackHost(r.Host) {
		return forbidden("Host: without keys only a loopback address or localhost is answered")
	}
	if o := r.Header.Get("Origin"); o != "" {
		if u, err := url.Parse(o); err != nil || u.Host != r.Host {
			return forbidden("Origin: without keys other pages are not answered")
		}
	}
	return nil
}

func loopbackHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// who checks that the caller is granted the user and the agent that the call names.
func (p principal) who(user, agent, thread string) (evoke.Who, error) {
	w := evoke.Who{User: user, Agent: agent, Thread: thread}
	if p.all {
		return w, nil
	}
	if w.User == "" && len(p.users) == 1 {
		w.User = p.users[0]
	}
	if !p.grantsUser(w.User) {
		return evoke.Who{}, forbidden("user: the key does not grant this user")
	}
	if !p.grantsAgent(agent) {
		return evoke.Who{}, forbidden("agent: the key does not grant this agent")
	}
	return w, nil
}

func (p principal) grantsUser(user string) bool {
	if user == "" {
		user = "default"
	}
	return p.all || len(p.users) == 0 || slices.Contains(p.users, user)
}

func (p principal) grantsAgent(agent string) bool {
	return p.all || agent == "" || slices.ContainsFunc(p.agents, func(pattern string) bool { return evoke.MatchPattern(pattern, agent) })
}

// grantsTenant reports whether the caller may touch every memory of the tenant.
func (p principal) grantsTenant() bool {
	return p.all || len(p.users) == 0 && slices.Contains(p.agents, "*")
}
