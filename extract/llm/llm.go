// Package llm is the extractor that asks a language model, through any service that speaks OpenAI's chat API.
//
// The model gets the new turns, some before them, the known items most related to them, all under short ids, and the
// sections of the user's profile, and answers with operations and with sections to be written anew. Nothing of its answer
// is believed for its own sake: ids must be ones that were shown, the quoted span must be in the turn that is named, what
// is not asserted there does not become a fact, and a text of the model's own making must be of the words and numbers that
// it was shown (see sources). Every operation that holds is kept, every other one counted by its reason and reported (see
// Report), for review.
//
// A batch longer than a call holds is split at the edges of turns, or of sentences within a turn that is longer by
// itself; nothing is left out. So is one whose answer reaches the token cap. An outage, an answer that cannot be read
// and a refusal are errors; none of them means that there was nothing to remember.
//
// Texts of users go out as JSON strings with their angle brackets escaped, between marks: they can neither end their
// block nor look like the marks of a chat format. Neither texts nor what the service says about them enter errors or
// logs.
package llm

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/sashabaranov/go-openai"

	"evoke/extract"
	"evoke/store"
)

// Extractor asks a model. It is safe for concurrent use.
type Extractor struct {
	model            string
	name             string
	opts             Options
	english, chinese Prompt
	client           *openai.Client
	first            dialect
	stats            counters

	mu     sync.Mutex
	spoken dialect // what the service understood last
}

var (
	_ extract.Reporter = (*Extractor)(nil)
	_ extract.Sizer    = (*Extractor)(nil)
)

// New returns an Extractor that asks a model of a service. It makes no request. Nil options are the defaults.
func New(model string, opts *Options) (*Extractor, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("new llm extractor: %w", err)
	}
	if model == "" {
		return nil, fmt.Errorf("new llm extractor: %w", store.Invalid("model", "given, such as gpt-4o-mini", "nothing"))
	}
	if err := store.ValidateName("model", model); err != nil {
		return nil, fmt.Errorf("new llm extractor: %w", err)
	}
	x := &Extractor{model: model, opts: o}
	if x.english, err = choose(o.English, "en"); err != nil {
		return nil, fmt.Errorf("new llm extractor: %w", err)
	}
	if x.chinese, err = choose(o.Chinese, "zh"); err != nil {
		return nil, fmt.Errorf("new llm extractor: %w", err)
	}
	const least = 500 // tokens of data, without which a call is hardly worth its prompt
	for _, p := range []*Prompt{&x.english, &x.chinese} {
		if room := o.room(p); room < least {
			want := fmt.Sprintf("at least %d with this prompt", o.MaxInputTokens-room+least)
			return nil, fmt.Errorf("new llm extractor: %w", store.Invalid("MaxInputTokens", want, fmt.Sprint(o.MaxInputTokens)))
		}
	}
	v := x.english.Version
	if x.chinese.Version != v {
		v += "+" + x.chinese.Version
	}
	x.name = "llm/" + v + "/" + model
	x.first = firstDialect(model, &o)
	x.spoken = x.first
	cfg := openai.DefaultConfig(o.APIKey)
	cfg.BaseURL = strings.TrimRight(o.BaseURL, "/")
	cfg.HTTPClient = &doer{client: o.HTTPClient}
	x.client = openai.NewClientWithConfig(cfg)
	return x, nil
}

func choose(given *Prompt, language string) (Prompt, error) {
	own, err := ownPrompt(language)
	if err != nil || given == nil {
		return own, err
	}
	p := *given
	setDefault(&p.Again, own.Again)
	return p, nil
}

// Name is "llm/", the version of the prompts, "/" and the model.
func (x *Extractor) Name() string { return x.name }

// BatchBytes is the text of a batch that one call takes (see extract.Sizer). A byte is counted as half a token: text of
// any language has fewer, and JSON's escapes have room.
func (x *Extractor) BatchBytes() int {
	const most = 16 << 10
	room := min(x.opts.room(&x.english), x.opts.room(&x.chinese)) * turnShare / shares
	return min(max(2*room, leastPart), most)
}

// Stats returns the counts so far.
func (x *Extractor) Stats() Stats { return x.stats.read() }

// Format is how the service is asked for JSON now; what it refused before is not tried again.
func (x *Extractor) Format() Format { return x.speaks().format }

func (x *Extractor) speaks() dialect {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.spoken
}

func (x *Extractor) learn(d dialect) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.spoken = d
}

// Extract returns the operations that hold. Errors: a Failure when the service cannot be asked (store.ErrUnavailable:
// later; store.ErrInvalid: not before a setting is changed), extract.ErrUnreadable, extract.ErrRefused, what the gate said, and the
// context's.
func (x *Extractor) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	rep, err := x.Report(ctx, b)
	if err != nil {
		return nil, err
	}
	return rep.Operations, nil
}

// Report is Extract with what was refused and what it took. Beside an error it holds the usage alone.
func (x *Extractor) Report(ctx context.Context, b extract.Batch) (extract.Report, error) {
	r := newRun(x, &b)
	if err := r.all(ctx); err != nil {
		return extract.Report{Usage: r.usage}, err
	}
	rep := r.report()
	x.stats.ended(&rep)
	return rep, nil
}
