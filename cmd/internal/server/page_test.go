package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The page's requests are counted and logged as one route, without what was asked.
func TestThePageIsMeteredWithoutContent(t *testing.T) {
	w := newWorld(t, "")
	visit := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Host = "localhost"
		rec := httptest.NewRecorder()
		w.s.Handler().ServeHTTP(rec, r)
		return rec
	}
	for _, path := range []string{"/ui/search?q=secret-matter", "/ui/item?id=secret-matter", "/ui"} {
		visit(path)
	}
	meters := visit("/metrics").Body.String()
	if !strings.Contains(meters, `route="/ui"`) || strings.Contains(meters, "/ui/search") {
		t.Error("the page is not one route of the meters")
	}
	log := w.log.String()
	if !strings.Contains(log, "route=/ui ") || strings.Contains(log, "secret-matter") {
		t.Errorf("the log: %s", log)
	}
	if !strings.Contains(log, "key=local") {
		t.Error("the log does not say whose key it was")
	}
	if a := visit("/ui/search"); a.Code != http.StatusOK || !strings.HasPrefix(a.Header().Get("Content-Type"), "text/html") {
		t.Errorf("status %d, %s", a.Code, a.Header().Get("Content-Type"))
	}
}
