package server

import (
	"strings"
	"testing"
)

// Who misspells a name, or puts it in the wrong place, is told the names that there are.
func TestUnknownNamesAreToldTheKnownOnes(t *testing.T) {
	w := newWorld(t, "")
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/v1/recall", `{"qury":"tea"}`, `is unsupported; known: agent, as_of,`},
		{"POST", "/v1/admin/erase/lift", `{"id":"x"}`, `is unsupported; known: operation`},
		{"PATCH", "/v1/memories/x?user=ada", `{"content":"tea"}`, "what it takes is in the path or the body"},
		{"GET", "/v1/stats?usr=ada", "", "this route has agent, as_of, known_at, user"},
	} {
		if got := w.want(400, w.call(c.method, c.path, c.body)).body; !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s", c.method, c.path, got)
		}
	}
}
