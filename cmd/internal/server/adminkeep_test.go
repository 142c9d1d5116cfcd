package server

import (
	"strings"
	"testing"
)

// Softly forgotten items are not found, are listed for administrators and come back; a hold stops what removes, and says
// which it is; retention tells what would go. None of it is granted to those who may only write, or to other tenants.
func TestKeep(t *testing.T) {
	w := keyed(t)
	id := w.str(w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","content":"I like zebraquartz"}`, bearer(acmeWrite)...)), "item.id")
	w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","content":"the tent is here","expires_at":"2020-01-01T00:00:00Z"}`, bearer(acmeWrite)...))
	gone := w.want(200, w.call("POST", "/v1/admin/forget", `{"user":"ada","ids":["`+id+`"],"soft":true}`, bearer(acmeAdmin)...))
	batch := w.str(gone, "id")
	if p := w.want(404, w.call("GET", "/v1/memories/"+id+"?user=ada", "", bearer(acmeWrite)...)).body; !strings.Contains(p, "can be restored until") {
		t.Errorf("the problem: %s", p)
	}
	if list := w.want(200, w.call("GET", "/v1/admin/forgotten?user=ada", "", bearer(acmeAdmin)...)).body; !strings.Contains(list, "zebraquartz") || !strings.Contains(list, `"forgotten_by":"`+batch) {
		t.Errorf("the list: %s", list)
	}
	w.want(400, w.call("POST", "/v1/admin/restore", `{"user":"ada"}`, bearer(acmeAdmin)...))
	if back := w.want(200, w.call("POST", "/v1/admin/restore", `{"user":"ada","batch":"`+batch+`"}`, bearer(acmeAdmin)...)).body; !strings.Contains(back, `"restored":1`) {
		t.Errorf("restored: %s", back)
	}
	w.want(200, w.call("GET", "/v1/memories/"+id+"?user=ada", "", bearer(acmeWrite)...))

	w.want(201, w.call("POST", "/v1/admin/holds", `{"id":"case","user":"ada","reason":"claim 17"}`, bearer(acmeAdmin)...))
	w.want(409, w.call("POST", "/v1/admin/holds", `{"id":"case","user":"bob","reason":"claim 18"}`, bearer(acmeAdmin)...))
	if list := w.want(200, w.call("GET", "/v1/admin/holds", "", bearer(acmeAdmin)...)).body; !strings.Contains(list, `"reason":"claim 17"`) || !strings.Contains(list, `"by":"`+acmeAdmin) {
		t.Errorf("holds: %s", list)
	}
	if list := w.want(200, w.call("GET", "/v1/admin/holds", "", bearer(rivalAll)...)).body; strings.Contains(list, "claim") {
		t.Errorf("another tenant's holds: %s", list)
	}
	if p := w.want(409, w.call("POST", "/v1/admin/forget", `{"user":"ada","ids":["`+id+`"]}`, bearer(acmeAdmin)...)).body; !strings.Contains(p, "case") || !strings.Contains(p, "claim 17") {
		t.Errorf("the problem: %s", p)
	}
	w.want(409, w.call("POST", "/v1/admin/erase", `{"user":"ada"}`, bearer(acmeAdmin)...))
	w.want(404, w.call("DELETE", "/v1/admin/holds/case", "", bearer(rivalAll)...))
	w.want(204, w.call("DELETE", "/v1/admin/holds/case", "", bearer(acmeAdmin)...))
	w.want(404, w.call("DELETE", "/v1/admin/holds/case", "", bearer(acmeAdmin)...))

	op := ""
	for _, c := range []struct{ body, want string }{
		{`{"dry_run":true}`, `"reasons":{"expired":1}`},
		{`{"policy":{"max_items":1},"dry_run":true,"user":"ada"}`, `"dry_run":true,"removals":[{"id":`},
		{`{}`, `"items":1`},
		{`{"batch":"$"}`, `"result":{"memories":1,"items":1}`}, // what the one before took
		{`{"policy":{"hard":true}}`, `"items":1`},
	} {
		path, last := "/v1/admin/retain", op
		if strings.Contains(c.body, "batch") {
			path = "/v1/admin/restore/batch"
		}
		var done answer
		if op, done = w.done(w.call("POST", path, strings.ReplaceAll(c.body, "$", last), bearer(acmeAdmin)...), bearer(acmeAdmin)...); !strings.Contains(done.body, c.want) {
			t.Errorf("%s: %s", c.body, done.body)
		}
	}
	w.want(202, w.call("POST", "/v1/admin/purge", "", bearer(acmeAdmin)...))
	w.want(400, w.call("POST", "/v1/admin/retain", `{"policy":{"max_items":-1}}`, bearer(acmeAdmin)...))
	if s := w.want(200, w.call("PUT", "/v1/admin/schedules/retain", `{"every_hours":24}`, bearer(acmeAdmin)...)).body; !strings.Contains(s, `"every_hours":24`) {
		t.Errorf("schedule: %s", s)
	}
	w.want(400, w.call("PUT", "/v1/admin/schedules/nothing", `{"every_hours":24}`, bearer(acmeAdmin)...))
	if s := w.want(200, w.call("GET", "/v1/admin/schedules", "", bearer(acmeAdmin)...)).body; !strings.Contains(s, `"name":"purge"`) || !strings.Contains(s, `"name":"retain"`) {
		t.Errorf("schedules: %s", s)
	}
	w.want(204, w.call("DELETE", "/v1/admin/schedules/retain", "", bearer(acmeAdmin)...))
	w.want(400, w.call("DELETE", "/v1/admin/schedules/purge", "", bearer(acmeAdmin)...))
	for _, c := range [][3]string{{"POST", "restore", `{"user":"ada","all":true}`}, {"POST", "restore/batch", `{"batch":"x"}`}, {"GET", "forgotten?user=ada", ""}, {"POST", "retain", "{}"}, {"POST", "purge", ""},
		{"GET", "holds", ""}, {"POST", "holds", `{"user":"ada","reason":"x"}`}, {"GET", "schedules", ""}, {"PUT", "schedules/retain", `{"every_hours":1}`}} {
		w.want(403, w.call(c[0], "/v1/admin/"+c[1], c[2], bearer(acmeWrite)...))
	}
}

// A batch that one soft forgetting took is counted in every memory and then brought back; of one that is not known, or another
// tenant's, nothing is.
func TestRestoreABatch(t *testing.T) {
	w := keyed(t)
	id := w.str(w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","content":"zebraquartz"}`, bearer(acmeWrite)...)), "item.id")
	batch := w.str(w.want(200, w.call("POST", "/v1/admin/forget", `{"user":"ada","ids":["`+id+`"],"soft":true}`, bearer(acmeAdmin)...)), "id")
	for _, c := range []struct{ key, batch, counted, restored string }{
		{rivalAll, batch, `"restored":0`, `"result":{"memories":0,"items":0}`},
		{acmeAdmin, "unknown", `"restored":0`, `"result":{"memories":0,"items":0}`},
		{acmeAdmin, batch, `"restored":1`, `"result":{"memories":1,"items":1}`},
		{acmeAdmin, batch, `"restored":0`, `"result":{"memories":0,"items":0}`}, // it is back
	} {
		for range 2 { // counting changes nothing
			if got := w.want(200, w.call("POST", "/v1/admin/restore/batch", `{"batch":"`+c.batch+`","dry_run":true}`, bearer(c.key)...)).body; !strings.Contains(got, c.counted) || !strings.Contains(got, `"dry_run":true`) {
				t.Errorf("%+v: counted %s", c, got)
			}
		}
		if _, done := w.done(w.call("POST", "/v1/admin/restore/batch", `{"batch":"`+c.batch+`"}`, bearer(c.key)...), bearer(c.key)...); !strings.Contains(done.body, c.restored) {
			t.Errorf("%+v: %s", c, done.body)
		}
	}
	w.want(200, w.call("GET", "/v1/memories/"+id+"?user=ada", "", bearer(acmeAdmin)...))
	w.want(400, w.call("POST", "/v1/admin/restore/batch", `{"batch":"","dry_run":true}`, bearer(acmeAdmin)...))
	w.want(403, w.call("POST", "/v1/admin/restore/batch", `{"batch":"`+batch+`","dry_run":true}`, bearer(acmeOne)...))
}
