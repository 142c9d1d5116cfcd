package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
	"golang.org/x/sync/semaphore"
)

// Keys of echo's per-request values.
const (
	callerKey    = "evoke.caller"
	errorKey     = "evoke.error"
	operationKey = "evoke.operation"
)

func operationOf(c echo.Context) *operation {
	op, _ := c.Get(operationKey).(*operation)
	return op
}

var saneID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// requestID takes the caller's id for the request where it is harmless, or makes one.
func (s *Server) requestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if !saneID.MatchString(id) {
			id = uuid.NewString()
		}
		h := c.Response().Header()
		h.Set(echo.HeaderXRequestID, id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		return next(c)
	}
}

// observe counts the request and writes one line of access log: route and numbers, never a path, query or body.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		s.meters.inFlight.Inc()
		defer s.meters.inFlight.Dec()
		r, end := s.tracer.Request(c.Request())
		c.SetRequest(r)
		if err := next(c); err != nil {
			c.Error(err) // writes the problem, so that its status is known here
		}
		took := time.Since(start)
		route := c.Path()
		if _, known := s.ops[c.Request().Method+" "+route]; !known && !outside[route] {
			if route = "other"; strings.HasPrefix(c.Path(), pageRoutes) {
				route = pageRoutes
			}
		}
		status := c.Response().Status
		s.meters.request(c.Request().Method, route, status, took)
		end(route, status)
		s.logRequest(c, route, status, took)
		return nil
	}
}

// outside are the routes that are not of the specification.
var outside = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true, "/openapi.json": true}

func (s *Server) logRequest(c echo.Context, route string, status int, took time.Duration) {
	level := slog.LevelInfo
	if outside[route] {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("request_id", c.Response().Header().Get(echo.HeaderXRequestID)),
		slog.String("method", clip(c.Request().Method)), slog.String("route", route), slog.Int("status", status),
		slog.Float64("ms", float64(took.Microseconds())/1000), slog.Int64("bytes_out", c.Response().Size),
	}
	if p, ok := c.Get(callerKey).(principal); ok {
		attrs = append(attrs, slog.String("tenant", p.tenant), slog.String("key", p.name))
	}
	if err, ok := c.Get(errorKey).(error); ok {
		p := problemOf(err)
		attrs = append(attrs, slog.String("problem", p.class))
		if p.status >= http.StatusInternalServerError {
			level = slog.LevelError
			attrs = append(attrs, slog.String("error", err.Error()))
		}
	}
	s.log.LogAttrs(c.Request().Context(), level, "request", attrs...)
}

// recover answers a panic as an internal problem. The value may hold content, so its type alone is logged.
func (s *Server) recover(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler { //nolint:errorlint // net/http's own sentinel, never wrapped
				panic(v) //nolint:forbidigo // net/http ends the connection on it, which is what was asked for
			}
			s.meters.panics.Inc()
			s.log.ErrorContext(c.Request().Context(), "panic", "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic in a handler (%T)", v)
		}()
		return next(c)
	}
}

// known refuses a route that the specification does not have.
func (s *Server) known(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op, ok := s.ops[c.Request().Method+" "+c.Path()]
		if !ok {
			return echo.ErrNotFound
		}
		c.Set(operationKey, op)
		return next(c)
	}
}

// bound limits what one request may take: time, and memory for its body.
func (s *Server) bound(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		control := http.NewResponseController(c.Response().Writer)
		if operationOf(c).stream {
			r.Body = &idleBody{ReadCloser: r.Body, control: control, idle: s.timeout}
			return next(c)
		}
		// Recorders of tests have no deadlines; the context's holds there.
		_ = control.SetReadDeadline(time.Now().Add(s.timeout))
		_ = control.SetWriteDeadline(time.Now().Add(s.timeout + 5*time.Second))
		ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
		defer cancel()
		c.SetRequest(r.WithContext(ctx))
		weight := r.ContentLength
		if weight > s.maxBody {
			return tooLarge(s.maxBody)
		}
		if weight < 0 {
			weight = s.maxBody // of unknown length: it may be the longest
		}
		body := &weighedBody{ReadCloser: r.Body, ctx: ctx, turn: s.large, weight: weight}
		defer body.release()
		c.Request().Body = body
		return next(c)
	}
}

// weighedBody waits for its turn among the large bodies once it turns out to be one: a body of unknown length that is
// small, or slow, takes no turn from anybody.
type weighedBody struct {
	io.ReadCloser
	ctx    context.Context // of the one request that it belongs to
	turn   *semaphore.Weighted
	weight int64 // what it may come to
	read   int64
	held   bool
}

func (b *weighedBody) Read(p []byte) (int, error) {
	if rest := largeBody - b.read; !b.held && rest > 0 {
		p = p[:min(int64(len(p)), rest)]
	} else if !b.held {
		if err := b.turn.Acquire(b.ctx, b.weight); err != nil {
			return 0, err
		}
		b.held = true
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	return n, err
}

func (b *weighedBody) release() {
	if b.held {
		b.turn.Release(b.weight)
	}
}

// idleBody gives a stream a time limit between reads in place of one for the whole.
type idleBody struct {
	io.ReadCloser
	control *http.ResponseController
	idle    time.Duration
}

func (b *idleBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(b.idle)) // see bound
	return b.ReadCloser.Read(p)
}
