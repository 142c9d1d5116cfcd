package server

import (
	"context"
	"time"

	"evoke"
	"evoke/cmd/internal/server/api"
	"evoke/recall"
)

// request is the engine's form of a query; what it leaves open the engine takes from the tenant's settings.
func request(b api.RecallRequest) recall.Request {
	return recall.Request{
		Query: value(b.Query), Limit: value(b.Limit), MinScore: b.MinScore, Kinds: value(b.Kinds), Filter: value(b.Filter),
		AsOf: value(b.AsOf), Known: value(b.KnownAt), Profile: value(b.Profile), Weights: b.Weights, Explain: value(b.Explain),
		WhyNot: value(b.WhyNot), Zone: value(b.Zone), Task: value(b.Task), Timeout: time.Duration(value(b.TimeoutMs)) * time.Millisecond,
	}
}

// Recall finds the most relevant items.
func (h *handlers) Recall(ctx context.Context, r api.RecallRequestObject) (api.RecallResponseObject, error) {
	c, err := h.call(ctx, r.Body.User, r.Body.Agent, r.Body.Thread)
	if err != nil {
		return nil, err
	}
	res, err := c.Recall(ctx, evoke.RecallRequest{Who: c.who, Request: request(*r.Body), PairOnly: value(r.Body.PairOnly)})
	if err != nil {
		return nil, err
	}
	if res.Hits == nil {
		res.Hits = []recall.Hit{}
	}
	return api.Recall200JSONResponse(res), nil
}

// Context makes a block for a prompt.
func (h *handlers) Context(ctx context.Context, r api.ContextRequestObject) (api.ContextResponseObject, error) {
	b := r.Body
	c, err := h.call(ctx, b.User, b.Agent, b.Thread)
	if err != nil {
		return nil, err
	}
	query := api.RecallRequest{
		Query: b.Query, Limit: b.Limit, MinScore: b.MinScore, Kinds: b.Kinds, Filter: b.Filter, AsOf: b.AsOf, KnownAt: b.KnownAt, Profile: b.Profile,
		Weights: b.Weights, WhyNot: b.WhyNot, Zone: b.Zone, Task: b.Task, TimeoutMs: b.TimeoutMs,
	}
	res, err := c.Context(ctx, evoke.ContextRequest{
		Who: c.who, Request: request(query), PairOnly: value(b.PairOnly), MaxTokens: b.MaxTokens, Tokenizer: value(b.Tokenizer),
		Shape: value(b.Shape),
	})
	if err != nil {
		return nil, err
	}
	return api.Context200JSONResponse(res), nil
}

// ShownBlock tells which items a block held.
func (h *handlers) ShownBlock(ctx context.Context, r api.ShownBlockRequestObject) (api.ShownBlockResponseObject, error) {
	c, err := h.call(ctx, r.Params.User, r.Params.Agent, nil)
	if err != nil {
		return nil, err
	}
	b, err := c.ShownBlock(ctx, evoke.BlockRequest{Who: c.who, Hash: r.Hash})
	if err != nil {
		return nil, err
	}
	return api.ShownBlock200JSONResponse(b), nil
}

// Feedback counts what helped.
func (h *handlers) Feedback(ctx context.Context, r api.FeedbackRequestObject) (api.FeedbackResponseObject, error) {
	c, err := h.call(ctx, r.Body.User, r.Body.Agent, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Feedback(ctx, evoke.FeedbackRequest{Who: c.who, IDs: r.Body.Ids})
	if err != nil {
		return nil, err
	}
	return api.Feedback200JSONResponse(res), nil
}

// Stats counts a memory's items.
func (h *handlers) Stats(ctx context.Context, r api.StatsRequestObject) (api.StatsResponseObject, error) {
	c, err := h.call(ctx, r.Params.User, r.Params.Agent, nil)
	if err != nil {
		return nil, err
	}
	st, err := c.StatsAt(ctx, evoke.StatsRequest{Who: c.who, AsOf: value(r.Params.AsOf), Known: value(r.Params.KnownAt)})
	if err != nil {
		return nil, err
	}
	return api.Stats200JSONResponse(st), nil
}
