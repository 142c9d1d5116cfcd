package server

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"evoke"
	"evoke/cmd/internal/trace"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// canary stands in all that ann says and names, and in no question of this test but the ids that the path of a route names.
const canary = "zebraquartz"

// aviary is a server over a store on disk, with everything that leaves it: answers, log, meters and exported traces.
type aviary struct {
	*world
	dir     string
	db      *sqlitestore.DB
	m       *evoke.Memory
	tracer  *trace.Tracer
	cookies map[string]string // sessions of the admin page, by key
	said    *safeBuffer       // the engine's log
	spans   *safeBuffer       // what the collector was sent
	meters  string            // as they were when the servers before stopped

	items               []string // what ann has, while she has it
	event, block, began string
	export              string
	operations          []string
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newAviary starts a collector of traces, and a server.
func newAviary(t *testing.T) *aviary {
	t.Helper()
	v := &aviary{dir: t.TempDir(), said: &safeBuffer{}, spans: &safeBuffer{}, began: "2020-01-01T00:00:00Z", world: &world{t: t, log: &bytes.Buffer{}}}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(v.spans, r.Body) }))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	v.start()
	return v
}

func (v *aviary) must(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

func (v *aviary) start() {
	v.t.Helper()
	ctx := v.t.Context()
	var err error
	v.tracer, err = trace.FromEnv(ctx, os.Environ())
	v.must(err)
	v.db, err = sqlitestore.Open(ctx, v.dir, nil)
	v.must(err)
	logger := slog.New(slog.NewTextHandler(v.said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	v.m, err = evoke.Open(ctx, &evoke.Options{Store: v.db, Ledger: v.db, Logger: logger, Events: &evoke.Events{Span: v.tracer.Stage}})
	v.must(err)
	w := newWorldOver(v.t, "keys:\n  "+HashKey(acmeAdmin)+": { name: a, tenant: acme, role: admin, agents: ['*'] }\n  "+HashKey(operator)+": { name: o, role: installation }\n",
		func(tenant string) (Memory, error) { return v.m.ForTenant(tenant) })
	w.s.tracer = v.tracer
	if v.log != nil { // what the server before logged stays to be looked at
		_, _ = v.said.Write(v.log.Bytes())
	}
	v.world, v.cookies = w, map[string]string{}
}

// stop ends the server; the traces are sent then at the latest.
func (v *aviary) stop() {
	v.t.Helper()
	v.meters += v.call("GET", "/metrics", "", bearer(acmeAdmin)...).body
	v.must(v.m.Close())
	v.must(v.db.Close())
	v.must(v.tracer.Close(v.t.Context()))
}

func (v *aviary) ask(method, path, body string, header ...string) answer {
	v.t.Helper()
	key := acmeAdmin
	if strings.HasPrefix(path, "/v1/installation") {
		key = operator
	}
	return v.call(method, path, body, append(bearer(key), header...)...)
}

// fill says and derives.
func (v *aviary) fill() {
	v.t.Helper()
	v.want(201, v.call("POST", "/v1/installation/tenants", `{"name":"acme"}`, bearer(operator)...))
	first := v.want(200, v.ask("POST", "/v1/messages", `{"user":"ann","thread":"zebraquartz thread","messages":[{"id":"zebraquartz-1","name":"zebraquartz","role":"user","content":"I live in zebraquartz city."},{"role":"assistant","content":"zebraquartz!"}]}`))
	v.event = v.str(first, "event_id")
	v.want(200, v.ask("POST", "/v1/flush", `{"user":"ann"}`))
	v.want(200, v.ask("POST", "/v1/messages", `{"user":"ann","thread":"zebraquartz waits","messages":[{"role":"user","content":"I work at zebraquartz."}]}`))
	v.want(201, v.ask("POST", "/v1/memories", `{"user":"ann","id":"zebraquartz-2","content":"The boat is called zebraquartz","metadata":{"zebraquartz":"zebraquartz"}}`, "Idempotency-Key", canary))
	v.want(200, v.ask("PATCH", "/v1/memories/zebraquartz-2", `{"user":"ann","content":"The boat is called zebraquartz the second"}`))
	v.want(201, v.ask("POST", "/v1/memories", `{"user":"ann","content":"Ask the boat of zebraquartz first","kind":"procedural"}`))
	soft := v.str(v.want(201, v.ask("POST", "/v1/memories", `{"user":"ann","content":"A boat of zebraquartz, softly forgotten"}`)), "item.id")
	v.want(200, v.ask("POST", "/v1/admin/forget", `{"user":"ann","ids":["`+soft+`"],"soft":true}`))
	v.want(201, v.ask("POST", "/v1/memories", `{"user":"bob","id":"bob-1","content":"The boat of Bob has a mast"}`))
	v.trip()
	sc := store.Scope{Tenant: "acme", User: "ann"}
	now := time.Now().UTC()
	v.must(store.Commit(v.t.Context(), v.db, v.db, store.Write{ID: "w1", Scope: sc, Change: store.Change{Put: []store.Item{{
		ID: "zebraquartz-section", Kind: store.Semantic, Content: "Works on zebraquartz.", Importance: 0.5, Confidence: 1, ValidFrom: now, RecordedAt: now,
		ContentKey: store.ProfileKey("work"), Provenance: store.Provenance{Origin: store.ProfileOrigin, Extractor: "llm/1", Turns: []string{"zebraquartz-1"}, Subject: store.ProfileKey("work")},
	}}}, Quarantine: []store.Quarantined{{
		ID: "waits", Scope: sc, Thread: "zebraquartz thread", Event: v.event, Turn: "zebraquartz-1", Extractor: "llm/1", Reason: "ungrounded", At: now,
		Operation: []byte(`{"Action":"add","Kind":"semantic","Content":"Has a zebraquartz.","Quote":"zebraquartz","Confidence":0.9}`),
	}}}))
	v.block = v.str(v.want(200, v.ask("POST", "/v1/context", `{"user":"ann","query":"boat","min_score":0}`)), "hash")
	v.want(200, v.ask("POST", "/v1/feedback", `{"user":"ann","ids":["zebraquartz-1"]}`))
	ctx := v.t.Context()
	acme, err := v.m.ForTenant("acme")
	v.must(err)
	page, err := acme.List(ctx, evoke.ListRequest{Who: evoke.Who{User: "ann"}, All: true, Sources: true, Limit: 1000})
	v.must(err)
	for i := range page.Items {
		v.items = append(v.items, page.Items[i].ID)
	}
	v.done(v.ask("POST", "/v1/admin/retain", `{"dry_run":true,"policy":{"max_items":1}}`)) // their results name items
	v.done(v.ask("POST", "/v1/admin/consolidate", `{"dry_run":true,"merge":true,"policy":{"share":1,"min_age_hours":0}}`))
	v.export = v.want(200, v.ask("GET", "/v1/admin/export", "")).body
}

// trip has a conversation of a day put under a summary.
func (v *aviary) trip() {
	v.t.Helper()
	var lines strings.Builder
	for i, text := range []string{
		"We walked to the zebraquartz mine near the old harbour and bought two bags of stones.", "The zebraquartz mine near the harbour sounds like a long walk.",
		"The guide at the zebraquartz mine told us of the flood that closed it in the winter.", "A flood closed the zebraquartz mine for a whole winter then.",
		"Afterwards we had soup in the zebraquartz inn and slept until the train left.", "Soup in the zebraquartz inn and a late train make a good day.",
	} {
		fmt.Fprintf(&lines, `{"user":"ann","id":"trip-%d","kind":"episodic","content":%q,"recorded_at":"2026-02-01T10:00:00Z","valid_from":"2026-02-01T10:00:00Z","turn":{"thread":"zebraquartz trip","position":%d,"role":"user"}}`+"\n", i, text, i+1)
	}
	in := v.want(200, v.ask("POST", "/v1/admin/import", lines.String(), "Content-Type", "application/x-ndjson"))
	if !strings.Contains(in.body, `"imported":6`) {
		v.t.Fatal(in.body)
	}
	v.done(v.ask("POST", "/v1/admin/consolidate", `{"user":"ann","policy":{"share":1,"min_age_hours":0}}`))
}

// done is that of the world, and notes the operation.
func (v *aviary) done(a answer) (id string, op answer) {
	v.t.Helper()
	id, op = v.world.done(a, bearer(acmeAdmin)...)
	v.operations = append(v.operations, id)
	return id, op
}

// replay brings back what was said, remembered and exported.
func (v *aviary) replay() {
	v.t.Helper()
	again := v.want(200, v.ask("POST", "/v1/messages", `{"user":"ann","thread":"zebraquartz thread","messages":[{"id":"zebraquartz-1","name":"zebraquartz","role":"user","content":"I live in zebraquartz city."}]}`))
	if v.str(again, "skipped") != "erased" {
		v.t.Error(again.body)
	}
	again = v.want(200, v.ask("POST", "/v1/memories", `{"user":"ann","id":"zebraquartz-2","content":"The boat is called zebraquartz","metadata":{"zebraquartz":"zebraquartz"}}`, "Idempotency-Key", canary))
	if v.str(again, "skipped") != "erased" {
		v.t.Error(again.body)
	}
	in := v.want(200, v.ask("POST", "/v1/admin/import", v.export, "Content-Type", "application/x-ndjson"))
	if !strings.Contains(in.body, `"imported":0`) {
		v.t.Error(in.body)
	}
}

// What was erased is in the answer of no route of the specification and in no view of the admin page, in no line of the log, no
// meter, no span that is exported and no byte of a file, be it while the server runs, after a restart, after a replay, or once
// every route was called with the names of what there was. Before the erasure the same looking finds it in what keeps it.
func TestErasedIsOnNoRoute(t *testing.T) {
	v := newAviary(t)
	v.fill()
	v.before()
	id, _ := v.done(v.ask("POST", "/v1/admin/erase", `{"user":"ann"}`))
	if receipt := v.want(200, v.ask("GET", "/v1/admin/erase/"+id+"/receipt", "")).body; !strings.Contains(receipt, `"clean":true`) {
		t.Error(receipt)
	}
	v.after("after the erasure", false)
	v.stop()
	v.files("after the erasure and a stop")
	v.start()
	v.after("after a restart", false)
	v.replay()
	v.after("after a replay", true)
	v.stop()
	v.files("after a replay and a stop")
	v.exported()
	if left := v.log.String() + v.said.String(); !strings.Contains(left, "route=") || !strings.Contains(left, "operation") {
		t.Errorf("nothing was logged: %.500s", left)
	} else {
		v.none("the log", left)
	}
}
