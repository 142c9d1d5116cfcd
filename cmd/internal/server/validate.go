package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/labstack/echo/v4"
)

// validate checks a request against the specification before any handler sees it.
func (s *Server) validate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op, r := operationOf(c), c.Request()
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil { // net/http would overlook the part that it cannot read
			return invalid("query: must be pairs of name=value joined by &, percent-encoded")
		}
		for name := range c.QueryParams() {
			if !op.query[name] {
				return invalid(unknownParameter(name, op))
			}
		}
		in := &openapi3filter.RequestValidationInput{
			Request: r, PathParams: map[string]string{}, QueryParams: c.QueryParams(), Route: op.route,
			Options: &openapi3filter.Options{
				AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc, // done before
				SkipSettingDefaults: true, ExcludeRequestBody: op.stream,
			},
		}
		for _, name := range c.ParamNames() {
			in.PathParams[name] = c.Param(name)
		}
		if op.route.Operation.RequestBody != nil && !op.stream {
			if err := s.readBody(c); err != nil {
				return err
			}
		}
		if op.stream && op.route.Operation.RequestBody != nil && !strings.HasPrefix(r.Header.Get(echo.HeaderContentType), "application/x-ndjson") {
			return &problemError{http.StatusUnsupportedMediaType, "media-type", "The body's media type is not taken here", "Content-Type: must be application/x-ndjson"}
		}
		if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
			return ofValidation(err)
		}
		return next(c)
	}
}

// readBody reads the whole body, within the limit, and refuses what is not one JSON value: a decoder would take the
// first and overlook the rest.
func (s *Server) readBody(c echo.Context) error {
	r := c.Request()
	if media, _, _ := strings.Cut(r.Header.Get(echo.HeaderContentType), ";"); !strings.EqualFold(strings.TrimSpace(media), echo.MIMEApplicationJSON) {
		return &problemError{http.StatusUnsupportedMediaType, "media-type", "The body's media type is not taken here", "Content-Type: must be application/json"}
	}
	b, err := io.ReadAll(http.MaxBytesReader(c.Response(), r.Body, s.maxBody))
	if err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			return tooLarge(s.maxBody)
		}
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			return err // while it waited for its turn, see weighedBody
		}
		return invalid("body: it ended before it was complete, or took too long")
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return invalid("body: must be a JSON object, got nothing")
	}
	if !json.Valid(b) {
		return invalid("body: must be JSON" + syntaxAt(b))
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	return nil
}

// syntaxAt says where the JSON breaks, without repeating it.
func syntaxAt(b []byte) string {
	var v json.RawMessage
	var e *json.SyntaxError
	if errors.As(json.Unmarshal(b, &v), &e) {
		return fmt.Sprintf(", got a syntax error at byte %d", e.Offset)
	}
	return ""
}

func unknownParameter(name string, op *operation) string {
	known := make([]string, 0, len(op.query))
	for n := range op.query {
		known = append(known, n)
	}
	slices.Sort(known)
	if len(known) == 0 {
		return fmt.Sprintf("%s: unknown query parameter; this route has none: what it takes is in the path or the body", clipName(name))
	}
	return fmt.Sprintf("%s: unknown query parameter; this route has %s", clipName(name), strings.Join(known, ", "))
}

// clipName is a short form of a name that the caller chose.
func clipName(name string) string {
	return fmt.Sprintf("%q", clip(name))
}

func clip(name string) string {
	if r := []rune(name); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return name
}

// ofValidation names the field and what was expected; schemas and values stay inside.
func ofValidation(err error) error {
	var re *openapi3filter.RequestError
	if !errors.As(err, &re) {
		return invalid("the request does not follow the specification (see /openapi.json)")
	}
	where, reason := "body", ""
	if re.Parameter != nil {
		where = re.Parameter.Name
	}
	var se *openapi3.SchemaError
	var pe *openapi3filter.ParseError
	switch {
	case errors.As(re.Err, &se):
		if at := fieldPath(se.JSONPointer()); at != "" {
			where = at
			if re.Parameter != nil {
				where = re.Parameter.Name + at
			}
		}
		switch reason = se.Reason; {
		case se.SchemaField == "properties" && se.Schema != nil && len(se.Schema.Properties) > 0:
			reason += "; known: " + strings.Join(slices.Sorted(maps.Keys(se.Schema.Properties)), ", ")
		case se.SchemaField == "pattern" && se.Schema != nil && se.Schema.Description != "":
			reason = "must be " + se.Schema.Description
		}
	case errors.As(re.Err, &pe):
		reason = "cannot be read: " + pe.Reason
		if pe.Reason == "" {
			reason = "cannot be read"
		}
	case errors.Is(re.Err, openapi3filter.ErrInvalidRequired):
		reason = "must be given"
	default:
		reason = "does not follow the specification (see /openapi.json)"
	}
	if len(reason) > 300 {
		reason = strings.ToValidUTF8(reason[:300], "") + "…"
	}
	return invalid(where + ": " + reason)
}

// fieldPath writes a JSON pointer as people do: messages[3].role.
func fieldPath(pointer []string) string {
	var b strings.Builder
	for i, part := range pointer {
		switch {
		case part != "" && strings.Trim(part, "0123456789") == "":
			b.WriteString("[" + part + "]")
		case i > 0:
			b.WriteString("." + part)
		default:
			b.WriteString(part)
		}
		if b.Len() > 200 {
			return strings.ToValidUTF8(b.String()[:200], "") + "…"
		}
	}
	return b.String()
}
