package evoke

import (
	"context"
	"errors"
	"fmt"
	"time"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/store"
)

// Ingest keeps the user's and the assistant's turns of a conversation verbatim and arms the extraction of facts, which
// follows when the conversation goes quiet. When it returns without error the turns survive a crash and are found by
// their words; their vectors follow.
func (m *Memory) Ingest(ctx context.Context, r IngestRequest) (_ IngestResult, err error) {
	ctx, end := m.events.span(ctx, "ingest")
	defer func() { end(err) }()
	at, err := m.place(r.Who)
	if err != nil {
		return IngestResult{}, err
	}
	none := IngestResult{Turns: []extract.TurnRef{}}
	switch {
	case !at.ok:
		none.Skipped = skippedByPolicy
	case at.set.Memory.Disabled:
		none.Skipped = "disabled"
	case r.NoStore:
		none.Skipped = "no_store"
	default:
		return m.ingest(ctx, at, r)
	}
	return none, nil
}

func (m *Memory) ingest(ctx context.Context, at place, r IngestRequest) (IngestResult, error) {
	red := redaction{by: at.set.Redactor}
	msgs, err := red.messages(r.Messages, message.Options{MaxMessageBytes: m.limits.ContentBytes})
	m.redacted(&red)
	if err != nil {
		return IngestResult{}, err
	}
	if !r.ExpiresAt.IsZero() {
		if err := m.schedulePurge(ctx); err != nil {
			return IngestResult{}, err
		}
	}
	res, err := m.ingester.Ingest(ctx, at.write, r.Thread, msgs, &extract.Call{
		Key: r.IdempotencyKey, ExpiresAt: r.ExpiresAt, Debounce: at.set.Memory.Debounce, MaxWait: at.set.Memory.MaxWait,
		ToolSummaries: at.set.Memory.ToolSummaries, Recalled: at.read,
	})
	if err != nil {
		return IngestResult{}, err
	}
	if len(res.Turns) > 0 && !res.Replayed {
		m.wakeVectors()
	}
	m.count(ctx, "ingest", r.Who, "", map[string]int{"turns": len(res.Turns), "dropped": len(res.Dropped)})
	if m.events.Ingested != nil {
		m.events.Ingested(len(res.Turns), len(res.Dropped))
	}
	out := IngestResult{EventID: res.Event, State: res.State, Note: res.Note, Turns: res.Turns, Dropped: res.Dropped, Redacted: red.found}
	if res.Note == extract.NoteErased {
		out.Skipped = skippedErased
	}
	return out, nil
}

// Event returns what became of an ingested batch. It waits up to wait for a terminal state and then answers what it
// has, pending or not.
func (m *Memory) Event(ctx context.Context, id string, wait time.Duration) (store.Event, error) {
	if err := store.ValidateName("event", id); err != nil {
		return store.Event{}, err
	}
	if wait <= 0 {
		return m.ledger.Event(ctx, m.tenant, id)
	}
	c, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	ev, err := m.worker.Settle(c, m.tenant, id)
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return m.ledger.Event(ctx, m.tenant, id)
	}
	return ev, err
}

// Flush extracts what waits in a memory now, one thread of it when Who names one, and returns the number of threads.
func (m *Memory) Flush(ctx context.Context, w Who) (int, error) {
	sc, err := m.memory(w)
	if err != nil {
		return 0, err
	}
	if err := m.running(); err != nil {
		return 0, err
	}
	n, err := m.worker.Flush(ctx, sc, w.Thread)
	if err != nil {
		return n, fmt.Errorf("flush: %w", err)
	}
	return n, nil
}

// FlushAll extracts what waits in every memory of the tenant now, and returns the number of threads.
func (m *Memory) FlushAll(ctx context.Context) (int, error) {
	if err := m.running(); err != nil {
		return 0, err
	}
	scopes, err := m.store.Scopes(ctx, m.tenant)
	if err != nil {
		return 0, fmt.Errorf("flush: %w", err)
	}
	total := 0
	for _, sc := range scopes {
		n, err := m.worker.Flush(ctx, sc, "")
		if total += n; err != nil {
			return total, fmt.Errorf("flush: %w", err)
		}
	}
	return total, nil
}

// Settle waits until the memories of all tenants have the vectors that were pending when it was called or came since.
// It does not wait for conversations to go quiet: Flush does that. Without an embedder it returns at once.
func (m *Memory) Settle(ctx context.Context) error {
	for m.embedding.Load() {
		refs, err := m.ledger.PendingEmbeds(ctx, time.Now(), 1)
		if err != nil {
			return fmt.Errorf("settle: %w", err)
		}
		if len(refs) == 0 {
			return nil
		}
		m.vectors.Wake()
		if err := m.vectors.Wait(ctx); err != nil {
			return fmt.Errorf("settle: %w", err)
		}
	}
	return nil
}
