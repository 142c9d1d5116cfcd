package rerank_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"evoke/embed"
	"evoke/embed/rerank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a service that answers as told; the client it returns has a key.
func serve(t *testing.T, h http.HandlerFunc) *rerank.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := rerank.New(s.URL, "cross-1", &rerank.Options{Key: "secret-key", HTTP: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRerank(t *testing.T) {
	var asked map[string]any
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret-key" || r.Method != http.MethodPost {
			t.Errorf("%s, %v", r.Method, r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, `{"id":"x","results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":1.7}]}`)
	})
	got, err := c.Rerank(t.Context(), "q", []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{1, 0, 0.9}, got); diff != "" {
		t.Error(diff)
	}
	want := map[string]any{"model": "cross-1", "query": "q", "documents": []any{"a", "b", "c"}, "top_n": 3.0}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	if got, err := c.Rerank(t.Context(), "q", nil); got != nil || err != nil {
		t.Errorf("no texts: %v, %v", got, err)
	}
}

func TestFaults(t *testing.T) {
	for _, f := range []struct {
		status int
		body   string
		want   error
	}{
		{500, "text of the user", embed.ErrUnavailable}, {429, "", embed.ErrUnavailable}, {401, "secret-key", embed.ErrInvalid},
		{200, "text of the user", embed.ErrDamaged}, {200, `{"results":[{"index":7,"relevance_score":1}]}`, embed.ErrDamaged},
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(f.status); fmt.Fprint(w, f.body) })
		_, err := c.Rerank(t.Context(), "q", []string{"text of the user"})
		if !errors.Is(err, f.want) || strings.Contains(err.Error(), "text of") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d %q: %v", f.status, f.body, err)
		}
	}
	for _, bad := range [][2]string{{"", "m"}, {"ftp://x/y", "m"}, {"http://x/y", ""}} {
		if _, err := rerank.New(bad[0], bad[1], nil); !errors.Is(err, embed.ErrInvalid) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// A service that stalls costs the caller's time and no more.
func TestStall(t *testing.T) {
	free := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-free:
		case <-r.Context().Done():
		}
	})
	defer close(free)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Rerank(ctx, "q", []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
