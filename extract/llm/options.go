package llm

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"evoke/extract"
	"evoke/store"
)

// Format is how the service is asked for JSON.
type Format uint8

// The formats, the strictest first. An extractor begins with the one of its options and goes to the next when the
// service refuses it.
const (
	Schema Format = iota // structured output by JSON schema
	Object               // any JSON object
	Plain                // as the prompt says
)

// Options adapt an Extractor. The zero value of a field means its default.
type Options struct {
	// BaseURL of the service. Default "https://api.openai.com/v1".
	BaseURL string
	// APIKey is sent as bearer token; empty for services without keys.
	APIKey string
	// HTTPClient makes the requests. Default: one of its own.
	HTTPClient *http.Client

	// English and Chinese replace the prompts that come with this package.
	English, Chinese *Prompt
	// Zone is the time zone of the times in the prompt and of those without a zone in the answer. Default UTC.
	Zone *time.Location
	// Assistants keeps what speakers of the role assistant say of themselves, too, when they have a name of their own:
	// for chats between two people. Default: users only, and ways of working (procedural) from anyone.
	Assistants bool

	// MaxInputTokens bounds the prompt of one call; longer batches are split. Default 16,000, 4,000–1,000,000.
	MaxInputTokens int
	// MaxOutputTokens is the cap of an answer. Default 4,096, 256–131,072.
	MaxOutputTokens int
	// Overlap is how many earlier turns a call is shown for context. Default 3, up to 20; negative: none.
	Overlap int
	// MaxKnown is how many known items a call is shown. Default 100, up to 500; negative: none.
	MaxKnown int
	// CountTokens counts the tokens of a text. Default: an estimate that is rather too high.
	CountTokens func(string) int

	// Timeout of one try. Default 45 s, at least 1 ms.
	Timeout time.Duration
	// Retries after a failure that may pass. Default 2, up to 20; negative: none.
	Retries int
	// Pause before the first retry, doubled from one to the next and shortened at random by up to a half. Default 500 ms.
	Pause time.Duration
	// MaxPause is the longest pause; a service that asks for a longer one is left alone. Default 15 s.
	MaxPause time.Duration
	// Rereads is how often an answer that cannot be read is asked for again. Default 1, up to 5; negative: none.
	Rereads int
	// Temperature of the model, 0–2. Default 0.1; negative: that of the service.
	Temperature float32
	// Format to begin with. Default Schema.
	Format Format

	// Gate is asked before every request; an error of it ends the extraction as it is. What it returns, if not nil, is told
	// what the request took. For budgets and pacing. Default: none.
	Gate func(ctx context.Context, c Call) (settle func(extract.Usage), err error)
	// Logger of what happens to requests; never of what is in them. Default: none.
	Logger *slog.Logger
}

// Call is a request that is about to be made.
type Call struct {
	Scope  store.Scope
	Tokens int // that it may take at most
	Nth    int // of its extraction, from 1: what those before it found is lost if this one is refused
}

// whole is an option that is a whole number within bounds.
type whole struct {
	name             string
	v                *int
	or, least, most  int
	negativeMeansNil bool
}

func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	for _, w := range [...]whole{
		{"MaxInputTokens", &c.MaxInputTokens, 16_000, 4_000, 1_000_000, false},
		{"MaxOutputTokens", &c.MaxOutputTokens, 4_096, 256, 131_072, false},
		{"Overlap", &c.Overlap, 3, 0, 20, true},
		{"MaxKnown", &c.MaxKnown, 100, 0, 500, true},
		{"Retries", &c.Retries, 2, 0, 20, true},
		{"Rereads", &c.Rereads, 1, 0, 5, true},
	} {
		if *w.v == 0 {
			*w.v = w.or
		}
		if w.negativeMeansNil {
			*w.v = max(0, *w.v)
		}
		if *w.v < w.least || *w.v > w.most {
			return c, store.Invalid(w.name, fmt.Sprintf("from %d to %d", w.least, w.most), fmt.Sprint(*w.v))
		}
	}
	setDefault(&c.Timeout, 45*time.Second)
	setDefault(&c.Pause, 500*time.Millisecond)
	setDefault(&c.MaxPause, max(15*time.Second, c.Pause))
	setDefault(&c.Temperature, 0.1)
	setDefault(&c.Zone, time.UTC)
	setDefault(&c.BaseURL, "https://api.openai.com/v1")
	setDefault(&c.HTTPClient, &http.Client{})
	setDefault(&c.Logger, slog.New(slog.DiscardHandler))
	if c.CountTokens == nil {
		c.CountTokens = estimate
	}
	return c, c.check()
}

func (o *Options) check() error {
	u, err := url.Parse(o.BaseURL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return store.Invalid("BaseURL", "a URL such as https://api.openai.com/v1", "")
	case o.Timeout < time.Millisecond:
		return store.Invalid("Timeout", "at least 1ms", o.Timeout.String())
	case o.Pause < 0 || o.MaxPause < o.Pause:
		return store.Invalid("MaxPause", "at least Pause, and both positive", o.MaxPause.String())
	case !(o.Temperature <= 2):
		return store.Invalid("Temperature", "at most 2", fmt.Sprint(o.Temperature))
	case o.Format > Plain:
		return store.Invalid("Format", "Schema, Object or Plain", fmt.Sprint(o.Format))
	}
	for _, p := range []*Prompt{o.English, o.Chinese} {
		if p != nil {
			if err := p.validate(); err != nil {
				return err
			}
		}
	}
	return nil
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// estimate is at least the tokens of a text in the common encodings, for prose: three bytes of ASCII make one, and so
// does every other character.
func estimate(s string) int {
	ascii := 0
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			ascii++
		}
	}
	return (ascii+2)/3 + utf8.RuneCountInString(s) - ascii
}
