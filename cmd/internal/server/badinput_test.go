package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"evoke"
	"evoke/store"
)

// One row for each kind of bad input: what is sent, the status, and what the detail must name.
func TestBadInputIsAnsweredWithTheFieldAndTheMend(t *testing.T) {
	w := newWorld(t, "")
	long := strings.Repeat("a", 300)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		detail                   []string
	}{
		{"no body", "POST", "/v1/recall", " ", 400, []string{"body", "got nothing"}},
		{"one byte", "POST", "/v1/recall", "x", 400, []string{"body", "JSON"}},
		{"half an object", "POST", "/v1/recall", `{"query":"a"`, 400, []string{"body", "byte 12"}},
		{"two objects", "POST", "/v1/recall", `{"query":"a"}{"query":"b"}`, 400, []string{"body", "byte"}},
		{"a list", "POST", "/v1/recall", `[]`, 400, []string{"body", "object"}},
		{"null", "POST", "/v1/recall", `null`, 400, []string{"body"}},
		{"unknown field", "POST", "/v1/recall", `{"qeury":"a"}`, 400, []string{"qeury"}},
		{"tenant in the body", "POST", "/v1/recall", `{"query":"a","tenant":"other"}`, 400, []string{"tenant"}},
		{"tenant in the query", "GET", "/v1/stats?tenant=other", "", 400, []string{"tenant", "user"}},
		{"a query that breaks off", "GET", "/v1/admin/export?user=a%zz", "", 400, []string{"query", "percent"}},
		{"pairs joined by a semicolon", "GET", "/v1/memories?user=a;limit=1", "", 400, []string{"query", "&"}},
		{"limit of zero", "POST", "/v1/recall", `{"limit":0}`, 400, []string{"limit", "1"}},
		{"negative limit", "POST", "/v1/recall", `{"limit":-5}`, 400, []string{"limit", "1"}},
		{"large limit", "POST", "/v1/recall", `{"limit":1001}`, 400, []string{"limit", "1000"}},
		{"fraction for a limit", "POST", "/v1/recall", `{"limit":1.5}`, 400, []string{"limit", "integer"}},
		{"huge number", "POST", "/v1/recall", `{"limit":1e400}`, 400, nil},
		{"text for a limit", "POST", "/v1/recall", `{"limit":"many"}`, 400, []string{"limit", "integer"}},
		{"score above one", "POST", "/v1/recall", `{"min_score":1.01}`, 400, []string{"min_score", "1"}},
		{"unknown profile", "POST", "/v1/recall", `{"profile":"best"}`, 400, []string{"profile", "classic"}},
		{"unknown kind", "POST", "/v1/recall", `{"kinds":["dream"]}`, 400, []string{"kinds[0]", "episodic"}},
		{"weights over one", "POST", "/v1/recall", `{"query":"a","weights":{"semantic":1,"recency":1,"importance":1}}`, 400, []string{"weights"}},
		{"negative budget", "POST", "/v1/context", `{"max_tokens":-1}`, 400, []string{"max_tokens", "0"}},
		{"huge budget", "POST", "/v1/context", `{"max_tokens":100001}`, 400, []string{"max_tokens", "100000"}},
		{"no content", "POST", "/v1/memories", `{}`, 400, []string{"content", "missing"}},
		{"empty content", "POST", "/v1/memories", `{"content":""}`, 400, []string{"content"}},
		{"blank content", "POST", "/v1/memories", `{"content":" \t\n "}`, 400, []string{"content", "blanks"}},
		{"NUL alone", "POST", "/v1/memories", `{"content":"\u0000"}`, 400, []string{"content"}},
		{"content over the limit", "POST", "/v1/memories", `{"content":"` + strings.Repeat("a", 1<<20+1) + `"}`, 400, []string{"content", "1048576"}},
		{"importance over one", "POST", "/v1/memories", `{"content":"a","importance":2}`, 400, []string{"importance", "1"}},
		{"unknown category", "POST", "/v1/memories", `{"content":"a","category":"mood"}`, 400, []string{"category", "preference"}},
		{"reserved metadata", "POST", "/v1/memories", `{"content":"a","metadata":{"evoke_id":"x"}}`, 400, []string{"metadata", "reserved"}},
		{"nested metadata", "POST", "/v1/memories", `{"content":"a","metadata":{"x":{"y":1}}}`, 400, []string{"metadata"}},
		{"too much metadata", "POST", "/v1/memories", `{"content":"a","metadata":{` + manyKeys(65) + `}}`, 400, []string{"metadata", "64"}},
		{"ends before it begins", "POST", "/v1/memories", `{"content":"a","valid_from":"2026-01-02T00:00:00Z","valid_to":"2026-01-01T00:00:00Z"}`, 400, []string{"valid_to"}},
		{"no such month", "POST", "/v1/memories", `{"content":"a","valid_from":"2026-13-01T00:00:00Z"}`, 400, nil},
		{"time in words", "POST", "/v1/memories", `{"content":"a","valid_from":"yesterday"}`, 400, []string{"valid_from"}},
		{"long user", "POST", "/v1/memories", `{"content":"a","user":"` + long + `"}`, 400, []string{"user", "256"}},
		{"blank user", "POST", "/v1/memories", `{"content":"a","user":"  "}`, 400, []string{"user"}},
		{"control character in a user", "POST", "/v1/memories", `{"content":"a","user":"a\u0001b"}`, 400, []string{"user", "control"}},
		{"long id", "GET", "/v1/memories/" + long, "", 400, []string{"id", "256"}},
		{"no messages", "POST", "/v1/messages", `{"thread":"t"}`, 400, []string{"messages", "missing"}},
		{"messages as text", "POST", "/v1/messages", `{"thread":"t","messages":"hello"}`, 400, []string{"messages", "array"}},
		{"message without a role", "POST", "/v1/messages", `{"thread":"t","messages":[{"content":"a"}]}`, 400, []string{"messages[0]", "role"}},
		{"unknown role", "POST", "/v1/messages", `{"thread":"t","messages":[{"role":"user","content":"a"},{"role":"wizard","content":"b"}]}`, 400, []string{"messages[1].role", "assistant"}},
		{"no thread", "POST", "/v1/messages", `{"messages":[{"role":"user","content":"a"}]}`, 400, []string{"thread"}},
		{"too many messages", "POST", "/v1/messages", `{"thread":"t","messages":[` + strings.Repeat(`{"role":"user"},`, 10000) + `{"role":"user"}]}`, 400, []string{"messages", "10000"}},
		{"no ids", "POST", "/v1/feedback", `{"ids":[]}`, 400, []string{"ids", "1"}},
		{"forget without a what", "POST", "/v1/admin/forget", `{}`, 400, []string{"exactly one of"}},
		{"forget by an empty filter", "POST", "/v1/admin/forget", `{"filter":{}}`, 400, []string{"filter", "all"}},
		{"reversed range", "POST", "/v1/recall", `{"filter":{"valid":{"from":"2026-02-01T00:00:00Z","to":"2026-01-01T00:00:00Z"}}}`, 400, []string{"valid"}},
		{"empty condition", "POST", "/v1/recall", `{"filter":{"metadata":[{"key":"a"}]}}`, 400, []string{"metadata[0]", "in, min or max"}},
		{"deep filter", "POST", "/v1/recall", `{"filter":` + strings.Repeat(`{"all":[`, 12) + `{}` + strings.Repeat(`]}`, 12) + `}`, 400, []string{"filter", "deep"}},
		{"very deep JSON", "POST", "/v1/recall", `{"filter":` + strings.Repeat(`{"all":[`, 20000) + `{}` + strings.Repeat(`]}`, 20000) + `}`, 400, []string{"body"}},
		{"unknown order", "GET", "/v1/memories?order=random", "", 400, []string{"order", "newest"}},
		{"cursor of nobody", "GET", "/v1/memories?cursor=!!", "", 400, []string{"cursor"}},
		{"text for a wait", "GET", "/v1/events/x?wait=long", "", 400, []string{"wait"}},
		{"unknown event", "GET", "/v1/events/nothing", "", 404, nil},
		{"unknown item", "GET", "/v1/memories/nothing", "", 404, nil},
		{"unknown item to change", "PATCH", "/v1/memories/nothing", `{"content":"a"}`, 404, nil},
		{"unknown item's history", "GET", "/v1/memories/nothing/history", "", 404, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			inner := *w
			inner.t = t
			a := inner.want(c.status, inner.call(c.method, c.path, c.body))
			for _, d := range c.detail {
				if got := inner.str(a, "detail"); !strings.Contains(got, d) {
					t.Errorf("detail %q does not say %q", got, d)
				}
			}
		})
	}
	if st := w.want(200, w.call("GET", "/v1/stats", "")); !strings.Contains(st.body, `"total":0`) {
		t.Errorf("something refused was kept: %s", st.body)
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"k%d":%d`, i, i)
	}
	return b.String()
}

// What is odd and legal is kept, repaired where it has to be.
func TestOddInputIsKept(t *testing.T) {
	w := newWorld(t, "")
	for _, c := range []struct{ name, content, want string }{
		{"broken UTF-8", "\"tea \xff\xfe leaves\"", "tea \uFFFD\uFFFD leaves"},
		{"lone surrogate", `"tea \ud800 leaves"`, "tea \uFFFD leaves"},
		{"NUL within", `"tea\u0000leaves"`, "tealeaves"},
		{"one byte", `"x"`, "x"},
		{"a megabyte without a blank", `"` + strings.Repeat("x", 1<<20) + `"`, ""},
		{"emoji", `"👩‍👩‍👧‍👦 茶"`, "👩‍👩‍👧‍👦 茶"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && len(c.content) > 1<<20 {
				t.Skip("a megabyte takes minutes with the race detector on a busy machine; it runs without -short")
			}
			inner := *w
			inner.t = t
			a := inner.want(201, inner.call("POST", "/v1/memories", `{"content":`+c.content+`}`))
			if got := inner.str(a, "item.content"); c.want != "" && got != c.want {
				t.Errorf("kept as %q, want %q", got, c.want)
			}
		})
	}
	for _, at := range []string{"0001-01-02T00:00:00Z", "9999-12-31T00:00:00Z", "2999-01-01T00:00:00+14:00"} {
		w.want(201, w.call("POST", "/v1/memories", `{"content":"at `+at+`","valid_from":"`+at+`"}`))
	}
	first := w.want(201, w.call("POST", "/v1/memories", `{"id":"mine","content":"once"}`))
	w.want(200, w.call("POST", "/v1/memories", `{"id":"mine","content":"once"}`))
	w.want(409, w.call("POST", "/v1/memories", `{"id":"mine","content":"something else"}`))
	if w.str(first, "item.id") != "mine" {
		t.Error("the id given was not kept")
	}
	w.want(200, w.call("POST", "/v1/recall", `{"query":"tea leaves"}`)) // no user: the default one
	block := w.want(200, w.call("POST", "/v1/context", `{"query":"tea","max_tokens":3}`))
	if w.str(block, "text") != "" {
		t.Errorf("a budget smaller than the frame gave %q", w.str(block, "text"))
	}
	if got := w.str(block, "empty"); got != "budget" {
		t.Errorf("the empty block says %q", got)
	}
}

func TestAThreadOfTenThousandMessages(t *testing.T) {
	w := newWorld(t, "")
	var b strings.Builder
	for i := range 10_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":"message number %d"}`, i)
	}
	w.want(200, w.call("POST", "/v1/messages", `{"thread":"long","messages":[`+b.String()+`]}`))
	if st := w.want(200, w.call("GET", "/v1/stats", "")); !strings.Contains(st.body, `"episodic":10000`) {
		t.Errorf("stats: %s", st.body)
	}
}

// endless is a body whose length nobody announced.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'a'
	}
	e.left -= n
	return n, nil
}

func TestBodiesOverTheLimitAreRefusedWithoutBeingHeld(t *testing.T) {
	w := newWorld(t, "server: { max_body_bytes: 1048576 }")
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, announced := range []bool{true, false} {
		r := httptest.NewRequestWithContext(context.Background(), "POST", "/v1/messages", io.NopCloser(&endless{50 << 20}))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		r.ContentLength = -1
		if announced {
			r.ContentLength = 50 << 20
		}
		a := w.want(413, w.send(r))
		if !strings.Contains(w.str(a, "detail"), "1048576") || a.header.Get("Connection") != "close" {
			t.Errorf("%s (Connection: %s)", a.body, a.header.Get("Connection"))
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("two refused bodies of 50 MB took %d MB", took>>20)
	}
}

func TestFiftyMegabytesWithinTheLimitAreAnswered(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 50 MB; it runs without -short")
	}
	w := newWorld(t, "server: { max_body_bytes: 67108864 }")
	part := `{"role":"user","content":"` + strings.Repeat("all work and no play ", 45000) + `"}`
	body := `{"thread":"t","no_store":true,"messages":[` + strings.Repeat(part+",", 52) + part + `]}`
	if len(body) < 50_000_000 {
		t.Fatalf("%d bytes", len(body))
	}
	w.want(200, w.call("POST", "/v1/messages", body))
}

// Bodies of unknown length that trickle in take no turn from others of that kind.
func TestSlowBodiesHoldNobodyUp(t *testing.T) {
	w := newWorld(t, "server: { request_timeout_seconds: 20 }")
	srv := httptest.NewServer(w.s.Handler())
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	send := func(body io.Reader) (int, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+"/v1/recall", body)
		if err != nil {
			return 0, err
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := srv.Client().Do(r)
		if err != nil {
			return 0, err
		}
		return res.StatusCode, res.Body.Close()
	}
	var slow sync.WaitGroup
	defer slow.Wait()
	defer cancel()
	for range inFlight + 1 {
		pr, pw := io.Pipe()
		defer pw.Close()
		slow.Go(func() { _, _ = send(pr) })
		if _, err := pw.Write([]byte(`{"query":`)); err != nil { // taken: the request is under way
			t.Fatal(err)
		}
	}
	start := time.Now()
	if status, err := send(io.MultiReader(strings.NewReader(`{"query":"a"}`))); status != 200 || err != nil || time.Since(start) > 10*time.Second {
		t.Errorf("status %d, %v after %v", status, err, time.Since(start))
	}
}

func TestMediaTypes(t *testing.T) {
	w := newWorld(t, "")
	w.want(415, w.call("POST", "/v1/recall", `{"query":"a"}`, "Content-Type", "text/plain"))
	w.want(415, w.call("POST", "/v1/admin/import", `{}`))
	w.want(200, w.call("POST", "/v1/recall", `{"query":"a"}`, "Content-Type", "application/json; charset=utf-8"))
}

// broken is an engine in which something is wrong.
type broken struct {
	Memory
	err   error
	panic bool
}

func (b broken) Enabled() bool { return true }

func (b broken) Recall(context.Context, evoke.RecallRequest) (evoke.RecallResult, error) {
	if b.panic {
		panic("secret content of a user")
	}
	return evoke.RecallResult{}, b.err
}

func (b broken) Export(_ context.Context, _ evoke.Who, w io.Writer) (int, error) {
	if _, err := io.WriteString(w, "{}\n"); err != nil {
		return 0, err
	}
	return 1, b.err
}

func TestFaultsOfOursShowNothingOfOurs(t *testing.T) {
	secret := "open /home/operator/data/evoke.db: no space left; user said 'hello'"
	for _, c := range []struct {
		name   string
		engine broken
		status int
	}{
		{"unknown fault", broken{err: errors.New(secret)}, 500},
		{"unavailable", broken{err: fmt.Errorf("%s: %w", secret, store.ErrUnavailable)}, 503},
		{"corrupt", broken{err: fmt.Errorf("%s: %w", secret, store.ErrCorrupt)}, 500},
		{"closed", broken{err: store.ErrClosed}, 503},
		{"too slow", broken{err: context.DeadlineExceeded}, 504},
		{"panic", broken{panic: true}, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorldOver(t, "", func(string) (Memory, error) { return c.engine, nil })
			a := w.want(c.status, w.call("POST", "/v1/recall", `{"query":"a"}`))
			if strings.Contains(a.body, "operator") || strings.Contains(a.body, "secret") {
				t.Errorf("the answer shows %s", a.body)
			}
			if strings.Contains(w.log.String(), "secret content") {
				t.Error("the log shows what a panic held")
			}
		})
	}
}

// A client must not take half an export for a whole one.
func TestAnExportThatFailsMidwayIsCut(t *testing.T) {
	w := newWorldOver(t, "", func(string) (Memory, error) { return broken{err: store.ErrUnavailable}, nil })
	srv := httptest.NewServer(w.s.Handler())
	defer srv.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/v1/admin/export", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := srv.Client().Do(r)
	if err == nil {
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body)
	}
	if err == nil {
		t.Error("the export looked whole")
	}
}

func TestALateBodyIsGivenUp(t *testing.T) {
	w := newWorld(t, "server: { request_timeout_seconds: 1 }")
	srv := httptest.NewServer(w.s.Handler())
	defer srv.Close()
	pr, pw := io.Pipe()
	defer pw.Close()
	go func() { _, _ = pw.Write([]byte(`{"query":`)) }()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/v1/recall", pr)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	start := time.Now()
	res, err := srv.Client().Do(r)
	if err == nil {
		var b bytes.Buffer
		_, _ = b.ReadFrom(res.Body)
		res.Body.Close()
		if res.StatusCode < 400 {
			t.Errorf("status %d: %s", res.StatusCode, b.String())
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("held for %v", took)
	}
}
