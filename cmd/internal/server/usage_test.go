package server

import (
	"context"
	"strings"
	"testing"

	"evoke"
	"evoke/store"
)

func TestUsage(t *testing.T) {
	budget := func(_ context.Context, tenant string) (evoke.Budget, error) {
		return evoke.Budget{Day: "2026-03-02", CallsPerDay: 5, Calls: int64(len(tenant))}, nil
	}
	all, one, other := "key-of-all", "key-of-ann", "key-of-others"
	w, db := newWorldOn(t, "keys: { "+HashKey(all)+": { tenant: acme, role: read, agents: ['*'] }, "+HashKey(one)+": { tenant: acme, role: admin, users: [ann] }, "+
		HashKey(other)+": { tenant: other, role: admin, agents: ['*'] } }", evoke.Options{Budget: budget})
	if err := db.AddUsage(t.Context(), "acme", store.Usage{Day: "2026-03-02", Calls: 2, PromptTokens: 30, CompletionTokens: 4}); err != nil {
		t.Fatal(err)
	}
	a := w.want(200, w.call("GET", "/v1/usage?from=2026-03-01&to=2026-03-02", "", bearer(all)...)).body
	for _, want := range []string{`"from":"2026-03-01"`, `"days":[{"day":"2026-03-02","calls":2,"prompt_tokens":30,"completion_tokens":4}]`, `"calls_per_day":5`, `"left":{"calls":1}`} {
		if !strings.Contains(a, want) {
			t.Errorf("%s, want %s", a, want)
		}
	}
	if a := w.want(200, w.call("GET", "/v1/usage?from=2026-03-01&to=2026-03-02", "", bearer(other)...)).body; !strings.Contains(a, `"days":[]`) {
		t.Errorf("another tenant's usage: %s", a)
	}
	w.want(200, w.call("GET", "/v1/usage", "", bearer(all)...))
	w.want(403, w.call("GET", "/v1/usage", "", bearer(one)...))
	w.want(400, w.call("GET", "/v1/usage?from=yesterday", "", bearer(all)...))
	w.want(400, w.call("GET", "/v1/usage?from=2026-03-03&to=2026-03-01", "", bearer(all)...))
}
