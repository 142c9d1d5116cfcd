package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"evoke/store"
)

// What every answer says that it took.
const (
	PromptTokens     = 100
	CompletionTokens = 10
)

// Say answers with a text.
func Say(w io.Writer, text string) { Finish(w, text, "stop") }

// Finish answers with a text that ends for a reason: "stop", "length", "content_filter".
func Finish(w io.Writer, text, reason string) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": text}, "finish_reason": reason}},
		"usage":   map[string]any{"prompt_tokens": PromptTokens, "completion_tokens": CompletionTokens, "total_tokens": PromptTokens + CompletionTokens},
	})
}

// Always gives one text to every request.
func Always(text string) Reply {
	return func(w http.ResponseWriter, _ *Request) { Say(w, text) }
}

// Cut gives a text that ends at the token cap.
func Cut(text string) Reply {
	return func(w http.ResponseWriter, _ *Request) { Finish(w, text, "length") }
}

// Raw gives a body that need not be an answer of the API.
func Raw(body string) Reply {
	return func(w http.ResponseWriter, _ *Request) { fmt.Fprint(w, body) }
}

// Fail answers with a status and an error that repeats what it must not: the text and the key. fields are more of the
// error's.
func Fail(w http.ResponseWriter, r *Request, status int, fields map[string]any) {
	e := map[string]any{"message": "cannot process: " + r.Messages[len(r.Messages)-1].Content + " with key " + r.Auth, "type": "x"}
	for k, v := range fields {
		e[k] = v
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": e})
}

// Status fails every request.
func Status(status int, fields map[string]any) Reply {
	return func(w http.ResponseWriter, r *Request) { Fail(w, r, status, fields) }
}

// Busy answers 429 and asks to wait.
func Busy(retryAfter time.Duration) Reply {
	return func(w http.ResponseWriter, r *Request) {
		w.Header().Set("Retry-After-Ms", fmt.Sprint(retryAfter.Milliseconds()))
		w.Header().Set("Retry-After", fmt.Sprint(int(retryAfter.Round(time.Second).Seconds())))
		Fail(w, r, http.StatusTooManyRequests, nil)
	}
}

// Stall answers nothing until whoever asked gives up.
func Stall() Reply {
	return func(_ http.ResponseWriter, r *Request) { <-r.Context().Done() }
}

// Slow answers after a pause.
func Slow(d time.Duration, then Reply) Reply {
	return func(w http.ResponseWriter, r *Request) {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			then(w, r)
		case <-r.Context().Done():
		}
	}
}

// Abort cuts the connection without an answer.
func Abort() Reply {
	return func(http.ResponseWriter, *Request) { panic(http.ErrAbortHandler) }
}

// Half sends the beginning of an answer and cuts the connection.
func Half(text string) Reply {
	return func(w http.ResponseWriter, _ *Request) {
		w.Header().Set("Content-Length", "4096")
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":`+quoted(text))
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
}

// Sequence gives each request the next of the replies, and the last one to all that come then.
func Sequence(replies ...Reply) Reply {
	var mu sync.Mutex
	next := 0
	return func(w http.ResponseWriter, r *Request) {
		mu.Lock()
		reply := replies[min(next, len(replies)-1)]
		next++
		mu.Unlock()
		reply(w, r)
	}
}

// Fact is an operation as JSON; more are pairs of keys and values that replace the defaults.
func Fact(turn, quote, content string, more ...any) string {
	m := map[string]any{
		"action": "add", "target": nil, "kind": "semantic", "category": "preference", "content": content, "quote": quote, "turn": turn, "speaker": nil,
		"modality": "asserted", "durability": "user", "time": nil, "precision": nil, "confidence": 0.9, "importance": 0.6, "subject": nil, "about": nil,
		"steps": nil, "needs": nil, "outcome": nil,
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

// Answer is an answer of operations that leaves the profile as it is.
func Answer(ops ...string) string { return AnswerWith(nil, ops...) }

// Section is a part of the profile that a model writes anew.
type Section struct {
	Name, Content string
	Turns         []string // short ids: "t1"
}

// AnswerWith is an answer of sections and operations.
func AnswerWith(sections []Section, ops ...string) string {
	profile := map[string]any{}
	for _, name := range store.ProfileSections() {
		profile[name] = map[string]any{"should_update": false, "content": nil, "turns": []string{}}
	}
	for _, s := range sections {
		profile[s.Name] = map[string]any{"should_update": true, "content": s.Content, "turns": s.Turns}
	}
	b, err := json.Marshal(profile)
	if err != nil {
		return err.Error()
	}
	return `{"operations":[` + strings.Join(ops, ",") + `],"profile":` + string(b) + `}`
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
