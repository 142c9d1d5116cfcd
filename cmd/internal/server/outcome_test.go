package server

import (
	"strings"
	"testing"
)

func TestOutcome(t *testing.T) {
	w := keyed(t)
	made := w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","kind":"procedural","content":"To release, run the tests."}`, bearer(acmeWrite)...))
	path := "/v1/memories/" + w.str(made, "item.id") + "/outcome"
	once := append(bearer(acmeWrite), "Idempotency-Key", "k")
	for range 2 {
		a := w.want(200, w.call("POST", path, `{"user":"ada","outcome":"failed","at":"2026-01-02T03:04:05Z"}`, once...))
		if want := `"outcomes":{"succeeded":0,"failed":1,"last":"failed","last_at":"2026-01-02T03:04:05Z"}`; !strings.Contains(a.body, want) {
			t.Errorf("%s, want %s", a.body, want)
		}
	}
	w.want(409, w.call("POST", path, `{"user":"ada","outcome":"succeeded"}`, once...))
	a := w.want(200, w.call("POST", "/v1/recall", `{"user":"ada","query":"how to release","kinds":["procedural"],"min_score":0}`, bearer(acmeRead)...))
	if !strings.Contains(a.body, `"failed":1`) {
		t.Errorf("recalled without its outcomes: %s", a.body)
	}
	w.want(400, w.call("POST", path, `{"user":"ada","outcome":"perhaps"}`, bearer(acmeWrite)...))
	w.want(400, w.call("POST", path, `{"user":"ada"}`, bearer(acmeWrite)...))
	w.want(403, w.call("POST", path, `{"user":"ada","outcome":"failed"}`, bearer(acmeRead)...))
	w.want(403, w.call("POST", path, `{"user":"bob","outcome":"failed"}`, bearer(acmeOne)...))
	w.want(404, w.call("POST", path, `{"user":"bob","outcome":"failed"}`, bearer(acmeWrite)...))
	foreign := w.want(404, w.call("POST", path, `{"user":"ada","outcome":"failed"}`, bearer(rivalAll)...))
	unknown := w.want(404, w.call("POST", "/v1/memories/x/outcome", `{"user":"ada","outcome":"failed"}`, bearer(rivalAll)...))
	if strings.ReplaceAll(foreign.body, foreign.header.Get("X-Request-Id"), "") != strings.ReplaceAll(unknown.body, unknown.header.Get("X-Request-Id"), "") {
		t.Errorf("another tenant's id is told from an unknown one: %s and %s", foreign.body, unknown.body)
	}
}
