package recall

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"evoke/scoring"
	"evoke/store"
)

// Reranker tells how relevant texts are to a query, 0 to 1, in the order of the texts: a cross-encoder or a hosted service
// (package embed/rerank). It must give up when its context is done.
type Reranker interface {
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// rerankStep names the step in Response.Degraded.
const rerankStep = "rerank"

// rerank lets the reranker have its say on the best candidates: half of their semantic score. When it fails or its part of
// the time is over, the ranking stands as it is.
func (e *Engine) rerank(ctx context.Context, p *plan, all []*candidate, res *Response) {
	if e.opts.Reranker == nil || p.blank || len(all) == 0 {
		return
	}
	given := share(ctx, rerankShare, e.opts.RerankTimeout)
	if !e.reranks.allow() {
		res.degrade(rerankStep, "the reranker is "+breakerSays)
		return
	}
	slices.SortFunc(all, compare)
	top := all[:min(len(all), max(e.opts.RerankDepth, p.req.Limit))]
	texts := make([]string, len(top))
	for i, c := range top {
		it := &c.hit.Item
		texts[i] = scoring.OwnView(it.Turn.Speaker, it.Content, it.ValidFrom)
	}
	c, cancel := context.WithTimeout(ctx, given)
	defer cancel()
	relevance, err := e.opts.Reranker.Rerank(c, p.req.Query, texts)
	if late := err != nil && c.Err() != nil; late && (given < min(breakerPatience, e.opts.RerankTimeout) || errors.Is(ctx.Err(), context.Canceled)) {
		e.reranks.withdraw()
	} else {
		e.reranks.done(late)
	}
	if err == nil && (len(relevance) != len(top) || slices.ContainsFunc(relevance, math.IsNaN)) {
		err = fmt.Errorf("%w: %d numbers for %d texts", store.ErrUnavailable, len(relevance), len(top))
	}
	if err != nil {
		e.opts.Log.WarnContext(ctx, "recall: the candidates could not be reranked", "error", err)
		res.degrade(rerankStep, reason(err))
		return
	}
	for i, c := range top {
		t := &c.terms
		t.rerank = scoring.Normalize(relevance[i], 0, 1)
		t.sum += weightRerank * (t.rerank - t.sum)
		p.finish(c)
	}
}
