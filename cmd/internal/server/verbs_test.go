package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const chat = `[{"role":"user","name":"Ada","content":"My name is Ada and I always sit at the window."},{"role":"assistant","content":"Noted."}]`

// The whole life of a memory through the routes; every answer is compared with the specification on the way.
func TestEveryVerb(t *testing.T) {
	w := newWorld(t, "")
	in := w.want(200, w.call("POST", "/v1/messages", `{"user":"ada","thread":"t1","messages":`+chat+`}`, "Idempotency-Key", "k1"))
	again := w.want(200, w.call("POST", "/v1/messages", `{"user":"ada","thread":"t1","messages":`+chat+`}`, "Idempotency-Key", "k1"))
	if in.body != again.body {
		t.Errorf("the same key answered differently:\n%s\n%s", in.body, again.body)
	}
	w.want(409, w.call("POST", "/v1/messages", `{"user":"ada","thread":"t2","messages":`+chat+`}`, "Idempotency-Key", "k1"))
	w.want(200, w.call("POST", "/v1/flush", `{"user":"ada"}`))
	ev := w.want(200, w.call("GET", "/v1/events/"+w.str(in, "event_id")+"?wait=5", ""))
	if s := w.str(ev, "state"); s == "pending" {
		t.Errorf("event is %s after flush and wait", s)
	}

	made := w.want(201, w.call("POST", "/v1/memories",
		`{"user":"ada","content":"Prefers tea","category":"preference","importance":0.9,"metadata":{"from":"form","n":3,"tags":["a","b"],"ok":true}}`))
	id := w.str(made, "item.id")
	w.want(200, w.call("POST", "/v1/memories", `{"user":"ada","content":"prefers  tea"}`)) // known already
	w.want(200, w.call("GET", "/v1/memories/"+id+"?user=ada", ""))
	w.want(200, w.call("PATCH", "/v1/memories/"+id, `{"user":"ada","importance":0.2}`))
	next := w.str(w.want(200, w.call("PATCH", "/v1/memories/"+id, `{"user":"ada","content":"Prefers coffee"}`)), "id")
	if next == id {
		t.Error("new content kept the id: no new version")
	}
	w.want(409, w.call("PATCH", "/v1/memories/"+id, `{"user":"ada","importance":0.2}`))
	if h := w.want(200, w.call("GET", "/v1/memories/"+next+"/history?user=ada", "")); strings.Count(h.body, `"recorded_at"`) != 2 {
		t.Errorf("history: %s", h.body)
	}

	page := w.want(200, w.call("GET", "/v1/memories?user=ada&limit=1&kind=episodic", ""))
	w.want(200, w.call("GET", "/v1/memories?user=ada&limit=1&kind=episodic&cursor="+w.str(page, "next"), ""))
	w.want(200, w.call("GET", "/v1/memories?user=ada&kind=semantic&kind=procedural&category=preference&order=importance&all=true", ""))
	w.want(200, w.call("GET", "/v1/memories?user=ada&from=2020-01-01T00:00:00Z&to=2999-01-01T00:00:00Z&as_of=2999-01-01T00:00:00Z", ""))

	hits := w.want(200, w.call("POST", "/v1/recall", `{"user":"ada","query":"coffee","limit":3,"min_score":0,"explain":true,"kinds":["semantic"],
		"filter":{"categories":["preference"],"none":[{"metadata":[{"key":"n","min":4}]}]},"weights":{"semantic":0.5,"recency":0.3,"importance":0.2}}`))
	if !strings.Contains(hits.body, next) {
		t.Errorf("recall: %s", hits.body)
	}
	block := w.want(200, w.call("POST", "/v1/context", `{"user":"ada","query":"what to drink, coffee?","max_tokens":200}`))
	if !strings.Contains(w.str(block, "text"), "Prefers coffee") {
		t.Errorf("context: %s", block.body)
	}
	if f := w.want(200, w.call("POST", "/v1/feedback", `{"user":"ada","ids":["`+next+`","nothing-like-it"]}`)); !strings.Contains(f.body, `"updated":1`) {
		t.Errorf("feedback: %s", f.body)
	}
	st := w.want(200, w.call("GET", "/v1/stats?user=ada", ""))
	for _, key := range []string{"total", "episodic", "semantic", "procedural", "pending", "bytes"} {
		if _, ok := st.json(t)[key]; !ok {
			t.Errorf("stats without %s: %s", key, st.body)
		}
	}

	export := w.want(200, w.call("GET", "/v1/admin/export?user=ada", ""))
	if got := export.header.Get("Content-Type"); got != "application/x-ndjson" || !strings.Contains(export.body, "Prefers coffee") {
		t.Errorf("export: %s %.200s", got, export.body)
	}
	imported := w.want(200, w.call("POST", "/v1/admin/import?user=bob", export.body+"not a line\n", "Content-Type", "application/x-ndjson"))
	if !strings.Contains(imported.body, `"failed_count":1`) {
		t.Errorf("import: %s", imported.body)
	}

	w.want(200, w.call("DELETE", "/v1/memories/"+next+"?user=ada", ""))
	w.want(404, w.call("DELETE", "/v1/memories/"+next+"?user=ada", ""))
	if d := w.want(200, w.call("POST", "/v1/admin/forget", `{"user":"ada","all":true,"dry_run":true}`)); strings.Contains(d.body, `"forgotten":0`) {
		t.Errorf("dry run: %s", d.body)
	}
	w.want(200, w.call("POST", "/v1/admin/forget", `{"user":"ada","filter":{"kinds":["episodic"]}}`))
	w.want(200, w.call("POST", "/v1/admin/forget", `{"user":"ada","all":true}`))
	if st := w.want(200, w.call("GET", "/v1/stats?user=ada", "")); !strings.Contains(st.body, `"total":0`) {
		t.Errorf("after forgetting all: %s", st.body)
	}
	if st := w.want(200, w.call("GET", "/v1/stats?user=bob", "")); strings.Contains(st.body, `"total":0`) {
		t.Errorf("forgetting ada's memory took bob's: %s", st.body)
	}
}

// Recall and context tell the fate of items asked about, and how sure they are.
func TestWhyNotAndConfidence(t *testing.T) {
	w := newWorld(t, "")
	for id, content := range map[string]string{"seat": "I prefer window seats on long flights", "shed": "We planted tomatoes behind the shed"} {
		w.want(201, w.call("POST", "/v1/memories", fmt.Sprintf(`{"user":"ada","id":%q,"content":%q}`, id, content)))
	}
	const ask = `"query":"which window seats on flights?","limit":1,"why_not":["shed","seat","nothing-like-it"]`
	outcomes := func(a answer) string {
		t.Helper()
		var names []string
		fates, _ := a.json(t)["why_not"].([]any)
		for _, f := range fates {
			fate, _ := f.(map[string]any)
			names = append(names, fmt.Sprint(fate["id"], " ", fate["outcome"]))
		}
		return strings.Join(names, ", ")
	}
	for path, more := range map[string]string{"/v1/recall": `,"explain":true`, "/v1/context": ""} {
		a := w.want(200, w.call("POST", path, `{"user":"ada",`+ask+more+`}`))
		if got := outcomes(a); got != "shed below_min_score, seat returned, nothing-like-it not_found" {
			t.Errorf("%s: %q in %s", path, got, a.body)
		}
		if sure, ok := a.json(t)["confidence"].(float64); !ok || sure <= 0.3 || sure > 1 {
			t.Errorf("%s is %v sure: %s", path, sure, a.body)
		}
		basis, _ := a.json(t)["basis"].(map[string]any)
		if _, ok := basis["strength"].(float64); ok != (more != "") {
			t.Errorf("%s: basis %v", path, basis)
		}
		a = w.want(200, w.call("POST", path, `{"user":"bob",`+ask+`}`))
		if got := outcomes(a); got != "shed not_found, seat not_found, nothing-like-it not_found" {
			t.Errorf("%s tells bob of ada's: %q", path, got)
		}
		if sure, ok := a.json(t)["confidence"].(float64); !ok || sure != 0 {
			t.Errorf("%s is %v sure without a candidate: %s", path, sure, a.body)
		}
		for name, ids := range map[string]string{"too many": `"a"` + strings.Repeat(`,"a"`, 20), "an empty one": `""`, "no id": `1`} {
			if a := w.want(400, w.call("POST", path, `{"why_not":[`+ids+`]}`)); !strings.Contains(w.str(a, "detail"), "why_not") {
				t.Errorf("%s, %s: %s", path, name, a.body)
			}
		}
	}
}

func TestOutsideTheSpecification(t *testing.T) {
	w := newWorld(t, "")
	w.want(200, w.call("GET", "/healthz", ""))
	w.want(200, w.call("GET", "/readyz", ""))
	doc := w.want(200, w.call("GET", "/openapi.json", "")).json(t)
	if doc["openapi"] != "3.0.3" {
		t.Errorf("openapi is %v", doc["openapi"])
	}
	w.want(404, w.call("GET", "/v2/nothing", ""))
	w.want(404, w.call("GET", "/v1/memories/", ""))
	w.want(405, w.call("PUT", "/v1/recall", `{}`))
	w.s.stopping.Store(true)
	if r := w.probe("/readyz"); r.status != http.StatusServiceUnavailable {
		t.Errorf("ready while stopping: %d", r.status)
	}
}

// An id may hold what a path gives a meaning.
func TestIdsSurviveThePath(t *testing.T) {
	w := newWorld(t, "")
	for i, id := range []string{"a/b", "a b", "100%", "日本", "a?b#c", "..", "%2F", "a+b"} {
		w.want(201, w.call("POST", "/v1/memories", fmt.Sprintf(`{"id":%q,"content":"item number %d"}`, id, i)))
		got := w.want(200, w.call("GET", "/v1/memories/"+escape(id), ""))
		if w.str(got, "id") != id {
			t.Errorf("%q came back as %q", id, w.str(got, "id"))
		}
		w.want(200, w.call("DELETE", "/v1/memories/"+escape(id), ""))
	}
}

func TestWritesThatKeepNothingSaySo(t *testing.T) {
	w := newWorld(t, "")
	a := w.want(200, w.call("POST", "/v1/memories", `{"content":"secret","no_store":true}`))
	if w.str(a, "skipped") != "no_store" {
		t.Errorf("remember: %s", a.body)
	}
	a = w.want(200, w.call("POST", "/v1/messages", `{"thread":"t","no_store":true,"messages":`+chat+`}`))
	if w.str(a, "skipped") != "no_store" {
		t.Errorf("ingest: %s", a.body)
	}
	if st := w.want(200, w.call("GET", "/v1/stats", "")); !strings.Contains(st.body, `"total":0`) {
		t.Errorf("something was kept: %s", st.body)
	}
}

func TestATenantsMemoryMayBeOff(t *testing.T) {
	w := newWorld(t, "tenants: { default: { memory: { enabled: false, injection_enabled: false } } }")
	for path, body := range map[string]string{
		"/v1/memories": `{"content":"secret"}`, "/v1/messages": `{"thread":"t","messages":` + chat + `}`, "/v1/context": `{"query":"secret"}`,
	} {
		if a := w.want(200, w.call("POST", path, body)); w.str(a, "skipped") != "disabled" {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	if st := w.want(200, w.call("GET", "/v1/stats", "")); !strings.Contains(st.body, `"total":0`) {
		t.Errorf("something was kept: %s", st.body)
	}
}
