package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

func (a *app) quarantineCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "quarantine", Short: "Review what was extracted and not stored", Args: noSuchCommand,
		Long: "What an extractor proposed and what does not stand in the conversation, or cannot be told to, waits here and is never recalled.",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.quarantineListCmd(), a.approveCmd(), a.rejectCmd())
	return c
}

func (a *app) quarantineListCmd() *cobra.Command {
	var limit int
	var cursor string
	c := &cobra.Command{Use: "list", Short: "Show what waits, newest first: of all memories, or those that --user and --agent name", Args: cobra.NoArgs}
	c.Flags().IntVar(&limit, "limit", 100, "entries a page, 1 to 1000")
	c.Flags().StringVar(&cursor, "cursor", "", "go on where a page ended")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if limit < 1 {
			return store.Invalid("--limit", "from 1 to 1000", fmt.Sprint(limit))
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			res, err := s.Quarantined(ctx, evoke.QuarantineRequest{Who: a.who, Limit: limit, Cursor: cursor})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(res)
			}
			return a.printQuarantine(res)
		})
	}
	return c
}

func (a *app) printQuarantine(res evoke.QuarantineResult) error {
	if len(res.Entries) == 0 {
		a.printf("nothing waits for review\n")
		return nil
	}
	rows := make([][]string, len(res.Entries))
	for i, e := range res.Entries {
		said := strings.Join(strings.Fields(visible(first(e.Operation.Content, e.Operation.Target))), " ")
		rows[i] = []string{e.ID, e.At.Format(time.RFC3339), visible(e.User), e.Reason, string(e.Operation.Action), clip(said, contentWidth)}
	}
	if err := a.table([]string{"ID", "WHEN", "USER", "REASON", "WOULD", "CONTENT"}, rows); err != nil {
		return err
	}
	if res.Next != "" {
		a.note("more with --cursor %s", res.Next)
	}
	return nil
}

func (a *app) approveCmd() *cobra.Command {
	return &cobra.Command{
		Use: "approve ID…", Short: "Store what you vouch for", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withMemory(c, func(ctx context.Context, s session) error {
				res, err := s.Approve(ctx, args)
				if err != nil {
					return err
				}
				if err := a.settle(ctx, s, settleWait); err != nil {
					return err
				}
				if a.json {
					if err := a.printJSON(res); err != nil {
						return err
					}
				} else if res.Approved > 0 {
					a.printf("%s approved\n", countOf(res.Approved, "entry", "entries"))
				}
				for _, r := range res.Refused {
					a.note("%s: %s", visible(r.ID), r.Why)
				}
				if len(res.Unknown) > 0 {
					return unknownEntries(res.Unknown)
				}
				if len(res.Refused) > 0 {
					return store.Invalid("ids", "of entries that can be stored", countOf(len(res.Refused), "entry", "entries")+" refused")
				}
				return nil
			})
		},
	}
}

func (a *app) rejectCmd() *cobra.Command {
	return &cobra.Command{
		Use: "reject ID…", Short: "Remove what is wrong", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s session) error {
				res, err := s.Reject(ctx, args)
				if err != nil {
					return err
				}
				if a.json {
					if err := a.printJSON(res); err != nil {
						return err
					}
				} else if res.Rejected > 0 {
					a.printf("%s rejected\n", countOf(res.Rejected, "entry", "entries"))
				}
				if len(res.Unknown) > 0 {
					return unknownEntries(res.Unknown)
				}
				return nil
			})
		},
	}
}

// countOf writes a number of things whose plural has a form of its own.
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func unknownEntries(ids []string) error {
	shown := make([]string, 0, 20)
	for _, id := range ids[:min(len(ids), 20)] {
		shown = append(shown, visible(id))
	}
	return fmt.Errorf("%w: not in this tenant's quarantine: %s (evoke quarantine list shows it)", store.ErrNotFound, strings.Join(shown, ", "))
}
