// Package trace sends spans of requests and of the engine's stages to an OpenTelemetry collector. It does so only when
// OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) is set; spans hold names, times and classes of
// errors, never a user, an id or anything said.
package trace

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"evoke"
	"evoke/cmd/internal/errmap"
)

// Tracer makes spans. The zero value makes none.
type Tracer struct {
	tracer   trace.Tracer
	provider *sdk.TracerProvider // nil: off
}

// FromEnv makes a tracer that sends to where the OTEL_* variables say, or one that is off.
func FromEnv(ctx context.Context, environ []string) (*Tracer, error) {
	if !configured(environ) {
		return New(nil), nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	return New(sdk.NewBatchSpanProcessor(exporter)), nil
}

func configured(environ []string) bool {
	for _, e := range environ {
		name, v, _ := strings.Cut(e, "=")
		if v != "" && (name == "OTEL_EXPORTER_OTLP_ENDPOINT" || name == "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
			return true
		}
	}
	return false
}

// New makes a tracer over a span processor; nil makes one that is off.
func New(p sdk.SpanProcessor) *Tracer {
	if p == nil {
		return &Tracer{tracer: noop.NewTracerProvider().Tracer("evoke")}
	}
	about := resource.NewSchemaless(attribute.String("service.name", "evoke"), attribute.String("service.version", evoke.Version))
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(p), sdk.WithResource(about))
	return &Tracer{tracer: provider.Tracer("evoke"), provider: provider}
}

// Close sends what is not sent yet.
func (t *Tracer) Close(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Stage begins the span of a stage of the engine: the form that evoke.Events.Span has.
func (t *Tracer) Stage(ctx context.Context, stage string) (context.Context, func(error)) {
	ctx, span := t.tracer.Start(ctx, "evoke."+stage)
	return ctx, func(err error) {
		if err != nil { // its text may quote a conversation; its class does not
			span.SetStatus(codes.Error, errmap.Of(err).Class)
		}
		span.End()
	}
}

// Request begins the span of an HTTP request, below the caller's span when its headers name one. end takes the route and
// the status, which are known only then.
func (t *Tracer) Request(r *http.Request) (*http.Request, func(route string, status int)) {
	if t == nil || t.provider == nil {
		return r, func(string, int) {}
	}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	method := r.Method
	return r.WithContext(ctx), func(route string, status int) {
		span.SetName(method + " " + route)
		span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
