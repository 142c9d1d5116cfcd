package evoke

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"evoke/embed"
	"evoke/extract"
	"evoke/extract/rules"
	"evoke/recall"
	"evoke/store"
)

// Version of the engine.
const Version = "0.1.0"

// Options of Open. The zero value is a lexical-only memory that lives in the process and ends with it.
type Options struct {
	Tenant string // default "default"

	// Path is the data directory of the embedded store, made if missing; "" keeps everything in memory. Ignored when
	// Store and Ledger are given.
	Path       string
	Durability string // of the embedded store: "full" (default; survives power loss) or "normal" (survives kill -9)
	IndexBytes int64  // memory for the embedded store's search indexes, approximate; default 1 GiB
	Store      store.Store
	Ledger     store.Ledger
	// LedgerDays is how long ended events and answers under an idempotency key are remembered; default 30, 1–3650. Dead
	// events stay until they are tried again.
	LedgerDays int
	// AuditDays is how long entries of the audit log are kept; default 365, at most 36500, negative for ever.
	AuditDays int
	// BlockDays is how long it is on record which items the blocks held that Context made (ShownBlock); default 7, at most
	// 3650, negative for no record.
	BlockDays int

	// ForgetDays is how long what is softly forgotten can be restored unless a call says otherwise; default 30, 1–3650.
	ForgetDays int
	// Retention is what memories keep no longer, when it is run; nil: everything is kept.
	Retention *RetentionPolicy

	// Embedder makes the dense arm; nil leaves recall lexical only, for the reason NoEmbedder.
	Embedder   embed.Embedder
	NoEmbedder string

	Extractor extract.Extractor // nil: the rule extractor
	Interim   extract.Extractor // takes its place while it is away or its budget is spent; nil: none, conversations wait
	Policy    *Policy           // nil: DefaultPolicy
	Redactor  Redactor          // goes over what is written and asked; nil: none
	Review    *ReviewPolicy     // which distilled facts wait for a person; nil: none
	Memory    MemoryOptions
	Recall    recall.Options // Clock, Logger and NoDense are set from the fields here

	// TenantOptions, if not nil, gives the settings of a tenant. It is asked anew for every call and for every piece of
	// background work, so that settings may change while the engine runs; it must be cheap and safe for concurrent use.
	// What it leaves zero is as in the fields here.
	TenantOptions func(tenant string) TenantOptions

	// KnownTenants, if not nil, are the tenants that the settings know, for Installation.Tenants.
	KnownTenants func() []string

	// Budget, if not nil, tells how a tenant stands against the limits that the settings give its language model; those that
	// the tenant gives itself (Memory.BudgetPolicy) are laid over them.
	Budget func(ctx context.Context, tenant string) (Budget, error)

	Limits store.Limits
	Clock  func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: silent
	Events *Events          // nil: none

	settingsEvery time.Duration // how often the store is asked for changed settings; 0: see SettingsWithin
}

// MemoryOptions say how conversations become memories. Zero fields take the documented default.
type MemoryOptions struct {
	Disabled          bool // nothing is written; ingest and remember answer skipped: "disabled"
	InjectionDisabled bool // context answers an empty block, skipped: "disabled"

	Debounce           time.Duration // a conversation is quiet after this long; default 30 s, 1–300 s
	MaxWait            time.Duration // and is not waited for longer than this; default 300 s, 1–3600 s
	FactConfidence     *float64      // facts below it are not kept; default 0.7, 0–1
	MaxFacts           int           // a user's current facts distilled from conversations; default 100, 10–500
	MaxInjectionTokens *int          // budget of a block when the call gives none; default 2000, 0–100000
	CategoryCaps       CategoryCaps  // bounds by category, beside MaxFacts
	ToolSummaries      bool          // keep a line of what each tool answered
	TaskTTL            time.Duration // what holds for one task only expires so long after its thread's last turn; default 24 h, 1 h–365 d
}

// CategoryCaps are how many current distilled facts of a category one user may have, 1–500; 0: as many as MaxFacts.
type CategoryCaps struct {
	Preference, Knowledge, Context, Behavior, Goal, Correction int
}

func (c CategoryCaps) byCategory() map[store.Category]int {
	return map[store.Category]int{
		store.Preference: c.Preference, store.Knowledge: c.Knowledge, store.Context: c.Context,
		store.Behavior: c.Behavior, store.Goal: c.Goal, store.Correction: c.Correction,
	}
}

// Events are hooks for metrics and logs; nil fields are skipped. They are called synchronously and must not block.
type Events struct {
	Ingested  func(turns, dropped int)
	Extracted func(facts int, state store.EventState)
	Embedded  func(items int)
	Redacted  func(kind string, n int) // what a write held, by kind, masked or refused
	Recalled  func(took time.Duration, hits int, degraded bool)
	// Stage is told of each step of an extraction, from several goroutines.
	Stage func(extract.Stage)
	// Span is told when a stage begins and returns what is told when it ends: ingest, recall, context, embed, and for
	// each extraction extract.SpanJob and within it extract, interim, reconcile and store.
	Span func(ctx context.Context, stage string) (context.Context, func(err error))
}

func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Tenant == "" {
		c.Tenant = "default"
	}
	if err := validTenant(c.Tenant); err != nil {
		return c, err
	}
	if (c.Store == nil) != (c.Ledger == nil) {
		return c, store.Invalid("store", "given together with a ledger", "only one of the two")
	}
	if c.Policy == nil {
		c.Policy = DefaultPolicy()
	}
	if err := c.Policy.Validate(); err != nil {
		return c, err
	}
	if c.Review != nil {
		if err := c.Review.Validate(); err != nil {
			return c, err
		}
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Events == nil {
		c.Events = &Events{}
	}
	if c.Embedder == nil && c.NoEmbedder == "" {
		c.NoEmbedder = "no embedding model is installed (evoke model pull)"
	}
	if c.Extractor == nil {
		c.Extractor = rules.New(nil)
	}
	if c.LedgerDays == 0 {
		c.LedgerDays = 30
	}
	if c.AuditDays == 0 {
		c.AuditDays = 365
	}
	if c.AuditDays > 36500 {
		return c, store.Invalid("store.audit_days", "at most 36500", fmt.Sprint(c.AuditDays))
	}
	if err := checkLedgerDays(c.LedgerDays); err != nil {
		return c, err
	}
	if c.BlockDays == 0 {
		c.BlockDays = 7
	}
	if c.BlockDays > 3650 {
		return c, store.Invalid("store.block_days", "at most 3650", fmt.Sprint(c.BlockDays))
	}
	if c.ForgetDays == 0 {
		c.ForgetDays = 30
	}
	if err := errors.Join(checkForgetDays(c.ForgetDays), c.Retention.Validate()); err != nil {
		return c, err
	}
	c.Limits = c.Limits.WithDefaults()
	return c, c.Memory.setDefaults()
}

func (m *MemoryOptions) setDefaults() error {
	if m.Debounce == 0 {
		m.Debounce = 30 * time.Second
	}
	if m.MaxWait == 0 {
		m.MaxWait = 300 * time.Second
	}
	if m.FactConfidence == nil {
		m.FactConfidence = ptr(0.7)
	}
	if m.MaxFacts == 0 {
		m.MaxFacts = 100
	}
	if m.MaxInjectionTokens == nil {
		m.MaxInjectionTokens = ptr(2000)
	}
	for _, d := range []struct {
		key    string
		d, max time.Duration
	}{{"memory.debounce_seconds", m.Debounce, 300 * time.Second}, {"memory.max_wait_seconds", m.MaxWait, time.Hour}} {
		if d.d < time.Second || d.d > d.max {
			return store.Invalid(d.key, fmt.Sprintf("from 1 to %d", int(d.max.Seconds())), fmt.Sprint(d.d.Seconds()))
		}
	}
	if err := store.InUnit("memory.fact_confidence_threshold", *m.FactConfidence); err != nil {
		return err
	}
	if m.MaxFacts < 10 || m.MaxFacts > 500 {
		return store.Invalid("memory.max_facts", "from 10 to 500", fmt.Sprint(m.MaxFacts))
	}
	for c, n := range m.CategoryCaps.byCategory() {
		if n < 0 || n > 500 {
			return store.Invalid("memory.category_caps."+string(c), "from 1 to 500, or 0 for none", fmt.Sprint(n))
		}
	}
	if m.TaskTTL == 0 {
		m.TaskTTL = 24 * time.Hour
	}
	if m.TaskTTL < time.Hour || m.TaskTTL > 365*24*time.Hour {
		return store.Invalid("memory.task_hours", "from 1 to 8760", fmt.Sprint(m.TaskTTL.Hours()))
	}
	return checkTokens("memory.max_injection_tokens", *m.MaxInjectionTokens)
}

func checkTokens(field string, n int) error {
	if n < 0 || n > 100000 {
		return store.Invalid(field, "from 0 to 100000", fmt.Sprint(n))
	}
	return nil
}

func ptr[T any](v T) *T { return &v }
