package server

import (
	"strings"
	"testing"
)

// A profile is told to whoever may read that user's memory; without sections it says that it is made of facts.
func TestProfile(t *testing.T) {
	w := keyed(t)
	w.want(201, w.call("POST", "/v1/memories", `{"user":"ada","content":"Likes tea.","category":"preference"}`, bearer(acmeWrite)...))
	a := w.want(200, w.call("GET", "/v1/profile?user=ada", "", bearer(acmeRead)...))
	if w.str(a, "source") != "facts" || !strings.Contains(a.body, `"category":"preference"`) || !strings.Contains(a.body, "Likes tea.") {
		t.Errorf("%s", a.body)
	}
	section := `{"id":"w1","kind":"semantic","content":"A nurse.","recorded_at":"2026-01-01T00:00:00Z","valid_from":"2026-01-01T00:00:00Z",` +
		`"content_key":"profile:work","metadata":{"version":3},"provenance":{"origin":"profile","turns":["t1"],"subject":"profile:work"},"user":"ada"}`
	w.want(200, w.call("POST", "/v1/admin/import", section, append(bearer(acmeAdmin), "Content-Type", "application/x-ndjson")...))
	a = w.want(200, w.call("GET", "/v1/profile?user=ada", "", bearer(acmeRead)...))
	if want := `{"name":"work","id":"w1","content":"A nurse.","version":3,"updated":"2026-01-01T00:00:00Z","sources":["t1"]}`; w.str(a, "source") != "profile" || !strings.Contains(a.body, want) {
		t.Errorf("%s, want %s", a.body, want)
	}
	a = w.want(200, w.call("GET", "/v1/profile?user=ada&as_of=2025-01-01T00:00:00Z", "", bearer(acmeRead)...))
	if w.str(a, "source") != "facts" {
		t.Errorf("before it was written: %s", a.body)
	}
	if a = w.want(200, w.call("GET", "/v1/profile?user=ada", "", bearer(rivalAll)...)); strings.Contains(a.body, "nurse") || strings.Contains(a.body, "tea") {
		t.Errorf("another tenant's: %s", a.body)
	}
	w.want(403, w.call("GET", "/v1/profile?user=bob", "", bearer(acmeOne)...))
	w.want(400, w.call("GET", "/v1/profile?as_of=yesterday", "", bearer(acmeRead)...))
}
