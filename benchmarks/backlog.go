package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"evoke"
	"evoke/embed"
	"evoke/extract/message"
	"evoke/recall"
	"evoke/store/sqlitestore"
)

// BacklogOptions of a backlog run. The zero value of a field means its default.
type BacklogOptions struct {
	Items    int           // in the memory that is asked, before the run; default 10,000
	Turns    int           // a second, taken in while it is busy; default 15
	Recalls  int           // a second, all the time; default 10
	Block    time.Duration // how long a quiet and a busy stretch last; default 20 s
	Pairs    int           // of stretches; default 6
	Dir      string        // for the store; default a temporary folder
	Progress func(string)
}

func (o *BacklogOptions) withDefaults() BacklogOptions {
	var c BacklogOptions
	if o != nil {
		c = *o
	}
	for _, d := range [...]struct {
		v   *int
		def int
	}{{&c.Items, 10_000}, {&c.Turns, 15}, {&c.Recalls, 10}, {&c.Pairs, 6}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if c.Block == 0 {
		c.Block = 20 * time.Second
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return c
}

// BacklogReport says whether background work keeps up with what comes in, and what recall pays for it. Quiet and busy
// stretches take turns in one process, so that both see the same machine.
type BacklogReport struct {
	Machine Machine   `json:"machine"`
	Model   string    `json:"model"`
	Items   int       `json:"items"`
	Turns   int       `json:"turns_per_second"`
	Recalls int       `json:"recalls_per_second"`
	Block   float64   `json:"block_seconds"`
	Quiet   Quantiles `json:"quiet_ms"`
	Busy    Quantiles `json:"busy_ms"`
	Ratio   Estimate  `json:"p95_ratio"` // busy to quiet
	Median  Estimate  `json:"p50_ratio"`
	// Degraded counts the recalls that a part of the engine failed or was too late for.
	Degraded int           `json:"degraded"`
	Pairs    []BacklogPair `json:"pairs"`
}

// BacklogPair is a quiet stretch and the busy one after it.
type BacklogPair struct {
	Quiet, Busy    Quantiles
	Ingested       int     `json:"turns"`
	MaxVectors     int     `json:"most_pending_vectors"` // during the busy stretch
	EndVectors     int     `json:"end_pending_vectors"`  // when its last turn was in
	MaxDue         int     `json:"most_due"`             // conversations due and not yet being extracted
	MaxAge         float64 `json:"oldest_due_seconds"`
	DrainedSeconds float64 `json:"drained_seconds"` // until nothing was left after it

	quiet, busy []float64
}

// Estimate is a figure with its 95 % interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Bounded reports whether the backlog did not grow: it was never more than a few seconds' worth of turns, and was worked
// off after every stretch.
func (r *BacklogReport) Bounded() bool {
	return !slices.ContainsFunc(r.Pairs, func(p BacklogPair) bool { return p.EndVectors > 3*r.Turns || p.MaxAge > 3 })
}

// RunBacklog asks a memory steadily, with conversations coming in beside and without, in turn. Distillation is by rules.
func RunBacklog(ctx context.Context, e embed.Embedder, s *Set, opts *BacklogOptions) (r *BacklogReport, err error) {
	o := opts.withDefaults()
	e = Uncached(e)
	mat, err := newMaterial(ctx, e, s, o.Progress)
	if err != nil {
		return nil, err
	}
	turns := shortTurns(s)
	if len(turns) < 2 {
		return nil, fmt.Errorf("set %s has no short turns", s.Name)
	}
	dir, err := os.MkdirTemp(o.Dir, "evoke-backlog-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	o.Progress(fmt.Sprintf("making a store of %d items", o.Items))
	if err := mat.fill(ctx, dir, o.Items); err != nil {
		return nil, err
	}
	db, err := sqlitestore.Open(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	m, err := evoke.Open(ctx, &evoke.Options{Store: db, Ledger: db, Embedder: e, Memory: evoke.MemoryOptions{Debounce: time.Second, MaxWait: 2 * time.Second}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	b := &backlog{m: m, db: db, queries: mat.queries, turns: turns, o: &o}
	r = &BacklogReport{Machine: ThisMachine(ctx, time.Now()), Model: e.Model().ID(), Items: o.Items, Turns: o.Turns, Recalls: o.Recalls, Block: o.Block.Seconds()}
	if _, err := b.ask(ctx, min(o.Block, 2*time.Second)); err != nil { // warms up
		return nil, err
	}
	for i := range o.Pairs {
		p, err := b.pair(ctx)
		if err != nil {
			return nil, err
		}
		r.Pairs = append(r.Pairs, *p)
		o.Progress(fmt.Sprintf("stretch %d of %d: p95 %.1f ms quiet, %.1f busy; at most %d vectors pending, %d at its end", i+1, o.Pairs, p.Quiet.P95, p.Busy.P95, p.MaxVectors, p.EndVectors))
	}
	r.Degraded = b.degraded
	r.sum()
	return r, nil
}

// backlog is a run under way.
type backlog struct {
	m       *evoke.Memory
	db      *sqlitestore.DB
	queries []string
	turns   []string
	o       *BacklogOptions

	asked, degraded, sent int
}

func (b *backlog) pair(ctx context.Context) (*BacklogPair, error) {
	p := &BacklogPair{}
	var err error
	if p.quiet, err = b.ask(ctx, b.o.Block); err != nil {
		return nil, err
	}
	busy, stop := context.WithCancel(ctx)
	defer stop()
	var beside sync.WaitGroup
	failed := make([]error, 2)
	beside.Go(func() { failed[0] = b.send(busy, p) })
	beside.Go(func() { failed[1] = b.watch(busy, p) })
	p.busy, err = b.ask(ctx, b.o.Block)
	stop()
	beside.Wait()
	if err = errors.Join(err, failed[0], failed[1]); err != nil {
		return nil, err
	}
	if p.EndVectors, err = b.pending(ctx); err != nil {
		return nil, err
	}
	p.Quiet, p.Busy = quantiles(slices.Clone(p.quiet)), quantiles(slices.Clone(p.busy))
	began := time.Now()
	err = b.drain(ctx)
	p.DrainedSeconds = time.Since(began).Seconds()
	return p, err
}

// ask recalls at a steady rate and returns what each call took, in ms. A call that is late is not waited for: the next
// one comes at its own time.
func (b *backlog) ask(ctx context.Context, d time.Duration) ([]float64, error) {
	var ms []float64
	start := time.Now()
	for i := 0; ; i++ {
		due := time.Duration(i) * time.Second / time.Duration(b.o.Recalls)
		if due >= d {
			return ms, nil
		}
		if err := until(ctx, start.Add(due)); err != nil {
			return nil, err
		}
		began := time.Now()
		res, err := b.m.Recall(ctx, evoke.RecallRequest{Who: evoke.Who{User: latencyScope.User}, Request: recall.Request{Query: b.queries[b.asked%len(b.queries)], Limit: 10}})
		if err != nil {
			return nil, err
		}
		if len(res.Hits) == 0 {
			return nil, fmt.Errorf("an answer without hits: %v", res.Degraded)
		}
		if len(res.Degraded) > 0 {
			b.degraded++
		}
		ms = append(ms, float64(time.Since(began).Microseconds())/1000)
		b.asked++
	}
}

// send takes events of two turns in at a steady rate until the context ends, a third of them for the memory that is asked.
func (b *backlog) send(ctx context.Context, p *BacklogPair) error {
	start := time.Now()
	for i := 0; ; i++ {
		if until(ctx, start.Add(time.Duration(2*i)*time.Second/time.Duration(b.o.Turns))) != nil {
			return nil //nolint:nilerr // the stretch has ended
		}
		user := latencyScope.User
		if n := b.sent % 3; n > 0 {
			user = fmt.Sprint("other", b.sent%10)
		}
		_, err := b.m.Ingest(context.WithoutCancel(ctx), evoke.IngestRequest{
			Who: evoke.Who{User: user, Thread: fmt.Sprint("thread", b.sent%30)},
			Messages: []message.Message{
				{Role: message.User, Content: b.turns[2*b.sent%len(b.turns)]}, {Role: message.Assistant, Content: b.turns[(2*b.sent+1)%len(b.turns)]},
			},
		})
		if err != nil {
			return fmt.Errorf("ingest: %w", err)
		}
		b.sent++
		p.Ingested += 2
	}
}

// watch looks at the backlog four times a second until the context ends.
func (b *backlog) watch(ctx context.Context, p *BacklogPair) error {
	for until(ctx, time.Now().Add(250*time.Millisecond)) == nil {
		n, err := b.pending(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		now := time.Now().UTC()
		st, err := b.db.QueueStats(context.WithoutCancel(ctx), "", now)
		if err != nil {
			return err
		}
		p.MaxVectors, p.MaxDue = max(p.MaxVectors, n), max(p.MaxDue, st.Due)
		if !st.Oldest.IsZero() {
			p.MaxAge = max(p.MaxAge, now.Sub(st.Oldest).Seconds())
		}
	}
	return nil
}

// mostPending bounds what pending counts.
const mostPending = 100_000

func (b *backlog) pending(ctx context.Context) (int, error) {
	refs, err := b.db.PendingEmbeds(ctx, time.Now(), mostPending)
	return len(refs), err
}

// drain lets all background work end.
func (b *backlog) drain(ctx context.Context) error {
	if _, err := b.m.FlushAll(ctx); err != nil {
		return err
	}
	return b.m.Settle(ctx)
}

// sum joins the stretches. The intervals are of the pairs, drawn anew with the calls in them.
func (r *BacklogReport) sum() {
	rnd := rand.New(rand.NewPCG(5, 1))
	p95 := func(ms []float64) float64 { return quantiles(ms).P95 }
	p50 := func(ms []float64) float64 { return quantiles(ms).P50 }
	var quiet, busy []float64
	for _, p := range r.Pairs {
		quiet, busy = append(quiet, p.quiet...), append(busy, p.busy...)
	}
	r.Quiet, r.Busy = quantiles(slices.Clone(quiet)), quantiles(slices.Clone(busy))
	const rounds = 2000
	var of95, of50 []float64
	for range rounds {
		quiet, busy = quiet[:0], busy[:0]
		for range r.Pairs {
			p := &r.Pairs[rnd.IntN(len(r.Pairs))]
			quiet, busy = drawn(rnd, quiet, p.quiet), drawn(rnd, busy, p.busy)
		}
		of95 = append(of95, p95(busy)/p95(quiet))
		of50 = append(of50, p50(busy)/p50(quiet))
	}
	r.Ratio, r.Median = estimate(r.Busy.P95/r.Quiet.P95, of95), estimate(r.Busy.P50/r.Quiet.P50, of50)
}

// drawn appends as many of from as there are, drawn with replacement.
func drawn(rnd *rand.Rand, to, from []float64) []float64 {
	for range from {
		to = append(to, from[rnd.IntN(len(from))])
	}
	return to
}

func estimate(v float64, draws []float64) Estimate {
	slices.Sort(draws)
	at := func(q float64) float64 { return draws[min(int(math.Ceil(q*float64(len(draws)))), len(draws)-1)] }
	return Estimate{v, at(0.025), at(0.975)}
}

// until waits for a moment.
func until(ctx context.Context, at time.Time) error {
	d := time.Until(at)
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
