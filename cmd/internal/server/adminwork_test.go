package server

import (
	"fmt"
	"strings"
	"testing"
)

// The tenant's statistics are of all its memories and of no other tenant's.
func TestTenantStats(t *testing.T) {
	w := keyed(t)
	for _, user := range []string{"ada", "bob"} {
		w.want(201, w.call("POST", "/v1/memories", `{"user":"`+user+`","content":"tea","category":"preference"}`, bearer(acmeWrite)...))
	}
	got := w.want(200, w.call("GET", "/v1/admin/stats", "", bearer(acmeAdmin)...)).body
	for _, want := range []string{`"memories":2`, `"total":2`, `"preference":2`, `"goal":0`, `"semantic":2`, `"ages":[{"days":1,"items":2},`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if got := w.want(200, w.call("GET", "/v1/admin/stats", "", bearer(rivalAll)...)).body; !strings.Contains(got, `"memories":0,"total":0`) {
		t.Errorf("another tenant's: %s", got)
	}
	w.want(403, w.call("GET", "/v1/admin/stats", "", bearer(acmeOne)...))
	w.want(403, w.call("GET", "/v1/admin/stats", "", bearer(acmeWrite)...))
}

// Long work is begun, followed and steered by those who are granted all of the tenant; what is another tenant's is as
// unknown as what does not exist. Who did what is on record by the name of the key and the id of the request.
func TestOperations(t *testing.T) {
	w := keyed(t)
	for i := range 3 {
		w.want(201, w.call("POST", "/v1/memories", fmt.Sprintf(`{"user":"ada","agent":"support-%d","content":"zebraquartz number %d"}`, i, i), bearer(acmeWrite)...))
	}
	w.want(201, w.call("POST", "/v1/memories", `{"user":"bob","content":"bob's plan"}`, bearer(acmeWrite)...))
	begun := w.call("POST", "/v1/admin/erase", `{"user":"ada"}`, append(bearer(acmeAdmin), "X-Request-Id", "req-7")...)
	if by := w.str(begun, "operation.by"); by != acmeAdmin {
		t.Errorf("asked for by %s", by)
	}
	id, done := w.done(begun, bearer(acmeAdmin)...)
	if !strings.Contains(done.body, `"items":3`) || !strings.Contains(done.body, `"memories":3`) {
		t.Errorf("it ended as %s", done.body)
	}
	if left := w.want(200, w.call("GET", "/v1/admin/export", "", bearer(acmeAdmin)...)).body; strings.Contains(left, "zebraquartz") || !strings.Contains(left, "bob's plan") {
		t.Errorf("left: %s", left)
	}
	if list := w.want(200, w.call("GET", "/v1/admin/operations?kind=erase&state=done", "", bearer(acmeAdmin)...)).body; !strings.Contains(list, id) {
		t.Errorf("the list: %s", list)
	}
	w.want(409, w.call("POST", "/v1/admin/operations/"+id+"/retry", "", bearer(acmeAdmin)...))
	w.want(200, w.call("POST", "/v1/admin/operations/"+id+"/cancel", "", bearer(acmeAdmin)...)) // it has ended and stays so
	for _, c := range [][2]string{{"GET", ""}, {"POST", "/cancel"}, {"POST", "/retry"}} {
		theirs := w.want(404, w.call(c[0], "/v1/admin/operations/"+id+c[1], "", bearer(rivalAll)...)).json(t)
		none := w.want(404, w.call(c[0], "/v1/admin/operations/unknown"+c[1], "", bearer(rivalAll)...)).json(t)
		delete(theirs, "instance")
		delete(none, "instance")
		if fmt.Sprint(theirs) != fmt.Sprint(none) {
			t.Errorf("%v: %v differs from %v", c, theirs, none)
		}
		w.want(403, w.call(c[0], "/v1/admin/operations/"+id+c[1], "", bearer(acmeOne)...))
	}
	for _, path := range []string{"/v1/admin/operations", "/v1/admin/audit"} {
		w.want(403, w.call("GET", path, "", bearer(acmeOne)...))
		if got := w.want(200, w.call("GET", path, "", bearer(rivalAll)...)).body; strings.Contains(got, "acme-") || strings.Contains(got, "erase") {
			t.Errorf("another tenant's %s: %s", path, got)
		}
	}
	w.want(403, w.call("POST", "/v1/admin/erase", `{"user":"ada"}`, bearer(acmeOne)...))
	for _, body := range []string{`{}`, `{"user":"ada","tenant":true}`, `{"tenant":true,"filter":{}}`, `{"user":"ada","filter":{"subjects":["home"]}}`} {
		w.want(400, w.call("POST", "/v1/admin/erase", body, bearer(acmeAdmin)...))
	}
	log := w.want(200, w.call("GET", "/v1/admin/audit", "", bearer(acmeAdmin)...)).body
	for _, want := range []string{`"verb":"remember"`, `"by":"acme-write"`, `"verb":"start erase"`, `"request":"req-7"`, `"verb":"erase"`, `"items":3,"memories":3`, `"verb":"retry operation"`, `"error":"conflict"`} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in %s", want, log)
		}
	}
	if strings.Contains(log, "zebraquartz") {
		t.Errorf("content in the audit log: %s", log)
	}
	if got := w.want(200, w.call("GET", "/v1/admin/audit?verb=remember&user=bob", "", bearer(acmeAdmin)...)).body; strings.Count(got, `"verb"`) != 1 {
		t.Errorf("narrowed to one verb and user: %s", got)
	}
}
