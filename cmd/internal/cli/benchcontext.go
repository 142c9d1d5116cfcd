package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"evoke/benchmarks"
	"evoke/embed"
	"evoke/recall"
	"evoke/store"
)

func (a *app) benchContextCmd() *cobra.Command {
	var f benchFlags
	var work, shape string
	var o benchmarks.ContextOptions
	c := &cobra.Command{
		Use: "context", Short: "Share of questions whose whole evidence is in the block, by token budget", Args: cobra.NoArgs,
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
		sets, err := f.load()
		if err != nil {
			return err
		}
		e, reason, err := a.benchEmbedder(ctx)
		if err != nil {
			return err
		}
		if reason != "" {
			a.note("lexical only: %s", reason)
		}
		r := &benchmarks.ContextReport{Machine: benchmarks.ThisMachine(ctx, time.Now()), Shape: recall.Shape(shape)}
		o.Shape = r.Shape
		for i := range sets {
			curve, err := a.benchCurve(ctx, e, reason, work, &sets[i], o)
			if err != nil {
				return err
			}
			r.Curves = append(r.Curves, curve)
		}
		return a.draw(r, f.plot)
	}
	return c
}

func (a *app) benchCurve(ctx context.Context, e embed.Embedder, reason, work string, s *benchmarks.Set, o benchmarks.ContextOptions) (_ *benchmarks.Curve, err error) {
	m, clock, err := openBench(ctx, e, reason, work, s.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return benchmarks.RunContext(ctx, m, clock, s, o, a.progress)
}
