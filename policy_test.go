package evoke

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

func TestPolicyScopes(t *testing.T) {
	own := store.Scope{Tenant: "t", User: "ann"}
	pair := store.Scope{Tenant: "t", User: "ann", Agent: "helper"}
	for _, tc := range []struct {
		name   string
		policy *Policy
		who    Who
		write  store.Scope
		read   []store.Scope
		ok     bool
	}{
		{"no agent is the user's own memory", DefaultPolicy(), Who{User: "ann"}, own, []store.Scope{own}, true},
		{"no user is the default user", DefaultPolicy(), Who{}, store.Scope{Tenant: "t", User: "default"}, []store.Scope{{Tenant: "t", User: "default"}}, true},
		{"any agent pairs with the user and sees the user's own", DefaultPolicy(), Who{User: "ann", Agent: "helper"}, pair, []store.Scope{pair, own}, true},
		{"a project's memory is shared", DefaultPolicy(), Who{User: "ann", Agent: "project-x"}, store.Scope{Tenant: "t", Agent: "project-x"}, []store.Scope{{Tenant: "t", Agent: "project-x"}}, true},
		{"experts keep nothing", ExpertsPolicy(), Who{User: "ann", Agent: "lawyer"}, store.Scope{}, nil, false},
		{"experts: a project still has its own", ExpertsPolicy(), Who{User: "ann", Agent: "project-x"}, store.Scope{Tenant: "t", Agent: "project-x"}, []store.Scope{{Tenant: "t", Agent: "project-x"}}, true},
		{"an agent that no rule matches has none", &Policy{}, Who{User: "ann", Agent: "x"}, store.Scope{}, nil, false},
		{"the first rule wins", &Policy{Rules: []PolicyRule{{"a*", UserNamespace}, {"*", NoNamespace}}}, Who{User: "ann", Agent: "abc"}, own, []store.Scope{own}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			write, read, ok, err := tc.policy.scopes("t", tc.who)
			if err != nil || ok != tc.ok {
				t.Fatalf("ok %v, err %v", ok, err)
			}
			if d := cmp.Diff(tc.write, write); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tc.read, read); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestPolicyRefusesBadNames(t *testing.T) {
	for _, w := range []Who{{User: "a\x00b"}, {User: "  "}, {Agent: "\xff"}, {Thread: "a\nb"}} {
		if _, _, _, err := DefaultPolicy().scopes("t", w); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", w, err)
		}
	}
	if _, _, _, err := DefaultPolicy().scopes("", Who{User: "a"}); !errors.Is(err, store.ErrTenant) {
		t.Errorf("empty tenant: %v", err)
	}
	if err := (&Policy{Rules: []PolicyRule{{"x", "all"}}}).Validate(); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("unknown namespace: %v", err)
	}
}

func TestMatchPattern(t *testing.T) {
	for _, tc := range []struct {
		pattern, s string
		want       bool
	}{
		{"*", "", true}, {"user-*", "user-", true}, {"user-*", "use", false}, {"a*b*c", "axxbyyc", true},
		{"a*b*c", "axxc", false}, {"*-bot", "my-bot", true}, {"a*a", "a", false}, {"a*b*c", "a-b-b-c", true}, {"a*b*c", "acb", false}, {"", "", true}, {"", "a", false},
		{"**", "x", true}, {"a.c", "abc", false}, {"a*", "ba", false}, {"exact", "exact", true}, {"exact", "exactly", false},
	} {
		if got := MatchPattern(tc.pattern, tc.s); got != tc.want {
			t.Errorf("%q %q: %v", tc.pattern, tc.s, got)
		}
	}
}
