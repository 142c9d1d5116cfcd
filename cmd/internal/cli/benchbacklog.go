package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"evoke/benchmarks"
	"evoke/store"
)

func (a *app) benchBacklogCmd() *cobra.Command {
	var f benchFlags
	var o benchmarks.BacklogOptions
	c := &cobra.Command{
		Use: "backlog", Short: "Whether background work keeps up, and what recall pays for it", Args: noArgs,
		Long: "Asks a memory steadily, in turn without anything else and with conversations coming in beside, and compares the times of recall; watches the backlog of vectors and of extractions.",
	}
	f.add(c)
	c.Flags().IntVar(&o.Items, "items", 0, "items in the memory that is asked (default 10000)")
	c.Flags().IntVar(&o.Turns, "turns", 0, "turns a second (default 15)")
	c.Flags().IntVar(&o.Recalls, "recalls", 0, "recalls a second (default 10)")
	c.Flags().DurationVar(&o.Block, "stretch", 0, "how long each stretch lasts (default 20s)")
	c.Flags().IntVar(&o.Pairs, "pairs", 0, "pairs of stretches (default 6)")
	c.Flags().StringVar(&o.Dir, "dir", "", "folder for the store (default: a temporary one)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := f.first()
		if err != nil {
			return err
		}
		for _, n := range []int{o.Items, o.Turns, o.Recalls, o.Pairs} {
			if n < 0 || n > 10_000_000 {
				return store.Invalid("--items, --turns, --recalls, --pairs", "from 1 to 10000000", fmt.Sprint(n))
			}
		}
		if o.Block < 0 || o.Block > time.Hour {
			return store.Invalid("--stretch", "up to 1h", o.Block.String())
		}
		e, err := a.needEmbedder(c.Context())
		if err != nil {
			return err
		}
		o.Progress = a.progress
		r, err := benchmarks.RunBacklog(c.Context(), e, s, &o)
		if err != nil {
			return err
		}
		return a.write(r)
	}
	return c
}
