// Package tokens counts the tokens of a text exactly as a model's tokenizer would, offline: the rank files of the
// encodings are part of the program.
//
// An encoding is built on first use (about a tenth of a second and 10 to 25 MB) and shared by everyone after that.
// Counting time grows with n·log n at worst, whatever the text: a megabyte without a blank is no trap. There are two
// counters that agree: the library's, which decides, and one of our own, some twenty times faster, for everything that
// is only weighed.
package tokens

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"evoke/store"
)

// Default is the encoding for models that are not known.
const Default = "o200k_base"

// Counter counts the tokens of one encoding. It is safe for concurrent use.
type Counter struct {
	name  string
	bpe   *tiktoken.Tiktoken
	ranks map[string]int
	split splitter
}

// encoding is what tells one tokenizer from another: its rank file and how it splits a text before merging.
type encoding struct {
	name  string
	build func() (*Counter, error)
}

// The split patterns are part of the published definition of each encoding.
const (
	o200kSplit = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	cl100kSplit = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	gpt2Split   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
)

// encodings are read-only tables, each filled once, when it is first asked for.
var encodings = []*encoding{
	newEncoding("o200k_base", o200kSplit, splitO200K),
	newEncoding("cl100k_base", cl100kSplit, splitCL100K),
	newEncoding("p50k_base", gpt2Split, splitGPT2),
	newEncoding("r50k_base", gpt2Split, splitGPT2),
}

func newEncoding(name, pattern string, split splitter) *encoding {
	return &encoding{name: name, build: sync.OnceValues(func() (*Counter, error) { return build(name, pattern, split) })}
}

func build(name, pattern string, split splitter) (*Counter, error) {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
	if err != nil {
		return nil, fmt.Errorf("load the ranks of %s: %w", name, err)
	}
	core, err := tiktoken.NewCoreBPE(ranks, nil, pattern)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", name, err)
	}
	return &Counter{
		name:  name,
		bpe:   tiktoken.NewTiktoken(core, &tiktoken.Encoding{Name: name, PatStr: pattern, MergeableRanks: ranks}, nil),
		ranks: ranks,
		split: split,
	}, nil
}

// For returns the counter of a model ("gpt-4o-mini") or an encoding ("cl100k_base"). The empty name and models that
// are not known get Default; the counter's Name says what is counted with. A name longer than 128 bytes is an
// ErrInvalid.
func For(model string) (*Counter, error) {
	if len(model) > 128 {
		return nil, store.Invalid("tokenizer", "a model or encoding name of at most 128 bytes", fmt.Sprintf("%d bytes", len(model)))
	}
	name := EncodingOf(model)
	for _, e := range encodings {
		if e.name == name {
			return e.build()
		}
	}
	return nil, fmt.Errorf("%w: encoding %q has no ranks", store.ErrInvalid, name)
}

// models maps the beginnings of model names to encodings; the first that fits wins.
var models = []struct{ prefix, encoding string }{
	{"gpt-5", "o200k_base"}, {"gpt-oss", "o200k_base"}, {"o1", "o200k_base"}, {"o3", "o200k_base"}, {"o4", "o200k_base"},
	{"gpt-4o", "o200k_base"}, {"chatgpt-4o", "o200k_base"}, {"gpt-4.1", "o200k_base"}, {"gpt-4.5", "o200k_base"},
	{"gpt-4", "cl100k_base"}, {"gpt-3.5", "cl100k_base"}, {"gpt-35", "cl100k_base"}, {"text-embedding-", "cl100k_base"},
	{"davinci-002", "cl100k_base"}, {"babbage-002", "cl100k_base"},
	{"text-davinci-003", "p50k_base"}, {"text-davinci-002", "p50k_base"}, {"code-", "p50k_base"},
	{"text-davinci-", "r50k_base"}, {"davinci", "r50k_base"}, {"curie", "r50k_base"}, {"babbage", "r50k_base"}, {"ada", "r50k_base"}, {"gpt2", "r50k_base"}, {"gpt-2", "r50k_base"},
}

// EncodingOf names the encoding of a model, without building it. A provider before a slash ("openai/gpt-4") and the
// prefix of a fine-tuned model ("ft:gpt-4o:…") are passed over.
func EncodingOf(model string) string {
	if name, ok := known(model); ok {
		return name
	}
	return Default
}

// Known reports whether a name is an encoding or the beginning of a model's that is in the table; any other is counted
// with Default.
func Known(model string) bool {
	_, ok := known(model)
	return ok
}

// Names lists the encodings, then the beginnings of the names of models that are known.
func Names() []string {
	var all []string
	for _, e := range encodings {
		all = append(all, e.name)
	}
	for _, k := range models {
		all = append(all, k.prefix)
	}
	return all
}

func known(model string) (encoding string, ok bool) {
	m := strings.ToLower(strings.TrimSpace(model))
	for _, e := range encodings {
		if m == e.name {
			return e.name, true
		}
	}
	m = m[strings.LastIndexByte(m, '/')+1:]
	m = strings.TrimPrefix(m, "ft:")
	for _, k := range models {
		if strings.HasPrefix(m, k.prefix) {
			return k.encoding, true
		}
	}
	return "", false
}

// Name is the name of the encoding.
func (c *Counter) Name() string { return c.name }

// Count is the number of tokens of text, by the library's encoder. Names of special tokens in it are counted as plain
// text. A text with a long run without blanks is counted by Fast, since the library takes quadratic time for it.
func (c *Counter) Count(text string) int {
	if hasLongRun(text, longRun) {
		return c.Fast(text)
	}
	return len(c.bpe.EncodeOrdinary(text))
}

// longRun is the length in bytes from which a stretch of one sort (blank or not blank) is long.
const longRun = 400

func hasLongRun(text string, limit int) bool {
	run, blank := 0, false
	for i := range len(text) {
		if b := text[i] <= ' '; b != blank {
			run, blank = 0, b
		}
		if run++; run >= limit {
			return true
		}
	}
	return false
}

// Fast is the same number as Count, by our own splitter and merge: many times faster, and n·log n for any text.
func (c *Counter) Fast(text string) int {
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // each broken byte becomes U+FFFD, as in the encoder
	}
	n := 0
	for text != "" {
		size := c.split(text)
		if _, ok := c.ranks[text[:size]]; ok {
			n++
		} else {
			n += mergeCount(text[:size], c.ranks)
		}
		text = text[size:]
	}
	return n
}
