package server

import (
	"context"
	"strings"
	"testing"

	"evoke"
	"evoke/store"
	"evoke/store/sqlitestore"
)

func TestUsage(t *testing.T) {
	db, err := sqlitestore.OpenMemory(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	m, err := evoke.Open(t.Context(), &evoke.Options{Store: db, Ledger: db, Budget: func(_ context.Context, tenant string) (evoke.Budget, error) {
		return evoke.Budget{Day: "2026-03-02", CallsPerDay: 5, Calls: int64(len(tenant))}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	all, one, other := "key-of-all", "key-of-ann", "key-of-others"
	w := newWorldOver(t, "keys: { "+HashKey(all)+": { tenant: acme, role: read, agents: ['*'] }, "+HashKey(one)+": { tenant: acme, role: admin, users: [ann] }, "+
		HashKey(other)+": { tenant: other, role: admin, agents: ['*'] } }", func(tenant string) (Memory, error) { return m.ForTenant(tenant) })
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
