package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/benchmarks"
)

func (a *app) benchLifecycleCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "lifecycle", Short: "Whether memory follows changes, ends, undos, erasures and the past", Args: noArgs,
		Long: "Plays histories of our own in English and Chinese in memories that are thrown away, and checks after each step what a list and a recall show.",
	}
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		ctx := c.Context()
		e, reason, err := a.benchEmbedder(ctx)
		if err != nil {
			return err
		}
		clock := &benchmarks.Clock{}
		m, err := evoke.Open(ctx, &evoke.Options{Embedder: e, NoEmbedder: reason, Clock: clock.Now})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		machine := benchmarks.ThisMachine(ctx, time.Now())
		r, err := benchmarks.RunLifecycle(ctx, m, clock)
		if err != nil {
			return err
		}
		r.Machine, r.Vectors = machine, "none"
		if e != nil {
			r.Vectors = e.Model().Name
		}
		return a.write(r)
	}
	return c
}
