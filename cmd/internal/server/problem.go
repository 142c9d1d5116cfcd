package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"evoke/cmd/internal/errmap"
	"evoke/cmd/internal/server/api"
	"evoke/extract"
	"evoke/store"
)

// problemError is an error that knows how it is shown.
type problemError struct {
	status int
	class  string
	title  string
	detail string
}

func (p *problemError) Error() string { return p.title + ": " + p.detail }

func (p *problemError) problem() api.Problem {
	out := api.Problem{Type: "urn:evoke:problem:" + p.class, Title: p.title, Status: p.status}
	if p.detail != "" {
		out.Detail = &p.detail
	}
	return out
}

func invalid(detail string) error {
	e := errmap.Of(store.ErrInvalid)
	return &problemError{e.Status, e.Class, e.Title, detail}
}

func tooLarge(limit int64) error {
	return &problemError{http.StatusRequestEntityTooLarge, "too-large", "The body is too long",
		fmt.Sprintf("body: at most %d bytes (send it in parts, use /v1/admin/import, or raise server.max_body_bytes)", limit)}
}

// problemOf turns any error into a problem. Only what concerns the caller's own input is described.
func problemOf(err error) *problemError {
	var p *problemError
	if errors.As(err, &p) {
		return p
	}
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		errors.As(tooLarge(long.Limit), &p)
		return p
	}
	var he *echo.HTTPError
	if errors.As(err, &he) {
		return ofEcho(he)
	}
	e := errmap.Of(err)
	p = &problemError{status: e.Status, class: e.Class, title: e.Title}
	var away *extract.AwayError
	switch {
	case errors.As(err, &away):
		p.detail = away.Error()
	case e.Detail:
		p.detail = detail(err)
	case e.Status == http.StatusServiceUnavailable || e.Status == http.StatusGatewayTimeout:
		p.detail = "try again later; a write that is tried again with the same Idempotency-Key is done once"
	}
	return p
}

// detail is the message of an error about the caller's input, without the class in front.
func detail(err error) string {
	var f *store.FieldError
	if errors.As(err, &f) {
		return f.Error()
	}
	return strings.TrimPrefix(err.Error(), store.ErrInvalid.Error()+": ")
}

// ofEcho describes the errors of routing and of reading a body. Their own texts repeat input and are not used.
func ofEcho(he *echo.HTTPError) *problemError {
	switch he.Code {
	case http.StatusNotFound:
		return &problemError{he.Code, "no-route", "There is no such route", "path: see /openapi.json, or /ui in a browser"}
	case http.StatusMethodNotAllowed:
		return &problemError{he.Code, "method-not-allowed", "The route has no such method", "method: the header Allow names those that there are; see /openapi.json"}
	case http.StatusUnsupportedMediaType:
		return &problemError{he.Code, "media-type", "The body's media type is not taken here", "Content-Type: see /openapi.json"}
	}
	if he.Code >= http.StatusInternalServerError {
		e := errmap.Of(he)
		return &problemError{status: e.Status, class: e.Class, title: e.Title}
	}
	e := errmap.Of(store.ErrInvalid)
	return &problemError{e.Status, e.Class, e.Title, bodyFault(he)}
}

// bodyFault says which field of a body could not be read.
func bodyFault(err error) string {
	var t *json.UnmarshalTypeError
	var f *store.FieldError
	switch {
	case errors.As(err, &f):
		return f.Error()
	case errors.As(err, &t) && t.Field != "":
		return fmt.Sprintf("%s: must not be a JSON %s", t.Field, t.Value)
	}
	return "a value has the wrong form (times are RFC 3339, such as 2026-01-31T09:30:00Z; see /openapi.json)"
}

// writeError is echo's error handler: every error leaves as a problem.
func (s *Server) writeError(err error, c echo.Context) {
	p := problemOf(err)
	c.Set(errorKey, err)
	if c.Response().Committed {
		return // the status has gone out; the access log has the error
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "application/problem+json")
	switch p.status {
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="evoke"`)
	case http.StatusRequestEntityTooLarge:
		h.Set("Connection", "close") // the rest of the body is not worth reading
	}
	body := p.problem()
	if id := h.Get(echo.HeaderXRequestID); id != "" {
		body.Instance = &id
	}
	b, err := json.Marshal(body)
	if err != nil {
		b = []byte(`{"type":"urn:evoke:problem:internal","title":"Something went wrong on our side","status":500}`)
		p.status = http.StatusInternalServerError
	}
	c.Response().WriteHeader(p.status)
	if c.Request().Method != http.MethodHead {
		_, err = c.Response().Write(append(b, '\n'))
		if err != nil {
			s.log.Debug("the client went away while a problem was written")
		}
	}
}
