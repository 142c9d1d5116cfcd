// Package llmtest is a language model behind an OpenAI-compatible chat service, for tests: it answers by a script, which
// may be honest, wrong, slow, broken or hostile, and keeps what it was asked.
//
// A test that says what a model would have found uses Knowing, and puts a lie in front of it with Sequence or around it
// with Spoiled. Shapes are the answers that cannot be read, or only with care; Failures are those of the service.
package llmtest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Request is what the service was asked.
type Request struct {
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

	Auth string // the header Authorization
	Try  int    // which request to the service it is, from 1

	ctx context.Context //nolint:containedctx // it is the request's own, as in net/http
}

// Format is how JSON is asked for: "json_schema", "json_object" or "plain".
func (r *Request) Format() string {
	if r.ResponseFormat == nil {
		return "plain"
	}
	return r.ResponseFormat.Type
}

// Context ends when whoever asked no longer waits.
func (r *Request) Context() context.Context { return r.ctx }

// Line is a line of one of the prompt's blocks; a block's lines have some of the fields each.
type Line struct {
	ID, Turn, Part, Speaker, Role, Time, Text, Content, Subject, Category, Section, Since string
}

// Block returns the lines of a block of the prompt ("profile", "known", "before", "conversation"), as a model would read them.
func (r *Request) Block(name string) []Line {
	if len(r.Messages) < 2 {
		return nil
	}
	_, rest, _ := strings.Cut(r.Messages[1].Content, "<"+name+">\n")
	body, _, _ := strings.Cut(rest, "</"+name+">")
	var out []Line
	sc := bufio.NewScanner(strings.NewReader(body))
	sc.Buffer(nil, 8<<20)
	for sc.Scan() {
		var l Line
		if json.Unmarshal(sc.Bytes(), &l) != nil {
			l.Text = "not JSON: " + sc.Text()
		}
		out = append(out, l)
	}
	return out
}

// Texts returns the texts of a block's lines.
func (r *Request) Texts(name string) (out []string) {
	for _, l := range r.Block(name) {
		out = append(out, l.Text)
	}
	return out
}

// Reply answers a request.
type Reply func(w http.ResponseWriter, r *Request)

// Service is a model behind a chat service. It is safe for concurrent use.
type Service struct {
	URL    string // with the path: "http://127.0.0.1:12345/v1"
	Client *http.Client

	t testing.TB

	mu    sync.Mutex
	reply Reply
	asked []*Request
}

// Start starts a service, which ends with the test.
func Start(t testing.TB, reply Reply) *Service {
	t.Helper()
	s := &Service{t: t, reply: reply}
	srv := httptest.NewServer(s)
	s.URL, s.Client = srv.URL+"/v1", srv.Client()
	t.Cleanup(func() {
		s.Client.CloseIdleConnections()
		srv.CloseClientConnections()
		srv.Close()
	})
	return s
}

// Script changes how requests are answered from now on.
func (s *Service) Script(reply Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reply = reply
}

// Requests are what the service was asked so far, in order. Do not change them.
func (s *Service) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.asked...)
}

// Calls is how many requests came.
func (s *Service) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// ServeHTTP reads a request and answers it by the script.
func (s *Service) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	r := &Request{Auth: hr.Header.Get("Authorization"), ctx: hr.Context()}
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return // whoever asked is gone
	}
	if err := json.Unmarshal(body, r); err != nil || hr.URL.Path != "/v1/chat/completions" {
		s.t.Errorf("bad request to %s: %v", hr.URL.Path, err)
		http.Error(w, "bad request", http.StatusTeapot)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, r)
	r.Try = len(s.asked)
	reply := s.reply
	s.mu.Unlock()
	reply(w, r)
}
