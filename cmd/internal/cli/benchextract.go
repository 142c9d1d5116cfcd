package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/benchmarks"
	"evoke/embed"
	"evoke/extract"
	"evoke/extract/rules"
	"evoke/store"
)

func (a *app) benchExtractCmd() *cobra.Command {
	var data string
	c := &cobra.Command{
		Use: "extract", Short: "What the rule extractor finds in labelled chats, and what its facts do to recall", Args: noArgs,
		Long: "Ingests the chats of the set prefeval and compares the facts with the labels; ingests the conversations of the set locomo with and without extraction and compares recall.",
	}
	c.Flags().StringVar(&data, "data", "", "folder of the sets (needed)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if data == "" {
			return store.Invalid("--data", "the folder of the sets", "")
		}
		ctx := c.Context()
		chats, err := benchmarks.LoadChats(data, "prefeval")
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrInvalid, err)
		}
		x := rules.New(nil)
		r := &benchmarks.ExtractReport{Machine: benchmarks.ThisMachine(ctx, time.Now()), Extractor: x.Name()}
		if len(chats) > 0 {
			if r.Latency, err = benchmarks.TimeExtractor(ctx, x, userTexts(chats)); err != nil {
				return err
			}
			if err := a.benchChats(ctx, r, chats); err != nil {
				return err
			}
		}
		sets, err := benchmarks.Load(data, []string{"locomo"})
		if err == nil {
			err = a.benchFacts(ctx, r, &sets[0])
		} else if len(chats) > 0 {
			err = nil // a folder may hold one of the two
		}
		if err != nil {
			return err
		}
		return a.write(r)
	}
	return c
}

func userTexts(chats []benchmarks.Chat) (texts []string) {
	for _, c := range chats {
		for _, m := range c.Messages {
			if m.Role == "user" {
				texts = append(texts, m.Content)
			}
		}
	}
	return texts
}

func (a *app) benchChats(ctx context.Context, r *benchmarks.ExtractReport, chats []benchmarks.Chat) (err error) {
	m, err := evoke.Open(ctx, &evoke.Options{NoEmbedder: "not needed"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	res, err := benchmarks.RunChats(ctx, m, "prefeval", chats)
	if err != nil {
		return err
	}
	r.Chats = append(r.Chats, res)
	return nil
}

// nothing is the extractor of the memory without facts.
type nothing struct{}

func (nothing) Name() string { return "nothing/1" }

func (nothing) Extract(context.Context, extract.Batch) ([]extract.Operation, error) { return nil, nil }

func (a *app) benchFacts(ctx context.Context, r *benchmarks.ExtractReport, s *benchmarks.Set) (err error) {
	e, reason, err := a.benchEmbedder(ctx)
	if err != nil {
		return err
	}
	if reason != "" {
		a.note("lexical only: %s", reason)
	}
	clock := &benchmarks.Clock{}
	open := func(e embed.Embedder, x extract.Extractor) (*evoke.Memory, error) {
		return evoke.Open(ctx, &evoke.Options{Embedder: e, NoEmbedder: reason, Clock: clock.Now, Extractor: x})
	}
	with, err := open(e, rules.New(&rules.Options{Assistants: true}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, with.Close()) }()
	alone, err := open(e, nothing{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, alone.Close()) }()
	res, err := benchmarks.RunFacts(ctx, with, alone, clock, s, a.progress)
	if err != nil {
		return err
	}
	r.Facts = append(r.Facts, res)
	return nil
}
