package server

import (
	"fmt"
	"strings"
	"testing"
)

// An agent with a memory of its own shares it among those whose credentials are granted that agent, and nobody else
// reads or writes it by any verb.
func TestAnOwnAgentsMemoryNeedsAGrant(t *testing.T) {
	const granted, second, stranger, own = "granted-key", "second-key", "stranger-key", "own-user-key"
	entry := func(key, rest string) string {
		return fmt.Sprintf("  %s: { name: %s, tenant: acme, role: admin, %s }\n", HashKey(key), key, rest)
	}
	w := newWorld(t, "keys:\n"+
		entry(granted, "agents: ['project-x'], users: [ada]")+
		entry(second, "agents: ['project-*'], users: [bob]")+
		entry(stranger, "agents: ['support-*', 'project-y'], users: [ada]")+
		entry(own, "users: [ada]"))
	for _, secret := range []string{"zebrafish", "斑马鱼"} {
		text := "The project's mascot is the " + secret
		made := w.want(201, w.call("POST", "/v1/memories", fmt.Sprintf(`{"user":"ada","agent":"project-x","content":%q}`, text), bearer(granted)...))
		id := w.str(made, "item.id")
		w.want(200, w.call("POST", "/v1/messages", fmt.Sprintf(`{"user":"ada","agent":"project-x","thread":"t","messages":[{"role":"user","content":%q},{"role":"assistant","content":"Noted."}]}`, text), bearer(granted)...))
		// bob, whose credential is granted it, sees what ada said to it
		a := w.want(200, w.call("POST", "/v1/recall", fmt.Sprintf(`{"user":"bob","agent":"project-x","query":%q,"min_score":0}`, secret), bearer(second)...))
		if !strings.Contains(a.body, text) {
			t.Errorf("who is granted the agent does not see its memory: %.300s", a.body)
		}
		for _, key := range []string{stranger, own} {
			for _, c := range [][3]string{
				{"POST", "/v1/recall", `{"user":"ada","agent":"project-x","query":"mascot","min_score":0}`},
				{"POST", "/v1/context", `{"user":"ada","agent":"project-x","query":"mascot","min_score":0}`},
				{"GET", "/v1/memories?user=ada&agent=project-x", ""}, {"GET", "/v1/memories/" + id + "?user=ada&agent=project-x", ""},
				{"GET", "/v1/memories/" + id + "/history?user=ada&agent=project-x", ""}, {"GET", "/v1/stats?user=ada&agent=project-x", ""},
				{"GET", "/v1/profile?user=ada&agent=project-x", ""}, {"GET", "/v1/admin/export?user=ada&agent=project-x", ""},
				{"POST", "/v1/memories", `{"user":"ada","agent":"project-x","content":"mine"}`},
				{"PATCH", "/v1/memories/" + id, `{"user":"ada","agent":"project-x","content":"mine"}`},
				{"DELETE", "/v1/memories/" + id + "?user=ada&agent=project-x", ""},
				{"POST", "/v1/messages", `{"user":"ada","agent":"project-x","thread":"t","messages":` + chat + `}`},
				{"POST", "/v1/admin/forget", `{"user":"ada","agent":"project-x","all":true}`},
			} {
				if a := w.want(403, w.call(c[0], c[1], c[2], bearer(key)...)); strings.Contains(a.body, secret) {
					t.Errorf("%s %s with key %s: %.300s", c[0], c[1], key, a.body)
				}
			}
			// nor does it come with the user's own memory, or with another agent's
			for _, agent := range []string{"", "support-1", "project-y"} {
				body := fmt.Sprintf(`{"user":"ada","agent":%q,"query":%q,"min_score":0,"limit":50}`, agent, secret)
				if a := w.call("POST", "/v1/recall", body, bearer(key)...); strings.Contains(a.body, "mascot") {
					t.Errorf("agent %q with key %s finds it: %.300s", agent, key, a.body)
				}
				if a := w.call("GET", "/v1/admin/export?user=ada&agent="+agent, "", bearer(key)...); strings.Contains(a.body, secret) {
					t.Errorf("agent %q with key %s exports it", agent, key)
				}
				if a := w.call("GET", "/v1/memories/"+id+"?user=ada&agent="+agent, "", bearer(key)...); strings.Contains(a.body, secret) {
					t.Errorf("agent %q with key %s reads it by its id", agent, key)
				}
			}
		}
	}
}
