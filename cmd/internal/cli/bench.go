package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/benchmarks"
	"evoke/benchmarks/figure"
	"evoke/cmd/internal/wire"
	"evoke/embed"
	"evoke/embed/modelstore"
	"evoke/store"
)

// report is what a run of the harness writes.
type report interface {
	WriteMarkdown(w io.Writer) error
	WriteJSON(w io.Writer) error
}

// benchFlags say on what the harness runs.
type benchFlags struct {
	data string
	sets []string
	plot string
}

func (f *benchFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.data, "data", "", "folder of a set, or of sets (needed)")
	c.Flags().StringSliceVar(&f.sets, "set", nil, "only these sets")
}

func (f *benchFlags) addPlot(c *cobra.Command) {
	c.Flags().StringVar(&f.plot, "plot", "", "folder to draw the figures into, as SVG (default: none are drawn)")
}

func (f *benchFlags) load() ([]benchmarks.Set, error) {
	if f.data == "" {
		return nil, store.Invalid("--data", "the folder of a set, or of sets", "")
	}
	sets, err := benchmarks.Load(f.data, f.sets)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrInvalid, err)
	}
	return sets, nil
}

func (a *app) benchCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "bench", Short: "Measure recall quality, latency and ingest", Args: noSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.benchQualityCmd(), a.benchContextCmd(), a.benchConsolidateCmd(), a.benchLatencyCmd(), a.benchIngestCmd(), a.benchBacklogCmd(), a.benchBackendsCmd(), a.benchExtractCmd(), a.benchLifecycleCmd())
	return c
}

// benchEmbedder is the embedder of the settings, or nil and the reason.
func (a *app) benchEmbedder(ctx context.Context) (embed.Embedder, string, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, "", err
	}
	e, reason, err := wire.Embedder(ctx, cfg, &wire.Options{NoModel: a.noModel, Environ: a.process.Environ})
	if e != nil {
		e = benchmarks.Uncached(e) // a latency must not be that of a vector kept from the question before
	}
	return e, reason, err
}

// drawn is a report that has figures, too.
type drawn interface {
	report
	Figures() []figure.Figure
}

// draw writes the report and, where a folder is given, its figures.
func (a *app) draw(r drawn, dir string) error {
	if dir != "" {
		paths, err := figure.Write(dir, r.Figures())
		if err != nil {
			return err
		}
		a.note("drawn: %s", strings.Join(paths, ", "))
	}
	return a.write(r)
}

func (a *app) write(r report) error {
	if a.json {
		return r.WriteJSON(a.process.Out)
	}
	return r.WriteMarkdown(a.process.Out)
}

// progress tells a person what is being done.
func (a *app) progress(line string) {
	if !a.json || isTerminal(a.process.Err) {
		a.note("%s", line)
	}
}

func (a *app) benchQualityCmd() *cobra.Command {
	var f benchFlags
	var work string
	var merge, cross bool
	c := &cobra.Command{
		Use: "quality", Short: "Recall quality on labelled sets, against baselines from the same index", Args: noArgs,
		Long: "Imports each set through the façade, asks its questions, and compares the default profile with itself without recency, classic, lexical only, dense only and rank fusion.",
	}
	f.add(c)
	f.addPlot(c)
	c.Flags().BoolVar(&merge, "merge", false, "also put the memories of all sets into one and ask it the first set's questions (sets in the order of --set)")
	c.Flags().BoolVar(&cross, "cross", false, "also ask the questions of each of two sets over the items of the other: the same memories in two languages")
	c.Flags().StringVar(&work, "work", "", "folder to keep the stores in, so that the next run need not embed again (default: in memory)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx := c.Context()
		run, err := a.benchRun(ctx, &f, work)
		if err != nil {
			return err
		}
		sets := run.sets
		r := &benchmarks.QualityReport{Machine: benchmarks.ThisMachine(ctx, time.Now())}
		for i := range sets {
			res, err := a.benchSet(ctx, run, &sets[i])
			if err != nil {
				return err
			}
			r.Sets = append(r.Sets, res)
		}
		if cross && len(sets) != 2 {
			return store.Invalid("--cross", "two sets", fmt.Sprint(len(sets)))
		}
		for i := 0; cross && i < 2; i++ {
			other := benchmarks.Cross(&sets[i], &sets[1-i])
			res, err := a.benchSet(ctx, run, &other)
			if err != nil {
				return err
			}
			r.Sets = append(r.Sets, res)
		}
		if merge {
			order(sets, r.Sets, f.sets)
			all := benchmarks.Merge(sets...)
			res, err := a.benchSet(ctx, run, &all)
			if err != nil {
				return err
			}
			r.Sets, r.Apart = append(r.Sets, res), map[string]*benchmarks.SetResult{res.Name: r.Sets[0]}
		}
		return a.draw(r, f.plot)
	}
	return c
}

// order puts sets and their results into the order in which the sets were named; any that were not stand behind.
func order(sets []benchmarks.Set, results []*benchmarks.SetResult, named []string) {
	place := func(name string) int {
		if i := slices.Index(named, name); i >= 0 {
			return i
		}
		return len(named)
	}
	slices.SortStableFunc(sets, func(a, b benchmarks.Set) int { return cmp.Compare(place(a.Name), place(b.Name)) })
	slices.SortStableFunc(results, func(a, b *benchmarks.SetResult) int { return cmp.Compare(place(a.Name), place(b.Name)) })
}

// benchSet runs one set on an engine of its own.
func (a *app) benchSet(ctx context.Context, run *benchRun, s *benchmarks.Set) (*benchmarks.SetResult, error) {
	return onSet(ctx, run, s.Name, func(m *evoke.Memory, clock *benchmarks.Clock) (*benchmarks.SetResult, error) {
		return benchmarks.RunSet(ctx, m, clock, s, a.progress)
	})
}

// needEmbedder is benchEmbedder for runs that mean nothing without one.
func (a *app) needEmbedder(ctx context.Context) (embed.Embedder, error) {
	e, reason, err := a.benchEmbedder(ctx)
	if err == nil && e == nil {
		err = fmt.Errorf("this run needs an embedder: %w: %s", modelstore.ErrNotInstalled, reason)
	}
	return e, err
}

func (a *app) benchLatencyCmd() *cobra.Command {
	var f benchFlags
	var o benchmarks.LatencyOptions
	c := &cobra.Command{
		Use: "latency", Short: "Latency of recall at several sizes of a memory", Args: noArgs,
		Long: "Fills memories with texts recombined from a set's and vectors moved from theirs, and times recall with the query's vector given and with the encoder.",
	}
	f.add(c)
	f.addPlot(c)
	c.Flags().IntSliceVar(&o.Sizes, "size", nil, "items in the memory (default 1000,10000,100000)")
	c.Flags().IntVar(&o.Calls, "calls", 0, "timed calls of a size (default 300)")
	c.Flags().StringVar(&o.Dir, "dir", "", "folder for the stores (default: a temporary one)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := f.first()
		if err != nil {
			return err
		}
		for _, n := range append([]int{o.Calls}, o.Sizes...) {
			if n < 0 || n > 10_000_000 {
				return store.Invalid("--size, --calls", "from 1 to 10000000", fmt.Sprint(n))
			}
		}
		e, err := a.needEmbedder(c.Context())
		if err != nil {
			return err
		}
		o.Progress = a.progress
		r, err := benchmarks.RunLatency(c.Context(), e, s, &o)
		if err != nil {
			return err
		}
		return a.draw(r, f.plot)
	}
	return c
}

// first is the set that a run of one set uses: locomo where it is there, else the first.
func (f *benchFlags) first() (*benchmarks.Set, error) {
	sets, err := f.load()
	if err != nil {
		return nil, err
	}
	for i := range sets {
		if sets[i].Name == "locomo" {
			return &sets[i], nil
		}
	}
	return &sets[0], nil
}

func (a *app) benchIngestCmd() *cobra.Command {
	var f benchFlags
	var o benchmarks.IngestOptions
	c := &cobra.Command{
		Use: "ingest", Short: "How fast conversations are taken in and their vectors follow", Args: noArgs,
	}
	f.add(c)
	c.Flags().IntVar(&o.Rate, "rate", 0, "events a second (default 100)")
	c.Flags().IntVar(&o.Events, "events", 0, "events in all (default 2000)")
	c.Flags().StringVar(&o.Dir, "dir", "", "folder for the store (default: a temporary one)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := f.first()
		if err != nil {
			return err
		}
		if o.Rate < 0 || o.Rate > 100_000 || o.Events < 0 || o.Events > 10_000_000 {
			return store.Invalid("--rate, --events", "from 1 to 100000 and from 1 to 10000000", "")
		}
		e, err := a.needEmbedder(c.Context())
		if err != nil {
			return err
		}
		o.Progress = a.progress
		r, err := benchmarks.RunIngest(c.Context(), e, s, &o)
		if err != nil {
			return err
		}
		return a.write(r)
	}
	return c
}
