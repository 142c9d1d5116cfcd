package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/sashabaranov/go-openai"

	"evoke/embed"
)

// request embeds one batch, trying again where that can help.
func (e *Embedder) request(ctx context.Context, texts []string) ([][]float32, error) {
	req := openai.EmbeddingRequest{Input: texts, Model: openai.EmbeddingModel(e.model.Name), Dimensions: e.send}
	pause := e.opts.Pause
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		notes := &tryNotes{limit: answerLimit(len(texts), e.model.Dim)}
		res, err := e.try(ctx, notes, req)
		if err == nil {
			return e.vectors(&res, len(texts))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err, again := classify(err)
		if !again {
			return nil, err
		}
		if try >= e.opts.Retries {
			return nil, fmt.Errorf("%w after %d tries", err, try+1)
		}
		if err := sleep(ctx, max(jitter(pause), min(notes.retryAfter, maxPause))); err != nil {
			return nil, err
		}
		pause = min(2*pause, maxPause)
	}
}

// try makes one request within its own time limit.
func (e *Embedder) try(ctx context.Context, notes *tryNotes, req openai.EmbeddingRequest) (openai.EmbeddingResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	return e.client.CreateEmbeddings(context.WithValue(ctx, notesKey{}, notes), req) //nolint:wrapcheck // the caller classifies it
}

// classify turns a client's error into ours, without the service's words, which
// may repeat the text or the key, and tells whether trying again may help.
func classify(err error) (_ error, again bool) {
	var api *openai.APIError
	var other *openai.RequestError
	status, code := 0, ""
	switch {
	case errors.As(err, &api):
		status = api.HTTPStatusCode
		code, _ = api.Code.(string)
	case errors.As(err, &other):
		status = other.HTTPStatusCode
	}
	switch {
	case status == http.StatusTooManyRequests && code == "insufficient_quota":
		return fmt.Errorf("%w: the account's quota is used up", embed.ErrUnavailable), false
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= 500:
		return fmt.Errorf("%w: the service answered with status %d", embed.ErrUnavailable, status), true
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("%w: the service refused the key (status %d)", embed.ErrInvalid, status), false
	case status >= 400:
		return fmt.Errorf("%w: the service refused the request (status %d): check model and Dimensions", embed.ErrInvalid, status), false
	case errors.Is(err, errTooLong):
		return fmt.Errorf("%w: %w", embed.ErrDamaged, errTooLong), false
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: the service did not answer in time", embed.ErrUnavailable), true
	default:
		return fmt.Errorf("%w: no connection to the service, or an answer cut short", embed.ErrUnavailable), true
	}
}

// jitter is a random pause between half of d and d, so that clients who were
// refused together do not come back together.
func jitter(d time.Duration) time.Duration {
	if d <= 1 {
		return d
	}
	return d/2 + rand.N(d/2)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tryNotes carries what the client library does not tell between it and us.
type tryNotes struct {
	limit      int64         // bytes of answer that are read
	retryAfter time.Duration // the pause the service asked for
}

type notesKey struct{}

// answerLimit is more than any honest answer takes.
func answerLimit(texts, dim int) int64 {
	const number, rest = 40, 1 << 20
	return int64(texts)*(int64(dim)*number+1000) + rest
}

var errTooLong = errors.New("the service's answer is too long")

// doer makes the library's requests: it bounds the answer and notes the pause
// that the service asks for.
type doer struct{ client *http.Client }

func (d *doer) Do(req *http.Request) (*http.Response, error) {
	res, err := d.client.Do(req)
	if err != nil {
		return nil, err //nolint:wrapcheck // passes through the library, to be classified
	}
	if notes, ok := req.Context().Value(notesKey{}).(*tryNotes); ok {
		notes.retryAfter = retryAfter(res.Header.Get("Retry-After"))
		res.Body = &limited{ReadCloser: res.Body, left: notes.limit}
	}
	return res, nil
}

// retryAfter reads a header in seconds or as a date; 0 for anything else.
func retryAfter(h string) time.Duration {
	if s, err := strconv.ParseFloat(h, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(h); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

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
	return n, err //nolint:wrapcheck // a reader passes io.EOF on as it is
}
