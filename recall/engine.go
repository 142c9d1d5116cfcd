package recall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"evoke/embed"
	"evoke/recall/wordvec"
	"evoke/store"
)

// Options of an Engine. The zero value of a field means its default.
type Options struct {
	// Clock tells the time that recency and relative dates count from. Default time.Now.
	Clock func() time.Time
	// Log takes faults of single arms; never content. Default: none.
	Log *slog.Logger

	Limit      int      // results of a request that names no limit: 1–1000, default 5
	BlockLimit int      // the same for a block: 1–1000, default 20
	MinScore   *float64 // of a request that names none: 0–1, default 0.1
	QueryBytes int      // longest query accepted: default 32 KiB

	// How many candidates each arm may nominate, 1–10000: default 100 dense and lexical, 20 recent and important. A
	// request with a higher limit raises them to it. Negative switches an arm off.
	Dense, Lexical, Recent, Important int

	// Half-lives of recency: default 14 days episodic, 180 semantic, 365 procedural.
	EpisodicHalfLife, SemanticHalfLife, ProceduralHalfLife time.Duration

	// Duplicate is how alike, in terms shared, two texts with the same numbers and negations must be for the lesser one
	// to be left out: 0–1, default 0.9; above 1 only equal texts count, negative keeps everything.
	Duplicate float64

	// Longest times of the steps; of a call with a deadline each gets a part of what is left, the vector 40 %, the scopes
	// equal parts of the rest, so that an answer without the slow one still comes in time. See Response.Degraded.
	EmbedTimeout  time.Duration // for the query's vector; then the answer is lexical only. Default 3 s
	SearchTimeout time.Duration // for one scope's candidates. Default 10 s
	LateTimeout   time.Duration // for comparing one scope's best candidates with the query word by word. Default 1 s

	// Late is 0 for comparing the query's words with those of the best candidates (package wordvec), where the model has a
	// table of words; negative switches it off.
	Late int

	// Reranker, if given, has half the say over the semantic score of the RerankDepth best candidates (1–1000, default 30;
	// a request with a higher limit raises it), within RerankTimeout (default 400 ms) and its part of the time that is
	// left; otherwise the first ranking stands. None by default.
	Reranker      Reranker
	RerankDepth   int
	RerankTimeout time.Duration

	// NoDense says why there is no dense arm although an embedder may exist, in words fit for a user ("the store was
	// embedded by another model"). Reported in Response.Degraded.
	NoDense string
}

// Engine answers queries over one store. It is safe for concurrent use and starts no goroutine.
type Engine struct {
	store    store.Searcher
	embedder embed.Embedder
	model    embed.Model
	table    *wordvec.Table // of the model; nil when there is none or it is switched off
	spelling *wordvec.Table // the words of a table, whatever the model
	opts     Options
	breaker  breaker // of the embedder
	reranks  breaker // of the reranker
}

// New returns an Engine. A nil embedder answers by the lexical arm alone; its vector space must be that of the store.
func New(s store.Searcher, e embed.Embedder, opts *Options) (*Engine, error) {
	if s == nil {
		return nil, store.Invalid("store", "given", "nil")
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	eng := &Engine{store: s, embedder: e, opts: o, spelling: wordvec.For(spellingModel)}
	if o.NoDense != "" {
		eng.embedder = nil
	}
	if eng.embedder != nil {
		eng.model = e.Model()
		if o.Late >= 0 {
			eng.table = wordvec.For(eng.model.Name)
		}
		if !(eng.model.Low < eng.model.High) {
			return nil, store.Invalid("embedder", "a model whose low end is below its high end", fmt.Sprintf("%g and %g", eng.model.Low, eng.model.High))
		}
	}
	return eng, nil
}

// withDefaults returns a filled and checked copy.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	for _, f := range []struct {
		name     string
		v        *int
		def, max int
	}{
		{"recall.limit", &c.Limit, defaultLimit, maxLimit}, {"recall.block_limit", &c.BlockLimit, defaultBlockLimit, maxLimit},
		{"recall.query_bytes", &c.QueryBytes, defaultQueryBytes, 1 << 24},
		{"recall.rerank_depth", &c.RerankDepth, defaultRerankDepth, maxLimit},
	} {
		if *f.v == 0 {
			*f.v = f.def
		}
		if *f.v < 1 || *f.v > f.max {
			return c, store.Invalid(f.name, fmt.Sprintf("from 1 to %d", f.max), fmt.Sprint(*f.v))
		}
	}
	for _, f := range []struct {
		name string
		v    *int
		def  int
	}{{"dense", &c.Dense, defaultArm}, {"lexical", &c.Lexical, defaultArm}, {"recent", &c.Recent, defaultFreshArm}, {"important", &c.Important, defaultFreshArm}} {
		if *f.v == 0 {
			*f.v = f.def
		}
		if *f.v > maxArm {
			return c, store.Invalid("recall."+f.name, fmt.Sprintf("at most %d candidates", maxArm), fmt.Sprint(*f.v))
		}
	}
	if c.MinScore == nil {
		c.MinScore = new(float64)
		*c.MinScore = defaultMinScore
	}
	if err := store.InUnit("recall.min_score", *c.MinScore); err != nil {
		return c, err
	}
	if c.Duplicate == 0 {
		c.Duplicate = defaultDuplicate
	}
	if c.Duplicate != c.Duplicate {
		return c, store.Invalid("recall.duplicate", "a number", "NaN")
	}
	return c, c.fillDurations()
}

func (o *Options) fillDurations() error {
	for _, f := range []struct {
		name string
		v    *time.Duration
		def  time.Duration
	}{
		{"episodic_half_life", &o.EpisodicHalfLife, defaultHalfLife(store.Episodic)},
		{"semantic_half_life", &o.SemanticHalfLife, defaultHalfLife(store.Semantic)},
		{"procedural_half_life", &o.ProceduralHalfLife, defaultHalfLife(store.Procedural)},
		{"embed_timeout", &o.EmbedTimeout, defaultEmbedTimeout},
		{"search_timeout", &o.SearchTimeout, defaultSearchTimeout},
		{"late_timeout", &o.LateTimeout, defaultLateTimeout},
		{"rerank_timeout", &o.RerankTimeout, defaultRerankTimeout},
	} {
		if *f.v == 0 {
			*f.v = f.def
		}
		if *f.v < 0 {
			return store.Invalid("recall."+f.name, "longer than zero", f.v.String())
		}
	}
	return nil
}

func (o *Options) halfLife(k store.Kind) time.Duration {
	switch k {
	case store.Semantic:
		return o.SemanticHalfLife
	case store.Procedural:
		return o.ProceduralHalfLife
	default:
		return o.EpisodicHalfLife
	}
}

// Recall answers a request from one or more scopes: a user's memory with an agent and the user's own, say. Each scope
// keeps its own lexical statistics; hits are merged by score before the cut. An arm that fails is left out and named
// in Response.Degraded. Recall fails with ErrInvalid or ErrTenant for a request or scope that does not validate, and
// otherwise only when no scope could be searched at all.
func (e *Engine) Recall(ctx context.Context, scopes []store.Scope, req Request) (*Response, error) {
	p, err := e.plan(scopes, req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := p.within(ctx)
	defer cancel()
	res, _, err := e.answer(ctx, scopes, p)
	return res, err
}

// within is the context of a search: it ends when the request's time is over.
func (p *plan) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.req.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, p.req.Timeout)
}

// answer runs a plan: gather, score, cut.
func (e *Engine) answer(ctx context.Context, scopes []store.Scope, p *plan) (*Response, []*candidate, error) {
	res := &Response{Hits: []Hit{}, Embedder: "none"}
	e.embedQuery(ctx, p, res)
	var all []*candidate
	var scoped []searched
	var failed error
	answered := 0
	for i, sc := range scopes {
		found, err := e.gather(ctx, sc, p, searchShare/float64(len(scopes)-i))
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil, fmt.Errorf("recall: %w", ctx.Err())
			}
			failed = err
			e.opts.Log.WarnContext(ctx, "recall: a scope could not be searched", "error", err)
			res.degrade("store", "one of the memories could not be searched ("+reason(err)+")")
			continue
		}
		answered++
		res.PendingVectors += found.Pending
		for arm, err := range found.Failed {
			e.opts.Log.WarnContext(ctx, "recall: an arm failed", "arm", string(arm), "error", err)
			res.degrade(string(arm), reason(err))
		}
		scored, partial := e.score(ctx, p, sc, i, found)
		if partial {
			res.degrade(lateStepName, "timed out")
		}
		all = append(all, scored...)
		scoped = append(scoped, searched{sc, i, found})
	}
	if answered == 0 {
		return nil, nil, fmt.Errorf("recall: %w", failed)
	}
	res.Candidates = len(all)
	e.rerank(ctx, p, all, res)
	if p.vector == nil || res.Degraded[string(store.DenseArm)] != "" && answered == 1 {
		res.Embedder = "none"
	}
	kept := p.page(all, res)
	res.Empty = p.emptiness(scoped, res)
	if len(p.req.WhyNot) > 0 {
		e.whyNot(ctx, p, scoped, all, kept, res)
	}
	return res, kept, nil
}

// embedQuery fills the plan's vector, or says why there is none.
func (e *Engine) embedQuery(ctx context.Context, p *plan, res *Response) {
	if p.blank {
		return
	}
	if e.embedder == nil {
		if e.opts.NoDense != "" {
			res.degrade(string(store.DenseArm), e.opts.NoDense)
		}
		return
	}
	if e.opts.Dense < 0 {
		return
	}
	given := share(ctx, embedShare, e.opts.EmbedTimeout)
	c, cancel := context.WithTimeout(ctx, given)
	defer cancel()
	if !e.breaker.allow() {
		res.degrade(string(store.DenseArm), "the embedder is "+breakerSays)
		return
	}
	v, pieces, err := embed.QueryPieces(c, e.embedder, p.req.Query)
	if late := err != nil && c.Err() != nil; late && (given < min(breakerPatience, e.opts.EmbedTimeout) || errors.Is(ctx.Err(), context.Canceled)) {
		e.breaker.withdraw() // a caller in a hurry, or one who left, says nothing of the embedder
	} else {
		e.breaker.done(late)
	}
	if err == nil && len(v) != e.model.Dim {
		err = fmt.Errorf("%w: a vector of %d components instead of %d", store.ErrUnavailable, len(v), e.model.Dim)
	}
	if err != nil {
		e.opts.Log.WarnContext(ctx, "recall: the query could not be embedded", "error", err)
		res.degrade(string(store.DenseArm), "the query could not be embedded ("+reason(err)+")")
		return
	}
	p.vector, res.Embedder = v, e.model.ID()
	p.table, p.words = e.table, e.table.Query(pieces)
}

// share is how long a step may take: its part of what is left until the deadline of the call, and never longer than
// most. A step that stalls is left out while there is still time to answer with the rest.
func share(ctx context.Context, part float64, most time.Duration) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return most
	}
	return min(most, time.Duration(part*float64(time.Until(deadline))))
}

// score scores one scope's candidates; the comparison word by word has its part of the time that is left.
func (e *Engine) score(ctx context.Context, p *plan, sc store.Scope, place int, found *store.Candidates) ([]*candidate, bool) {
	c, cancel := context.WithTimeout(ctx, share(ctx, lateShare, e.opts.LateTimeout))
	defer cancel()
	return p.score(c, sc, place, found)
}

// gather asks one scope for candidates within its part of the time that is left.
func (e *Engine) gather(ctx context.Context, sc store.Scope, p *plan, part float64) (*store.Candidates, error) {
	c, cancel := context.WithTimeout(ctx, share(ctx, part, e.opts.SearchTimeout))
	defer cancel()
	found, err := e.store.Search(c, sc, p.query())
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

func (r *Response) degrade(what, why string) {
	if r.Degraded == nil {
		r.Degraded = map[string]string{}
	}
	r.Degraded[what] = why
}

// reason is a short form of an error that is safe to show: it names the sort of fault and nothing of its text.
func reason(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timed out"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, store.ErrUnavailable):
		return "unavailable"
	case errors.Is(err, store.ErrClosed):
		return "closed"
	case errors.Is(err, store.ErrCorrupt):
		return "stored data cannot be read"
	case errors.Is(err, store.ErrConflict):
		return "another vector space"
	default:
		return "failed"
	}
}
