package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"evoke"
	"evoke/extract"
	"evoke/store"
)

// foreignWorld is a server over two tenants. One has something of every kind; what it is called is known.
func foreignWorld(t *testing.T) (*world, map[string]string) {
	t.Helper()
	w, db := newWorldOn(t, "keys:\n  "+HashKey(acmeAdmin)+": { name: a, tenant: acme, role: admin, agents: ['*'] }\n  "+HashKey(rivalAll)+": { name: r, tenant: rival, role: admin, agents: ['*'] }\n", evoke.Options{})
	as := bearer(acmeAdmin)
	of := map[string]string{"holds": "case-17", "schedules": "consolidate", "keys": "reader", "quarantine": "waits", "thread": "harbour thread"}
	remember := func(text, kind string) string {
		return w.str(w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","content":"`+text+`","kind":"`+kind+`"}`, as...)), "item.id")
	}
	of["memories"], of["outcome"] = remember("The harbour code is 4471", "semantic"), remember("Ask the harbour first", "procedural")
	of["forgotten"] = remember("The harbour is closed", "semantic")
	of["batch"] = w.str(w.want(200, w.call("POST", "/v1/admin/forget", `{"user":"ada","ids":["`+of["forgotten"]+`"],"soft":true}`, as...)), "id")
	in := w.want(200, w.call("POST", "/v1/messages", `{"user":"ada","thread":"harbour thread","messages":[{"id":"turn-1","role":"user","content":"I row in the harbour."}]}`, as...))
	of["events"] = w.str(in, "event_id")
	of["hash"] = w.str(w.want(200, w.call("POST", "/v1/context", `{"user":"ada","query":"harbour","min_score":0}`, as...)), "hash")
	w.want(201, w.call("POST", "/v1/admin/holds", `{"id":"case-17","user":"cyd","reason":"claim"}`, as...))
	w.want(200, w.call("PUT", "/v1/admin/schedules/consolidate", `{"every_hours":24}`, as...))
	w.want(201, w.call("POST", "/v1/admin/keys", `{"name":"reader","role":"read"}`, as...))
	of["erase"], _ = w.done(w.call("POST", "/v1/admin/erase", `{"user":"dan"}`, as...), as...)
	of["operations"] = of["erase"]
	sc := store.Scope{Tenant: "acme", User: "ada"}
	q := store.Quarantined{ID: "waits", Scope: sc, Event: of["events"], Turn: "turn-1", Extractor: "llm/1", Reason: "ungrounded", At: time.Now(),
		Operation: []byte(`{"Action":"` + string(extract.Add) + `","Kind":"semantic","Content":"Has a boat.","Quote":"boat","Confidence":0.9}`)}
	if err := store.Commit(context.Background(), db, db, store.Write{ID: "w1", Scope: sc, Quarantine: []store.Quarantined{q}}); err != nil {
		t.Fatal(err)
	}
	return w, of
}

// named are the routes that name something in their bodies, with what they name and what they are sent.
var named = map[string][2]string{
	"POST /v1/feedback":                 {"memories", `{"user":"ada","ids":["%"]}`},
	"POST /v1/recall":                   {"memories", `{"user":"ada","query":"rowing","why_not":["%"]}`},
	"POST /v1/admin/forget":             {"memories", `{"user":"ada","ids":["%"]}`},
	"POST /v1/admin/restore":            {"forgotten", `{"user":"ada","ids":["%"]}`},
	"POST /v1/admin/restore (batch)":    {"batch", `{"user":"ada","batch":"%"}`},
	"POST /v1/admin/restore/batch":      {"batch", `{"batch":"%"}`},
	"POST /v1/admin/events/retry":       {"events", `{"ids":["%"]}`},
	"POST /v1/admin/quarantine/approve": {"quarantine", `{"ids":["%"]}`},
	"POST /v1/admin/quarantine/reject":  {"quarantine", `{"ids":["%"]}`},
	"POST /v1/admin/quarantine/edit":    {"quarantine", `{"id":"%","content":"x"}`},
	"POST /v1/admin/erase/lift":         {"erase", `{"operation":"%"}`},
	"POST /v1/admin/undo":               {"operations", `{"operation":"%","dry_run":true}`},
	"POST /v1/admin/undo (thread)":      {"thread", `{"user":"ada","thread":"%","dry_run":true}`},
}

// makes are routes whose bodies give what is made a name, and those that are told whose memories to work on, by names that
// every tenant may have.
var makes = []string{
	"POST /v1/memories", "POST /v1/messages", "POST /v1/flush", "POST /v1/context", "POST /v1/admin/holds", "POST /v1/admin/keys", "POST /v1/admin/erase",
	"POST /v1/admin/erase/verify", "POST /v1/admin/retain", "POST /v1/admin/consolidate", "POST /v1/admin/import", "PUT /v1/admin/policy",
}

// What another tenant has is as unknown as what nobody has, on every route of the specification that names something in its
// path or in its body: the status is the same and so is the answer, but for the name that was asked for.
func TestAnotherTenantsIsAsUnknownOnEveryRoute(t *testing.T) {
	w, of := foreignWorld(t)
	routes := map[string][3]string{} // method, path and body, with "%" for what is named
	what := map[string]string{}
	for name, op := range w.s.ops {
		path, method := op.route.Path, op.route.Method
		key := method + " " + path
		if strings.HasPrefix(path, "/v1/installation/") {
			continue // tenants are no secret to the operator of the installation, nobody else is let in
		}
		params := 0
		for _, p := range append(slices.Clone(op.route.Operation.Parameters), op.route.PathItem.Parameters...) {
			if p.Value.In == openapi3.ParameterInPath {
				params++
				path = strings.Replace(path, "{"+p.Value.Name+"}", "%", 1)
			}
		}
		switch {
		case params == 1:
			kind := strings.Split(strings.TrimPrefix(strings.TrimPrefix(path, "/v1/"), "admin/"), "/")[0]
			switch {
			case strings.HasSuffix(path, "/outcome"):
				kind = "outcome"
			case kind == "blocks":
				kind = "hash"
			}
			_, body, _ := sample(op)
			if op.query["user"] {
				path += "?user=ada"
			} else if body != "" && op.route.Operation.RequestBody.Value.Content["application/json"].Schema.Value.Properties["user"] != nil {
				body = strings.Replace(body, "{", `{"user":"ada",`, 1)
			}
			switch op.route.Operation.OperationID {
			case "updateMemory", "update":
				body = `{"user":"ada","content":"mine now"}`
			case "adminSetSchedule":
				continue // it makes one of that name; see below
			}
			routes[key], what[key] = [3]string{method, path, body}, kind
		case params > 1:
			t.Errorf("%s: this test knows no route with two names", name)
		case op.route.Operation.RequestBody != nil && named[key][0] == "" && !slices.Contains(makes, key):
			t.Errorf("%s: say here what its body names", key)
		}
	}
	for key, c := range named {
		method, path, _ := strings.Cut(strings.Split(key, " (")[0], " ")
		routes[key], what[key] = [3]string{method, path, c[1]}, c[0]
	}
	if len(routes) < 25 {
		t.Errorf("%d routes", len(routes))
	}
	for key, r := range routes {
		theirs := of[what[key]]
		if theirs == "" {
			t.Errorf("%s: nothing of %q", key, what[key])
			continue
		}
		nobodys := "nobodys"
		switch what[key] {
		case "hash":
			nobodys = "111111111111111111"
		case "schedules":
			nobodys = "retain" // of those that there can be
		}
		ask := func(id string) answer {
			a := w.call(r[0], strings.Replace(r[1], "%", escape(id), 1), strings.ReplaceAll(r[2], "%", id), bearer(rivalAll)...)
			if a.status >= 400 {
				if instance, ok := a.json(t)["instance"].(string); ok { // of the request
					a.body = strings.ReplaceAll(a.body, instance, "")
				}
			}
			if a.status == 202 { // what came of the operation
				_, done := w.done(a, bearer(rivalAll)...)
				op := done.json(t)["operation"].(map[string]any)
				a.body = fmt.Sprint(op["kind"], op["state"], op["result"], op["note"], op["done"])
			}
			a.body = strings.ReplaceAll(a.body, id, "ID")
			return a
		}
		foreign, unknown := ask(theirs), ask(nobodys)
		if foreign.status != unknown.status || foreign.body != unknown.body {
			t.Errorf("%s: %d %s; of what nobody has %d %s", key, foreign.status, foreign.body, unknown.status, unknown.body)
		}
		if foreign.status == 400 || foreign.status == 403 || foreign.status >= 500 {
			t.Errorf("%s was not asked as it can be: %d %s", key, foreign.status, foreign.body)
		}
		if named[key][0] == "" && foreign.status != 404 {
			t.Errorf("%s: %d %s", key, foreign.status, foreign.body)
		}
	}
	w.want(200, w.call("PUT", "/v1/admin/schedules/consolidate", `{"every_hours":1}`, bearer(rivalAll)...))
	// Whose it is finds all of it as it was.
	for path, want := range map[string]string{
		"/v1/memories?user=ada":                       "4471",
		"/v1/memories/" + of["outcome"] + "?user=ada": "Ask the harbour",
		"/v1/admin/forgotten?user=ada":                of["forgotten"],
		"/v1/admin/holds":                             "case-17",
		"/v1/admin/schedules":                         `"every_hours":24`,
		"/v1/admin/keys":                              "reader",
		"/v1/admin/quarantine":                        "Has a boat.",
		"/v1/admin/operations/" + of["erase"]:         "done",
		"/v1/blocks/" + of["hash"] + "?user=ada":      of["memories"],
		"/v1/events/" + of["events"]:                  "harbour thread",
		"/v1/admin/erase/" + of["erase"] + "/receipt": "clean",
		"/v1/stats?user=ada":                          `"total":3`,
	} {
		if a := w.want(200, w.call("GET", path, "", bearer(acmeAdmin)...)); !strings.Contains(a.body, want) {
			t.Errorf("%s: no %s in %s", path, want, a.body)
		}
	}
}

// What another user of the tenant has, and what nobody has, is answered alike where an id names it.
func TestAnotherUsersIsAsUnknown(t *testing.T) {
	ann, bob := "key-of-ann", "key-of-bob"
	w := newWorld(t, "keys: { "+HashKey(ann)+": { tenant: acme, role: admin, users: [ann] }, "+HashKey(bob)+": { tenant: acme, role: admin, users: [bob] } }")
	event := w.str(w.want(200, w.call("POST", "/v1/messages", `{"user":"ann","thread":"a","messages":[{"role":"user","content":"I like tea."}]}`, bearer(ann)...)), "event_id")
	item := w.str(w.want(201, w.call("POST", "/v1/memories", `{"user":"ann","content":"Ann likes tea"}`, bearer(ann)...)), "item.id")
	for _, c := range []struct{ method, path, body, id string }{
		{"GET", "/v1/events/%", "", event},
		{"GET", "/v1/memories/%?user=bob", "", item},
		{"GET", "/v1/memories/%/history?user=bob", "", item},
		{"PATCH", "/v1/memories/%", `{"user":"bob","content":"new"}`, item},
		{"GET", "/v1/memories/%/sources?user=bob", "", item},
		{"DELETE", "/v1/memories/%?user=bob", "", item},
	} {
		ask := func(id string) answer {
			a := w.call(c.method, strings.Replace(c.path, "%", id, 1), strings.ReplaceAll(c.body, "%", id), bearer(bob)...)
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
