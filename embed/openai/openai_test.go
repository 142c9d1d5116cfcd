package openai_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"evoke/embed"
	"evoke/embed/embedtest"
	"evoke/embed/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request is what the fake service was asked.
type request struct {
	Input      []string `json:"input"`
	Model      string   `json:"model"`
	Dimensions *int     `json:"dimensions"`
	key        string
}

// service is a fake of the embeddings API. broken answers instead of it while
// it returns true.
type service struct {
	mu     sync.Mutex
	asked  []request
	dim    int
	broken func(w http.ResponseWriter, r *http.Request, try int) bool
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := request{key: r.Header.Get("Authorization")}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &req) != nil || r.URL.Path != "/v1/embeddings" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, req)
	try := len(s.asked)
	s.mu.Unlock()
	if s.broken != nil && s.broken(w, r, try) {
		return
	}
	for _, t := range req.Input {
		if t == "" {
			http.Error(w, `{"error":{"message":"input is empty"}}`, http.StatusBadRequest)
			return
		}
	}
	answer(w, req.Input, s.dim, nil)
}

// answer writes vectors in reverse order, as the API may; change may spoil them.
func answer(w io.Writer, texts []string, dim int, change func(data []map[string]any) []map[string]any) {
	var data []map[string]any
	for i := len(texts) - 1; i >= 0; i-- {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vector(texts[i], dim)})
	}
	if change != nil {
		data = change(data)
	}
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
}

func vector(text string, dim int) []float64 {
	h := sha256.Sum256([]byte(text))
	v := make([]float64, dim)
	for i := range v {
		v[i] = float64(h[i%len(h)]) - 127.5
	}
	return v
}

const dim = 16

// open starts the fake and an embedder for it.
func open(t *testing.T, s *service, change func(o *openai.Options)) *openai.Embedder {
	t.Helper()
	if s.dim == 0 {
		s.dim = dim
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	client := srv.Client()
	t.Cleanup(client.CloseIdleConnections)
	o := openai.Options{BaseURL: srv.URL + "/v1/", APIKey: "secret-key", Dimensions: dim, HTTPClient: client, Pause: time.Millisecond, Timeout: 5 * time.Second}
	if change != nil {
		change(&o)
	}
	e, err := openai.New("test-model", &o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestContract(t *testing.T) {
	embedtest.Run(t, func(t *testing.T) embed.Embedder {
		return open(t, &service{}, func(o *openai.Options) { o.BatchTexts = 3 })
	})
}

func TestRequests(t *testing.T) {
	s := &service{}
	e := open(t, s, func(o *openai.Options) {
		o.BatchTexts, o.BatchBytes, o.TextBytes, o.Parallel = 3, 40, 24, 1
		o.QueryPrefix, o.PassagePrefix = "q: ", "p: "
	})
	texts := []string{"a", "b", "c", "d", strings.Repeat("é", 40), "e", "\xff"}
	if _, err := e.EmbedPassages(context.Background(), texts); err != nil {
		t.Fatal(err)
	}
	if _, err := e.EmbedQuery(context.Background(), "why"); err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"p: a", "p: b", "p: c"},
		{"p: d", "p: " + strings.Repeat("é", 12), "p: e"},
		{"p: \uFFFD"},
		{"q: why"},
	}
	if len(s.asked) != len(want) {
		t.Fatalf("%d requests, want %d", len(s.asked), len(want))
	}
	for i, r := range s.asked {
		if fmt.Sprint(r.Input) != fmt.Sprint(want[i]) {
			t.Errorf("request %d asks %q, want %q", i, r.Input, want[i])
		}
		if r.Model != "test-model" || r.key != "Bearer secret-key" || r.Dimensions != nil {
			t.Errorf("request %d: model %q, key %q, dimensions %v", i, r.Model, r.key, r.Dimensions)
		}
	}
}

func TestBatchesAreBoundedBySize(t *testing.T) {
	s := &service{}
	e := open(t, s, func(o *openai.Options) { o.BatchBytes, o.Parallel = 10, 1 })
	if _, err := e.EmbedPassages(context.Background(), []string{"123456", "1234", "1", strings.Repeat("x", 30), "y"}); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, r := range s.asked {
		sizes = append(sizes, len(r.Input))
	}
	if fmt.Sprint(sizes) != "[2 1 1 1]" {
		t.Errorf("batches of %v texts", sizes)
	}
}

func TestDimensionsParameter(t *testing.T) {
	for _, c := range []struct {
		model string
		opts  openai.Options
		dim   int
		sent  bool
	}{
		{"text-embedding-3-small", openai.Options{}, 1536, false},
		{"text-embedding-3-large", openai.Options{Dimensions: 256}, 256, true},
		{"text-embedding-ada-002", openai.Options{}, 1536, false},
		{"other", openai.Options{Dimensions: 8, SendDimensions: true}, 8, true},
		{"other", openai.Options{Dimensions: 8}, 8, false},
	} {
		s := &service{dim: c.dim}
		srv := httptest.NewServer(s)
		c.opts.BaseURL, c.opts.HTTPClient = srv.URL+"/v1", srv.Client()
		e, err := openai.New(c.model, &c.opts)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.EmbedQuery(context.Background(), "x"); err != nil {
			t.Error(err)
		}
		if got := s.asked[0].Dimensions; (got != nil) != c.sent || got != nil && *got != c.dim {
			t.Errorf("%s: dimensions parameter is %v", c.model, got)
		}
		if e.Model().Dim != c.dim {
			t.Errorf("%s: Dim is %d, want %d", c.model, e.Model().Dim, c.dim)
		}
		srv.Close()
		srv.Client().CloseIdleConnections()
	}
}

// fail answers the first n tries with a status.
func fail(n, status int, header ...string) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, _ *http.Request, try int) bool {
		if try > n {
			return false
		}
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, `{"error":{"message":"the text was: my secret","type":"x","code":"y"}}`)
		return true
	}
}

func TestRetriesWhatCanPass(t *testing.T) {
	for name, broken := range map[string]func(http.ResponseWriter, *http.Request, int) bool{
		"429":    fail(2, 429),
		"500":    fail(2, 500),
		"503":    fail(2, 503),
		"408":    fail(2, 408),
		"hangup": func(w http.ResponseWriter, _ *http.Request, try int) bool { return try <= 2 && hangUp(w) },
		"truncated": func(w http.ResponseWriter, _ *http.Request, try int) bool {
			if try <= 2 {
				io.WriteString(w, `{"data":[{"index":0,"embedding":[0.1,`)
			}
			return try <= 2
		},
		"NaN": func(w http.ResponseWriter, _ *http.Request, try int) bool {
			if try <= 2 {
				io.WriteString(w, `{"data":[{"index":0,"embedding":[NaN]}]}`)
			}
			return try <= 2
		},
		"not JSON": func(w http.ResponseWriter, _ *http.Request, try int) bool {
			if try <= 2 {
				io.WriteString(w, `<html>proxy</html>`)
			}
			return try <= 2
		},
		"stall": func(_ http.ResponseWriter, r *http.Request, try int) bool {
			if try <= 2 {
				<-r.Context().Done()
			}
			return try <= 2
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{broken: broken}
			e := open(t, s, func(o *openai.Options) { o.Timeout = 200 * time.Millisecond })
			if _, err := e.EmbedQuery(context.Background(), "x"); err != nil {
				t.Fatal(err)
			}
			if len(s.asked) != 3 {
				t.Errorf("%d tries, want 3", len(s.asked))
			}
		})
	}
}

func hangUp(w http.ResponseWriter) bool {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
	return true
}

func TestGivesUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		broken func(http.ResponseWriter, *http.Request, int) bool
		tries  int
		want   error
	}{
		{"down", fail(99, 500), 3, embed.ErrUnavailable},
		{"bad key", fail(99, 401), 1, embed.ErrInvalid},
		{"bad request", fail(99, 400), 1, embed.ErrInvalid},
		{"no such model", fail(99, 404), 1, embed.ErrInvalid},
		{"quota", func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.WriteHeader(429)
			io.WriteString(w, `{"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}`)
			return true
		}, 1, embed.ErrUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &service{broken: c.broken}
			e := open(t, s, func(o *openai.Options) { o.Retries = 2 })
			_, err := e.EmbedPassages(context.Background(), []string{"my secret"})
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "pay")) {
				t.Errorf("the error repeats what the service said: %v", err)
			}
			if len(s.asked) != c.tries {
				t.Errorf("%d tries, want %d", len(s.asked), c.tries)
			}
		})
	}
}

func TestHonoursRetryAfter(t *testing.T) {
	s := &service{broken: fail(1, 429, "Retry-After", "0.3")}
	e := open(t, s, nil)
	start := time.Now()
	if _, err := e.EmbedQuery(context.Background(), "x"); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d < 300*time.Millisecond {
		t.Errorf("came back after %v, the service asked for 300ms", d)
	}
}

func TestRetryAfterEndsWithTheContext(t *testing.T) {
	s := &service{broken: fail(99, 429, "Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))}
	e := open(t, s, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := e.EmbedQuery(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the context's", err)
	}
}

func TestRefusesWrongAnswers(t *testing.T) {
	spoil := func(change func(data []map[string]any) []map[string]any) func(http.ResponseWriter, *http.Request, int) bool {
		return func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			answer(w, []string{"a", "b"}, dim, change)
			return true
		}
	}
	for name, broken := range map[string]func(http.ResponseWriter, *http.Request, int) bool{
		"too few":   spoil(func(d []map[string]any) []map[string]any { return d[:1] }),
		"too many":  spoil(func(d []map[string]any) []map[string]any { return append(d, d[0]) }),
		"twice":     spoil(func(d []map[string]any) []map[string]any { d[0]["index"] = 0; return d }),
		"index":     spoil(func(d []map[string]any) []map[string]any { d[0]["index"] = 7; return d }),
		"short":     spoil(func(d []map[string]any) []map[string]any { d[0]["embedding"] = []float64{1}; return d }),
		"zero":      spoil(func(d []map[string]any) []map[string]any { d[0]["embedding"] = make([]float64, dim); return d }),
		"infinite":  spoil(func(d []map[string]any) []map[string]any { d[0]["embedding"] = vectorOf(math.MaxFloat32); return d }),
		"no vector": spoil(func(d []map[string]any) []map[string]any { delete(d[0], "embedding"); return d }),
		"endless": func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			for range 100 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					break
				}
			}
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{broken: broken}
			e := open(t, s, func(o *openai.Options) { o.Retries = -1 })
			vs, err := e.EmbedPassages(context.Background(), []string{"a", "b"})
			if name == "infinite" { // finite, though its square is not a float32
				if err != nil {
					t.Error(err)
				}
				return
			}
			if vs != nil || !errors.Is(err, embed.ErrDamaged) && !errors.Is(err, embed.ErrUnavailable) {
				t.Errorf("%d vectors and error %v, want none and one that tells of damage", len(vs), err)
			}
		})
	}
}

func vectorOf(x float64) []float64 {
	v := make([]float64, dim)
	for i := range v {
		v[i] = x
	}
	return v
}

func TestOneFailedBatchFailsAll(t *testing.T) {
	s := &service{broken: func(w http.ResponseWriter, r *http.Request, try int) bool { return try == 2 && fail(99, 400)(w, r, 1) }}
	e := open(t, s, func(o *openai.Options) { o.BatchTexts, o.Parallel = 1, 1 })
	if vs, err := e.EmbedPassages(context.Background(), []string{"a", "b", "c"}); vs != nil || !errors.Is(err, embed.ErrInvalid) {
		t.Errorf("%d vectors and %v, want none and an error", len(vs), err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]openai.Options{
		"Dimensions": {},
		"BatchTexts": {Dimensions: 8, BatchTexts: 5000},
		"BatchBytes": {Dimensions: 8, BatchBytes: -1},
		"TextBytes":  {Dimensions: 8, TextBytes: 3},
		"Parallel":   {Dimensions: 8, Parallel: 65},
		"Retries":    {Dimensions: 8, Retries: 21},
		"Timeout":    {Dimensions: 8, Timeout: time.Microsecond},
		"Low":        {Dimensions: 8, Low: 0.5, High: 0.4},
	} {
		if _, err := openai.New("m", &o); !errors.Is(err, embed.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v does not name the field", name, err)
		}
	}
	if _, err := openai.New("", nil); !errors.Is(err, embed.ErrInvalid) {
		t.Errorf("no model: error %v", err)
	}
	e, err := openai.New("text-embedding-3-small", nil)
	if err != nil || e.Model().Dim != 1536 || e.Model().Pooling != "hosted" {
		t.Errorf("defaults: %+v, %v", e, err)
	}
}
