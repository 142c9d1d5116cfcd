package evoke

import (
	"context"
	"fmt"
	"time"

	"evoke/store"
)

// usageDays is how many days back a usage goes that says nothing else, and maxUsageDays how many one may cover.
const (
	usageDays    = 30
	maxUsageDays = 3660
)

// UsageRequest asks what the tenant took of hosted language models, from one day to another, both included, in UTC.
type UsageRequest struct {
	From string // "2026-11-30"; "": 29 days before To
	To   string // "": today
}

// UsageResult tells it by day, oldest first; days without any are left out.
type UsageResult struct {
	From   string     `json:"from"`
	To     string     `json:"to"`
	Days   []UsageDay `json:"days"`
	Total  UsageSum   `json:"total"`
	Cost   float64    `json:"cost,omitempty"`   // of Total, at the prices that the budget has now
	Budget *Budget    `json:"budget,omitempty"` // today's limits and counts; nil when nothing meters the tenant
	Left   Left       `json:"left,omitzero"`    // what remains of them
}

// UsageDay is what was taken on a day.
type UsageDay struct {
	Day string `json:"day"`
	UsageSum
	Cost float64 `json:"cost,omitempty"` // at the prices that the budget has now, whatever they were on that day
}

// UsageSum counts requests, those that failed included, and tokens as the service counted them.
type UsageSum struct {
	Calls            int64 `json:"calls"`
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
}

// Left is what remains today of the limits that there are; nil where there is none.
type Left struct {
	Calls  *int64 `json:"calls,omitempty"`
	Tokens *int64 `json:"tokens,omitempty"`
}

func (b *Budget) left() (l Left) {
	if b.CallsPerDay > 0 {
		l.Calls = ptr(max(0, b.CallsPerDay-b.Calls))
	}
	if b.TokensPerDay > 0 {
		l.Tokens = ptr(max(0, b.TokensPerDay-b.Tokens))
	}
	return l
}

func (b *Budget) cost(u UsageSum) float64 {
	return (float64(u.PromptTokens)*b.PriceIn + float64(u.CompletionTokens)*b.PriceOut) / 1e6
}

// Usage tells what the tenant took of hosted language models and what is left of today's budget.
func (m *Memory) Usage(ctx context.Context, r UsageRequest) (UsageResult, error) {
	if err := r.complete(m.now()); err != nil {
		return UsageResult{}, err
	}
	res := UsageResult{From: r.From, To: r.To, Days: []UsageDay{}}
	days, err := m.ledger.Usage(ctx, m.tenant, r.From, r.To)
	if err != nil {
		return UsageResult{}, fmt.Errorf("usage: %w", err)
	}
	for _, d := range days {
		sum := UsageSum{d.Calls, d.PromptTokens, d.CompletionTokens}
		res.Days = append(res.Days, UsageDay{Day: d.Day, UsageSum: sum})
		res.Total.Calls += sum.Calls
		res.Total.PromptTokens += sum.PromptTokens
		res.Total.CompletionTokens += sum.CompletionTokens
	}
	if m.budget == nil {
		return res, nil
	}
	b, err := m.budget(ctx, m.tenant)
	if err != nil {
		return UsageResult{}, fmt.Errorf("usage: %w", err)
	}
	own := m.BudgetPolicy()
	own.Within(&b)
	res.Budget, res.Left = &b, b.left()
	res.Cost = b.cost(res.Total)
	for i := range res.Days {
		res.Days[i].Cost = b.cost(res.Days[i].UsageSum)
	}
	return res, nil
}

// complete checks the days and fills those that are left out.
func (r *UsageRequest) complete(now time.Time) error {
	to, err := usageDay("to", r.To, now)
	if err != nil {
		return err
	}
	from, err := usageDay("from", r.From, to.AddDate(0, 0, 1-usageDays))
	if err != nil {
		return err
	}
	if from.After(to) || to.Sub(from) > maxUsageDays*24*time.Hour {
		return store.Invalid("from", fmt.Sprintf("a day up to %d days before to", maxUsageDays), "")
	}
	r.From, r.To = from.Format(time.DateOnly), to.Format(time.DateOnly)
	return nil
}

func usageDay(field, text string, otherwise time.Time) (time.Time, error) {
	if text == "" {
		text = otherwise.UTC().Format(time.DateOnly)
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, store.Invalid(field, "a date such as 2026-01-31", "")
	}
	return day, nil
}
