package server

import (
	"strings"
	"testing"
)

// An item with a subject takes the place of the one before, which stays in the history; a subject that is none is refused.
func TestRememberWithASubject(t *testing.T) {
	w := newWorld(t, "")
	first := w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","content":"The build runs on node A","subject":"build-node"}`))
	second := w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","content":"构建在节点乙上运行","subject":"build-node"}`))
	if w.str(second, "item.supersedes") != w.str(first, "item.id") {
		t.Errorf("not linked: %s", second.body)
	}
	if a := w.want(200, w.call("GET", "/v1/memories?user=ada", "")); strings.Contains(a.body, "node A") || !strings.Contains(a.body, "节点乙") {
		t.Errorf("%s", a.body)
	}
	if a := w.want(200, w.call("GET", "/v1/memories/"+w.str(second, "item.id")+"/history?user=ada", "")); !strings.Contains(a.body, "node A") {
		t.Errorf("%s", a.body)
	}
	w.want(400, w.call("POST", "/v1/memories", `{"user":"ada","content":"x","subject":"`+strings.Repeat("s", 300)+`"}`))
	w.want(400, w.call("POST", "/v1/memories", `{"user":"ada","content":"x","subject":"a\u0000b"}`))
}
