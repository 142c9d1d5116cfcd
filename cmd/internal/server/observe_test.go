package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/store"
)

func TestTheSpecificationIsValidAndServed(t *testing.T) {
	w := newWorld(t, "")
	if err := w.s.doc.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, r := range w.s.echo.Routes() {
		served[r.Method+" "+r.Path] = true
	}
	for name, op := range w.s.ops {
		if !served[name] {
			t.Errorf("%s is specified and not served", name)
		}
		if op.route.Operation.OperationID == "" || op.route.Operation.Summary == "" || op.route.Operation.Responses.Default() == nil {
			t.Errorf("%s lacks an id, a summary or the problem", name)
		}
	}
	for name := range served {
		_, path, _ := strings.Cut(name, " ")
		if w.s.ops[name] == nil && !outside[path] && path != "/ui" && path != "/ui/*" { // the page is for people
			t.Errorf("%s is served and not specified", name)
		}
	}
}

// Requests leave numbers and names, never what was said, asked or shown as a credential.
func TestLogsAndMetersHoldNoContent(t *testing.T) {
	w := keyed(t)
	const said = "xylophone"
	w.want(200, w.call("POST", "/v1/messages", `{"user":"`+said+`-user","thread":"`+said+`-thread","messages":[{"role":"user","content":"`+said+` lessons"}]}`, bearer(acmeAdmin)...))
	w.want(201, w.call("POST", "/v1/memories", `{"id":"`+said+`-id","content":"`+said+`"}`, bearer(acmeAdmin)...))
	w.want(200, w.call("POST", "/v1/recall", `{"query":"`+said+`"}`, bearer(acmeAdmin)...))
	w.want(200, w.call("GET", "/v1/memories/"+said+"-id", "", bearer(acmeAdmin)...))
	w.want(404, w.call("GET", "/v1/memories/"+said+"-nothing?user="+said, "", bearer(acmeAdmin)...))
	w.want(404, w.call("GET", "/"+said, "", bearer(acmeAdmin)...))
	w.want(400, w.call("POST", "/v1/recall", `{"`+said+`":1}`, bearer(acmeAdmin)...))
	w.want(401, w.call("POST", "/v1/recall", `{}`, "Authorization", "Bearer "+said))
	metrics := w.want(200, w.call("GET", "/metrics", "", bearer(acmeAdmin)...)).body
	log := w.log.String()
	if strings.Contains(log, said) || strings.Contains(metrics, said) {
		t.Errorf("content in the log or the metrics:\n%s", log)
	}
	for _, want := range []string{"request_id=", "route=/v1/memories/:id", "status=404", "tenant=acme", "key=" + acmeAdmin, "ms=", "route=other", "problem=not-found"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s:\n%s", want, log)
		}
	}
	if strings.Contains(log, "Bearer") || strings.Contains(log, HashKey(acmeAdmin)) {
		t.Error("the log holds a credential")
	}
}

func TestMeters(t *testing.T) {
	w := newWorld(t, "")
	w.want(200, w.call("GET", "/v1/stats", ""))
	w.call("BREW", "/v1/stats", "")
	e := w.s.meters.Events()
	e.Ingested(2, 1)
	e.Extracted(3, store.EventStored)
	e.Embedded(4)
	e.Recalled(time.Millisecond, 1, false)
	body := w.want(200, w.call("GET", "/metrics", "")).body
	for _, line := range []string{
		`evoke_http_requests_total{method="GET",route="/v1/stats",status="200"} 1`,
		`evoke_http_requests_total{method="other",route="other",status="405"} 1`,
		`evoke_http_request_seconds_count{route="/v1/stats"} 1`,
		"evoke_http_requests_in_flight 1", "evoke_http_panics_total 0",
		"evoke_turns_total 2", "evoke_messages_dropped_total 1", "evoke_facts_total 3", "evoke_vectors_total 4",
		`evoke_extractions_total{state="stored"} 1`, `evoke_extractions_total{state="dead"} 0`,
		`evoke_recalls_total{degraded="false"} 1`, "evoke_recall_seconds_count 1",
		`evoke_build_info{version="` + evoke.Version + `"} 1`,
	} {
		if !slices.Contains(strings.Split(body, "\n"), line) {
			t.Errorf("no line %s", line)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	w := newWorld(t, "")
	if a := w.call("GET", "/healthz", "", "X-Request-Id", "mine-1"); a.header.Get("X-Request-Id") != "mine-1" {
		t.Errorf("id %q", a.header.Get("X-Request-Id"))
	}
	if a := w.call("GET", "/healthz", "", "X-Request-Id", "a b\"c"); a.header.Get("X-Request-Id") == "a b\"c" || a.header.Get("X-Request-Id") == "" {
		t.Errorf("id %q", a.header.Get("X-Request-Id"))
	}
	a := w.call("GET", "/v1/memories/nothing", "", "X-Request-Id", "mine-2")
	if w.str(a, "instance") != "mine-2" {
		t.Errorf("problem %s", a.body)
	}
}

// slow is an engine whose recall waits until it is let go.
type slow struct {
	Memory
	began, release chan struct{}
}

func (s slow) Enabled() bool { return true }

func (s slow) Recall(context.Context, evoke.RecallRequest) (evoke.RecallResult, error) {
	close(s.began)
	<-s.release
	return evoke.RecallResult{}, nil
}

func TestAStopLetsRequestsFinish(t *testing.T) {
	engine := slow{began: make(chan struct{}), release: make(chan struct{})}
	w := newWorldOver(t, "", func(string) (Memory, error) { return engine, nil })
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- w.s.Serve(ctx, l) }()
	status := make(chan int, 1)
	go func() {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+l.Addr().String()+"/v1/recall", strings.NewReader(`{}`))
		if err != nil {
			status <- 0
			return
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			status <- -1
			return
		}
		res.Body.Close()
		status <- res.StatusCode
	}()
	<-engine.began
	stop()
	select {
	case err := <-served:
		t.Fatalf("stopped with a request under way: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(engine.release)
	if got := <-status; got != 200 {
		t.Errorf("the request under way ended with %d", got)
	}
	if err := <-served; err != nil {
		t.Errorf("stop: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestWithoutKeysOnlyLoopbackIsServed(t *testing.T) {
	w := newWorld(t, "")
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "0.0.0.0:0")
	if err != nil {
		t.Skipf("no such listener here: %v", err)
	}
	if err := w.s.Serve(t.Context(), l); !errors.Is(err, config.ErrNoKeys) {
		t.Errorf("served on every address: %v", err)
	}
}
