// Package vectorize computes the vectors of items that wait for them. Writes are acknowledged before their vectors
// exist; the ledger's durable list of pending embeds is worked off here, in the order of arrival, across restarts.
package vectorize

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"evoke/embed"
	"evoke/store"
)

// Store is what the worker needs of the item store.
type Store interface {
	Get(ctx context.Context, sc store.Scope, ids []string) ([]store.Item, error)
	List(ctx context.Context, sc store.Scope, q store.ListQuery) (store.Page, error)
	SetEmbeddings(ctx context.Context, sc store.Scope, es []store.Embedding) error
	SetModel(ctx context.Context, id string, dim int) error
}

// Options of a Worker. The zero value is usable.
type Options struct {
	Batch int           // items in one round; default 32, 1–1024
	Idle  time.Duration // longest sleep between looks at the list when nobody calls Wake; default 30 s
	// RetryMin and RetryMax bound the back-off of items whose embedding failed; default 1 s and 10 min.
	RetryMin, RetryMax time.Duration
	// Lock orders the final check and write of a scope with its other writers; default: no lock.
	Lock   func(store.Scope) (unlock func())
	Logger *slog.Logger
	// Done is called after each round with the number of items that got vectors. May be nil.
	Done func(n int)
}

func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Batch == 0 {
		c.Batch = 32
	}
	if c.Batch < 1 || c.Batch > 1024 {
		return c, store.Invalid("batch", "from 1 to 1024", fmt.Sprint(c.Batch))
	}
	if c.Idle <= 0 {
		c.Idle = 30 * time.Second
	}
	if c.RetryMin <= 0 {
		c.RetryMin = time.Second
	}
	if c.RetryMax < c.RetryMin {
		c.RetryMax = max(10*time.Minute, c.RetryMin)
	}
	if c.Lock == nil {
		c.Lock = func(store.Scope) func() { return func() {} }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Worker turns pending items into vectors, one round at a time.
type Worker struct {
	store  Store
	ledger store.Embeds
	embed  embed.Embedder
	opts   Options

	wake   chan struct{}
	mu     sync.Mutex
	cancel context.CancelFunc
	done   chan struct{}
	failed map[store.EmbedRef]int // attempts of items set aside, for their back-off
	// The vector space is claimed with the first vectors, not before: a store that was only looked at with one model
	// still takes another.
	claimed bool

	roundMu sync.Mutex
	round   chan struct{} // closed after each round, then replaced
}

// New makes a worker; Start runs it.
func New(s Store, l store.Embeds, e embed.Embedder, opts *Options) (*Worker, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Worker{store: s, ledger: l, embed: e, opts: o, wake: make(chan struct{}, 1), failed: map[store.EmbedRef]int{}, round: make(chan struct{})}, nil
}

// Start runs the worker until Stop. A second Start does nothing.
func (w *Worker) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.done = cancel, make(chan struct{})
	go w.run(ctx)
}

// Stop ends the worker and waits for it. It may be called twice, or without Start.
func (w *Worker) Stop() {
	w.mu.Lock()
	cancel, done := w.cancel, w.done
	w.mu.Unlock()
	if cancel != nil {
		cancel()
		<-done
	}
}

// Wake makes a sleeping worker look at the list now.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Wait returns after the next round, or with the context's error. It fails with ErrClosed when the worker does not run.
func (w *Worker) Wait(ctx context.Context) error {
	w.roundMu.Lock()
	round := w.round
	w.roundMu.Unlock()
	w.mu.Lock()
	done := w.done
	w.mu.Unlock()
	if done == nil {
		return fmt.Errorf("vectors: %w", store.ErrClosed)
	}
	select {
	case <-round:
		return nil
	case <-done:
		return fmt.Errorf("vectors: %w", store.ErrClosed)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *Worker) signal() {
	w.roundMu.Lock()
	defer w.roundMu.Unlock()
	close(w.round)
	w.round = make(chan struct{})
}

func (w *Worker) run(ctx context.Context) {
	defer close(w.done)
	wait := w.opts.RetryMin
	for ctx.Err() == nil {
		n, err := w.Round(ctx)
		w.signal()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.opts.Logger.WarnContext(ctx, "vectors are delayed", "error", err, "retry_in", wait)
			w.sleep(ctx, wait, false)
			wait = min(2*wait, w.opts.RetryMax)
			continue
		case n == 0:
			idle := w.opts.Idle
			if len(w.failed) > 0 {
				idle = min(idle, w.opts.RetryMin)
			}
			w.sleep(ctx, idle, true)
		}
		wait = w.opts.RetryMin
	}
}

func (w *Worker) sleep(ctx context.Context, d time.Duration, wakeable bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	wake := w.wake
	if !wakeable {
		wake = nil
	}
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-wake:
	}
}

// Round takes one batch off the list and returns how many entries it settled. An error means that nothing can be
// embedded now; items that the embedder refuses one by one are set aside with a growing delay instead.
func (w *Worker) Round(ctx context.Context) (int, error) {
	refs, err := w.ledger.PendingEmbeds(ctx, time.Now(), w.opts.Batch)
	if err != nil {
		return 0, fmt.Errorf("pending embeds: %w", err)
	}
	settled, set := 0, 0
	for _, g := range byScope(refs) {
		n, m, err := w.scope(ctx, g)
		settled, set = settled+n, set+m
		if err != nil {
			return settled, err
		}
	}
	if set > 0 && w.opts.Done != nil {
		w.opts.Done(set)
	}
	return settled, nil
}

type group struct {
	scope store.Scope
	refs  []store.EmbedRef
}

func (g group) ids() []string {
	ids := make([]string, len(g.refs))
	for i, r := range g.refs {
		ids[i] = r.ID
	}
	return ids
}

func byScope(refs []store.EmbedRef) []group {
	var gs []group
	at := map[store.Scope]int{}
	for _, r := range refs {
		i, ok := at[r.Scope]
		if !ok {
			i = len(gs)
			at[r.Scope] = i
			gs = append(gs, group{scope: r.Scope})
		}
		gs[i].refs = append(gs[i].refs, r)
	}
	return gs
}

// scope embeds some items of one scope: it settles entries whose vectors were set or whose items are gone, and
// leaves those whose text changed meanwhile.
func (w *Worker) scope(ctx context.Context, g group) (settled, set int, err error) {
	sc, ids := g.scope, g.ids()
	jobs, err := w.plan(ctx, sc, ids)
	if err != nil {
		return 0, 0, err
	}
	refused, err := w.embedAll(ctx, jobs)
	if err != nil {
		return 0, 0, err
	}
	unlock := w.opts.Lock(sc)
	defer unlock()
	now, err := w.plan(ctx, sc, ids)
	if err != nil {
		return 0, 0, err
	}
	var es []store.Embedding
	var drop, aside []store.EmbedRef
	for _, ref := range g.refs {
		id := ref.ID
		cur, ok := now[id]
		switch {
		case !ok:
			drop = append(drop, ref)
		case refused[id]:
			aside = append(aside, ref)
		case jobs[id] != nil && cur.same(jobs[id]):
			es = append(es, jobs[id].embedding(w.embed.Model().ID()))
			drop = append(drop, ref)
		}
	}
	if len(es) > 0 {
		if err := w.claim(ctx); err != nil {
			return 0, 0, err
		}
		if err := w.store.SetEmbeddings(ctx, sc, es); err != nil {
			return 0, 0, fmt.Errorf("set embeddings: %w", err)
		}
	}
	if len(drop) > 0 {
		if err := w.ledger.Embedded(ctx, drop); err != nil {
			return 0, 0, fmt.Errorf("settle embeds: %w", err)
		}
	}
	for _, r := range drop {
		delete(w.failed, r)
	}
	return len(drop) + len(aside), len(es), w.setAside(ctx, aside)
}

func (w *Worker) claim(ctx context.Context) error {
	if w.claimed {
		return nil
	}
	m := w.embed.Model()
	if err := w.store.SetModel(ctx, m.ID(), m.Dim); err != nil {
		return fmt.Errorf("claim the vector space: %w", err)
	}
	w.claimed = true
	return nil
}

func (w *Worker) setAside(ctx context.Context, refs []store.EmbedRef) error {
	for _, r := range refs {
		d := w.opts.RetryMin << min(w.failed[r], 20)
		w.failed[r]++
		if d <= 0 || d > w.opts.RetryMax {
			d = w.opts.RetryMax
		}
		if err := w.ledger.Postpone(ctx, []store.EmbedRef{r}, time.Now().Add(d)); err != nil {
			return fmt.Errorf("postpone embed: %w", err)
		}
	}
	return nil
}

// outage is how many items in a row the embedder may refuse, none having worked, before it counts as out of reach.
const outage = 3

// embedAll fills the vectors of all jobs in one call. When that fails each job is tried alone, in no fixed order, so
// that one bad text cannot hold up the rest; an embedder that refuses them all is out of reach.
func (w *Worker) embedAll(ctx context.Context, jobs map[string]*job) (refused map[string]bool, err error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	all := make([]*job, 0, len(jobs))
	for _, j := range jobs {
		all = append(all, j)
	}
	if err = w.fill(ctx, all); err == nil || ctx.Err() != nil || len(all) == 1 {
		return nil, err
	}
	refused, worked := map[string]bool{}, false
	for _, j := range all {
		if err := w.fill(ctx, []*job{j}); err == nil {
			worked = true
			continue
		} else if ctx.Err() != nil || !worked && len(refused)+1 >= min(outage, len(all)) {
			return nil, err
		}
		refused[j.item.ID] = true
	}
	return refused, nil
}

func (w *Worker) fill(ctx context.Context, jobs []*job) error {
	var texts []string
	for _, j := range jobs {
		texts = append(texts, j.texts()...)
	}
	vs, err := w.embed.EmbedPassages(ctx, texts)
	if err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	if len(vs) != len(texts) {
		return fmt.Errorf("embed: %d vectors for %d texts", len(vs), len(texts))
	}
	for _, j := range jobs {
		n := len(j.texts())
		j.vectors, vs = vs[:n], vs[n:]
	}
	return nil
}
