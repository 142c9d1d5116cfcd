package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/benchmarks"
	"evoke/embed"
	"evoke/store"
	"evoke/store/qdrantstore"
	"evoke/store/sqlitestore"
)

func (a *app) benchBackendsCmd() *cobra.Command {
	var f benchFlags
	var url string
	c := &cobra.Command{
		Use: "backends", Short: "Whether the embedded store and a Qdrant server rank alike", Args: noArgs,
		Long: "Imports the sets into an embedded store and into a collection of a Qdrant server, which is left there, asks both every question and compares the answers.",
	}
	f.add(c)
	c.Flags().StringVar(&url, "qdrant", "", "URL of the server and a collection for the run, such as qdrant://localhost:6334/bench (needed)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if url == "" {
			return store.Invalid("--qdrant", "the URL of a server, such as qdrant://localhost:6334/bench", "")
		}
		sets, err := f.load()
		if err != nil {
			return err
		}
		e, err := a.needEmbedder(c.Context())
		if err != nil {
			return err
		}
		r, err := a.compareBackends(c.Context(), e, url, sets)
		if err != nil {
			return err
		}
		return a.write(r)
	}
	return c
}

func (a *app) compareBackends(ctx context.Context, e embed.Embedder, url string, sets []benchmarks.Set) (r *benchmarks.BackendsReport, err error) {
	clock := &benchmarks.Clock{}
	r = &benchmarks.BackendsReport{Machine: benchmarks.ThisMachine(ctx, time.Now()), A: "sqlitestore", B: "Qdrant"}
	items, err := qdrantstore.Open(ctx, &qdrantstore.Options{URL: url})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, items.Close()) }()
	ledger, err := sqlitestore.OpenMemory(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	remote, err := evoke.Open(ctx, &evoke.Options{Store: items, Ledger: ledger, Embedder: e, Clock: clock.Now})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remote.Close()) }()
	embedded, err := evoke.Open(ctx, &evoke.Options{Embedder: e, Clock: clock.Now})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, embedded.Close()) }()
	for i := range sets {
		s, err := benchmarks.CompareBackends(ctx, embedded, remote, clock, &sets[i], a.progress)
		if err != nil {
			return nil, err
		}
		r.Sets = append(r.Sets, s)
	}
	return r, nil
}
