package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"evoke"
	"evoke/store"
)

// What waits for review is shown, approved and rejected by those who are granted the tenant; to others it does not exist.
func TestQuarantine(t *testing.T) {
	all, one, other := "key-of-all", "key-of-ann", "key-of-others"
	w, db := newWorldOn(t, "keys: { "+HashKey(all)+": { tenant: acme, role: admin, agents: ['*'] }, "+HashKey(one)+": { tenant: acme, role: admin, users: [ann] }, "+
		HashKey(other)+": { tenant: other, role: admin, agents: ['*'] } }", evoke.Options{})
	in := w.want(200, w.call("POST", "/v1/messages", `{"user":"ann","thread":"a","messages":[{"role":"user","content":"I dream of a boat."}]}`, bearer(all)...))
	turn, _ := in.json(t)["turns"].([]any)[0].(map[string]any)["id"].(string)
	sc := store.Scope{Tenant: "acme", User: "ann"}
	for id, op := range map[string]string{"good": `{"Action":"add","Kind":"semantic","Content":"Has a boat.","Quote":"my boat","Confidence":0.9}`, "bad": `{}`} {
		q := store.Quarantined{ID: id, Scope: sc, Event: "e", Turn: turn, Extractor: "llm/1", Reason: "ungrounded", Operation: []byte(op), At: time.Now()}
		if err := store.Commit(context.Background(), db, db, store.Write{ID: "w" + id, Scope: sc, Quarantine: []store.Quarantined{q}}); err != nil {
			t.Fatal(err)
		}
	}
	page := w.want(200, w.call("GET", "/v1/admin/quarantine?limit=10", "", bearer(all)...)).body
	for _, want := range []string{`"user":"ann"`, `"reason":"ungrounded"`, `"content":"Has a boat."`, `"action":"add"`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s, want %s", page, want)
		}
	}
	for _, path := range []string{"approve", "reject"} {
		a := w.want(200, w.call("POST", "/v1/admin/quarantine/"+path, `{"ids":["good","unknown"]}`, bearer(other)...)).body
		if !strings.Contains(a, `"unknown":["good","unknown"]`) {
			t.Errorf("another tenant's entry is told from an unknown one: %s", a)
		}
		w.want(403, w.call("POST", "/v1/admin/quarantine/"+path, `{"ids":["good"]}`, bearer(one)...))
		w.want(400, w.call("POST", "/v1/admin/quarantine/"+path, `{"ids":[]}`, bearer(all)...))
		w.want(400, w.call("POST", "/v1/admin/quarantine/"+path, `{}`, bearer(all)...))
	}
	if a := w.want(200, w.call("GET", "/v1/admin/quarantine", "", bearer(other)...)).body; !strings.Contains(a, `"entries":[]`) {
		t.Errorf("another tenant's quarantine: %s", a)
	}
	w.want(403, w.call("GET", "/v1/admin/quarantine", "", bearer(one)...))
	w.want(403, w.call("POST", "/v1/admin/quarantine/edit", `{"id":"good","content":"x"}`, bearer(one)...))
	w.want(404, w.call("POST", "/v1/admin/quarantine/edit", `{"id":"good","content":"x"}`, bearer(other)...))
	w.want(400, w.call("POST", "/v1/admin/quarantine/edit", `{"id":"good"}`, bearer(all)...))
	if a := w.want(200, w.call("POST", "/v1/admin/quarantine/edit", `{"id":"good","content":"Has a red boat.","category":"knowledge"}`, bearer(all)...)).body; !strings.Contains(a, `"edited":true`) {
		t.Error(a)
	}
	if a := w.want(200, w.call("GET", "/v1/admin/quarantine?category=knowledge&reason=ungrounded&before=2999-01-01T00:00:00Z", "", bearer(all)...)).body; !strings.Contains(a, "red boat") || strings.Contains(a, `"bad"`) {
		t.Error(a)
	}
	if a := w.want(200, w.call("POST", "/v1/admin/quarantine/reject", `{"user":"ann","category":"goal"}`, bearer(all)...)).body; strings.TrimSpace(a) != `{"rejected":0}` {
		t.Error(a)
	}
	if a := w.want(200, w.call("POST", "/v1/admin/quarantine/approve", `{"user":"ann","reason":"none"}`, bearer(all)...)).body; !strings.Contains(a, `"approved":0`) {
		t.Error(a)
	}
	a := w.want(200, w.call("POST", "/v1/admin/quarantine/approve", `{"ids":["good","bad"]}`, bearer(all)...)).body
	for _, want := range []string{`"approved":1`, `"origin":"review"`, `"refused":[{"id":"bad"`} {
		if !strings.Contains(a, want) {
			t.Errorf("%s, want %s", a, want)
		}
	}
	if a := w.want(200, w.call("POST", "/v1/admin/quarantine/reject", `{"ids":["good","bad"]}`, bearer(all)...)).body; strings.TrimSpace(a) != `{"rejected":1,"unknown":["good"]}` {
		t.Errorf("%s", a)
	}
	if strings.Contains(w.log.String(), "boat") {
		t.Error("the log holds what was said")
	}
}
