package wire

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/extract"
	"evoke/extract/budget"
	"evoke/extract/llm"
	"evoke/store"
)

// How long a request waits for its turn under llm.calls_per_minute. When the turn of an extraction's first one is farther
// off, the conversation is given back to the queue, so that a slow tenant does not hold the worker. A later one is made
// then, or what the first one found would be lost again and again; the tenant's next conversations wait the longer for it.
const (
	longestTurn  = 10 * time.Second
	longestLater = time.Minute
)

// budgets keep what tenants take of their models within the settings. They live as long as the engine, whatever becomes
// of the settings.
type budgets struct {
	meter *budget.Meter
	clock func() time.Time

	mu    sync.Mutex
	paces map[string]*rate.Limiter // by tenant
}

func newBudgets(before func(ctx context.Context, tenant, day string) (budget.Used, error), clock func() time.Time) *budgets {
	return &budgets{meter: budget.New(before, clock), clock: clock, paces: map[string]*rate.Limiter{}}
}

func limits(b config.Budget) budget.Limits {
	return budget.Limits{Calls: int64(b.CallsPerDay), Tokens: int64(b.TokensPerDay)}
}

// admit takes a call out of the day's budget and waits for its turn. What it returns puts what was taken in the place of
// what was taken out. Errors: store.ErrBudget; extract.ErrPaced when its turn is far off; a store.ErrUnavailable when
// what was used before cannot be read; the context's.
func (b *budgets) admit(ctx context.Context, c llm.Call, to config.Budget) (func(extract.Usage), error) {
	r, err := b.meter.Reserve(ctx, c.Scope.Tenant, limits(to), c.Tokens)
	if err != nil {
		return nil, fmt.Errorf("llm budget: %w", err)
	}
	if err := b.wait(ctx, c, to.CallsPerMinute); err != nil {
		r.Settle(budget.Used{})
		return nil, err
	}
	return func(u extract.Usage) {
		r.Settle(budget.Used{Calls: int64(u.Calls), Tokens: int64(u.PromptTokens) + int64(u.CompletionTokens)})
	}, nil
}

// wait waits for a tenant's turn: one call at a time, evenly over the minute.
func (b *budgets) wait(ctx context.Context, c llm.Call, perMinute int) error {
	if perMinute <= 0 {
		return nil
	}
	r := b.pace(c.Scope.Tenant, perMinute).ReserveN(b.clock(), 1)
	d, most := r.DelayFrom(b.clock()), longestTurn
	if c.Nth > 1 {
		most = longestLater
	}
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(end)/2)
	}
	if d > most && c.Nth <= 1 {
		r.Cancel()
		return &pacedError{perMinute: perMinute, wait: d}
	}
	t := time.NewTimer(min(d, max(0, most)))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		r.Cancel()
		return fmt.Errorf("wait for llm.calls_per_minute: %w", ctx.Err())
	}
}

func (b *budgets) pace(tenant string, perMinute int) *rate.Limiter {
	limit := rate.Limit(float64(perMinute) / 60)
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.paces[tenant]
	if l == nil {
		l = rate.NewLimiter(limit, 1)
		b.paces[tenant] = l
	}
	if l.Limit() != limit {
		l.SetLimitAt(b.clock(), limit)
	}
	return l
}

// pacedError says that a request's turn is too far off to wait for.
type pacedError struct {
	perMinute int
	wait      time.Duration
}

func (e *pacedError) Error() string {
	return fmt.Sprintf("llm.calls_per_minute is %d: the next turn is in %s", e.perMinute, e.wait.Round(time.Second))
}

// Unwrap tells that it is no failure.
func (e *pacedError) Unwrap() error { return extract.ErrPaced }

// RetryAfter is when the turn comes.
func (e *pacedError) RetryAfter() time.Duration { return e.wait }

// gate is asked before every request to a model.
func (e *Engine) gate(ctx context.Context, c llm.Call) (func(extract.Usage), error) {
	to, err := e.budgetOf(ctx, c.Scope.Tenant)
	if err != nil {
		return nil, err
	}
	return e.budgets.admit(ctx, c, to)
}

// budgetOf are a tenant's limits: those of the settings and those that it set for itself, whichever is lower.
func (e *Engine) budgetOf(ctx context.Context, tenant string) (config.Budget, error) {
	to := e.set.Load().config.For(tenant).LLM.Budget
	select {
	case <-e.opened:
	case <-ctx.Done():
		return to, fmt.Errorf("llm budget: %w", ctx.Err())
	}
	m, err := e.ForTenant(tenant)
	if err != nil {
		return to, err
	}
	own := m.BudgetPolicy()
	b := evoke.Budget{CallsPerDay: int64(to.CallsPerDay), TokensPerDay: int64(to.TokensPerDay), CallsPerMinute: to.CallsPerMinute}
	own.Within(&b)
	to.CallsPerDay, to.TokensPerDay, to.CallsPerMinute = int(b.CallsPerDay), int(b.TokensPerDay), b.CallsPerMinute
	return to, nil
}

// usedBefore is what a tenant took on a day before this process began.
func (e *Engine) usedBefore(ctx context.Context, tenant, day string) (budget.Used, error) {
	days, err := e.ledger.Usage(ctx, tenant, day, day)
	if err != nil {
		return budget.Used{}, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	var u budget.Used
	for _, d := range days {
		u.Calls += d.Calls
		u.Tokens += d.PromptTokens + d.CompletionTokens
	}
	return u, nil
}

// Budget tells how a tenant stands today against the limits that the settings give it; it is spent, too, when those are
// that it gives itself.
func (e *Engine) Budget(ctx context.Context, tenant string) (evoke.Budget, error) {
	c := e.set.Load().config.For(tenant).LLM
	to, err := e.budgetOf(ctx, tenant)
	if err != nil {
		return evoke.Budget{}, err
	}
	st, err := e.budgets.meter.Status(ctx, tenant)
	if err != nil {
		return evoke.Budget{}, err
	}
	return evoke.Budget{
		Day: st.Day, Calls: st.Used.Calls, Tokens: st.Used.Tokens,
		CallsPerDay: int64(c.Budget.CallsPerDay), TokensPerDay: int64(c.Budget.TokensPerDay), CallsPerMinute: c.Budget.CallsPerMinute,
		Spent: st.Spent(limits(to)), PriceIn: c.Budget.PriceIn, PriceOut: c.Budget.PriceOut,
	}, nil
}

// Cost is what an extraction of a tenant cost at the prices of the settings; 0 where these say nothing.
func (e *Engine) Cost(tenant string, u extract.Usage) float64 {
	b := e.set.Load().config.For(tenant).LLM.Budget
	return (float64(u.PromptTokens)*b.PriceIn + float64(u.CompletionTokens)*b.PriceOut) / 1e6
}
