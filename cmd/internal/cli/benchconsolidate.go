package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/benchmarks"
	"evoke/store"
)

func (a *app) benchConsolidateCmd() *cobra.Command {
	var f benchFlags
	var work string
	var budget int
	var p evoke.ConsolidationPolicy
	c := &cobra.Command{
		Use: "consolidate", Short: "What consolidation does to what a block holds", Args: noArgs,
		Long: "Imports each set through the façade, asks its questions of a block before and after its memories are consolidated, and counts the items in the default view.",
	}
	f.add(c)
	c.Flags().StringVar(&work, "work", "", "folder with stores of the sets, to which the summaries are added: give a copy (default: in memory)")
	c.Flags().IntVar(&budget, "budget", 1000, "tokens of a block")
	policyFlags(c, &p)
	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx := c.Context()
		if budget < 1 || budget > 100_000 {
			return store.Invalid("--budget", "from 1 to 100000", fmt.Sprint(budget))
		}
		run, err := a.benchRun(ctx, &f, work)
		if err != nil {
			return err
		}
		r := &benchmarks.ConsolidationReport{Machine: benchmarks.ThisMachine(ctx, time.Now())}
		for i := range run.sets {
			s := &run.sets[i]
			got, err := onSet(ctx, run, s.Name, func(m *evoke.Memory, clock *benchmarks.Clock) (*benchmarks.Consolidation, error) {
				return benchmarks.RunConsolidation(ctx, m, clock, s, budget, p, a.progress)
			})
			if err != nil {
				return err
			}
			r.Sets = append(r.Sets, got)
		}
		return a.write(r)
	}
	return c
}
