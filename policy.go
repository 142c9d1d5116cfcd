package evoke

import (
	"fmt"
	"strings"

	"evoke/store"
)

// Namespace is whose memory an agent works on.
type Namespace string

// The namespaces.
const (
	UserNamespace Namespace = "user" // the user's own memory
	PairNamespace Namespace = "pair" // this user with this agent and nobody else; recall sees the user's own memory too
	OwnNamespace  Namespace = "own"  // the agent's memory, shared by the users granted that agent
	NoNamespace   Namespace = "none" // no memory at all, neither written nor read
)

// PolicyRule maps agents to a namespace. In Agent, "*" stands for any run of characters.
type PolicyRule struct {
	Agent     string    `json:"agent" yaml:"agent"`
	Namespace Namespace `json:"namespace" yaml:"namespace"`
}

// Policy is an ordered list of rules; the first that matches the agent's name decides. A call without an agent is
// always on the user's own memory, and an agent that no rule matches has none.
type Policy struct {
	Rules []PolicyRule
}

// DefaultPolicy gives user-*, project-* and usermem-* agents a memory of their own and any other agent one for each
// user.
func DefaultPolicy() *Policy { return preset(PairNamespace) }

// ExpertsPolicy is DefaultPolicy with no memory for any other agent, so that nothing said to a shared expert crosses
// users or projects.
func ExpertsPolicy() *Policy { return preset(NoNamespace) }

func preset(other Namespace) *Policy {
	return &Policy{Rules: []PolicyRule{
		{"user-*", OwnNamespace}, {"project-*", OwnNamespace}, {"usermem-*", OwnNamespace}, {"*", other},
	}}
}

// Validate refuses unknown namespaces and empty patterns.
func (p *Policy) Validate() error { return p.validate("policy") }

func (p *Policy) validate(at string) error {
	for i, r := range p.Rules {
		at := fmt.Sprintf("%s.rules[%d]", at, i)
		if r.Agent == "" {
			return store.Invalid(at+".agent", `a name or a pattern such as "project-*"`, "")
		}
		switch r.Namespace {
		case UserNamespace, PairNamespace, OwnNamespace, NoNamespace:
		default:
			return store.Invalid(at+".namespace", "user, pair, own or none", "")
		}
	}
	return nil
}

// Namespace returns the agent's namespace.
func (p *Policy) Namespace(agent string) Namespace {
	if agent == "" {
		return UserNamespace
	}
	for _, r := range p.Rules {
		if MatchPattern(r.Agent, agent) {
			return r.Namespace
		}
	}
	return NoNamespace
}

// skippedByPolicy is what a call under NoNamespace answers.
const skippedByPolicy = "namespace_policy"

// scopes returns the memory that a call writes and those that it reads; ok is false under NoNamespace.
func (p *Policy) scopes(tenant string, w Who) (write store.Scope, read []store.Scope, ok bool, err error) {
	if w.User == "" {
		w.User = "default"
	}
	for _, f := range [...]struct{ name, v string }{{"user", w.User}, {"agent", w.Agent}, {"thread", w.Thread}} {
		if err := store.ValidateName(f.name, f.v); err != nil {
			return store.Scope{}, nil, false, err
		}
	}
	own := store.Scope{Tenant: tenant, User: w.User}
	switch p.Namespace(w.Agent) {
	case UserNamespace:
		write, read = own, []store.Scope{own}
	case OwnNamespace:
		write = store.Scope{Tenant: tenant, Agent: w.Agent}
		read = []store.Scope{write}
	case PairNamespace:
		write = store.Scope{Tenant: tenant, User: w.User, Agent: w.Agent}
		read = []store.Scope{write, own}
	default:
		return store.Scope{}, nil, false, nil
	}
	return write, read, true, write.Validate()
}

// MatchPattern reports whether a name matches a pattern in which "*" stands for any run of characters: the form of agent
// patterns in policies and grants.
func MatchPattern(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, last)
}
