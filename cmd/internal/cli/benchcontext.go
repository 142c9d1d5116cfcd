package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/benchmarks"
	"evoke/recall"
	"evoke/store"
)

func (a *app) benchContextCmd() *cobra.Command {
	var f benchFlags
	var work, shape string
	var o benchmarks.ContextOptions
	c := &cobra.Command{
		Use: "context", Short: "Share of questions whose whole evidence is in the block, by token budget", Args: noArgs,
		Long: "Imports each set through the façade and packs a block for each question and budget.",
	}
	f.add(c)
	f.addPlot(c)
	c.Flags().StringVar(&work, "work", "", "folder to keep the stores in, so that the next run need not embed again (default: in memory)")
	c.Flags().StringVar(&shape, "shape", string(recall.Lines), "shape of the block: lines, briefing or full")
	c.Flags().IntSliceVar(&o.Budgets, "budget", benchmarks.Budgets(), "token budgets")
	c.Flags().IntVar(&o.Limit, "limit", 0, "hits asked for (default: by the budget)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx := c.Context()
		for _, b := range o.Budgets {
			if b < 1 || b > 100_000 {
				return store.Invalid("--budget", "from 1 to 100000", fmt.Sprint(b))
			}
		}
		run, err := a.benchRun(ctx, &f, work)
		if err != nil {
			return err
		}
		r := &benchmarks.ContextReport{Machine: benchmarks.ThisMachine(ctx, time.Now()), Shape: recall.Shape(shape)}
		o.Shape = r.Shape
		for i := range run.sets {
			s := &run.sets[i]
			curve, err := onSet(ctx, run, s.Name, func(m *evoke.Memory, clock *benchmarks.Clock) (*benchmarks.Curve, error) {
				return benchmarks.RunContext(ctx, m, clock, s, o, a.progress)
			})
			if err != nil {
				return err
			}
			r.Curves = append(r.Curves, curve)
		}
		return a.draw(r, f.plot)
	}
	return c
}
