package cli

import (
	"context"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

func (a *app) outcomeCmd() *cobra.Command {
	var key, at string
	c := &cobra.Command{
		Use: "outcome ID succeeded|failed", Short: "Report how it went to do what a procedural item says", Args: cobra.ExactArgs(2),
		Example: "  evoke outcome --user ada 0197b3c2-5d5e-7000-8000-000000000000 failed",
	}
	c.Flags().StringVar(&key, "idempotency-key", "", "the same key with the same report counts once")
	c.Flags().StringVar(&at, "at", "", "when: "+timeForms+" (default now)")
	c.RunE = func(c *cobra.Command, args []string) error {
		when, err := when("at", at)
		if err != nil {
			return err
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			it, err := s.Outcome(ctx, evoke.OutcomeRequest{Who: a.who, ID: args[0], Outcome: store.Outcome(args[1]), At: when, IdempotencyKey: key})
			if err != nil {
				return unknownItem(err, args[0])
			}
			if a.json {
				return a.printJSON(it)
			}
			a.printf("%d succeeded, %d failed\n", it.Outcomes.Succeeded, it.Outcomes.Failed)
			return nil
		})
	}
	return c
}
