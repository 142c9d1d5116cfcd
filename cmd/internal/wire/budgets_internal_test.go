package wire

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"evoke/cmd/internal/config"
	"evoke/extract"
	"evoke/extract/budget"
	"evoke/extract/llm"
	"evoke/store"
)

func first(tenant string) llm.Call {
	return llm.Call{Scope: store.Scope{Tenant: tenant}, Tokens: 10, Nth: 1}
}

// An extraction that has begun is not given back for its pace; it waits for a minute at most and is paid for by those that
// come after it.
func TestPaceOfAnExtractionThatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, slow := newBudgets(nil, time.Now), config.Budget{CallsPerMinute: 1}
		start := time.Now()
		for n := range 4 {
			c := first("acme")
			c.Nth = n + 1
			if _, err := b.admit(t.Context(), c, slow); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(start); d != 3*time.Minute {
			t.Errorf("four requests at one a minute took %v", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		c := first("acme")
		c.Nth = 5
		if _, err := b.admit(ctx, c, slow); err != nil || time.Since(start) != 3*time.Minute+10*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		var later interface{ RetryAfter() time.Duration }
		if _, err := b.admit(t.Context(), first("acme"), slow); !errors.As(err, &later) || later.RetryAfter() != 110*time.Second {
			t.Errorf("the next conversation: %v", err)
		}
	})
}

// Requests come evenly over the minute; one whose turn is far off is given back and takes nothing.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudgets(nil, time.Now)
		start := time.Now()
		for range 4 {
			settle, err := b.admit(t.Context(), first("acme"), config.Budget{CallsPerMinute: 30})
			if err != nil {
				t.Fatal(err)
			}
			settle(extract.Usage{Calls: 1, PromptTokens: 7, CompletionTokens: 1})
		}
		if d := time.Since(start); d != 6*time.Second {
			t.Errorf("four requests at 30 a minute took %v", d)
		}
		if _, err := b.admit(t.Context(), first("other"), config.Budget{CallsPerMinute: 1}); err != nil {
			t.Error(err) // tenants do not wait for each other
		}
		_, err := b.admit(t.Context(), first("other"), config.Budget{CallsPerMinute: 1})
		var later interface{ RetryAfter() time.Duration }
		if !errors.Is(err, extract.ErrPaced) || !errors.As(err, &later) || later.RetryAfter() != time.Minute || errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.admit(ctx, first("acme"), config.Budget{CallsPerMinute: 10}); !errors.Is(err, extract.ErrPaced) {
			t.Errorf("a turn behind the caller's time: %v", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		if _, err := b.admit(ctx, first("acme"), config.Budget{CallsPerMinute: 10}); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who goes: %v", err)
		}
		st, err := b.meter.Status(t.Context(), "acme")
		if err != nil || st.Used != (budget.Used{Calls: 4, Tokens: 32}) || st.Reserved != (budget.Used{}) {
			t.Errorf("%+v, %v", st, err)
		}
	})
}

// What cannot be read is no spent budget.
func TestUseBeforeThatCannotBeRead(t *testing.T) {
	e := &Engine{ledger: brokenLedger{}}
	b := newBudgets(e.usedBefore, time.Now)
	if _, err := b.admit(t.Context(), first("acme"), config.Budget{CallsPerDay: 1}); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrBudget) {
		t.Error(err)
	}
}

type brokenLedger struct{ store.Ledger }

func (brokenLedger) Usage(context.Context, string, string, string) ([]store.Usage, error) {
	return nil, errors.New("no disk")
}
