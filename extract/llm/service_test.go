package llm_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"evoke/extract"
	"evoke/extract/llm"
	"evoke/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request is what the fake service was asked.
type request struct {
	Model               string `json:"model"`
	MaxTokens           int    `json:"max_tokens"`
	MaxCompletionTokens int    `json:"max_completion_tokens"`
	Temperature         *float64
	Messages            []struct{ Role, Content string }
	ResponseFormat      *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string
			Strict bool
			Schema json.RawMessage
		} `json:"json_schema"`
	} `json:"response_format"`

	auth string
	try  int // from 1
}

func (r *request) format() string {
	if r.ResponseFormat == nil {
		return "plain"
	}
	return r.ResponseFormat.Type
}

// line is a line of the prompt's blocks.
type line struct {
	ID, Turn, Part, Speaker, Role, Time, Text, Content, Subject, Category string
}

// block returns the lines of a block of the prompt, as the model would read them.
func (r *request) block(name string) []line {
	_, rest, _ := strings.Cut(r.Messages[1].Content, "<"+name+">\n")
	body, _, _ := strings.Cut(rest, "</"+name+">")
	var out []line
	sc := bufio.NewScanner(strings.NewReader(body))
	sc.Buffer(nil, 8<<20)
	for sc.Scan() {
		var l line
		if json.Unmarshal(sc.Bytes(), &l) != nil {
			l.Text = "not JSON: " + sc.Text()
		}
		out = append(out, l)
	}
	return out
}

func (r *request) texts(name string) (out []string) {
	for _, l := range r.block(name) {
		out = append(out, l.Text)
	}
	return out
}

// service is a model behind a chat API, as honest as its script.
type service struct {
	t     testing.TB
	reply func(w http.ResponseWriter, r *request)

	mu    sync.Mutex
	asked []*request
}

func (s *service) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	r := &request{auth: hr.Header.Get("Authorization")}
	body, err := io.ReadAll(hr.Body)
	if err != nil || json.Unmarshal(body, r) != nil || hr.URL.Path != "/v1/chat/completions" {
		s.t.Errorf("bad request to %s: %v", hr.URL.Path, err)
		http.Error(w, "bad request", http.StatusTeapot)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, r)
	r.try = len(s.asked)
	s.mu.Unlock()
	s.reply(w, r)
}

func (s *service) requests() []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*request(nil), s.asked...)
}

// say answers with a text.
func say(w io.Writer, text string) { finish(w, text, "stop") }

func finish(w io.Writer, text, reason string) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": text}, "finish_reason": reason}},
		"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
	})
}

func always(text string) func(http.ResponseWriter, *request) {
	return func(w http.ResponseWriter, _ *request) { say(w, text) }
}

// fail answers with a status and an error that repeats what it must not.
func fail(w http.ResponseWriter, r *request, status int, fields map[string]any) {
	e := map[string]any{"message": "cannot process: " + r.Messages[1].Content + " with key " + r.auth, "type": "x"}
	for k, v := range fields {
		e[k] = v
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": e})
}

const secretKey = "sk-very-secret"

// open starts the service and an extractor that asks it.
func open(t testing.TB, reply func(http.ResponseWriter, *request), change func(o *llm.Options)) (*llm.Extractor, *service) {
	t.Helper()
	s := &service{t: t, reply: reply}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	client := srv.Client()
	t.Cleanup(client.CloseIdleConnections)
	o := llm.Options{BaseURL: srv.URL + "/v1/", APIKey: secretKey, HTTPClient: client, Pause: time.Millisecond, Timeout: 10 * time.Second}
	if change != nil {
		change(&o)
	}
	x, err := llm.New("test-model", &o)
	if err != nil {
		t.Fatal(err)
	}
	return x, s
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// turns makes a conversation: "user: I like tea", "assistant: Noted", "Ann: …".
func turns(lines ...string) []store.Item {
	var out []store.Item
	for i, l := range lines {
		speaker, text, _ := strings.Cut(l, ": ")
		role := "user"
		if speaker == "assistant" || strings.HasPrefix(speaker, "*") {
			role = "assistant"
		}
		out = append(out, store.Item{
			ID: fmt.Sprintf("turn-%d", i), Kind: store.Episodic, Content: text, ValidFrom: noon.Add(time.Duration(i) * time.Minute),
			Turn: store.Turn{Thread: "th", Session: "th", Position: i, Speaker: strings.TrimPrefix(speaker, "*"), Role: role},
		})
	}
	return out
}

func batch(lines ...string) extract.Batch {
	return extract.Batch{Scope: store.Scope{Tenant: "acme", User: "ann"}, Thread: "th", Turns: turns(lines...), Now: noon.Add(time.Hour)}
}

// fact is an operation as JSON; more are pairs of keys and values that replace the defaults.
func fact(turn, quote, content string, more ...any) string {
	m := map[string]any{
		"action": "add", "target": nil, "kind": "semantic", "category": "preference", "content": content, "quote": quote, "turn": turn, "speaker": nil,
		"modality": "asserted", "durability": "user", "time": nil, "precision": nil, "confidence": 0.9, "importance": 0.6, "subject": nil, "about": nil,
	}
	for i := 0; i+1 < len(more); i += 2 {
		m[fmt.Sprint(more[i])] = more[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func answer(ops ...string) string { return `{"operations":[` + strings.Join(ops, ",") + `]}` }

func run(t testing.TB, x *llm.Extractor, b extract.Batch) extract.Report {
	t.Helper()
	rep, err := x.Report(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func contents(ops []extract.Operation) string {
	var out []string
	for _, o := range ops {
		out = append(out, o.Content)
	}
	return strings.Join(out, "; ")
}

func reasons(rs []extract.Rejected) string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Reason)
	}
	return strings.Join(out, " ")
}

func newServer(t testing.TB, s *service) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	t.Cleanup(srv.Client().CloseIdleConnections)
	return srv
}
