package server

import (
	"strings"
	"testing"
)

// What a request names wrongly is answered with what can be named.
func TestWrongNamesAreToldTheRightOnes(t *testing.T) {
	w := newWorld(t, "")
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/v1/recall", `{"qury":"tea"}`, `is unsupported; known: agent, as_of,`},
		{"POST", "/v1/admin/erase/lift", `{"id":"x"}`, `is unsupported; known: operation`},
		{"PATCH", "/v1/memories/x?user=ada", `{"content":"tea"}`, "what it takes is in the path or the body"},
		{"GET", "/v1/stats?usr=ada", "", "this route has agent, as_of, known_at, user"},
		{"GET", "/v1/blocks/x", "", "hash: must be the 18 digits in the frame of a block"},
		{"GET", "/v1/memories/x", "", "user and agent say whose"},
		{"PATCH", "/v1/memories/x", `{"content":"tea"}`, "user and agent say whose"},
		{"DELETE", "/v1/memories/x", "", "user and agent say whose"},
	} {
		got := w.call(c.method, c.path, c.body)
		if got.status != 400 && got.status != 404 || !strings.Contains(got.body, c.want) {
			t.Errorf("%s %s: %s", c.method, c.path, got.body)
		}
	}
}
