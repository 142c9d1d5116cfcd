package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

func (a *app) eventsCmd() *cobra.Command {
	var state, cursor string
	var limit int
	c := &cobra.Command{
		Use: "events", Short: "Show what became of ingested conversations, and try given-up ones again", Args: noArgs,
		Long: "Lists what became of ingested batches, newest first: of all memories, or those that --user, --agent and --thread name.",
		Example: `  evoke events --state dead
  evoke events retry 0197b3c2-5d5e-7000-8000-000000000000`,
	}
	c.Flags().StringVar(&state, "state", "", "pending, stored, nothing, dead or quarantined (default all)")
	c.Flags().IntVar(&limit, "limit", 100, "events a page, 1 to 1000")
	c.Flags().StringVar(&cursor, "cursor", "", "go on where a page ended")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if limit < 1 {
			return store.Invalid("--limit", "between 1 and 1000", fmt.Sprint(limit))
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			res, err := s.Events(ctx, evoke.EventsRequest{Who: a.who, State: store.EventState(state), Limit: limit, Cursor: cursor})
			if err != nil {
				return err
			}
			queue, err := s.QueueStats(ctx)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					evoke.EventsResult
					Queue evoke.QueueState `json:"queue"`
				}{res, queue})
			}
			return a.printEvents(res, queue)
		})
	}
	c.AddCommand(a.retryCmd())
	return c
}

func (a *app) printEvents(res evoke.EventsResult, queue evoke.QueueState) error {
	rows := make([][]string, len(res.Events))
	for i, e := range res.Events {
		rows[i] = []string{e.ID, string(e.State), fmt.Sprint(e.Facts), e.CreatedAt.Format(time.RFC3339), visible(e.User), visible(e.Thread), e.Note}
	}
	if len(rows) == 0 {
		a.printf("no events\n")
	} else {
		if err := a.table([]string{"ID", "STATE", "FACTS", "WHEN", "USER", "THREAD", "NOTE"}, rows); err != nil {
			return err
		}
	}
	counts := make([]string, 0, len(res.Counts))
	for _, s := range []store.EventState{store.EventPending, store.EventStored, store.EventNothing, store.EventQuarantined, store.EventDead} {
		counts = append(counts, fmt.Sprintf("%d %s", res.Counts[s], s))
	}
	a.printf("events of the tenant: %s\n%s\n", strings.Join(counts, ", "), queueText(queue))
	if res.Next != "" {
		a.note("more with --cursor %s", res.Next)
	}
	return nil
}

func (a *app) retryCmd() *cobra.Command {
	return &cobra.Command{
		Use: "retry ID…", Short: "Extract given-up events again", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withMemory(c, func(ctx context.Context, s session) error {
				res, err := s.RetryEvents(ctx, args)
				if err != nil {
					return err
				}
				if err := a.awaitEvents(ctx, s, args); err != nil {
					return err
				}
				if a.json {
					if err := a.printJSON(res); err != nil {
						return err
					}
				} else if res.Revived > 0 {
					a.printf("%s tried again\n", count(res.Revived, "event"))
				}
				if len(res.Skipped) == 0 {
					return nil
				}
				shown := make([]string, 0, 20)
				for _, id := range res.Skipped[:min(len(res.Skipped), 20)] {
					shown = append(shown, visible(id))
				}
				return fmt.Errorf("%w: %d not tried again, no dead event of this tenant: %s (evoke events --state dead shows them)",
					store.ErrNotFound, len(res.Skipped), strings.Join(shown, ", "))
			})
		},
	}
}

// awaitEvents gives events some time to end. Those that need more go on at the next command.
func (a *app) awaitEvents(ctx context.Context, s session, ids []string) error {
	end := time.Now().Add(settleWait)
	for _, id := range ids {
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		if _, err := s.Event(ctx, id, left); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}
