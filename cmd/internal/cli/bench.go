package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/benchmarks"
	"evoke/cmd/internal/wire"
	"evoke/embed"
	"evoke/store"
)

// benchFlags are shared by the benchmarks.
type benchFlags struct {
	data  string
	sets  []string
	work  string
	model string
}

func (a *app) benchCmd() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use: "bench", Short: "Measure recall quality, latency and the pace of ingest", Args: noSuchCommand,
		Long: `Measures the engine through its façade on labelled sets. A set is a folder with <set>.items.jsonl.gz and <set>.queries.jsonl.gz:
items {ns, id, text, speaker, time, type, meta: {session, seq}}, queries {ns, id, query, category, time, relevant}.
Reports name the machine, the commit, sample sizes and 95 % intervals; --json prints them for programs.`,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	p := c.PersistentFlags()
	p.StringVar(&f.data, "data", "", "a set's folder, or a folder of sets")
	p.StringSliceVar(&f.sets, "sets", nil, "names of the sets to use (default: all)")
	p.StringVar(&f.work, "work", "", "directory to keep the stores in, so that a second run need not embed again (default: temporary)")
	p.StringVar(&f.model, "model", "", "embedding model (setting embed.model)")
	var sizes []int
	latency := &cobra.Command{
		Use: "latency", Short: "Latency of recall over 1k, 10k and 100k items", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.benchLatency(c.Context(), &f, sizes) },
	}
	latency.Flags().IntSliceVar(&sizes, "sizes", nil, "numbers of items (default 1000,10000,100000)")
	var rate, events int
	ingest := &cobra.Command{
		Use: "ingest", Short: "Latency of acknowledgement at a steady rate, and how fast vectors follow", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.benchIngest(c.Context(), &f, rate, events) },
	}
	ingest.Flags().IntVar(&rate, "rate", 0, "events a second (default 100)")
	ingest.Flags().IntVar(&events, "events", 0, "events in all (default 2000)")
	c.AddCommand(&cobra.Command{
		Use: "quality", Short: "Recall quality of the default profile against classic, lexical only, dense only and rank fusion", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.benchQuality(c.Context(), &f) },
	}, latency, ingest)
	return c
}

// setup reads the sets and opens the model; a nil embedder means that there is none, for the reason given.
func (a *app) setup(ctx context.Context, f *benchFlags) ([]benchmarks.Set, embed.Embedder, string, error) {
	if f.data == "" {
		return nil, nil, "", fmt.Errorf("%w: --data: name a set's folder or a folder of sets", store.ErrInvalid)
	}
	sets, err := benchmarks.Load(f.data, f.sets)
	if err != nil {
		return nil, nil, "", fmt.Errorf("%w: --data: %w", store.ErrInvalid, err)
	}
	flags := map[string]any{}
	if f.model != "" {
		flags["embed.model"] = f.model
	}
	cfg, err := a.configWith(flags)
	if err != nil {
		return nil, nil, "", err
	}
	e, reason, err := wire.Embedder(ctx, cfg, &wire.Options{NoModel: a.noModel, Environ: a.process.Environ})
	return sets, e, reason, err
}

func (a *app) benchQuality(ctx context.Context, f *benchFlags) error {
	sets, e, reason, err := a.setup(ctx, f)
	if err != nil {
		return err
	}
	dir := f.work
	if dir == "" {
		if dir, err = os.MkdirTemp("", "evoke-bench-"); err != nil {
			return fmt.Errorf("temporary directory: %w", err)
		}
		defer os.RemoveAll(dir)
	}
	clock := new(benchmarks.Clock)
	report := &benchmarks.QualityReport{Machine: benchmarks.ThisMachine(ctx, clock.Now())}
	m, err := evoke.Open(ctx, &evoke.Options{Path: dir, Durability: "normal", Embedder: e, NoEmbedder: reason, Clock: clock.Now})
	if err != nil {
		return err
	}
	defer m.Close()
	for i := range sets {
		r, err := benchmarks.RunSet(ctx, m, clock, &sets[i], func(line string) { a.note("%s", line) })
		if err != nil {
			return err
		}
		report.Sets = append(report.Sets, r)
	}
	return a.printReport(report)
}

func (a *app) benchLatency(ctx context.Context, f *benchFlags, sizes []int) error {
	sets, e, reason, err := a.setup(ctx, f)
	if err != nil {
		return err
	}
	if e == nil {
		return fmt.Errorf("%w: the latency benchmark needs a model: %s", store.ErrUnavailable, reason)
	}
	r, err := benchmarks.RunLatency(ctx, e, &sets[0], &benchmarks.LatencyOptions{Sizes: sizes, Dir: f.work, Progress: func(line string) { a.note("%s", line) }})
	if err != nil {
		return err
	}
	return a.printReport(r)
}

func (a *app) benchIngest(ctx context.Context, f *benchFlags, rate, events int) error {
	sets, e, _, err := a.setup(ctx, f)
	if err != nil {
		return err
	}
	r, err := benchmarks.RunIngest(ctx, e, &sets[0], &benchmarks.IngestOptions{Rate: rate, Events: events, Dir: f.work, Progress: func(line string) { a.note("%s", line) }})
	if err != nil {
		return err
	}
	return a.printReport(r)
}

// report is what every benchmark makes.
type report interface {
	WriteMarkdown(w io.Writer) error
	WriteJSON(w io.Writer) error
}

func (a *app) printReport(r report) error {
	if a.json {
		return r.WriteJSON(a.process.Out)
	}
	return r.WriteMarkdown(a.process.Out)
}
