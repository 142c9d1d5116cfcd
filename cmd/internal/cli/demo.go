package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/cmd/internal/demo"
	"evoke/cmd/internal/wire"
	"evoke/recall"
)

// demoBudget is the token budget of the demo's block.
const demoBudget = 400

func (a *app) demoCmd() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "demo", Short: "Show the main job on a sample conversation in English, Chinese and Japanese", Args: noArgs,
		Long: `Takes a sample conversation in, in a fresh store, asks it several questions, some in another language than the answer's, and prints the
ranked answers with their score parts, and a block for a prompt.`,
	}
	c.Flags().StringVar(&dir, "dir", "", "directory of the store (default: a temporary one, removed afterwards)")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if dir == "" {
			if dir, err = os.MkdirTemp("", "evoke-demo-"); err != nil {
				return fmt.Errorf("temporary directory: %w", err)
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		}
		cfg, err := a.configWith(map[string]any{"store.path": dir, "store.url": ""})
		if err != nil {
			return err
		}
		logger := slog.New(slog.NewTextHandler(a.process.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
		m, err := wire.Open(c.Context(), cfg, &wire.Options{NoModel: a.noModel, Logger: logger, Environ: a.process.Environ})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		return a.runDemo(c.Context(), m.Memory)
	}
	return c
}

// demoAnswer is one question with what came back.
type demoAnswer struct {
	Query  string       `json:"query"`
	Hits   []recall.Hit `json:"hits"`
	Found  bool         `json:"found"` // the expected turn is among the hits
	TookMS float64      `json:"took_ms"`
}

func (a *app) runDemo(ctx context.Context, m *evoke.Memory) error {
	s, err := demo.Load()
	if err != nil {
		return err
	}
	who := evoke.Who{User: s.User}
	stop := a.spinner("taking the sample in")
	in, err := s.Ingest(ctx, m)
	stop()
	if err != nil {
		return err
	}
	st, err := m.Stats(ctx, who)
	if err != nil {
		return err
	}
	answers, err := demoAnswers(ctx, m, s)
	if err != nil {
		return err
	}
	budget := demoBudget
	block, err := m.Context(ctx, evoke.ContextRequest{Who: who, Request: recall.Request{Query: s.Questions[0].Query}, MaxTokens: &budget})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"ingested": in, "stats": st, "answers": answers, "context": block})
	}
	a.printDemo(in, st, answers, block, s.Questions[0].Query)
	return nil
}

func demoAnswers(ctx context.Context, m *evoke.Memory, s *demo.Sample) ([]demoAnswer, error) {
	var answers []demoAnswer
	for _, q := range s.Questions {
		if !q.Shown {
			continue
		}
		start := time.Now()
		res, err := m.Recall(ctx, evoke.RecallRequest{Who: evoke.Who{User: s.User}, Request: recall.Request{Query: q.Query, Limit: 3}})
		if err != nil {
			return nil, err
		}
		a := demoAnswer{Query: q.Query, Hits: res.Hits, TookMS: float64(time.Since(start).Microseconds()) / 1000}
		for _, h := range res.Hits {
			a.Found = a.Found || q.Answers(h)
		}
		answers = append(answers, a)
	}
	return answers, nil
}

func (a *app) printDemo(in demo.Ingested, st evoke.Stats, answers []demoAnswer, block evoke.ContextResult, query string) {
	a.printf("Took in %d turns of %d conversations in %d ms; %d facts distilled and %d vectors pending after %.1f s.\n",
		in.Turns, in.Conversations, in.Ingest.Milliseconds(), in.Facts, st.Pending.Vectors, in.Settle.Seconds())
	lexical := st.Embedder == "none"
	if lexical {
		a.printf("Lexical only: %s.\n", st.Note)
		a.printf("Questions in another language than their answer need a model: `evoke model pull`, or `evoke model install FILE`.\n")
	} else {
		a.printf("Embedder: %s.\n", st.Embedder)
	}
	found := 0
	for _, an := range answers {
		a.printf("\n? %s  (%.1f ms)\n", an.Query, an.TookMS)
		if len(an.Hits) == 0 {
			a.printf("   nothing found\n")
		}
		for i, h := range an.Hits {
			p := h.Parts
			a.printf("  %d. %.3f = %.3f semantic + %.3f recency + %.3f importance + %.3f update   %s\n",
				i+1, h.Score, p.Semantic, p.Recency, p.Importance, p.Update, day(h.Item.ValidFrom))
			a.printf("     %s\n", clip(line(h.Item), 110))
		}
		if an.Found {
			found++
		}
	}
	a.printf("\n%d of %d questions have the turn that answers them among the first three.\n", found, len(answers))
	a.printf("\nThe block for a prompt, for %q: %d of %d tokens (%s)\n\n%s\n", query, block.Tokens, block.Budget, block.Tokenizer, visible(block.Text))
}
