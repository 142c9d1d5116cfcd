package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"evoke"
	"evoke/cmd/internal/trace"
	"evoke/extract"
)

// A request and the stages below it are one trace, which holds nothing that was said.
func TestARequestIsOneTrace(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	tracer := trace.New(recorder)
	defer tracer.Close(t.Context())
	m, err := evoke.Open(t.Context(), &evoke.Options{Events: &evoke.Events{Span: tracer.Stage}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	w := newWorldOver(t, "", func(tenant string) (Memory, error) { return m.ForTenant(tenant) })
	w.s.tracer = tracer
	const caller = "4bf92f3577b34da6a3ce929d0e0e4736"
	w.want(200, w.call(http.MethodPost, "/v1/messages", `{"thread":"secret-thread","messages":[{"role":"user","content":"secret words"}]}`))
	w.want(200, w.call(http.MethodPost, "/v1/recall", `{"query":"secret words","user":"default"}`, "traceparent", "00-"+caller+"-00f067aa0ba902b7-01"))
	w.want(400, w.call(http.MethodPost, "/v1/recall", `{"query":"secret words","profile":"x"}`))
	var names []string
	byID := map[string]sdk.ReadOnlySpan{}
	for _, s := range recorder.Ended() {
		names = append(names, s.Name())
		byID[s.SpanContext().SpanID().String()] = s
		if s.Name() == "evoke.recall" && s.SpanContext().TraceID().String() != caller {
			t.Error("the caller's trace is not continued")
		}
		for _, a := range s.Attributes() {
			if strings.Contains(a.Value.AsString(), "secret") {
				t.Errorf("a span shows %s", a.Key)
			}
		}
	}
	for _, s := range recorder.Ended() {
		if parent := byID[s.Parent().SpanID().String()]; strings.HasPrefix(s.Name(), "evoke.") && (parent == nil || !strings.HasPrefix(parent.Name(), "POST /v1/")) {
			t.Errorf("%s is not below its request", s.Name())
		}
	}
	slices.Sort(names)
	want := []string{"POST /v1/messages", "POST /v1/recall", "POST /v1/recall", "evoke.ingest", "evoke.recall"}
	if !slices.Equal(names, want) {
		t.Errorf("spans %q, want %q", names, want)
	}
}

// An extraction is one trace of its own: the run, and within it the extractor, the reconciliation and the store.
func TestAnExtractionIsOneTrace(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	tracer := trace.New(recorder)
	defer tracer.Close(t.Context())
	m, err := evoke.Open(t.Context(), &evoke.Options{Events: &evoke.Events{Span: tracer.Stage}})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldOver(t, "", func(tenant string) (Memory, error) { return m.ForTenant(tenant) })
	w.want(http.StatusOK, w.call(http.MethodPost, "/v1/messages", `{"user":"u","thread":"secret-thread","messages":[{"role":"user","content":"I like secret words."},{"role":"assistant","content":"Fine."}]}`))
	w.want(http.StatusOK, w.call(http.MethodPost, "/v1/flush", `{"user":"u"}`))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	var run sdk.ReadOnlySpan
	var inner []string
	for _, s := range recorder.Ended() {
		if s.Name() == "evoke."+extract.SpanJob {
			run = s
		}
	}
	if run == nil || run.Parent().IsValid() {
		t.Fatalf("no trace of its own: %v", run)
	}
	for _, s := range recorder.Ended() {
		if s.Parent().SpanID() == run.SpanContext().SpanID() {
			inner = append(inner, s.Name())
		}
		for _, a := range s.Attributes() {
			if strings.Contains(a.Value.AsString(), "secret") {
				t.Errorf("a span shows %s", a.Key)
			}
		}
	}
	if want := []string{"evoke.extract", "evoke.reconcile", "evoke.store"}; !slices.Equal(inner, want) {
		t.Errorf("spans %q, want %q", inner, want)
	}
}
