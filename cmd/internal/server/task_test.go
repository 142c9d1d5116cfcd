package server

import (
	"strings"
	"testing"
)

// What holds for one task only is told to calls that name its conversation, as thread or as task, and to no others.
func TestWhatHoldsForATask(t *testing.T) {
	w := keyed(t)
	said := `{"user":"ada","thread":"trip","messages":[{"role":"user","content":"For this trip, I prefer window seats. I live in Berlin."},{"role":"assistant","content":"Noted."}]}`
	w.want(200, w.call("POST", "/v1/messages", said, bearer(acmeWrite)...))
	w.want(200, w.call("POST", "/v1/flush", `{"user":"ada"}`, bearer(acmeWrite)...))
	const seats, home = "prefers window seats", "lives in Berlin"
	for _, c := range []struct {
		with        string
		seats, home bool
	}{{"", false, true}, {"task=trip", true, true}, {"thread=trip", true, true}, {"task=other", false, true}, {"thread=other", false, false}} {
		query := "&" + c.with
		name, value, _ := strings.Cut(c.with, "=")
		body := `{"user":"ada","query":"seats in Berlin","kinds":["semantic"],"min_score":0`
		if name != "" {
			body += `,"` + name + `":"` + value + `"`
		} else {
			query = ""
		}
		for what, a := range map[string]answer{
			"list":    w.want(200, w.call("GET", "/v1/memories?user=ada&kind=semantic"+query, "", bearer(acmeRead)...)),
			"recall":  w.want(200, w.call("POST", "/v1/recall", body+"}", bearer(acmeRead)...)),
			"context": w.want(200, w.call("POST", "/v1/context", body+"}", bearer(acmeRead)...)),
		} {
			if strings.Contains(a.body, seats) != c.seats || strings.Contains(a.body, home) != c.home {
				t.Errorf("%s with %q: %s", what, c.with, a.body)
			}
		}
	}
	w.want(400, w.call("GET", "/v1/memories?user=ada&task="+strings.Repeat("a", 300), "", bearer(acmeRead)...))
}
