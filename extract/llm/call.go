package llm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"evoke/extract"
	"evoke/store"
)

// answer is what the service gave.
type answer struct {
	text    string
	cut     bool // it ended at the token cap
	refused bool // the service, or the model, would not answer
}

// dialect is how a service wants to be asked. The services that call themselves compatible differ in it, and say so by
// refusing a request.
type dialect struct {
	format        Format
	completionCap bool // the cap is called max_completion_tokens, not max_tokens
	noTemperature bool
}

// firstDialect is the one to begin with for a model.
func firstDialect(model string, o *Options) dialect {
	d := dialect{format: o.Format, noTemperature: o.Temperature < 0}
	if strings.HasPrefix(o.BaseURL, "https://api.openai.com/") {
		d.completionCap = true
	}
	for _, reasoning := range [...]string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, reasoning) { // the client library refuses anything else for these
			d.completionCap, d.noTemperature = true, true
		}
	}
	return d
}

// next is the dialect to try after a refusal that names a parameter, or none. Every step leads further: the format gets
// plainer, and each of the other two changes once.
func (d dialect) next(param string, first dialect) (dialect, bool) {
	switch {
	case strings.HasPrefix(param, "max_") && d.completionCap == first.completionCap:
		d.completionCap = !d.completionCap
	case param == "temperature" && !d.noTemperature:
		d.noTemperature = true
	case d.format < Plain:
		d.format++
	case d.completionCap == first.completionCap:
		d.completionCap = !d.completionCap
	case !d.noTemperature:
		d.noTemperature = true
	default:
		return d, false
	}
	return d, true
}

func (x *Extractor) request(d dialect, messages []openai.ChatCompletionMessage) openai.ChatCompletionRequest {
	req := openai.ChatCompletionRequest{Model: x.model, Messages: messages}
	if d.completionCap {
		req.MaxCompletionTokens = x.opts.MaxOutputTokens
	} else {
		req.MaxTokens = x.opts.MaxOutputTokens //nolint:staticcheck // services other than OpenAI know no other name
	}
	if !d.noTemperature {
		req.Temperature = x.opts.Temperature
	}
	switch d.format {
	case Schema:
		req.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "memory_operations", Schema: schema(schemaFile), Strict: true},
		}
	case Object:
		req.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	case Plain:
	}
	return req
}

// ask sends a request until it is answered, trying again where that can help.
func (r *run) ask(ctx context.Context, messages []openai.ChatCompletionMessage) (answer, error) {
	x := r.x
	d := x.speaks()
	pause := x.opts.Pause
	for failed := 0; ; {
		if err := ctx.Err(); err != nil {
			return answer{}, fmt.Errorf("llm: %w", err)
		}
		req := x.request(d, messages)
		if r.prose {
			req.ResponseFormat = nil
		}
		a, err := r.try(ctx, req)
		if err == nil {
			x.learn(d)
			return a, nil
		}
		if ctx.Err() != nil {
			return answer{}, fmt.Errorf("llm: %w", ctx.Err())
		}
		var f *Failure
		if !errors.As(err, &f) {
			return answer{}, err // of the gate
		}
		if f.refusal {
			next, ok := d.next(f.param, x.first)
			if !ok {
				return answer{}, err
			}
			x.opts.Logger.LogAttrs(ctx, levelDebug, "the model's service refuses a request as it was, asking otherwise", attrs(f, next)...)
			d = next
			continue
		}
		if failed++; !f.again || failed > x.opts.Retries || f.wait > x.opts.MaxPause {
			return answer{}, err
		}
		wait := max(jitter(pause), f.wait)
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
			return answer{}, err
		}
		x.stats.retried()
		if err := sleep(ctx, wait); err != nil {
			return answer{}, fmt.Errorf("llm: %w", err)
		}
		pause = min(2*pause, x.opts.MaxPause)
	}
}

// try makes one request within its own time limit.
func (r *run) try(ctx context.Context, req openai.ChatCompletionRequest) (answer, error) {
	x := r.x
	if x.opts.Gate != nil {
		tokens := x.opts.MaxOutputTokens
		for _, m := range req.Messages {
			tokens += x.opts.CountTokens(m.Content)
		}
		r.asks++
		settle, err := x.opts.Gate(ctx, Call{Scope: r.batch.Scope, Tokens: tokens, Nth: r.asks})
		if err != nil {
			return answer{}, fmt.Errorf("llm: %w", err)
		}
		if settle != nil {
			before := r.usage
			defer func() {
				settle(extract.Usage{
					Calls: r.usage.Calls - before.Calls, PromptTokens: r.usage.PromptTokens - before.PromptTokens,
					CompletionTokens: r.usage.CompletionTokens - before.CompletionTokens,
				})
			}()
		}
	}
	ctx, cancel := context.WithTimeout(ctx, x.opts.Timeout)
	defer cancel()
	notes := &tryNotes{limit: int64(x.opts.MaxOutputTokens)*32 + 1<<20}
	res, err := x.client.CreateChatCompletion(context.WithValue(ctx, notesKey{}, notes), req)
	took := x.took(&req, &res)
	took.Calls = notes.sent
	r.usage.Calls += took.Calls
	r.usage.PromptTokens += took.PromptTokens
	r.usage.CompletionTokens += took.CompletionTokens
	x.stats.called(took)
	if err != nil {
		x.stats.failed()
		return answer{}, classify(err, notes)
	}
	if len(res.Choices) == 0 { // some services hide a failure in an answer without one
		x.stats.failed()
		return answer{}, &Failure{what: "the service gave an answer without a choice", wait: notes.retryAfter, again: true, kind: store.ErrUnavailable}
	}
	c := res.Choices[0]
	a := answer{text: c.Message.Content, cut: c.FinishReason == openai.FinishReasonLength}
	for _, call := range c.Message.ToolCalls {
		if a.text == "" {
			a.text = call.Function.Arguments
		}
	}
	a.refused = a.text == "" && c.Message.Refusal != "" || c.FinishReason == openai.FinishReasonContentFilter
	return a, nil
}

// took is what an answer took, as the service counts it. One that does not count is estimated: no service is free of
// budgets for keeping silent.
func (x *Extractor) took(req *openai.ChatCompletionRequest, res *openai.ChatCompletionResponse) extract.Usage {
	u := extract.Usage{PromptTokens: max(0, res.Usage.PromptTokens), CompletionTokens: max(0, res.Usage.CompletionTokens)}
	if u.PromptTokens+u.CompletionTokens > 0 || len(res.Choices) == 0 {
		return u
	}
	for _, m := range req.Messages {
		u.PromptTokens += x.opts.CountTokens(m.Content)
	}
	for _, c := range res.Choices {
		u.CompletionTokens += x.opts.CountTokens(c.Message.Content)
	}
	return u
}

// jitter is a random pause between half of d and d, so that clients who were refused together do not come back
// together.
func jitter(d time.Duration) time.Duration {
	if d <= 1 {
		return d
	}
	return d/2 + rand.N(d/2) //nolint:gosec // jitter, not a secret
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

// doer makes the client library's requests: it counts them, bounds the answer and notes the pause that is asked for.
type doer struct{ client *http.Client }

func (d *doer) Do(req *http.Request) (*http.Response, error) {
	notes, noted := req.Context().Value(notesKey{}).(*tryNotes)
	if noted {
		notes.sent++
	}
	res, err := d.client.Do(req)
	if err != nil {
		return nil, err //nolint:wrapcheck // classify gives it its words
	}
	if noted {
		notes.retryAfter = retryAfter(res.Header)
		res.Body = &limited{ReadCloser: res.Body, left: notes.limit}
	}
	return res, nil
}
