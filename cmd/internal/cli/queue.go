package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"evoke"
)

func (a *app) queueCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "queue", Short: "Show, pause, drain and resume the tenant's queue of extractions", Args: noSuchCommand,
		Long: `Shows how the tenant's queue of extractions stands. While it is paused, also after a restart, conversations are taken in and
recalled as ever, and their facts wait. A server that runs is asked with POST /v1/admin/queue/pause and so on instead: it holds the store.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.withQueue(c, nil) },
	}
	for _, verb := range []struct {
		use, short string
		do         func(context.Context, session) error
	}{
		{"pause", "Let no further extraction begin", func(ctx context.Context, s session) error { return s.Pause(ctx) }},
		{"resume", "End a pause", func(ctx context.Context, s session) error { return s.Resume(ctx) }},
	} {
		c.AddCommand(&cobra.Command{
			Use: verb.use, Short: verb.short, Args: noArgs,
			RunE: func(c *cobra.Command, _ []string) error { return a.withQueue(c, verb.do) },
		})
	}
	c.AddCommand(a.drainCmd())
	return c
}

func (a *app) drainCmd() *cobra.Command {
	var wait time.Duration
	c := &cobra.Command{Use: "drain", Short: "Pause and wait until no extraction runs", Args: noArgs}
	c.Flags().DurationVar(&wait, "wait", time.Minute, "how long to wait")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withQueue(c, func(ctx context.Context, s session) error {
			limited, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			err := s.Drain(limited)
			if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
				return s.Pause(ctx) // the table tells what still runs
			}
			return err
		})
	}
	return c
}

// withQueue does something to the queue, if anything, and shows how it stands.
func (a *app) withQueue(c *cobra.Command, do func(context.Context, session) error) error {
	return a.withStore(c, func(ctx context.Context, s session) error {
		if do != nil {
			if err := do(ctx, s); err != nil {
				return err
			}
		}
		st, err := s.QueueStats(ctx)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(st)
		}
		a.printf("%s\n", queueText(st))
		return nil
	})
}

// queueText is how a queue stands, in words.
func queueText(st evoke.QueueState) string {
	paused := ""
	if st.Paused {
		paused = "paused, "
	}
	away := ""
	if st.Away != "" {
		away = fmt.Sprintf("; the model is away (%s), asked again at %s", st.Away, st.AwayUntil.Format(time.RFC3339))
	}
	return fmt.Sprintf("queue: %s%d waiting, %d of them due, %d being extracted%s", paused, st.Waiting, st.Due, st.Leased, away)
}
