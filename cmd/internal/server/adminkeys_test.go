package server

import (
	"fmt"
	"strings"
	"testing"
)

// Keys made while running grant what was asked for, of their maker's tenant, until they are revoked.
func TestKeys(t *testing.T) {
	w := keyed(t)
	w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","content":"the harbour code is 4471"}`, bearer(acmeAdmin)...))
	create := func(body string) (secret string) {
		t.Helper()
		a := w.want(201, w.call("POST", "/v1/admin/keys", body, bearer(acmeAdmin)...))
		return w.str(a, "secret")
	}
	read := create(`{"name":"reader","role":"read","agents":["support-*"],"users":["ada"]}`)
	admin := create(`{"name":"second","role":"admin","agents":["*"]}`)
	w.want(409, w.call("POST", "/v1/admin/keys", `{"name":"reader","role":"read"}`, bearer(acmeAdmin)...))
	for _, body := range []string{`{}`, `{"name":"x"}`, `{"name":"x","role":"owner"}`, `{"name":"","role":"read"}`, `{"name":"x","role":"read","tenant":"rival"}`, `{"name":"x","role":"read","expires_at":"2020-01-01T00:00:00Z"}`} {
		w.want(400, w.call("POST", "/v1/admin/keys", body, bearer(acmeAdmin)...))
	}
	if got := w.want(200, w.call("GET", "/v1/memories", "", bearer(read)...)).body; !strings.Contains(got, "4471") { // its one user
		t.Errorf("the reader sees %s", got)
	}
	w.want(403, w.call("GET", "/v1/memories?user=bob", "", bearer(read)...))
	w.want(403, w.call("GET", "/v1/memories?user=ada&agent=sales", "", bearer(read)...))
	w.want(200, w.call("GET", "/v1/memories?user=ada&agent=support-1", "", bearer(read)...))
	w.want(403, w.call("POST", "/v1/memories", `{"user":"ada","content":"mine"}`, bearer(read)...))
	w.want(403, w.call("GET", "/v1/admin/keys", "", bearer(acmeOne)...)) // an admin of one user makes no keys for others
	w.want(403, w.call("POST", "/v1/admin/keys", `{"name":"all","role":"admin","agents":["*"]}`, bearer(acmeOne)...))

	list := w.want(200, w.call("GET", "/v1/admin/keys", "", bearer(admin)...)).body
	if !strings.Contains(list, `"name":"reader"`) || !strings.Contains(list, `"by":"acme-admin"`) || strings.Contains(list, read) || strings.Contains(list, HashKey(read)) {
		t.Errorf("the list: %s", list)
	}
	if got := w.want(200, w.call("GET", "/v1/admin/keys", "", bearer(rivalAll)...)).body; strings.TrimSpace(got) != `{"keys":[]}` {
		t.Errorf("another tenant's keys: %s", got)
	}
	for _, c := range [][2]string{{"DELETE", ""}, {"POST", "/rotate"}} {
		theirs := w.want(404, w.call(c[0], "/v1/admin/keys/reader"+c[1], "", bearer(rivalAll)...)).json(t)
		none := w.want(404, w.call(c[0], "/v1/admin/keys/unknown"+c[1], "", bearer(rivalAll)...)).json(t)
		delete(theirs, "instance")
		delete(none, "instance")
		if fmt.Sprint(theirs) != fmt.Sprint(none) {
			t.Errorf("%v: %v differs from %v", c, theirs, none)
		}
	}

	turned := w.str(w.want(200, w.call("POST", "/v1/admin/keys/reader/rotate?grace=60", "", bearer(admin)...)), "secret")
	for _, key := range []string{read, turned} {
		w.want(200, w.call("GET", "/v1/stats?user=ada", "", bearer(key)...))
	}
	last := w.str(w.want(200, w.call("POST", "/v1/admin/keys/reader/rotate", "", bearer(admin)...)), "secret")
	w.want(401, w.call("GET", "/v1/stats?user=ada", "", bearer(turned)...))
	w.want(200, w.call("GET", "/v1/stats?user=ada", "", bearer(last)...))
	w.want(200, w.call("DELETE", "/v1/admin/keys/reader", "", bearer(admin)...))
	w.want(401, w.call("GET", "/v1/stats?user=ada", "", bearer(last)...))

	log := w.want(200, w.call("GET", "/v1/admin/audit", "", bearer(acmeAdmin)...)).body
	for _, want := range []string{`"by":"second","verb":"revoke key","ids":["reader"]`, `"by":"second","verb":"rotate key"`, `"by":"acme-admin","verb":"create key"`} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in %s", want, log)
		}
	}
	for _, secret := range []string{read, turned, last, admin} {
		if strings.Contains(log, secret) || strings.Contains(w.log.String(), secret) {
			t.Error("a secret is in a log")
		}
	}
	if !strings.Contains(w.log.String(), "key=second") {
		t.Error("the log does not name the key")
	}
}

// A server without configured keys answers this machine as before; a key that was made narrows what a call may do.
func TestKeysWithoutConfiguredOnes(t *testing.T) {
	w := newWorld(t, "{}")
	secret := w.str(w.want(201, w.call("POST", "/v1/admin/keys", `{"name":"r","role":"read"}`)), "secret")
	w.want(201, w.call("POST", "/v1/memories", `{"content":"tea"}`))
	w.want(403, w.call("POST", "/v1/memories", `{"content":"tea"}`, bearer(secret)...))
	w.want(200, w.call("GET", "/v1/memories", "", bearer(secret)...))
	w.want(403, w.call("GET", "/v1/memories", "", "Host", "evil.example"))
}
