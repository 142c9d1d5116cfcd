package evoke

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

func TestUsage(t *testing.T) {
	now := time.Date(2026, 3, 31, 23, 30, 0, 0, time.UTC)
	budget := func(_ context.Context, tenant string) (Budget, error) {
		if tenant == "broken" {
			return Budget{}, store.ErrUnavailable
		}
		if tenant != "default" {
			return Budget{Day: "2026-03-31"}, nil
		}
		return Budget{Day: "2026-03-31", CallsPerDay: 10, TokensPerDay: 100, Calls: 4, Tokens: 130, Spent: true, PriceIn: 2, PriceOut: 10}, nil
	}
	m := open(t, &Options{Clock: clockAt(now).now, Budget: budget})
	for _, u := range []store.Usage{
		{Day: "2026-03-01", Calls: 9, PromptTokens: 9, CompletionTokens: 9}, {Day: "2026-03-02", Calls: 1, PromptTokens: 10, CompletionTokens: 2},
		{Day: "2026-03-31", Calls: 3, PromptTokens: 30, CompletionTokens: 5}, {Day: "2026-03-31", Calls: 1},
	} {
		if err := m.ledger.AddUsage(t.Context(), "default", u); err != nil {
			t.Fatal(err)
		}
	}
	got, err := m.Usage(t.Context(), UsageRequest{})
	want := UsageResult{
		From: "2026-03-02", To: "2026-03-31", Days: []UsageDay{{"2026-03-02", UsageSum{1, 10, 2}, 4e-05}, {"2026-03-31", UsageSum{4, 30, 5}, 0.00011}},
		Total: UsageSum{5, 40, 7}, Cost: 0.00015, Left: Left{ptr(int64(6)), ptr(int64(0))},
		Budget: &Budget{Day: "2026-03-31", CallsPerDay: 10, TokensPerDay: 100, Calls: 4, Tokens: 130, Spent: true, PriceIn: 2, PriceOut: 10},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if got, err := m.Usage(t.Context(), UsageRequest{From: "2026-03-01", To: "2026-03-01"}); err != nil || got.Total.Calls != 9 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, r := range []UsageRequest{{From: "yesterday"}, {To: "31.3.2026"}, {From: "2026-04-01", To: "2026-03-01"}, {From: "1999-01-01"}} {
		if _, err := m.Usage(t.Context(), r); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	other, err := m.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := other.Usage(t.Context(), UsageRequest{}); err != nil || len(got.Days) != 0 || got.Left != (Left{}) || got.Cost != 0 {
		t.Errorf("another tenant's: %+v, %v", got, err)
	}
	broken, err := m.ForTenant("broken")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := broken.Usage(t.Context(), UsageRequest{}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}
