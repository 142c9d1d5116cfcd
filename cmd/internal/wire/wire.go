// Package wire builds the engine that the settings describe.
package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// Options are what the settings do not say.
type Options struct {
	NoModel bool // lexical only
	// Existing opens a data directory that is there and makes none: a path that was given and does not exist is an
	// error, and where none was given the engine is empty, in memory.
	Existing bool
	Logger   *slog.Logger
	Events   *evoke.Events
	Environ  []string
}

// Engine is an open engine with the backends that were opened for it.
type Engine struct {
	*evoke.Memory
	backends backends
	store    store.Store
	ledger   store.Ledger
	set      atomic.Pointer[inForce]
	budgets  *budgets
	logger   *slog.Logger
	opened   chan struct{} // closed once Memory is there: its workers ask for budgets from their start on
}

// Close closes the engine, then its backends.
func (e *Engine) Close() error { return errors.Join(e.Memory.Close(), e.backends.Close()) }

// Open opens the engine for the tenant of the settings.
func Open(ctx context.Context, c *config.Config, o *Options) (*Engine, error) {
	if o == nil {
		o = &Options{}
	}
	opts, err := options(ctx, c, o)
	if err != nil {
		return nil, err
	}
	e := &Engine{logger: o.Logger, opened: make(chan struct{})}
	e.budgets = newBudgets(e.usedBefore, time.Now)
	put, err := e.Prepare(c) //nolint:contextcheck // a change of settings outlives the call
	if err != nil {
		return nil, err
	}
	put()
	opts.TenantOptions, opts.Budget = e.forTenant, e.Budget
	opts.KnownTenants = func() []string { return tenants(e.set.Load().config) }
	if e.backends, err = openBackends(ctx, c, opts); err != nil {
		return nil, err
	}
	e.store, e.ledger = opts.Store, opts.Ledger
	if e.Memory, err = evoke.Open(ctx, opts); err != nil {
		return nil, errors.Join(err, e.backends.Close())
	}
	close(e.opened)
	return e, nil
}

func options(ctx context.Context, c *config.Config, o *Options) (*evoke.Options, error) {
	opts := &evoke.Options{
		Tenant: c.Tenant, Durability: c.Store.Durability, LedgerDays: c.Store.LedgerDays, AuditDays: blockDays(c.Store.AuditDays), BlockDays: blockDays(c.Store.BlockDays), ForgetDays: c.Memory.ForgetDays, Logger: o.Logger, Events: o.Events,
		Memory: memory(c.For(c.Tenant).Memory),
		Limits: store.Limits{ContentBytes: c.Limits.ContentBytes, MetadataKeys: c.Limits.MetadataKeys, MetadataBytes: c.Limits.MetadataBytes},
	}
	var err error
	if opts.Path, err = dataDir(c, o.Environ); err != nil {
		return nil, err
	}
	if o.Existing && c.Store.URL == "" {
		switch _, err := os.Stat(opts.Path); {
		case !errors.Is(err, fs.ErrNotExist):
		case c.Store.Path != "":
			return nil, store.Invalid("store.path", "a directory that is there (one is made by the commands that store something)", fmt.Sprintf("%.200q", opts.Path))
		default:
			opts.Path = sqlitestore.Memory
		}
	}
	if opts.Recall, err = reranker(c.Rerank); err != nil {
		return nil, err
	}
	opts.Embedder, opts.NoEmbedder, err = Embedder(ctx, c, o)
	return opts, err
}

func memory(m config.Memory) evoke.MemoryOptions {
	return evoke.MemoryOptions{
		Disabled: !m.Enabled, InjectionDisabled: !m.InjectionEnabled,
		Debounce: time.Duration(m.DebounceSeconds) * time.Second, MaxWait: time.Duration(m.MaxWaitSeconds) * time.Second,
		FactConfidence: &m.FactConfidenceThreshold, MaxFacts: m.MaxFacts, MaxInjectionTokens: &m.MaxInjectionTokens,
		CategoryCaps:  evoke.CategoryCaps(m.CategoryCaps),
		ToolSummaries: m.ToolSummaries, TaskTTL: time.Duration(m.TaskHours) * time.Hour,
	}
}

// policy puts the configured rules in front of the preset's.
func policy(p *config.Policy) *evoke.Policy {
	if p == nil {
		return nil
	}
	preset := evoke.DefaultPolicy()
	if p.Preset == "experts" {
		preset = evoke.ExpertsPolicy()
	}
	all := &evoke.Policy{}
	for _, r := range p.Rules {
		all.Rules = append(all.Rules, evoke.PolicyRule{Agent: r.Agent, Namespace: evoke.Namespace(r.Namespace)})
	}
	all.Rules = append(all.Rules, preset.Rules...)
	return all
}

// dataDir is where the embedded store lies: store.path, or evoke in the user's data folder.
func dataDir(c *config.Config, environ []string) (string, error) {
	if c.Store.Path != "" {
		return c.Store.Path, nil
	}
	if dir := variable(environ, "XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "evoke"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("%w: no home directory to keep the data in; give --store or set store.path", store.ErrInvalid)
	}
	return filepath.Join(home, ".local", "share", "evoke"), nil
}

// blockDays is the engine's form of the setting: there 0 is the default.
func blockDays(days int) int {
	if days == 0 {
		return -1
	}
	return days
}
