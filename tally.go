package evoke

import (
	"context"
	"maps"
	"sync"
	"time"

	"evoke/store"
)

// tally counts what is done too often for an entry of its own in the audit log: ingested batches, feedback, calls that were
// refused. Every minute, and at Close, one entry tells how many there were for each credential, verb and memory; see
// docs/decisions/0022-audit.md.
type tally struct {
	mu     sync.Mutex
	counts map[tallied]map[string]int
}

type tallied struct{ tenant, verb, by, user, agent, id string }

const (
	tallyEvery = time.Minute
	mostTalked = 10_000 // different ones between two entries; more are put down at once
)

// count adds a deed to the tally.
func (m *Memory) count(ctx context.Context, verb string, w Who, id string, counts map[string]int) {
	key := tallied{m.tenant, verb, actorOf(ctx).Name, w.User, w.Agent, id}
	t := &m.tally
	t.mu.Lock()
	if t.counts == nil {
		t.counts = map[tallied]map[string]int{}
	}
	sum := t.counts[key]
	if sum == nil {
		sum = map[string]int{}
		t.counts[key] = sum
	}
	sum["calls"]++
	for name, n := range counts {
		if n != 0 {
			sum[name] += n
		}
	}
	full := len(t.counts) >= mostTalked
	t.mu.Unlock()
	if full {
		m.putDown(context.WithoutCancel(ctx))
	}
}

// putDown makes entries of the audit log of what was counted.
func (e *engine) putDown(ctx context.Context) {
	e.tally.mu.Lock()
	counts := e.tally.counts
	e.tally.counts = nil
	e.tally.mu.Unlock()
	for k, sum := range counts {
		a := store.Audit{At: e.now(), Tenant: k.tenant, User: k.user, Agent: k.agent, By: k.by, Verb: k.verb, Counts: maps.Clone(sum)}
		if k.id != "" {
			a.IDs = []string{k.id}
		}
		if err := e.ledger.AppendAudit(ctx, a); err != nil {
			e.log.ErrorContext(ctx, "deeds are missing in the audit log", "verb", k.verb, "calls", sum["calls"], "error", err)
		}
	}
}

// startTally runs the loop that puts down what was counted.
func (e *engine) startTally() {
	e.background(func(ctx context.Context) {
		t := time.NewTicker(tallyEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				e.putDown(context.WithoutCancel(ctx))
				return
			case <-t.C:
				e.putDown(ctx)
			}
		}
	})
}

// Denied puts on record that a credential (WithActor) asked for what it may not: of is the name of what was asked, never
// content. What one credential is refused within a minute is one entry with its number.
func (m *Memory) Denied(ctx context.Context, of string) {
	if store.ValidateName("of", of) == nil {
		m.count(ctx, "denied", Who{}, of, nil)
	}
}
