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
	as := func(key string) []string { return []string{"Authorization", "Bearer " + key} }
	for _, user := range []string{"ann", "bob"} {
		w.want(200, w.call("POST", "/v1/messages", `{"user":"`+user+`","thread":"a","messages":[{"role":"user","content":"I like tea."},{"role":"assistant","content":"Noted."}]}`, as(all)...))
	}
	get := func(key, path string) string {
		return strings.TrimSpace(w.want(200, w.call("GET", path, "", as(key)...)).body)
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
	retried := w.want(200, w.call("POST", "/v1/admin/events/retry", `{"ids":["unknown"]}`, as(all)...)).body
	if got := strings.TrimSpace(retried); got != `{"revived":0,"skipped":["unknown"]}` {
		t.Errorf("retried %s", got)
	}
	for _, key := range []string{one, writer} {
		w.want(403, w.call("GET", "/v1/admin/events", "", as(key)...))
		w.want(403, w.call("GET", "/v1/admin/queue", "", as(key)...))
		w.want(403, w.call("POST", "/v1/admin/events/retry", `{"ids":["unknown"]}`, as(key)...))
	}
	w.want(400, w.call("GET", "/v1/admin/events?state=lost", "", as(all)...))
	w.want(400, w.call("POST", "/v1/admin/events/retry", `{"ids":[]}`, as(all)...))
}

// What another's is, and what nobody's is, is answered alike on every route that names it by an id.
func TestForeignIsAsUnknown(t *testing.T) {
	ann, bob := "key-of-ann", "key-of-bob"
	w := newWorld(t, "keys: { "+HashKey(ann)+": { tenant: acme, role: admin, users: [ann] }, "+HashKey(bob)+": { tenant: acme, role: admin, users: [bob] } }")
	as := func(key string) []string { return []string{"Authorization", "Bearer " + key} }
	event := w.str(w.want(200, w.call("POST", "/v1/messages", `{"user":"ann","thread":"a","messages":[{"role":"user","content":"I like tea."}]}`, as(ann)...)), "event_id")
	item := w.str(w.want(201, w.call("POST", "/v1/memories", `{"user":"ann","content":"Ann likes tea"}`, as(ann)...)), "item.id")
	for _, c := range []struct{ method, path, body, id string }{
		{"GET", "/v1/events/%", "", event},
		{"GET", "/v1/memories/%?user=bob", "", item},
		{"GET", "/v1/memories/%/history?user=bob", "", item},
		{"PATCH", "/v1/memories/%", `{"user":"bob","content":"new"}`, item},
		{"GET", "/v1/memories/%/sources?user=bob", "", item},
		{"DELETE", "/v1/memories/%?user=bob", "", item},
	} {
		ask := func(id string) answer {
			a := w.call(c.method, strings.Replace(c.path, "%", id, 1), strings.ReplaceAll(c.body, "%", id), as(bob)...)
			instance, _ := a.json(t)["instance"].(string) // of the request
			a.body = strings.NewReplacer(id, "ID", instance, "").Replace(a.body)
			return a
		}
		foreign, unknown := ask(c.id), ask("nobodys")
		if foreign.status != 404 || foreign.status != unknown.status || foreign.body != unknown.body {
			t.Errorf("%s %s: %d %s, of what is not there %d %s", c.method, c.path, foreign.status, foreign.body, unknown.status, unknown.body)
		}
	}
}
