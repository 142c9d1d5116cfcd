package evoke

import (
	"context"
	"time"

	"evoke/recall"
)

// Recall returns the most relevant items of a memory, best first, each with the parts of its score. A thread in Who
// narrows the search to it.
func (m *Memory) Recall(ctx context.Context, r RecallRequest) (RecallResult, error) {
	at, err := m.place(r.Who)
	if err != nil {
		return RecallResult{}, err
	}
	if !at.ok {
		return RecallResult{Response: recall.Response{Hits: []recall.Hit{}, Embedder: m.embedderID()}, Skipped: skippedByPolicy}, nil
	}
	if r.PairOnly {
		at.read = at.read[:1]
	}
	at.set.Recall.fill(&r.Request, false)
	r.Filter = narrow(r.Filter, r.Thread)
	began := time.Now()
	res, err := m.recall.Recall(ctx, at.read, r.Request)
	if err != nil {
		return RecallResult{}, err
	}
	m.recalled(began, res)
	return RecallResult{Response: *res}, nil
}

// Context returns a block for a prompt that never exceeds its token budget.
func (m *Memory) Context(ctx context.Context, r ContextRequest) (ContextResult, error) {
	at, err := m.place(r.Who)
	if err != nil {
		return ContextResult{}, err
	}
	budget := or(r.MaxTokens, *at.set.Memory.MaxInjectionTokens)
	if err := checkTokens("max_tokens", budget); err != nil {
		return ContextResult{}, err
	}
	if r.PairOnly && at.ok {
		at.read = at.read[:1]
	}
	skipped := ""
	switch {
	case !at.ok:
		skipped = skippedByPolicy
	case at.set.Memory.InjectionDisabled:
		skipped = "disabled"
	}
	if skipped != "" {
		return ContextResult{Block: recall.Block{Budget: budget, Items: []string{}}, Embedder: m.embedderID(), Skipped: skipped}, nil
	}
	at.set.Recall.fill(&r.Request, true)
	r.Filter = narrow(r.Filter, r.Thread)
	began := time.Now()
	b, err := m.recall.Context(ctx, at.read, recall.BlockRequest{Request: r.Request, MaxTokens: budget, Tokenizer: r.Tokenizer})
	if err != nil {
		return ContextResult{}, err
	}
	m.recalled(began, &b.Response)
	return ContextResult{
		Block: *b, PendingVectors: b.Response.PendingVectors, Embedder: b.Response.Embedder, Degraded: b.Response.Degraded,
		Confidence: b.Response.Confidence, WhyNot: b.Response.WhyNot,
	}, nil
}

func (m *Memory) recalled(began time.Time, res *recall.Response) {
	if m.events.Recalled != nil {
		m.events.Recalled(time.Since(began), len(res.Hits), len(res.Degraded) > 0)
	}
}
