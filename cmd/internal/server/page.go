package server

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"evoke"
	"evoke/cmd/internal/config"
	ui "evoke/cmd/internal/page"
)

// pageRoutes are those of the admin page, as the log and the meters name them.
const pageRoutes = "/ui"

// mountPage answers the admin page, within the bounds of every other request.
func (s *Server) mountPage(e *echo.Echo) error {
	p, err := ui.New(ui.Options{
		Enter: s.pageCaller,
		Tenants: func(tenant string) (ui.Memory, error) {
			m, err := s.tenants(tenant)
			return m, err
		},
		Installation: func() (ui.Installation, error) {
			m, err := s.tenants(s.set.Tenant)
			if err != nil {
				return nil, err
			}
			return m.Installation(), nil
		},
		Problem: func(err error) (int, string, string) {
			p := problemOf(err)
			return p.status, p.class, p.detail
		},
		Keyless: func() bool { return s.live.Load().keys == nil },
		MaxBody: s.maxBody, Logger: s.log,
	})
	if err != nil {
		return err
	}
	answer := s.bound(func(c echo.Context) error {
		c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), pageKey, c)))
		p.ServeHTTP(c.Response(), c.Request())
		return nil
	})
	h := func(c echo.Context) error {
		c.Set(operationKey, &operation{})
		return answer(c)
	}
	e.Any(pageRoutes, h)
	e.Any(pageRoutes+"/*", h)
	return nil
}

const pageKey contextKey = 1

// pageCaller says who calls with a key that came by a session in place of a header.
func (s *Server) pageCaller(r *http.Request, key string) (ui.Caller, error) {
	asked := r.Clone(r.Context())
	asked.Header.Del("Authorization")
	if key != "" {
		asked.Header.Set("Authorization", "Bearer "+key)
	}
	p, err := s.caller(asked)
	if err != nil {
		return nil, err
	}
	if err := s.enabled(p.tenant); err != nil {
		return nil, err
	}
	if c, ok := r.Context().Value(pageKey).(echo.Context); ok {
		c.Set(callerKey, p) // for the access log
	}
	return pageUser{p}, nil
}

// pageUser shows the page what a key grants.
type pageUser struct{ p principal }

func (u pageUser) Name() string   { return u.p.name }
func (u pageUser) Tenant() string { return u.p.tenant }

func (u pageUser) May(role config.Role) bool { return u.p.allows(role) }

func (u pageUser) AllMemories() bool { return u.p.grantsTenant() }

func (u pageUser) Who(user, agent, thread string) (evoke.Who, error) {
	return u.p.who(user, agent, thread)
}
