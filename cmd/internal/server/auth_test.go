package server

import (
	"fmt"
	"strings"
	"testing"

	"evoke/cmd/internal/config"
)

// testKeys are keys of all roles and grants; their hashes are in the settings of keyed.
const (
	acmeRead  = "acme-read"
	acmeWrite = "acme-write"
	acmeAdmin = "acme-admin"
	acmeOne   = "acme-one-user" // admin of one user and support-* agents
	rivalAll  = "rival-admin"
	operator  = "operator" // of the installation
)

func keyed(t *testing.T) *world {
	t.Helper()
	entry := func(key, rest string) string { return fmt.Sprintf("  %s: { name: %s, %s }\n", HashKey(key), key, rest) }
	return newWorld(t, "keys:\n"+
		entry(acmeRead, "tenant: acme, role: read, agents: ['*']")+
		entry(acmeWrite, "tenant: acme, role: write, agents: ['*']")+
		entry(acmeAdmin, "tenant: acme, role: admin, agents: ['*']")+
		entry(acmeOne, "tenant: acme, role: admin, agents: ['support-*'], users: [ada]")+
		entry(rivalAll, "tenant: rival, role: admin, agents: ['*']")+
		entry(operator, "role: installation"))
}

func bearer(key string) []string { return []string{"Authorization", "Bearer " + key} }

// sample is a request that each operation accepts.
func sample(op *operation) (path, body string, header []string) {
	path = strings.NewReplacer("{id}", "x", "{key}", "x").Replace(op.route.Path)
	if op.query["version"] {
		path += "?version=0"
	}
	if op.route.Operation.RequestBody == nil {
		return path, "", nil
	}
	switch op.route.Operation.OperationID {
	case "ingest":
		return path, `{"thread":"t","messages":` + chat + `}`, nil
	case "remember":
		return path, `{"content":"a"}`, nil
	case "feedback":
		return path, `{"ids":["x"]}`, nil
	case "outcome":
		return path, `{"outcome":"failed"}`, nil
	case "adminSetPolicy":
		return path, `{"version":0,"policy":{}}`, nil
	case "adminForget":
		return path, `{"ids":["x"]}`, nil
	case "adminImport":
		return path, `{"id":"x","text":"a"}`, []string{"Content-Type", "application/x-ndjson"}
	}
	return path, `{}`, nil
}

// Every operation against every role: no key and unknown keys are refused, small roles are refused, the rest passes.
func TestRolesAndOperations(t *testing.T) {
	w := keyed(t)
	roles := map[string]config.Role{acmeRead: config.Read, acmeWrite: config.Write, acmeAdmin: config.Admin, operator: config.Installation}
	for name, op := range w.s.ops {
		if !op.role.Allows(config.Read) && op.role != config.Installation {
			t.Errorf("%s: x-role is %q", name, op.role)
		}
		method, _, _ := strings.Cut(name, " ")
		path, body, header := sample(op)
		for _, bad := range [][]string{nil, {"Authorization", "Bearer nobody"}, {"Authorization", "Basic " + acmeAdmin}, {"Authorization", "Bearer"},
			{"X-Api-Key", acmeAdmin}, {"Authorization", "Bearer " + HashKey(acmeAdmin)}} {
			a := w.want(401, w.call(method, path, body, append(bad, header...)...))
			if !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s: 401 without WWW-Authenticate", name)
			}
		}
		w.want(401, w.call(method, path+"?key="+acmeAdmin, body, header...))
		for key, role := range roles {
			a := w.call(method, path, body, append(bearer(key), header...)...)
			if got, want := a.status != 403, role.Allows(op.role); got != want || a.status == 401 || a.status >= 500 {
				t.Errorf("%s with role %s: status %d: %.200s", name, role, a.status, a.body)
			}
		}
	}
}

// What belongs to another tenant is as unknown as what does not exist, to the byte but for the request's id.
func TestTenantsDoNotMeet(t *testing.T) {
	w := keyed(t)
	made := w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","content":"the harbour code is 4471"}`, bearer(acmeAdmin)...))
	id := w.str(made, "item.id")
	in := w.want(200, w.call("POST", "/v1/messages", `{"user":"ada","thread":"t","messages":`+chat+`}`, bearer(acmeAdmin)...))
	event := w.str(in, "event_id")
	same := func(a, b answer) {
		t.Helper()
		x, y := a.json(t), b.json(t)
		delete(x, "instance")
		delete(y, "instance")
		if a.status != b.status || fmt.Sprint(x) != fmt.Sprint(y) {
			t.Errorf("%d %s differs from %d %s", a.status, a.body, b.status, b.body)
		}
	}
	for _, p := range [][3]string{
		{"GET", "/v1/memories/%s?user=ada", ""}, {"GET", "/v1/memories/%s/history?user=ada", ""}, {"DELETE", "/v1/memories/%s?user=ada", ""},
		{"PATCH", "/v1/memories/%s", `{"user":"ada","content":"mine now"}`}, {"GET", "/v1/events/%s", ""},
	} {
		theirs := id
		if strings.Contains(p[1], "events") {
			theirs = event
		}
		same(w.want(404, w.call(p[0], fmt.Sprintf(p[1], theirs), p[2], bearer(rivalAll)...)), w.call(p[0], fmt.Sprintf(p[1], "unknown"), p[2], bearer(rivalAll)...))
	}
	for _, header := range [][]string{nil, {"X-Tenant", "acme"}, {"Evoke-Tenant", "acme"}} {
		a := w.want(200, w.call("POST", "/v1/recall", `{"user":"ada","query":"harbour code","min_score":0}`, append(bearer(rivalAll), header...)...))
		if strings.Contains(a.body, "4471") {
			t.Errorf("another tenant's memory came with %v", header)
		}
	}
	for _, path := range []string{"/v1/stats?user=ada", "/v1/memories?user=ada"} {
		if a := w.want(200, w.call("GET", path, "", bearer(rivalAll)...)); strings.Contains(a.body, "4471") || strings.Contains(a.body, `"total":1`) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	if a := w.want(200, w.call("GET", "/v1/admin/export", "", bearer(rivalAll)...)); !strings.Contains(a.body, `"items":0,"sha256"`) || strings.Contains(a.body, "content") {
		t.Errorf("export of an empty tenant: %s", a.body)
	}
	w.want(200, w.call("POST", "/v1/admin/forget", `{"user":"ada","all":true}`, bearer(rivalAll)...))
	w.want(200, w.call("GET", "/v1/memories/"+id+"?user=ada", "", bearer(acmeRead)...))
}

func TestUsersAndAgentsAreGranted(t *testing.T) {
	w := keyed(t)
	w.want(201, w.call("POST", "/v1/memories", `{"user":"bob","content":"bob's plan"}`, bearer(acmeAdmin)...))
	in := w.want(200, w.call("POST", "/v1/messages", `{"user":"bob","thread":"t","messages":`+chat+`}`, bearer(acmeAdmin)...))
	for _, c := range []struct {
		method, path, body string
		status             int
		detail             string
	}{
		{"POST", "/v1/recall", `{"user":"bob","query":"plan"}`, 403, "user"},
		{"GET", "/v1/stats?user=bob", "", 403, "user"},
		{"POST", "/v1/recall", `{"user":"ada","agent":"sales-1","query":"plan"}`, 403, "agent"},
		{"POST", "/v1/recall", `{"user":"ada","agent":"xsupport-1","query":"plan"}`, 403, "agent"},
		{"POST", "/v1/messages", `{"user":"ada","agent":"user-1","thread":"t","messages":` + chat + `}`, 403, "agent"},
		{"POST", "/v1/recall", `{"user":"ada","agent":"support-7","query":"plan"}`, 200, ""},
		{"POST", "/v1/recall", `{"user":"ada","query":"plan"}`, 200, ""},
		{"POST", "/v1/recall", `{"query":"plan"}`, 200, ""}, // the one user granted
		{"GET", "/v1/admin/export", "", 403, "name one"},
		{"GET", "/v1/admin/export?user=ada", "", 200, ""},
		{"POST", "/v1/admin/forget", `{"user":"bob","all":true}`, 403, "user"},
		{"GET", "/v1/events/" + w.str(in, "event_id"), "", 404, ""}, // bob's
	} {
		a := w.want(c.status, w.call(c.method, c.path, c.body, bearer(acmeOne)...))
		if c.detail != "" && !strings.Contains(w.str(a, "detail"), c.detail) {
			t.Errorf("%s %s: %s", c.method, c.path, a.body)
		}
	}
	w.want(403, w.call("POST", "/v1/admin/import", `{"user":"bob","id":"x","content":"a","kind":"semantic"}`,
		append(bearer(acmeOne), "Content-Type", "application/x-ndjson")...))
}

// A web page must not reach a server without keys, whatever name it gave this machine.
func TestPagesDoNotReachAServerWithoutKeys(t *testing.T) {
	w := newWorld(t, "")
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{"localhost:8080", "", 200}, {"127.0.0.1:8080", "", 200}, {"[::1]:8080", "", 200}, {"LOCALHOST", "", 200},
		{"evil.example:8080", "", 403}, {"localhost.evil.example", "", 403}, {"192.168.1.7", "", 403}, {"", "", 403},
		{"localhost:8080", "http://localhost:8080", 200}, {"localhost:8080", "http://evil.example", 403}, {"localhost:8080", "null", 403},
	} {
		h := []string{"Host", c.host}
		if c.origin != "" {
			h = append(h, "Origin", c.origin)
		}
		a := w.want(c.status, w.call("GET", "/v1/stats", "", h...))
		if a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Error("an answer allows other origins")
		}
		w.want(c.status, w.call("GET", "/metrics", "", h...))
	}
	k := keyed(t)
	k.want(200, k.call("GET", "/v1/stats", "", append(bearer(acmeRead), "Host", "evoke.example")...))
}

func TestMetricsWantAKeyOfRoleAdmin(t *testing.T) {
	w := keyed(t)
	w.want(401, w.call("GET", "/metrics", ""))
	w.want(403, w.call("GET", "/metrics", "", bearer(acmeWrite)...))
	w.want(200, w.call("GET", "/metrics", "", bearer(acmeAdmin)...))
	w.want(200, w.call("GET", "/healthz", ""))
}
