package server

import (
	"fmt"
	"strings"
	"testing"
)

// A policy that is put over the API holds from the next call on, for its tenant alone; two who change it at once do not
// overwrite each other.
func TestPolicyOverTheAPI(t *testing.T) {
	w := keyed(t)
	get := func(key string) map[string]any {
		t.Helper()
		return w.want(200, w.call("GET", "/v1/admin/policy", "", bearer(key)...)).json(t)
	}
	if p := get(acmeAdmin); p["version"] != 0.0 || fmt.Sprint(p["from"].(map[string]any)["redaction"]) != "default" {
		t.Errorf("before: %v", p)
	}
	const doc = `{"redaction":{"mode":"mask","patterns":{"badge":"B-\\d{4}"}},"namespace":{"preset":"experts"},"budget":{"calls_per_day":5},` +
		`"retention":{"max_items":100,"kinds":{"episodic":30}},"review":{"mode":"low_confidence","below":0.9}}`
	set := w.want(200, w.call("PUT", "/v1/admin/policy", `{"version":0,"policy":`+doc+`}`, bearer(acmeAdmin)...)).json(t)
	if set["version"] != 1.0 || set["by"] != acmeAdmin || fmt.Sprint(set["from"]) !=
		"map[budget.calls_per_day:policy budget.calls_per_minute:default budget.tokens_per_day:default consolidation:default namespace:policy redaction:policy retention:policy review:policy]" {
		t.Errorf("set: %v", set)
	}
	for key, want := range map[string]string{acmeAdmin: "[email] [badge]", rivalAll: "ada@example.org B-1234"} {
		if got := w.want(201, w.call("POST", "/v1/memories", `{"content":"ada@example.org B-1234"}`, bearer(key)...)).body; !strings.Contains(got, want) {
			t.Errorf("%s: %s", key, got)
		}
	}
	if p := get(rivalAll); p["version"] != 0.0 {
		t.Errorf("another tenant's: %v", p)
	}
	conflict := w.want(409, w.call("PUT", "/v1/admin/policy", `{"version":0,"policy":{}}`, bearer(acmeAdmin)...)).json(t)
	if !strings.Contains(fmt.Sprint(conflict["detail"]), "version 1") {
		t.Errorf("a version of before: %v", conflict)
	}
	for body, want := range map[string]string{
		`{"policy":{}}`: "version",
		`{"version":1}`: "policy",
		`{"version":1,"policy":{"redaktion":{}}}`:                                               "redaktion",
		`{"version":1,"policy":{"redaction":{"mode":"maks"}}}`:                                  "policy.redaction.mode",
		`{"version":1,"policy":{"redaction":{"mode":"mask","patterns":{"x":"("}}}}`:             "redaction.patterns[0].match: must be a regular expression",
		`{"version":1,"policy":{"budget":{"calls_per_day":0}}}`:                                 "policy.budget.calls_per_day",
		`{"version":1,"policy":{"retention":{"kinds":{"dreams":3}}}}`:                           "kind: must be episodic",
		`{"version":1,"policy":{"review":{"mode":"category"}}}`:                                 "review.categories: must be at least one",
		`{"version":1,"policy":{"namespace":{"rules":[{"agent":"x","namespace":"everyone"}]}}}`: "policy.namespace.rules[0].namespace",
	} {
		if got := w.want(400, w.call("PUT", "/v1/admin/policy", body, bearer(acmeAdmin)...)).json(t); !strings.Contains(fmt.Sprint(got["detail"]), want) {
			t.Errorf("%s: %v", body, got["detail"])
		}
	}
	for _, key := range []string{acmeOne, acmeWrite, operator} {
		w.want(403, w.call("GET", "/v1/admin/policy", "", bearer(key)...))
		w.want(403, w.call("PUT", "/v1/admin/policy", `{"version":1,"policy":{}}`, bearer(key)...))
	}
	w.want(409, w.call("DELETE", "/v1/admin/policy?version=7", "", bearer(acmeAdmin)...))
	w.want(200, w.call("DELETE", "/v1/admin/policy?version=1", "", bearer(acmeAdmin)...))
	if got := w.want(201, w.call("POST", "/v1/memories", `{"content":"eve@example.org"}`, bearer(acmeAdmin)...)).body; !strings.Contains(got, "eve@example.org") {
		t.Errorf("after the reset: %s", got)
	}
	history := w.want(200, w.call("GET", "/v1/admin/policy/history", "", bearer(acmeAdmin)...)).json(t)["versions"].([]any)
	if len(history) != 2 || history[1].(map[string]any)["by"] != acmeAdmin {
		t.Errorf("history: %v", history)
	}
	audit := w.want(200, w.call("GET", "/v1/admin/audit?verb=set%20policy", "", bearer(acmeAdmin)...)).json(t)["entries"].([]any)
	if len(audit) != 2 || audit[0].(map[string]any)["error"] != "conflict" {
		t.Errorf("audit: %v", audit)
	}
}

// Whoever runs the installation makes tenants and their keys and reads no memory; a tenant's own administrator sees none
// of it, and a disabled tenant is refused whatever its key.
func TestTenantsOverTheAPI(t *testing.T) {
	w := keyed(t)
	by := bearer(operator)
	w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","content":"the harbour code is 4471"}`, bearer(acmeAdmin)...))
	w.want(201, w.call("POST", "/v1/installation/tenants", `{"name":"fresh"}`, by...))
	w.want(409, w.call("POST", "/v1/installation/tenants", `{"name":"acme"}`, by...))
	w.want(400, w.call("POST", "/v1/installation/tenants", `{"name":"*"}`, by...))
	secret := w.str(w.want(201, w.call("POST", "/v1/installation/tenants/fresh/keys", `{"name":"boss","role":"admin","agents":["*"]}`, by...)), "secret")
	w.want(400, w.call("POST", "/v1/installation/tenants/fresh/keys", `{"name":"root","role":"installation"}`, by...))
	w.want(400, w.call("POST", "/v1/admin/keys", `{"name":"root","role":"installation"}`, bearer(acmeAdmin)...))
	w.want(200, w.call("GET", "/v1/admin/keys", "", bearer(secret)...))
	if got := w.want(200, w.call("GET", "/v1/memories?user=ada", "", bearer(secret)...)).body; strings.Contains(got, "4471") {
		t.Errorf("the fresh tenant sees %s", got)
	}
	for _, path := range []string{"/v1/memories", "/v1/memories?user=ada", "/v1/stats", "/v1/admin/export", "/v1/admin/audit", "/v1/admin/keys", "/v1/admin/stats"} {
		w.want(403, w.call("GET", path, "", by...))
	}
	for _, key := range []string{acmeAdmin, secret, acmeRead} {
		for _, path := range []string{"/v1/installation/tenants", "/v1/installation/tenants/rival", "/v1/installation/tenants/rival/keys", "/v1/installation/audit"} {
			w.want(403, w.call("GET", path, "", bearer(key)...))
		}
		w.want(403, w.call("POST", "/v1/installation/tenants/rival/disable", "", bearer(key)...))
	}
	for _, c := range [][2]string{{"GET", ""}, {"POST", "/disable"}, {"GET", "/keys"}, {"DELETE", "/keys/boss"}, {"POST", "/keys/boss/rotate"}} {
		w.want(404, w.call(c[0], "/v1/installation/tenants/unknown"+c[1], "", by...))
	}
	list := w.want(200, w.call("GET", "/v1/installation/tenants?limit=1", "", by...)).json(t)
	if first := list["tenants"].([]any)[0].(map[string]any); first["name"] != "acme" || first["items"] != true || list["next"] != "acme" {
		t.Errorf("the first page: %v", list)
	}

	turned := w.str(w.want(200, w.call("POST", "/v1/installation/tenants/fresh/keys/boss/rotate", "", by...)), "secret")
	w.want(401, w.call("GET", "/v1/stats", "", bearer(secret)...))
	w.want(200, w.call("POST", "/v1/installation/tenants/fresh/disable", "", by...))
	w.want(200, w.call("POST", "/v1/installation/tenants/acme/disable", "", by...))
	for _, key := range []string{turned, acmeAdmin, acmeRead} { // keys of the store and of the settings
		w.want(403, w.call("GET", "/v1/stats", "", bearer(key)...))
		w.want(403, w.call("GET", "/v1/admin/keys", "", bearer(key)...))
	}
	w.want(200, w.call("GET", "/v1/stats", "", bearer(rivalAll)...))
	w.want(200, w.call("GET", "/readyz", ""))
	w.want(200, w.call("POST", "/v1/installation/tenants/acme/enable", "", by...))
	if got := w.want(200, w.call("GET", "/v1/memories?user=ada", "", bearer(acmeAdmin)...)).body; !strings.Contains(got, "4471") {
		t.Errorf("enabled again: %s", got)
	}
	w.want(200, w.call("DELETE", "/v1/installation/tenants/fresh/keys/boss", "", by...))
	if got := w.want(200, w.call("GET", "/v1/installation/audit?verb=disable%20tenant", "", by...)).body; strings.Count(got, `"verb":"disable tenant"`) != 3 || !strings.Contains(got, operator) {
		t.Errorf("the installation's audit log: %s", got)
	}
	w.want(200, w.call("GET", "/metrics", "", by...))
}

// What one request cannot forget in its time is refused with the way to do it, and nothing is forgotten.
func TestAForgetOfTooMuchIsRefused(t *testing.T) {
	w := keyed(t)
	w.s.mostForgotten = 2
	for _, text := range []string{"tea", "coffee", "cocoa"} {
		w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","content":"`+text+`"}`, bearer(acmeAdmin)...))
	}
	for _, body := range []string{`{"user":"ada","all":true}`, `{"user":"ada","filter":{"kinds":["semantic"]}}`} {
		got := w.want(400, w.call("POST", "/v1/admin/forget", body, bearer(acmeAdmin)...)).json(t)
		if !strings.Contains(fmt.Sprint(got["detail"]), "selects 3 items") || !strings.Contains(fmt.Sprint(got["detail"]), "/v1/admin/erase") {
			t.Errorf("%s: %v", body, got)
		}
	}
	w.want(200, w.call("POST", "/v1/admin/forget", `{"user":"ada","all":true,"dry_run":true}`, bearer(acmeAdmin)...))
	w.s.mostForgotten = 3
	if got := w.want(200, w.call("POST", "/v1/admin/forget", `{"user":"ada","all":true}`, bearer(acmeAdmin)...)).json(t); got["forgotten"] != 3.0 {
		t.Errorf("%v", got)
	}
}
