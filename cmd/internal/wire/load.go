package wire

import (
	"context"
	"fmt"
	"time"

	"evoke/store"
)

// Load is what all memories of the tenants that the settings know hold and wait for.
type Load struct {
	Items          map[store.Kind]int
	Bytes          int64
	PendingVectors int
	PendingThreads int
	Events         map[store.EventState]int
}

// Load counts. It reads every memory, so it is not for every request.
func (e *Engine) Load(ctx context.Context) (Load, error) {
	l := Load{Items: map[store.Kind]int{}, Events: map[store.EventState]int{}}
	view := store.View{All: true}
	for _, tenant := range tenants(e.set.Load().config) {
		events, err := e.ledger.CountEvents(ctx, tenant)
		if err != nil {
			return l, fmt.Errorf("count events: %w", err)
		}
		for state, n := range events {
			l.Events[state] += n
		}
		scopes, err := e.store.Scopes(ctx, tenant)
		if err != nil {
			return l, fmt.Errorf("list memories: %w", err)
		}
		for _, sc := range scopes {
			if err := e.count(ctx, sc, view, &l); err != nil {
				return l, err
			}
		}
	}
	return l, nil
}

// Queue tells how the queue of extractions stands now, of all tenants.
func (e *Engine) Queue(ctx context.Context) (store.QueueStats, error) {
	st, err := e.ledger.QueueStats(ctx, "", time.Now().UTC())
	if err != nil {
		return st, fmt.Errorf("read the queue: %w", err)
	}
	return st, nil
}

func (e *Engine) count(ctx context.Context, sc store.Scope, view store.View, l *Load) error {
	st, err := e.store.Stats(ctx, sc, view)
	if err != nil {
		return fmt.Errorf("count items: %w", err)
	}
	l.Items[store.Episodic] += st.Episodic
	l.Items[store.Semantic] += st.Semantic
	l.Items[store.Procedural] += st.Procedural
	l.Bytes += st.Bytes
	vectors, err := e.ledger.CountEmbeds(ctx, sc)
	if err != nil {
		return fmt.Errorf("count pending vectors: %w", err)
	}
	threads, err := e.ledger.WaitingThreads(ctx, sc)
	if err != nil {
		return fmt.Errorf("count waiting threads: %w", err)
	}
	l.PendingVectors += vectors
	l.PendingThreads += threads
	return nil
}
