package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"evoke"
)

func (a *app) usageCmd() *cobra.Command {
	var r evoke.UsageRequest
	var from, to string
	c := &cobra.Command{
		Use: "usage", Short: "Show what the tenant took of hosted language models, by day, and what is left today", Args: noArgs,
	}
	c.Flags().StringVar(&from, "from", "", "first day, in UTC: "+timeForms+" (default 29 days before --to)")
	c.Flags().StringVar(&to, "to", "", "last day: "+timeForms+" (default today)")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if r.From, err = dayOf("from", from); err != nil {
			return err
		}
		if r.To, err = dayOf("to", to); err != nil {
			return err
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			res, err := s.Usage(ctx, r)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(res)
			}
			return a.printUsage(res)
		})
	}
	return c
}

// dayOf is the day, in UTC, of what a flag says.
func dayOf(flag, s string) (string, error) {
	at, err := when(flag, s)
	if err != nil || at.IsZero() {
		return "", err
	}
	return at.UTC().Format(time.DateOnly), nil
}

func (a *app) printUsage(res evoke.UsageResult) error {
	row := func(name string, u evoke.UsageSum) []string {
		return []string{name, fmt.Sprint(u.Calls), fmt.Sprint(u.PromptTokens), fmt.Sprint(u.CompletionTokens)}
	}
	rows := make([][]string, 0, len(res.Days)+1)
	for _, d := range res.Days {
		rows = append(rows, row(d.Day, d.UsageSum))
	}
	if err := a.table([]string{"DAY", "CALLS", "PROMPT", "ANSWER"}, append(rows, row("total", res.Total))); err != nil {
		return err
	}
	if res.Cost > 0 {
		a.printf("cost %.4f at the prices of the settings\n", res.Cost)
	}
	if b := res.Budget; b != nil {
		left := func(n *int64) string {
			if n == nil {
				return "no limit"
			}
			return fmt.Sprintf("%d left", *n)
		}
		a.printf("today: %d calls (%s), %d tokens (%s)\n", b.Calls, left(res.Left.Calls), b.Tokens, left(res.Left.Tokens))
		if b.Spent {
			a.printf("the budget is spent: until the next day (UTC) rules extract, or conversations wait\n")
		}
	}
	return nil
}
