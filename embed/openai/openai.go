// Package openai embeds text through any service that speaks OpenAI's
// embeddings API.
//
// Texts go out in batches bounded by count and size. Refusals for load (429,
// 5xx), broken connections and answers that are cut short are tried again,
// after the time the service asks for or with growing, jittered pauses. An
// answer is believed only if it has one finite vector of the right length per
// text. Neither texts nor what the service says about them enter error messages.
package openai

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"
	"golang.org/x/sync/errgroup"

	"evoke/embed"
)

// Options tune an Embedder. The zero value is the default.
type Options struct {
	// BaseURL of the service. Default "https://api.openai.com/v1".
	BaseURL string
	// APIKey is sent as bearer token; empty for services without keys.
	APIKey string
	// Dimensions is the length of the vectors, 1 to 16384. Required unless the
	// model is one of OpenAI's, whose full length is the default. Shorter
	// vectors are asked of models named text-embedding-3-*, and of others if
	// SendDimensions is set.
	Dimensions int
	// SendDimensions sends the parameter "dimensions" to any model.
	SendDimensions bool
	// Revision is the provider's version of the model, part of its identity.
	Revision string
	// QueryPrefix and PassagePrefix are put before texts, space included, for
	// models that were trained with them.
	QueryPrefix, PassagePrefix string
	// Low and High are the fixed ends of the cosines (see embed.Model).
	// Default 0 and 1 if both are zero.
	Low, High float64

	// BatchTexts is the most texts of a request, 1 to 2048. Default 256.
	BatchTexts int
	// BatchBytes is the most bytes of text of a request, if more than one text
	// is in it. Default 256 KiB.
	BatchBytes int
	// TextBytes cuts a text, at a character's edge. Default 16 KiB, which is
	// within the 8,192 tokens that such models read.
	TextBytes int
	// Parallel is how many requests of one call are under way at a time, 1 to
	// 64. Default 2.
	Parallel int
	// Timeout of a try, 1 ms or more. Default 30 s.
	Timeout time.Duration
	// Retries after the first try, 0 to 20; negative for none. Default 4.
	Retries int
	// Pause is the first pause between tries, doubled each time up to 30 s.
	// Default 500 ms.
	Pause time.Duration
	// HTTPClient makes the requests. Default: one of its own.
	HTTPClient *http.Client
}

// known are the vector lengths of OpenAI's models.
var known = map[string]int{"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}

const (
	maxDimensions = 16384
	maxBatchTexts = 2048
	maxParallel   = 64
	maxRetries    = 20
	maxPause      = 30 * time.Second
)

// Embedder is a remote embedder, safe for concurrent use.
type Embedder struct {
	model  embed.Model
	opts   Options
	client *openai.Client
	send   int // the parameter "dimensions", 0 for none
}

var _ embed.Embedder = (*Embedder)(nil)

// New returns an embedder for a model of the service. It makes no request. Nil
// options are the defaults. Errors wrap embed.ErrInvalid.
func New(model string, opts *Options) (*Embedder, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if model == "" {
		return nil, fmt.Errorf("new openai embedder: %w: no model: name one, such as text-embedding-3-small", embed.ErrInvalid)
	}
	full := known[model]
	if o.Dimensions == 0 {
		o.Dimensions = full
	}
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("new openai embedder: %w: %w", embed.ErrInvalid, err)
	}
	e := &Embedder{opts: o, model: embed.Model{
		Name: model, Revision: o.Revision, Dim: o.Dimensions, Pooling: "hosted", Low: o.Low, High: o.High,
	}}
	if o.SendDimensions || strings.HasPrefix(model, "text-embedding-3-") && o.Dimensions != full {
		e.send = o.Dimensions
	}
	cfg := openai.DefaultConfig(o.APIKey)
	if o.BaseURL != "" {
		cfg.BaseURL = strings.TrimRight(o.BaseURL, "/")
	}
	cfg.HTTPClient = &doer{client: o.HTTPClient}
	e.client = openai.NewClientWithConfig(cfg)
	return e, nil
}

// complete fills in defaults and checks ranges.
func (o *Options) complete() error {
	or := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	or(&o.BatchTexts, 256)
	or(&o.BatchBytes, 256<<10)
	or(&o.TextBytes, 16<<10)
	or(&o.Parallel, 2)
	or(&o.Retries, 4)
	o.Retries = max(0, o.Retries)
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Pause == 0 {
		o.Pause = 500 * time.Millisecond
	}
	if o.Low == 0 && o.High == 0 {
		o.High = 1
	}
	if o.HTTPClient == nil {
		o.HTTPClient = &http.Client{}
	}
	for _, c := range []struct {
		name        string
		v, min, max int
	}{
		{"Dimensions", o.Dimensions, 1, maxDimensions},
		{"BatchTexts", o.BatchTexts, 1, maxBatchTexts},
		{"BatchBytes", o.BatchBytes, 1, math.MaxInt32},
		{"TextBytes", o.TextBytes, 16, math.MaxInt32},
		{"Parallel", o.Parallel, 1, maxParallel},
		{"Retries", o.Retries, 0, maxRetries},
	} {
		if c.v < c.min || c.v > c.max {
			return fmt.Errorf("%s is %d: set %d to %d", c.name, c.v, c.min, c.max)
		}
	}
	if o.Timeout < time.Millisecond || o.Pause < 0 {
		return fmt.Errorf("option Timeout is %v and Pause %v: set at least 1ms and 0", o.Timeout, o.Pause)
	}
	if !(o.Low < o.High) || o.Low < -1 || o.High > 1 {
		return fmt.Errorf("option Low is %g and High %g: set -1 <= Low < High <= 1", o.Low, o.High)
	}
	return nil
}

// Model is the identity of the vector space.
func (e *Embedder) Model() embed.Model { return e.model }

// EmbedQuery returns the vector of a query.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vs, err := e.request(ctx, []string{e.prepare(e.opts.QueryPrefix, text)})
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	return vs[0], nil
}

// EmbedPassages returns the vectors of passages, in order.
func (e *Embedder) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, ctx.Err()
	}
	prepared := make([]string, len(texts))
	for i, t := range texts {
		prepared[i] = e.prepare(e.opts.PassagePrefix, t)
	}
	out := make([][]float32, len(texts))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(e.opts.Parallel)
	for from := 0; from < len(prepared); {
		to := e.batchEnd(prepared, from)
		batch, dst := prepared[from:to], out[from:to]
		from = to
		g.Go(func() error {
			vs, err := e.request(gctx, batch)
			copy(dst, vs)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("embed passages: %w", err)
	}
	return out, nil
}

// batchEnd is the end of the batch that begins at from.
func (e *Embedder) batchEnd(texts []string, from int) int {
	size, to := 0, from
	for to < len(texts) && to-from < e.opts.BatchTexts {
		if size += len(texts[to]); size > e.opts.BatchBytes && to > from {
			break
		}
		to++
	}
	return to
}

// prepare repairs and cuts a text. Services refuse empty input: a space stands
// for it.
func (e *Embedder) prepare(prefix, text string) string {
	if len(text) > e.opts.TextBytes {
		end := e.opts.TextBytes
		for end > e.opts.TextBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	text = prefix + strings.ToValidUTF8(text, "\uFFFD")
	if text == "" {
		return " "
	}
	return text
}

// vectors takes the vectors out of an answer to n texts.
func (e *Embedder) vectors(res *openai.EmbeddingResponse, n int) ([][]float32, error) {
	if len(res.Data) != n {
		return nil, fmt.Errorf("%w: the service gave %d vectors for %d texts", embed.ErrDamaged, len(res.Data), n)
	}
	out := make([][]float32, n)
	for _, d := range res.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, fmt.Errorf("%w: the service numbers its vectors wrongly", embed.ErrDamaged)
		}
		if len(d.Embedding) != e.model.Dim {
			return nil, fmt.Errorf("%w: the service gave a vector of %d components, not %d: set Dimensions to the model's length", embed.ErrDamaged, len(d.Embedding), e.model.Dim)
		}
		if !normalise(d.Embedding) {
			return nil, fmt.Errorf("%w: the service gave a vector without direction", embed.ErrDamaged)
		}
		out[d.Index] = d.Embedding
	}
	return out, nil
}

// normalise gives v unit length; false if it has none or is not finite.
func normalise(v []float32) bool {
	var n float64
	for _, x := range v {
		n += float64(x) * float64(x)
	}
	if !(n > 0) || math.IsInf(n, 0) {
		return false
	}
	k := 1 / math.Sqrt(n)
	for i, x := range v {
		v[i] = float32(float64(x) * k)
	}
	return true
}
