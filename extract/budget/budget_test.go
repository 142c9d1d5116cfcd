package budget_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"evoke/extract/budget"
	"evoke/store"
)

var day = time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)

// Requests in flight together keep a limit that each of them alone would keep.
func TestHardStop(t *testing.T) {
	m := budget.New(func(context.Context, string, string) (budget.Used, error) {
		return budget.Used{Calls: 10, Tokens: 1000}, nil
	},
		func() time.Time { return day })
	limits := budget.Limits{Calls: 60, Tokens: 3000}
	var passed, refused atomic.Int64
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			r, err := m.Reserve(context.Background(), "acme", limits, 100)
			switch {
			case errors.Is(err, store.ErrBudget):
				refused.Add(1)
			case err != nil:
				t.Error(err)
			default:
				passed.Add(1)
				r.Settle(budget.Used{Calls: 1, Tokens: 100})
				r.Settle(budget.Used{Calls: 1, Tokens: 100})
			}
		})
	}
	wg.Wait()
	st, err := m.Status(context.Background(), "acme")
	if err != nil || passed.Load() != 20 || refused.Load() != 80 || st.Used != (budget.Used{Calls: 30, Tokens: 3000}) || st.Reserved != (budget.Used{}) {
		t.Errorf("%d passed, %d refused, %+v, %v", passed.Load(), refused.Load(), st, err)
	}
	if !st.Spent(limits) || st.Spent(budget.Limits{}) {
		t.Error("spent is not told")
	}
	if _, err := m.Reserve(context.Background(), "other", budget.Limits{Calls: 10}, 1); !errors.Is(err, store.ErrBudget) {
		t.Errorf("calls of before do not count: %v", err)
	}
}

// What a request did not take is there again, and a new day begins with nothing.
func TestSettleAndMidnight(t *testing.T) {
	now := day
	m := budget.New(nil, func() time.Time { return now })
	limits := budget.Limits{Tokens: 100}
	first, err := m.Reserve(context.Background(), "acme", limits, 100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = m.Reserve(context.Background(), "acme", limits, 1); !errors.Is(err, store.ErrBudget) {
		t.Errorf("in flight does not count: %v", err)
	}
	first.Settle(budget.Used{Calls: 1, Tokens: 40})
	second, err := m.Reserve(context.Background(), "acme", limits, 60)
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Hour)
	if st, err := m.Status(context.Background(), "acme"); err != nil || st != (budget.Status{Day: "2026-12-01"}) {
		t.Errorf("%+v, %v", st, err)
	}
	second.Settle(budget.Used{Calls: 1, Tokens: 60})
	if st, err := m.Status(context.Background(), "acme"); err != nil || st != (budget.Status{Day: "2026-12-01"}) {
		t.Errorf("yesterday's request counts today: %+v, %v", st, err)
	}
}

// As long as it is not known what was used, nothing is spent.
func TestUnknownUse(t *testing.T) {
	away := true
	m := budget.New(func(context.Context, string, string) (budget.Used, error) {
		if away {
			return budget.Used{}, store.ErrUnavailable
		}
		return budget.Used{Calls: 3}, nil
	}, nil)
	if _, err := m.Reserve(context.Background(), "acme", budget.Limits{Calls: 4}, 1); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	away = false
	if _, err := m.Reserve(context.Background(), "acme", budget.Limits{Calls: 4}, 1); err != nil {
		t.Error(err)
	}
	if _, err := m.Reserve(context.Background(), "acme", budget.Limits{Calls: 4}, 1); !errors.Is(err, store.ErrBudget) {
		t.Error(err)
	}
}
