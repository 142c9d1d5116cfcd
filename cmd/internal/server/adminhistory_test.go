package server

import (
	"fmt"
	"strings"
	"testing"
)

// A batch is looked at, taken back and told of by REST; nobody gets at a memory that the key does not grant.
func TestDiffAndUndo(t *testing.T) {
	admin, reader, whole := "key-of-admin", "key-of-reader", "key-of-the-tenant"
	w := newWorld(t, "keys: { "+HashKey(admin)+": { tenant: acme, role: admin, users: [ann] }, "+HashKey(reader)+": { tenant: acme, role: read, agents: ['*'] }, "+HashKey(whole)+": { tenant: acme, role: admin, agents: ['*'] } }")
	var last string
	for _, text := range []string{"Ann lives in Rome", "Ann lives in Oslo"} {
		in := w.want(201, w.call("POST", "/v1/memories", `{"user":"ann","subject":"home","thread":"`+text[13:]+`","content":"`+text+`"}`, bearer(admin)...))
		last, _ = in.json(t)["item"].(map[string]any)["id"].(string)
	}
	dry := w.want(200, w.call("POST", "/v1/admin/undo", `{"user":"ann","thread":"Oslo","dry_run":true}`, bearer(admin)...)).body
	if !strings.Contains(dry, `"retracted":1,"reopened":1,"conflicts":0`) {
		t.Error(dry)
	}
	op, _ := w.done(w.call("POST", "/v1/admin/undo", `{"user":"ann","thread":"Oslo"}`, bearer(admin)...), bearer(whole)...)
	h := w.want(200, w.call("GET", "/v1/memories/"+last+"/history?user=ann", "", bearer(admin)...)).body
	for _, want := range []string{`"did":"added"`, `"did":"replaced"`, `"did":"retracted"`, `"did":"restored"`, op} {
		if !strings.Contains(h, want) {
			t.Errorf("%s is not in %s", want, h)
		}
	}
	d := w.want(200, w.call("GET", "/v1/admin/diff?user=ann&from=2020-01-01T00:00:00Z", "", bearer(admin)...)).body
	if !strings.Contains(d, `"did":"added"`) || !strings.Contains(d, "Rome") || strings.Contains(d, "Oslo") {
		t.Error(d)
	}
	st := w.want(200, w.call("GET", "/v1/stats?user=ann&as_of=2020-01-01T00:00:00Z", "", bearer(admin)...)).body
	if !strings.Contains(st, `"total":0`) {
		t.Error(st)
	}
	for _, path := range []string{"/v1/stats?user=ann&known_at=%s", "/v1/memories?user=ann&as_of=2999-01-01T00:00:00Z&known_at=%s", "/v1/profile?user=ann&known_at=%s"} {
		for at, want := range map[string]bool{"2020-01-01T00:00:00Z": false, "2999-01-01T00:00:00Z": true} {
			if a := w.want(200, w.call("GET", fmt.Sprintf(path, at), "", bearer(admin)...)).body; (strings.Contains(a, "Rome") || strings.Contains(a, `"semantic":1`)) != want {
				t.Errorf("%s: %s", fmt.Sprintf(path, at), a)
			}
		}
	}
	for at, want := range map[string]bool{"2020-01-01T00:00:00Z": false, "2999-01-01T00:00:00Z": true} {
		a := w.want(200, w.call("POST", "/v1/recall", `{"user":"ann","query":"Rome","known_at":"`+at+`"}`, bearer(admin)...)).body
		if strings.Contains(a, "in Rome") != want {
			t.Errorf("known at %s: %s", at, a)
		}
	}
	for body, everywhere := range map[string]bool{
		`{"operation":"` + op + `","dry_run":true}`: true, `{"operation":"` + op + `","user":"bob","dry_run":true}`: false, `{"thread":"Oslo","dry_run":true}`: false,
	} { // an operation of a memory that the call does not name
		if a := w.want(200, w.call("POST", "/v1/admin/undo", body, bearer(whole)...)).body; strings.Contains(a, `"memories":1`) != everywhere {
			t.Errorf("%s: %s", body, a)
		}
	}
	if a := w.want(200, w.call("POST", "/v1/admin/undo", `{"operation":"`+op+`","dry_run":true}`, bearer(admin)...)).body; strings.Contains(a, `"memories"`) {
		t.Errorf("a key of one user looks elsewhere: %s", a)
	}
	w.want(400, w.call("POST", "/v1/admin/undo", `{"user":"ann"}`, bearer(admin)...))
	w.want(400, w.call("GET", "/v1/admin/diff?user=ann", "", bearer(admin)...))
	w.want(403, w.call("POST", "/v1/admin/undo", `{"user":"bob","thread":"Oslo"}`, bearer(admin)...))
	w.want(403, w.call("GET", "/v1/admin/diff?user=bob&from=2020-01-01T00:00:00Z", "", bearer(admin)...))
	w.want(403, w.call("GET", "/v1/admin/diff?user=ann&from=2020-01-01T00:00:00Z", "", bearer(reader)...))
}
