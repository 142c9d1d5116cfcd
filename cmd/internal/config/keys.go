package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"evoke/store"
)

// kind is the type of a key's value.
type kind uint8

const (
	text kind = iota
	boolean
	integer
	number
)

// key describes one setting: everything that loading, checking and the reference need to know of it.
type key struct {
	name     string
	kind     kind
	def      any // string, bool, int or float64
	min, max float64
	oneOf    []string
	secret   bool // a value that is never shown; NAME_file reads it from a file
	tenant   bool // may be overridden in a tenant's section
	doc      string
}

// keys is the table of all scalar settings, in the order of the reference. The sections policy, tenants and keys, which
// are lists and maps, are read by sections.go.
var keys = []key{
	{name: "tenant", kind: text, def: "default", doc: "tenant of the command line and of a server without keys"},

	{name: "store.path", kind: text, def: "", doc: "data directory of the embedded store; empty: evoke in the user's data folder"},
	{name: "store.url", kind: text, def: "", doc: "address of a Qdrant server (http://host:6334) that keeps the items; empty: the embedded store"},
	{name: "store.api_key", kind: text, def: "", secret: true, doc: "key for the Qdrant server"},
	{name: "store.collection", kind: text, def: "evoke", doc: "collection on the Qdrant server"},
	{name: "store.durability", kind: text, def: "full", oneOf: []string{"full", "normal"}, doc: "full: an acknowledged write survives power loss; normal: it survives a crash of the process"},
	{name: "store.audit_days", kind: integer, def: 365, min: 0, max: 36500, doc: "days for which entries of the audit log are kept; 0: for ever"},
	{name: "store.ledger_days", kind: integer, def: 30, min: 1, max: 3650, doc: "days for which ended events and answers under an idempotency key are remembered; events that were given up stay"},
	{name: "store.block_days", kind: integer, def: 7, min: 0, max: 3650, doc: "days for which it is on record which items the blocks held that were made for prompts (ids, never content); 0: no record"},

	{name: "embed.model", kind: text, def: "", doc: "embedding model; empty: the installed local model. With embed.url, the name to ask the service for"},
	{name: "embed.url", kind: text, def: "", doc: "base address of an OpenAI-compatible embedding service; empty: a local model"},
	{name: "embed.api_key", kind: text, def: "", secret: true, doc: "key for the embedding service"},
	{name: "embed.dimension", kind: integer, def: 0, min: 0, max: 16384, doc: "length of the service's vectors; 0: known for OpenAI's own models, needed for any other"},
	{name: "embed.timeout_seconds", kind: integer, def: 30, min: 1, max: 600, doc: "how long one request to the service may take"},

	{name: "rerank.url", kind: text, def: "", doc: "endpoint of a reranking service in the form of Cohere's and Jina's (https://…/v1/rerank), which reads the best candidates of each recall; empty: none"},
	{name: "rerank.model", kind: text, def: "", doc: "reranking model, as the service calls it"},
	{name: "rerank.api_key", kind: text, def: "", secret: true, doc: "key for the reranking service"},
	{name: "rerank.depth", kind: integer, def: 30, min: 1, max: 1000, doc: "candidates that it reads"},
	{name: "rerank.timeout_ms", kind: integer, def: 400, min: 10, max: 60000, doc: "time after which the first ranking stands"},

	{name: "llm.model", kind: text, def: "", tenant: true, doc: "language model that distils facts, as the service calls it (gpt-4o-mini); empty: rules alone, without a service"},
	{name: "llm.url", kind: text, def: "", tenant: true, doc: "base address of an OpenAI-compatible chat service (http://127.0.0.1:11434/v1); empty: OpenAI's own"},
	{name: "llm.api_key", kind: text, def: "", secret: true, tenant: true, doc: "key for the chat service"},
	{name: "llm.timeout_seconds", kind: integer, def: 45, min: 1, max: 600, tenant: true, doc: "how long one request to the model may take"},
	{name: "llm.max_input_tokens", kind: integer, def: 16000, min: 4000, max: 1000000, tenant: true, doc: "longest prompt of one request; longer conversations are split"},
	{name: "llm.max_output_tokens", kind: integer, def: 4096, min: 256, max: 131072, tenant: true, doc: "longest answer; a conversation whose answer reaches it is split. Models that think aloud need more"},
	{name: "llm.prompts", kind: text, def: "", tenant: true, doc: "folder of prompts of your own (see below); empty: those that come with Evoke"},
	{name: "llm.calls_per_day", kind: integer, def: 0, min: 0, max: 1e9, tenant: true, doc: "requests to the model a day (UTC); then the rules take its place until the next day; 0: no limit"},
	{name: "llm.tokens_per_day", kind: integer, def: 0, min: 0, max: 1e12, tenant: true, doc: "tokens of prompts and answers a day (UTC), alike; 0: no limit"},
	{name: "llm.calls_per_minute", kind: integer, def: 0, min: 0, max: 100000, tenant: true, doc: "pace of requests to the model, which wait for their turn; 0: no limit"},
	{name: "llm.interim_rules", kind: boolean, def: true, tenant: true, doc: "while the model is away or its budget is spent, rules distil facts; those of an outage give way to the model's. Without it conversations wait"},
	{name: "llm.price_in", kind: number, def: 0.0, min: 0, max: 100000, tenant: true, doc: "price of a million tokens of prompts, in any currency, for the costs in the metrics"},
	{name: "llm.price_out", kind: number, def: 0.0, min: 0, max: 100000, tenant: true, doc: "price of a million tokens of answers, alike"},
	{name: "llm.zone", kind: text, def: "UTC", tenant: true, doc: "time zone in which the model reads and writes times (Europe/Berlin)"},

	{name: "memory.enabled", kind: boolean, def: true, tenant: true, doc: "keep what is said"},
	{name: "memory.injection_enabled", kind: boolean, def: true, tenant: true, doc: "answer `context` with a block"},
	{name: "memory.debounce_seconds", kind: integer, def: 30, min: 1, max: 300, tenant: true, doc: "how long a conversation must be quiet before facts are distilled"},
	{name: "memory.max_wait_seconds", kind: integer, def: 300, min: 1, max: 3600, tenant: true, doc: "after this time facts are distilled from a conversation that does not go quiet"},
	{name: "memory.fact_confidence_threshold", kind: number, def: 0.7, min: 0, max: 1, tenant: true, doc: "distilled facts below it are not kept"},
	{name: "memory.max_facts", kind: integer, def: 100, min: 10, max: 500, tenant: true, doc: "current facts distilled from conversations that one user may have"},
	{name: "memory.category_caps.preference", kind: integer, def: 0, min: 0, max: 500, tenant: true, doc: "current facts of this category that one user may have, beside max_facts; 0: no cap of its own"},
	{name: "memory.category_caps.knowledge", kind: integer, def: 0, min: 0, max: 500, tenant: true, doc: "alike"},
	{name: "memory.category_caps.context", kind: integer, def: 0, min: 0, max: 500, tenant: true, doc: "alike"},
	{name: "memory.category_caps.behavior", kind: integer, def: 0, min: 0, max: 500, tenant: true, doc: "alike"},
	{name: "memory.category_caps.goal", kind: integer, def: 0, min: 0, max: 500, tenant: true, doc: "alike"},
	{name: "memory.category_caps.correction", kind: integer, def: 0, min: 0, max: 500, tenant: true, doc: "alike"},
	{name: "memory.tool_summaries", kind: boolean, def: false, tenant: true, doc: "keep a line of what each tool answered, beside the turns of users and assistants"},
	{name: "memory.task_hours", kind: integer, def: 24, min: 1, max: 8760, tenant: true, doc: "how long after its conversation's last turn a fact that was meant for one task only holds"},
	{name: "memory.max_injection_tokens", kind: integer, def: 2000, min: 0, max: 100000, tenant: true, doc: "token budget of a block when the call gives none"},
	{name: "memory.forget_days", kind: integer, def: 30, min: 1, max: 3650, doc: "days for which what is softly forgotten, or taken by retention, can be restored before it goes for good"},

	{name: "retention.max_items", kind: integer, def: 0, min: 0, max: 1e8, tenant: true, doc: "current items of one memory; beyond, those least worth keeping go when retention runs (`evoke retain`, `evoke schedule`), corrections and standing instructions last; 0: no bound"},
	{name: "retention.ttl_days", kind: integer, def: 0, min: 0, max: 36500, tenant: true, doc: "age in days beyond which items of an importance below 0.3 go, but for corrections and standing instructions; 0: none"},
	{name: "retention.kinds.episodic", kind: integer, def: 0, min: 0, max: 36500, tenant: true, doc: "age in days beyond which items of this kind go, whatever their importance, versions that ended, too; 0: none"},
	{name: "retention.kinds.semantic", kind: integer, def: 0, min: 0, max: 36500, tenant: true, doc: "alike"},
	{name: "retention.kinds.procedural", kind: integer, def: 0, min: 0, max: 36500, tenant: true, doc: "alike"},
	{name: "retention.categories.preference", kind: integer, def: 0, min: 0, max: 36500, tenant: true, doc: "age in days beyond which items of this category go; it takes the place of their kind's; 0: that of the kind"},
	{name: "retention.categories.knowledge", kind: integer, def: 0, min: 0, max: 36500, tenant: true, doc: "alike"},
	{name: "retention.categories.context", kind: integer, def: 0, min: 0, max: 36500, tenant: true, doc: "alike"},
	{name: "retention.categories.behavior", kind: integer, def: 0, min: 0, max: 36500, tenant: true, doc: "alike"},
	{name: "retention.categories.goal", kind: integer, def: 0, min: 0, max: 36500, tenant: true, doc: "alike"},
	{name: "retention.categories.correction", kind: integer, def: 0, min: 0, max: 36500, tenant: true, doc: "alike; that of the kind does not touch corrections"},
	{name: "retention.history_days", kind: integer, def: 0, min: 0, max: 36500, tenant: true, doc: "days for which versions are kept that were closed or retracted; 0: for good"},
	{name: "retention.hard", kind: boolean, def: false, tenant: true, doc: "remove for good; otherwise what retention takes can be restored for `memory.forget_days`"},

	{name: "review.mode", kind: text, def: "off", oneOf: []string{"off", "low_confidence", "category", "all"}, tenant: true, doc: "which distilled facts wait for a person (`evoke review`) and are seen nowhere until they are approved: none, those under `review.below`, those of `review.categories`, or all"},
	{name: "review.below", kind: number, def: 0.85, min: 0, max: 1, tenant: true, doc: "confidence under which facts wait, in mode low_confidence"},
	{name: "review.categories", kind: text, def: "", tenant: true, doc: "categories whose facts wait, in mode category, separated by commas: `goal, context`"},

	{name: "redaction.mode", kind: text, def: "off", oneOf: []string{"off", "mask", "reject"}, tenant: true, doc: "personal data and secrets in what is written: off keeps them, mask puts their kind in their place before anything is stored or sent, reject refuses the write"},

	{name: "recall.limit", kind: integer, def: 5, min: 1, max: 1000, tenant: true, doc: "hits when the call gives no limit"},
	{name: "recall.min_score", kind: number, def: 0.1, min: 0, max: 1, tenant: true, doc: "hits below it are left out when the call says nothing"},
	{name: "recall.profile", kind: text, def: "default", oneOf: []string{"default", "classic"}, tenant: true, doc: "score profile when the call names none"},
	{name: "recent.limit", kind: integer, def: 10, min: 1, max: 1000, tenant: true, doc: "items of `recent` when the call gives no limit"},

	{name: "limits.content_bytes", kind: integer, def: 1 << 20, min: 1 << 10, max: 64 << 20, doc: "longest content of one item"},
	{name: "limits.metadata_keys", kind: integer, def: 64, min: 1, max: 1024, doc: "most metadata keys of one item"},
	{name: "limits.metadata_bytes", kind: integer, def: 16 << 10, min: 256, max: 1 << 20, doc: "most metadata of one item in all"},

	{name: "server.listen", kind: text, def: "127.0.0.1:8080", doc: "address of `serve`; other than loopback only with keys"},
	{name: "server.max_body_bytes", kind: integer, def: 16 << 20, min: 1 << 10, max: 1 << 30, doc: "longest request body; a longer one is answered 413. Imports stream and have no limit but one a line"},
	{name: "server.request_timeout_seconds", kind: integer, def: 60, min: 1, max: 3600, doc: "how long a request may take, imports and exports apart"},
	{name: "server.shutdown_seconds", kind: integer, def: 20, min: 1, max: 600, doc: "how long running requests may finish after a stop signal"},
	{name: "server.metrics_public", kind: boolean, def: false, doc: "with keys: answer /metrics without one; otherwise it wants a key of role admin"},
	{name: "server.ui", kind: boolean, def: true, doc: "answer the admin page at /ui (docs/page.md)"},

	{name: "log.level", kind: text, def: "info", oneOf: []string{"debug", "info", "warn", "error"}, doc: "least level that is logged, on standard error"},
	{name: "log.format", kind: text, def: "text", oneOf: []string{"text", "json"}, doc: "form of the log"},
}

// env is the environment variable of a key.
func env(name string) string { return "EVOKE_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_")) }

// names lists every scalar key, the *_file forms of secrets included.
func names() []string {
	var all []string
	for _, k := range keys {
		all = append(all, k.name)
		if k.secret {
			all = append(all, k.name+fileSuffix)
		}
	}
	return all
}

const fileSuffix = "_file"

func find(name string) (key, bool) {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	if i < 0 {
		return key{}, false
	}
	return keys[i], true
}

// want says in words what the key accepts.
func (k key) want() string {
	if len(k.oneOf) > 0 {
		return strings.Join(k.oneOf, " or ")
	}
	switch k.kind {
	case boolean:
		return "true or false"
	case integer:
		return fmt.Sprintf("a whole number from %.0f to %.0f", k.min, k.max)
	case number:
		return fmt.Sprintf("a number from %g to %g", k.min, k.max)
	default:
		return "text"
	}
}

// parse brings a value from a file, a variable or a flag into the key's type and range. at is how the value's place is
// named in an error.
func (k key) parse(at string, v any) (any, error) {
	refuse := func() (any, error) {
		got := ""
		if !k.secret {
			got = short(v)
		}
		return nil, store.Invalid(at, k.want(), got)
	}
	s, isText := v.(string)
	switch k.kind {
	case text:
		if !isText || len(k.oneOf) > 0 && !slices.Contains(k.oneOf, s) {
			return refuse()
		}
		return s, nil
	case boolean:
		if b, ok := v.(bool); ok {
			return b, nil
		}
		if b, err := strconv.ParseBool(s); isText && err == nil {
			return b, nil
		}
		return refuse()
	default:
		f, ok := toNumber(v)
		if !ok || math.IsNaN(f) || f < k.min || f > k.max || k.kind == integer && f != math.Trunc(f) {
			return refuse()
		}
		if k.kind == integer {
			return int(f), nil
		}
		return f, nil
	}
}

func toNumber(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case uint64:
		return float64(n), true
	case float64:
		return n, true
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
		return f, err == nil
	default:
		return 0, false
	}
}

// short is a short, safe form of a value for an error.
func short(v any) string {
	s := fmt.Sprintf("%v", v)
	if _, ok := v.(string); ok {
		s = strconv.Quote(s)
	}
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return s
}
