package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"evoke/extract"
	"evoke/store"
)

// Failure is a request that failed. It is a store.ErrUnavailable when the same request may succeed later, and a
// store.ErrInvalid when it will not before somebody changes the key, the model or the settings; it is an
// extract.ErrService, too, when every other request fails until then. It holds none of the service's words, which may
// repeat the conversation or the key.
type Failure struct {
	Status int // of the HTTP answer; 0: none came, or none that can be read

	wait    time.Duration
	what    string
	kind    error
	again   bool   // trying again at once may help
	refusal bool   // the service dislikes the request: another dialect may please it
	param   string // the parameter it dislikes, if it names one
	long    bool   // the request is too long for the model

	operator bool // no request will do before somebody changes something
	filtered bool // the service's filter will not have the text
}

func (f *Failure) Error() string {
	if f.Status > 0 {
		return fmt.Sprintf("llm: %v: %s (status %d)", f.kind, f.what, f.Status)
	}
	return fmt.Sprintf("llm: %v: %s", f.kind, f.what)
}

// Unwrap returns store.ErrUnavailable or store.ErrInvalid and, where an operator is needed, extract.ErrService.
func (f *Failure) Unwrap() []error {
	if f.operator {
		return []error{f.kind, extract.ErrService}
	}
	return []error{f.kind}
}

// RetryAfter is what the service asks to wait; 0: it does not say.
func (f *Failure) RetryAfter() time.Duration { return f.wait }

// Permanent reports whether the same request would fail again, whatever the time.
func (f *Failure) Permanent() bool { return errors.Is(f.kind, store.ErrInvalid) }

// classify makes a Failure of the client library's error.
func classify(err error, notes *tryNotes) error {
	f := &Failure{wait: notes.retryAfter, kind: store.ErrInvalid}
	code := ""
	var api *openai.APIError
	var other *openai.RequestError
	switch {
	case errors.As(err, &api):
		f.Status = api.HTTPStatusCode
		code, _ = api.Code.(string)
		if api.Param != nil {
			f.param = *api.Param
		}
	case errors.As(err, &other):
		f.Status = other.HTTPStatusCode
	case notes.sent == 0:
		f.operator, f.what = true, "the client library does not send such a request: check the model's name"
		return f
	}
	f.judge(code)
	if f.Status == 0 {
		f.kind, f.again, f.what = store.ErrUnavailable, true, "no connection to the service, or an answer cut short"
		if errors.Is(err, context.DeadlineExceeded) {
			f.what = "the service did not answer in time"
		}
	}
	return f
}

// judge tells what an HTTP status means.
func (f *Failure) judge(code string) {
	f.param, _, _ = strings.Cut(f.param, ".")
	switch s := f.Status; {
	case s == http.StatusTooManyRequests && code == "insufficient_quota", s == http.StatusPaymentRequired:
		f.kind, f.operator, f.what = store.ErrUnavailable, true, "the account's quota is used up"
	case s == http.StatusNotImplemented:
		f.refusal, f.what = true, "the service does not do what it is asked"
	case s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s == http.StatusTooEarly, s == http.StatusConflict, s >= 500:
		f.kind, f.again, f.what = store.ErrUnavailable, true, "the service is overloaded or out of order"
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		f.operator, f.what = true, "the service refuses the key"
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed, s == http.StatusGone, code == "model_not_found":
		f.operator, f.what = true, "the service has no such model, or is not at this address: check the model and BaseURL"
	case s == http.StatusRequestEntityTooLarge, code == "context_length_exceeded", code == "string_above_max_length":
		f.long, f.what = true, "the request is too long for the model: lower MaxInputTokens or MaxOutputTokens"
	case code == "content_filter", code == "content_policy_violation":
		f.filtered, f.what = true, "the service's filter refuses the text"
	case s >= 400:
		f.refusal, f.what = true, "the service refuses the request: check the model and its options"
	}
}

// tryNotes carries what the client library does not tell between it and us.
type tryNotes struct {
	limit      int64         // bytes of answer that are read
	sent       int           // requests made
	retryAfter time.Duration // the pause the service asked for
}

type notesKey struct{}

// retryAfter reads the pause that an answer asks for, in milliseconds, in seconds or as a date; 0 for anything else.
func retryAfter(h http.Header) time.Duration {
	for _, v := range [...]struct {
		text string
		unit time.Duration
	}{{h.Get("Retry-After-Ms"), time.Millisecond}, {h.Get("Retry-After"), time.Second}} {
		if n, err := strconv.ParseFloat(v.text, 64); err == nil && n > 0 && n < 1e9 {
			return time.Duration(n * float64(v.unit))
		}
	}
	if t, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

var errTooLong = errors.New("the service's answer is too long")

// limited fails, rather than ends, once too much was read.
type limited struct {
	io.ReadCloser
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err //nolint:wrapcheck // io.EOF is compared with ==
}

const levelDebug = slog.LevelDebug

func attrs(f *Failure, d dialect) []slog.Attr {
	return []slog.Attr{slog.Int("status", f.Status), slog.Int("format", int(d.format)), slog.Bool("max_completion_tokens", d.completionCap), slog.Bool("temperature", !d.noTemperature)}
}
