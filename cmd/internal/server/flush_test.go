package server

import (
	"strings"
	"testing"
)

// Flush reaches a thread, a user or the whole tenant, and no further than the key does.
func TestFlushReachesWhatItNames(t *testing.T) {
	all, one := "key-of-all", "key-of-ann"
	w := newWorld(t, "keys: { "+HashKey(all)+": { tenant: acme, role: write, agents: ['*'] }, "+HashKey(one)+": { tenant: acme, role: write, users: [ann] }, "+
		HashKey("x")+": { tenant: other, role: write, agents: ['*'] } }")
	say := func(key, user, thread string) {
		w.want(200, w.call("POST", "/v1/messages", `{"user":"`+user+`","thread":"`+thread+
			`","messages":[{"role":"user","content":"I like tea."},{"role":"assistant","content":"Noted."}]}`, bearer(key)...))
	}
	flush := func(key, body string) string {
		return strings.TrimSpace(w.want(200, w.call("POST", "/v1/flush", body, bearer(key)...)).body)
	}
	say(all, "ann", "a")
	say(all, "ann", "b")
	say(all, "bob", "a")
	say("x", "ann", "a")
	for _, c := range []struct{ key, body, want string }{
		{all, `{"user":"ann","thread":"a"}`, `{"threads":1}`}, {one, `{"user":"ann"}`, `{"threads":1}`},
		{all, `{"all":true}`, `{"threads":1}`}, {all, `{"all":true}`, `{"threads":0}`}, {"x", `{"all":true}`, `{"threads":1}`},
	} {
		if got := flush(c.key, c.body); got != c.want {
			t.Errorf("%s: %s, want %s", c.body, got, c.want)
		}
	}
	w.want(403, w.call("POST", "/v1/flush", `{"all":true}`, bearer(one)...))
	w.want(400, w.call("POST", "/v1/flush", `{"all":true,"user":"ann"}`, bearer(all)...))
}
