// Package server is the REST surface: spec-first routes over echo, requests checked against the specification, problems
// as RFC 9457, tenants from keys, meters and an access log without content.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"golang.org/x/sync/semaphore"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/server/api"
	"evoke/cmd/internal/trace"
)

// Options are what the settings do not say.
type Options struct {
	Logger *slog.Logger  // nil: silent
	Meters *Meters       // nil: new ones
	Tracer *trace.Tracer // nil: no traces
}

// Server answers HTTP requests for one engine.
type Server struct {
	tenants Tenants
	set     *config.Config // as at the start
	live    atomic.Pointer[inForce]
	log     *slog.Logger
	meters  *Meters
	tracer  *trace.Tracer
	doc     *openapi3.T
	ops     map[string]*operation
	local   principal // the caller when there are no keys
	maxBody int64
	large   *semaphore.Weighted // bytes of large bodies that are in memory at once
	timeout time.Duration

	mostForgotten int // see mostForgotten

	stopping atomic.Bool
	echo     *echo.Echo
}

// largeBody is the length from which a body waits for its turn, and inFlight how many of the greatest may be read at once.
const (
	largeBody = 1 << 20
	inFlight  = 4
)

// New builds a server from the settings. It does not listen yet.
func New(tenants Tenants, set *config.Config, o *Options) (*Server, error) {
	if o == nil {
		o = &Options{}
	}
	s := &Server{
		tenants: tenants, set: set, log: o.Logger, meters: o.Meters, tracer: o.Tracer, maxBody: int64(set.Server.MaxBodyBytes),
		timeout: time.Duration(set.Server.RequestTimeoutSeconds) * time.Second, mostForgotten: mostForgotten,
		local: principal{name: "local", tenant: set.Tenant, role: config.Admin, all: true},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.meters == nil {
		s.meters = NewMeters()
	}
	s.large = semaphore.NewWeighted(inFlight * max(s.maxBody, largeBody))
	var err error
	if s.doc, s.ops, err = loadSpec(); err != nil {
		return nil, err
	}
	commit, err := s.Prepare(set)
	if err != nil {
		return nil, err
	}
	commit()
	if err := s.routes(); err != nil {
		return nil, err
	}
	return s, nil
}

// inForce is what may change while the server runs.
type inForce struct {
	set  *config.Config
	keys *keyring // nil: no keys, everything granted to callers on this machine
}

// Prepare checks settings that a running server is to take and returns what puts them in force: keys, and what a tenant's
// call that says nothing gets. An error leaves everything as it is.
func (s *Server) Prepare(set *config.Config) (commit func(), err error) {
	next := &inForce{set: set}
	if len(set.Keys) > 0 {
		if next.keys, err = newKeyring(set.Keys); err != nil {
			return nil, err
		}
	}
	return func() { s.live.Store(next) }, nil
}

// Handler answers requests; Run serves it.
func (s *Server) Handler() http.Handler { return s.echo }

func (s *Server) routes() error {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.writeError
	e.Use(s.requestID, s.observe, s.recover)
	e.GET("/healthz", s.health)
	e.GET("/readyz", s.ready)
	e.GET("/openapi.json", s.openapi)
	e.GET("/metrics", s.metrics)
	api.RegisterHandlers(guarded{e, []echo.MiddlewareFunc{s.known, s.authenticate, s.bound, s.validate}}, api.NewStrictHandler(&handlers{s}, nil))
	s.echo = e
	if !s.set.Server.UI {
		return nil
	}
	return s.mountPage(e)
}

// guarded puts the middleware in front of every route of the specification. A group of echo's would do so too, but
// answers every other method of a route as not found.
type guarded struct {
	*echo.Echo
	with []echo.MiddlewareFunc
}

func (g guarded) GET(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return g.Echo.GET(path, h, slices.Concat(g.with, m)...)
}

func (g guarded) POST(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return g.Echo.POST(path, h, slices.Concat(g.with, m)...)
}

func (g guarded) PUT(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return g.Echo.PUT(path, h, slices.Concat(g.with, m)...)
}

func (g guarded) PATCH(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return g.Echo.PATCH(path, h, slices.Concat(g.with, m)...)
}

func (g guarded) DELETE(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return g.Echo.DELETE(path, h, slices.Concat(g.with, m)...)
}

// Serve answers on the listener until ctx ends, then lets running requests finish within the time that the settings
// give, and returns. It fails when the address may not be listened on without keys.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.live.Load().keys == nil && !config.Loopback(l.Addr().String()) {
		return errors.Join(config.ErrNoKeys, l.Close())
	}
	srv := &http.Server{
		Handler: s.echo, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	s.log.InfoContext(ctx, "listening", "address", l.Addr().String(), "keys", len(s.set.Keys))
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	s.log.InfoContext(ctx, "stopping")
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(s.set.Server.ShutdownSeconds)*time.Second)
	defer cancel()
	err := srv.Shutdown(grace)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests did not end within server.shutdown_seconds: %w", err), srv.Close())
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (s *Server) health(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]string{"status": "ok"})
}

// ready tells whether requests can be answered: the store can be read and no stop is under way.
func (s *Server) ready(c echo.Context) error {
	if s.stopping.Load() {
		return c.JSON(http.StatusServiceUnavailable, map[string]string{"status": "stopping"})
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	m, err := s.tenants(s.set.Tenant)
	var st evoke.Readiness
	if err == nil {
		st, err = m.Installation().Ready(ctx)
	}
	if err != nil {
		s.log.WarnContext(ctx, "not ready", "error", problemOf(err).class)
		return c.JSON(http.StatusServiceUnavailable, map[string]string{"status": "store unavailable"})
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "ready", "embedder": st.Embedder, "note": st.Note})
}

func (s *Server) openapi(c echo.Context) error { return c.JSON(http.StatusOK, s.doc) }

// metrics answers the scraper. With keys configured it wants one of role admin, unless the settings open it.
func (s *Server) metrics(c echo.Context) error {
	if !s.live.Load().set.Server.MetricsPublic {
		p, err := s.caller(c.Request())
		if err != nil {
			return err
		}
		if !p.allows(config.Admin) && !p.allows(config.Installation) {
			return forbidden("Authorization: /metrics needs a key of role admin or installation (or server.metrics_public: true)")
		}
	}
	s.meters.handler().ServeHTTP(c.Response(), c.Request())
	return nil
}
