package evoke

import (
	"context"
	"time"

	"evoke/recall"
	"evoke/store"
)

// Recall returns the most relevant items of a memory, best first, each with the parts of its score. A thread in Who
// narrows the search to it.
func (m *Memory) Recall(ctx context.Context, r RecallRequest) (_ RecallResult, err error) {
	ctx, end := m.events.span(ctx, "recall")
	defer func() { end(err) }()
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
	if r.Query, err = m.query(at.set, r.Query); err != nil {
		return RecallResult{}, err
	}
	at.set.Recall.fill(&r.Request, false)
	r.Filter = narrow(r.Filter, r.Thread)
	began := time.Now()
	res, err := m.recall.Recall(ctx, at.read, r.Request)
	if err != nil {
		return RecallResult{}, err
	}
	m.recalled(began, res)
	return RecallResult{Response: *res, Pending: Pending{res.PendingVectors, m.waiting(ctx, at.read)}}, nil
}

// Context returns a block for a prompt that never exceeds its token budget.
func (m *Memory) Context(ctx context.Context, r ContextRequest) (_ ContextResult, err error) {
	ctx, end := m.events.span(ctx, "context")
	defer func() { end(err) }()
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
	if r.Query, err = m.query(at.set, r.Query); err != nil {
		return ContextResult{}, err
	}
	at.set.Recall.fill(&r.Request, true)
	r.Filter = narrow(r.Filter, r.Thread)
	began := time.Now()
	b, err := m.recall.Context(ctx, at.read, recall.BlockRequest{Request: r.Request, MaxTokens: budget, Tokenizer: r.Tokenizer, Shape: r.Shape})
	if err != nil {
		return ContextResult{}, err
	}
	m.recalled(began, &b.Response)
	m.blocks.note(ctx, m.tenant, r.Who, m.now(), b)
	return ContextResult{
		Block: *b, PendingVectors: b.Response.PendingVectors, Embedder: b.Response.Embedder, Degraded: b.Response.Degraded,
		Confidence: b.Response.Confidence, WhyNot: b.Response.WhyNot,
		Pending: Pending{b.Response.PendingVectors, m.waiting(ctx, at.read)},
	}, nil
}

// waiting counts the conversations whose facts are still to come. An answer is not refused because they cannot be
// counted: then none are told.
func (m *Memory) waiting(ctx context.Context, scopes []store.Scope) int {
	n := 0
	for _, sc := range scopes {
		k, err := m.ledger.WaitingThreads(ctx, sc)
		if err != nil {
			return 0
		}
		n += k
	}
	return n
}

func (m *Memory) recalled(began time.Time, res *recall.Response) {
	if m.events.Recalled != nil {
		m.events.Recalled(time.Since(began), len(res.Hits), len(res.Degraded) > 0)
	}
}
