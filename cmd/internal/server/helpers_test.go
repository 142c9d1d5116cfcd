package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
	"go.uber.org/goleak"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/cmd/internal/wire"
	"evoke/store/sqlitestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server over a real engine in memory, with what a test needs to look at.
type world struct {
	t   *testing.T
	s   *Server
	log *bytes.Buffer
}

func settings(t *testing.T, yaml string) *config.Config {
	t.Helper()
	name := filepath.Join(t.TempDir(), "evoke.yaml")
	if err := os.WriteFile(name, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Options{File: name})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newWorld(t *testing.T, yaml string) *world {
	t.Helper()
	set := settings(t, yaml)
	perTenant, err := wire.TenantOptions(set)
	if err != nil {
		t.Fatal(err)
	}
	return newWorldWith(t, yaml, &evoke.Options{TenantOptions: perTenant})
}

// newWorldOn is a world whose store the test reads and writes beside the engine, which is opened with the other options.
func newWorldOn(t *testing.T, yaml string, o evoke.Options) (*world, *sqlitestore.DB) {
	t.Helper()
	db, err := sqlitestore.OpenMemory(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	o.Store, o.Ledger = db, db
	return newWorldWith(t, yaml, &o), db
}

func newWorldWith(t *testing.T, yaml string, o *evoke.Options) *world {
	t.Helper()
	m, err := evoke.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return newWorldOver(t, yaml, func(tenant string) (Memory, error) { return m.ForTenant(tenant) })
}

func newWorldOver(t *testing.T, yaml string, tenants Tenants) *world {
	t.Helper()
	log := &bytes.Buffer{}
	s, err := New(tenants, settings(t, yaml), &Options{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, s, log}
}

// answer is a response with its body read.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(a.body), &m); err != nil {
		t.Fatalf("status %d, body %.200q: %v", a.status, a.body, err)
	}
	return m
}

// call sends a request and checks that whatever comes back follows the specification.
func (w *world) call(method, path, body string, header ...string) answer {
	w.t.Helper()
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	r.Host = "localhost"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	return w.send(r)
}

func (w *world) send(r *http.Request) answer {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.s.Handler().ServeHTTP(rec, r)
	a := answer{rec.Code, rec.Header(), rec.Body.String()}
	if a.status >= 400 {
		checkProblem(w.t, a)
	}
	w.checkResponse(r, a)
	return a
}

func checkProblem(t *testing.T, a answer) {
	t.Helper()
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("status %d has content type %q", a.status, got)
		return
	}
	p := a.json(t)
	kind, _ := p["type"].(string)
	title, _ := p["title"].(string)
	status, _ := p["status"].(float64)
	if !strings.HasPrefix(kind, "urn:evoke:problem:") || title == "" || int(status) != a.status {
		t.Errorf("not a whole problem: %s", a.body)
	}
	if strings.Contains(a.body, "Schema") || strings.Contains(a.body, "additionalProperties") || len(a.body) > 1500 {
		t.Errorf("a problem that shows the schema: %.300s", a.body)
	}
}

// checkResponse compares a response with the specification.
func (w *world) checkResponse(r *http.Request, a answer) {
	w.t.Helper()
	for key, op := range w.s.ops {
		method, pattern, _ := strings.Cut(key, " ")
		if method != r.Method || !samePath(pattern, r.URL.Path) || op.stream && a.status < 300 {
			continue
		}
		in := &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: op.route},
			Status:                 a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body)),
			Options: &openapi3filter.Options{IncludeResponseStatus: true},
		}
		if err := openapi3filter.ValidateResponse(context.Background(), in); err != nil {
			w.t.Errorf("%s %s: the answer does not follow the specification: %v", r.Method, r.URL.Path, err)
		}
	}
}

func samePath(pattern, path string) bool {
	ps, ws := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(ps) != len(ws) {
		return false
	}
	for i := range ps {
		if !strings.HasPrefix(ps[i], ":") && ps[i] != ws[i] {
			return false
		}
	}
	return true
}

// want fails the test unless the status is the expected one.
func (w *world) want(status int, a answer) answer {
	w.t.Helper()
	if a.status != status {
		w.t.Fatalf("status %d, want %d: %.500s", a.status, status, a.body)
	}
	return a
}

// done waits for an operation that a call began, and returns its id and what it says at the end.
func (w *world) done(a answer, header ...string) (id string, op answer) {
	w.t.Helper()
	id = w.str(w.want(202, a), "operation.id")
	op = w.want(200, w.call("GET", "/v1/admin/operations/"+id+"?wait=20", "", header...))
	if w.str(op, "operation.state") != "done" {
		w.t.Fatal(op.body)
	}
	return id, op
}

// str digs a string out of an answer: "item.id".
func (w *world) str(a answer, path string) string {
	w.t.Helper()
	var v any = a.json(w.t)
	for _, part := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			w.t.Fatalf("%s is not in %s", path, a.body)
		}
		v = m[part]
	}
	s, ok := v.(string)
	if !ok {
		w.t.Fatalf("%s is not text in %s", path, a.body)
	}
	return s
}

// probe asks one of the routes whose refusals are no problems.
func (w *world) probe(path string) answer {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
	rec := httptest.NewRecorder()
	w.s.Handler().ServeHTTP(rec, r)
	return answer{rec.Code, rec.Header(), rec.Body.String()}
}

// escape writes an id as one segment of a path.
func escape(id string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}
