package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"evoke"
)

func (a *app) blockCmd() *cobra.Command {
	return &cobra.Command{
		Use: "block HASH", Short: "Show which items an agent was shown", Args: cobra.ExactArgs(1),
		Long:    "Shows the record of a block that context made for the same user and agent, by the hash in its frame: ids, never content.",
		Example: "  evoke block 041970215045601616 --user ada",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s session) error {
				b, err := s.ShownBlock(ctx, evoke.BlockRequest{Who: a.who, Hash: args[0]})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(b)
				}
				a.printf("made %s, the last time %s, %d tokens, shape %s\n", count(b.Times, "time"), b.Last.Format(time.RFC3339), b.Tokens, b.Shape)
				rows := make([][]string, len(b.Items))
				for i, it := range b.Items {
					cut := ""
					if it.Compact {
						cut = "cut"
					}
					rows[i] = []string{visible(it.ID), it.Part, cut}
				}
				return a.table([]string{"ID", "PART", ""}, rows)
			})
		},
	}
}
