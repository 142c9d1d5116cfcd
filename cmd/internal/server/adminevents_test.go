package server

import (
	"strings"
	"testing"
)

// What became of a tenant's batches is told to those who are granted all of it, and to no other tenant.
func TestEventsOfATenant(t *testing.T) {
	all, one, writer, other := "key-of-all", "key-of-ann", "key-that-writes", "key-of-others"
	w := newWorld(t, "keys: { "+HashKey(all)+": { tenant: acme, role: admin, agents: ['*'] }, "+HashKey(one)+": { tenant: acme, role: admin, users: [ann] }, "+
		HashKey(writer)+": { tenant: acme, role: write, agents: ['*'] }, "+HashKey(other)+": { tenant: other, role: admin, agents: ['*'] } }")
	for _, user := range []string{"ann", "bob"} {
		w.want(200, w.call("POST", "/v1/messages", `{"user":"`+user+`","thread":"a","messages":[{"role":"user","content":"I like tea."},{"role":"assistant","content":"Noted."}]}`, bearer(all)...))
	}
	get := func(key, path string) string {
		return strings.TrimSpace(w.want(200, w.call("GET", path, "", bearer(key)...)).body)
	}
	page := get(all, "/v1/admin/events?state=pending&limit=10")
	for _, want := range []string{`"user":"ann"`, `"user":"bob"`, `"pending":2`, `"quarantined":0`, `"dead":0`} {
		if !strings.Contains(page, want) {
			t.Errorf("events %s, want %s", page, want)
		}
	}
	if page := get(all, "/v1/admin/events?user=ann"); strings.Contains(page, `"user":"bob"`) {
		t.Errorf("ann's events: %s", page)
	}
	if page := get(other, "/v1/admin/events"); !strings.Contains(page, `"events":[]`) {
		t.Errorf("another tenant's events: %s", page)
	}
	if got := get(all, "/v1/admin/queue"); got != `{"waiting":2,"due":0,"leased":0,"paused":false}` {
		t.Errorf("queue %s", got)
	}
	retried := w.want(200, w.call("POST", "/v1/admin/events/retry", `{"ids":["unknown"]}`, bearer(all)...)).body
	if got := strings.TrimSpace(retried); got != `{"revived":0,"skipped":["unknown"]}` {
		t.Errorf("retried %s", got)
	}
	for _, key := range []string{one, writer} {
		w.want(403, w.call("GET", "/v1/admin/events", "", bearer(key)...))
		w.want(403, w.call("GET", "/v1/admin/queue", "", bearer(key)...))
		w.want(403, w.call("POST", "/v1/admin/events/retry", `{"ids":["unknown"]}`, bearer(key)...))
	}
	w.want(400, w.call("GET", "/v1/admin/events?state=lost", "", bearer(all)...))
	w.want(400, w.call("POST", "/v1/admin/events/retry", `{"ids":[]}`, bearer(all)...))
}
