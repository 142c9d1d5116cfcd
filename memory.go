package evoke

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"evoke/embed"
	"evoke/extract"
	"evoke/extract/message"
	"evoke/extract/vectorize"
	"evoke/recall"
	"evoke/store"
	"evoke/store/lifecycle"
	"evoke/store/sqlitestore"
)

// Memory is an open memory engine, fixed to one tenant. It is safe for concurrent use.
type Memory struct {
	*engine
	tenant string
}

// engine is what all tenants of one process share.
type engine struct {
	store     store.Store
	ledger    store.Ledger
	blocks    *blockLog // nil: none is kept
	limits    store.Limits
	base      TenantOptions              // of a tenant for which perTenant says nothing else
	perTenant func(string) TenantOptions // nil: all alike
	clock     func() time.Time
	events    *Events
	budget    func(context.Context, string) (Budget, error) // nil: nobody counts

	recall    recaller
	ingester  *extract.Ingester
	worker    *extract.Worker
	vectors   *vectorize.Worker // nil without an embedder
	embedding atomic.Bool       // vectors runs
	embedder  embed.Embedder    // nil without one; see dense
	model     embed.Model
	why       atomic.Pointer[string] // see noDense
	locks     *extract.Locks
	runner    *lifecycle.Runner // of long work
	purges    purges

	forgetDays int // how long what is softly forgotten can be restored

	keys    keyring
	marking marking // the keys of erasure
	live    live
	tally   tally

	settingsKnow func() []string // see Options.KnownTenants
	ownNamespace bool            // whether Options brought a namespace policy
	log          *slog.Logger
	closers      []func() error
}

// Open opens the memory of one tenant: the embedded store at Path, or the store and ledger given. Writes that a crash
// interrupted are completed first, and pending extraction and vectors go on in the background until Close.
func Open(ctx context.Context, opts *Options) (*Memory, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	e := &engine{
		base: TenantOptions{Memory: o.Memory, Policy: o.Policy, Extractor: o.Extractor, Interim: o.Interim, Redactor: o.Redactor, Retention: o.Retention, Review: o.Review}, perTenant: o.TenantOptions,
		settingsKnow: o.KnownTenants, ownNamespace: opts != nil && opts.Policy != nil,
		forgetDays: o.ForgetDays, limits: o.Limits, clock: o.Clock, events: o.Events, budget: o.Budget, locks: new(extract.Locks), log: o.Logger,
	}
	if err := e.openStore(ctx, &o); err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	if err := e.start(ctx, &o); err != nil {
		return nil, errors.Join(fmt.Errorf("open: %w", err), e.close())
	}
	m := &Memory{engine: e, tenant: o.Tenant}
	if err := m.Installation().checkNew(ctx, o.Tenant); err != nil {
		return nil, errors.Join(fmt.Errorf("open: %w", err), e.close())
	}
	return m, nil
}

func (e *engine) openStore(ctx context.Context, o *Options) error {
	if o.Store != nil {
		e.store, e.ledger = o.Store, o.Ledger
	} else {
		dir := o.Path
		if dir == "" {
			dir = sqlitestore.Memory
		}
		db, err := sqlitestore.Open(ctx, dir, &sqlitestore.Options{
			Durability: sqlitestore.Durability(o.Durability), IndexBytes: o.IndexBytes, Limits: o.Limits, Logger: o.Logger,
		})
		if err != nil {
			return err
		}
		e.store, e.ledger = db, db
		e.closers = append(e.closers, db.Close)
	}
	return nil
}

// background runs f until Close, which ends its context and waits for it.
func (e *engine) background(f func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f(ctx) })
	e.closers = append(e.closers, func() error { cancel(); running.Wait(); return nil })
}

// start builds the parts on top of the store and starts the background workers.
func (e *engine) start(ctx context.Context, o *Options) error {
	if err := store.Replay(ctx, e.store, e.ledger); err != nil {
		return err
	}
	e.startReplay(o.Logger)                  //nolint:contextcheck // the loop outlives Open; Close ends it
	e.startPrune(o.LedgerDays, o.Logger)     //nolint:contextcheck // as above
	e.startAuditPrune(o.AuditDays, o.Logger) //nolint:contextcheck // as above
	e.startTally()                           //nolint:contextcheck // as above
	e.startBlocks(o.BlockDays, o.Logger)     //nolint:contextcheck // as above
	if err := e.openDense(ctx, o); err != nil {
		return err
	}
	paused, err := e.pausedTenants(ctx)
	if err != nil {
		return err
	}
	if err := e.loadSettings(ctx); err != nil {
		return err
	}
	if err := e.startExtraction(o, paused); err != nil { //nolint:contextcheck // the worker outlives Open; Close ends it
		return err
	}
	e.startSettings(o.settingsEvery, o.Logger) //nolint:contextcheck // as above
	if err := e.startOperations(ctx, o.Logger); err != nil {
		return err
	}
	e.startSchedules(o.Logger) //nolint:contextcheck // as above
	return nil
}

// startExtraction makes the two ends of the write path: what takes turns in and what distils facts from them.
func (e *engine) startExtraction(o *Options, paused []string) error {
	var err error
	e.worker, err = extract.NewWorker(e.store, e.ledger, o.Extractor, &extract.WorkerOptions{
		Locks: e.locks, Clock: o.Clock, Logger: o.Logger, Wake: e.wakeVectors, Done: o.Events.Extracted,
		Observe:   staged(o.Logger, o.Events.Stage),
		Span:      o.Events.span,
		Reconcile: e.base.reconcile(),
		Tenant:    e.extraction, Neighbours: e.neighbours, Erased: e.erasedFacts, Held: e.heldOf,
	})
	if err != nil {
		return err
	}
	e.ingester, err = extract.NewIngester(e.store, e.ledger, &extract.IngestOptions{
		Locks: e.locks, Clock: o.Clock, Debounce: o.Memory.Debounce, MaxWait: o.Memory.MaxWait, Wake: e.worker.Wake,
		Erased: e.erasedTurns, ErasedKey: e.erasedKey,
		Limits: message.Options{MaxMessageBytes: o.Limits.ContentBytes},
		Filter: extract.FilterOptions{
			StripInjected: func(s string) string { out, _ := recall.StripBlocks(s); return out }, FindEchoes: findEchoes, EchoKey: recall.EchoKey,
		},
	})
	if err != nil {
		return err
	}
	for _, tenant := range paused {
		e.worker.PauseTenant(tenant)
	}
	e.holdBack()
	if err := e.worker.Start(); err != nil {
		return err
	}
	e.closers = append(e.closers, func() error { e.worker.Stop(); return nil })
	return nil
}

// ForTenant returns the same engine fixed to another tenant. Only the Memory that Open returned is closed.
func (m *Memory) ForTenant(tenant string) (*Memory, error) {
	if tenant == "" {
		return nil, fmt.Errorf("%w: no tenant given", store.ErrTenant)
	}
	if err := validTenant(tenant); err != nil {
		return nil, err
	}
	return &Memory{engine: m.engine, tenant: tenant}, nil
}

// Tenant is the tenant this Memory is fixed to.
func (m *Memory) Tenant() string { return m.tenant }

// Close stops the background work and closes what Open opened. Work that is not done goes on at the next Open.
func (m *Memory) Close() error { return m.engine.close() }

func (e *engine) close() error {
	var errs []error
	for i := len(e.closers) - 1; i >= 0; i-- {
		errs = append(errs, e.closers[i]())
	}
	e.closers = nil
	return errors.Join(errs...)
}

// hold locks a scope and completes what earlier writes of it left unapplied, so that whoever reads before it writes sees
// all that was recorded. It gives up with the context's error.
func (e *engine) hold(ctx context.Context, sc store.Scope) (unlock func(), err error) {
	if unlock, err = e.locks.LockContext(ctx, sc); err != nil {
		return nil, err
	}
	if err := store.ReplayScope(ctx, e.store, e.ledger, sc); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// now is the engine's time in the stored form.
func (e *engine) now() time.Time { return e.clock().UTC().Truncate(time.Microsecond) }

func (e *engine) newWrite(sc store.Scope) store.Write { return store.Write{ID: newID(), Scope: sc} }

// commit makes a write durable and wakes the vectors' worker.
func (e *engine) commit(ctx context.Context, w store.Write) error {
	if len(w.Put)+len(w.Delete)+len(w.Embed) == 0 && w.Reply == nil {
		return nil
	}
	if err := e.followSummaries(ctx, &w); err != nil {
		return err
	}
	if mayComeDue(&w) {
		if err := (&Memory{engine: e, tenant: w.Scope.Tenant}).schedulePurge(ctx); err != nil {
			return err
		}
	}
	if err := store.Commit(ctx, e.store, e.ledger, w); err != nil {
		return err
	}
	if len(w.Embed) > 0 {
		e.wakeVectors()
	}
	return nil
}

// remembered is the answer of a Remember as the ledger keeps it: without the item's text, which a later Forget must be
// able to remove for good.
type remembered struct {
	Item struct {
		ID string `json:"id"`
	} `json:"item"`
	Existing bool `json:"existing,omitempty"`
}

// idempotent runs fill, which completes a write and says what to answer, under the scope's lock, and commits the write
// together with the answer. A key that was answered before gives that answer again, with the item as it is now.
func (m *Memory) idempotent(ctx context.Context, sc store.Scope, key, hash string, fill func(*store.Write) (RememberResult, error)) (RememberResult, error) {
	if err := store.ValidateName("idempotency key", key); err != nil {
		return RememberResult{}, err
	}
	unlock, err := m.hold(ctx, sc)
	if err != nil {
		return RememberResult{}, err
	}
	defer unlock()
	if key != "" {
		switch old, err := m.ledger.Reply(ctx, sc, key); {
		case err == nil && old.BodyHash != hash:
			return RememberResult{}, fmt.Errorf("idempotency key: %w: it was used with another body (use a new key for a new request)", store.ErrConflict)
		case err == nil:
			return m.again(ctx, sc, old.Body)
		case !errors.Is(err, store.ErrNotFound):
			return RememberResult{}, fmt.Errorf("idempotency key: %w", err)
		}
		if gone, err := m.erasedKey(ctx, sc, key); err != nil || gone {
			return RememberResult{Skipped: skippedErased}, err
		}
	}
	w := m.newWrite(sc)
	r, err := fill(&w)
	if err != nil || r.Skipped != "" {
		return r, err
	}
	if key != "" {
		keep := remembered{Existing: r.Existing}
		keep.Item.ID = r.Item.ID
		body, err := json.Marshal(keep)
		if err != nil {
			return RememberResult{}, fmt.Errorf("encode the answer: %w", err)
		}
		w.Reply = &store.Reply{Key: key, BodyHash: hash, Body: body, At: m.now()}
	}
	return r, m.commit(ctx, w)
}

// again gives a remembered answer.
func (m *Memory) again(ctx context.Context, sc store.Scope, body []byte) (RememberResult, error) {
	var kept remembered
	if err := json.Unmarshal(body, &kept); err != nil {
		return RememberResult{}, fmt.Errorf("read the remembered answer: %w", store.ErrCorrupt)
	}
	items, err := m.store.Get(ctx, sc, []string{kept.Item.ID})
	if err != nil {
		return RememberResult{}, fmt.Errorf("read the remembered item: %w", err)
	}
	if len(store.Remembered(items)) == 0 {
		return RememberResult{}, fmt.Errorf("item: %w: it was stored under this idempotency key and forgotten since (use a new key to store it again)", store.ErrNotFound)
	}
	return RememberResult{Item: items[0], Existing: kept.Existing}, nil
}

// bodyHash identifies a request under an idempotency key.
func bodyHash(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		b = fmt.Append(nil, err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
