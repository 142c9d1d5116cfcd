package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/recall"
	"evoke/recall/tokens"
	"evoke/store"
)

func (a *app) contextCmd() *cobra.Command {
	var q queryFlags
	var maxTokens int
	var tokenizer, shape string
	c := &cobra.Command{
		Use: "context [QUERY…]", Short: "Print a block for a prompt, within a token budget",
		Example: `  evoke context --user ada "book a flight" --max-tokens 300`,
	}
	q.add(c)
	c.Flags().IntVar(&maxTokens, "max-tokens", 0, "budget of the whole block, 0 to 100000 (default: setting memory.max_injection_tokens)")
	c.Flags().StringVar(&tokenizer, "tokenizer", "", "model or encoding the budget is counted for (default o200k_base)")
	c.Flags().StringVar(&shape, "shape", string(recall.Lines), "layout: lines; briefing, under headings; or full, with ids, origins and sources")
	c.RunE = func(c *cobra.Command, args []string) error {
		if tokenizer != "" && !tokens.Known(tokenizer) {
			return store.Invalid("--tokenizer", "an encoding or a model whose name begins with one of "+strings.Join(tokens.Names(), ", "), fmt.Sprintf("%.40q", tokenizer))
		}
		return a.withMemory(c, func(ctx context.Context, s session) error {
			r, err := q.request(c, s, 0, args)
			if err != nil {
				return err
			}
			req := evoke.ContextRequest{Who: a.who, Request: r, PairOnly: q.pairOnly, Tokenizer: tokenizer, Shape: recall.Shape(shape)}
			if req.MaxTokens = &s.set.Memory.MaxInjectionTokens; c.Flags().Changed("max-tokens") {
				req.MaxTokens = &maxTokens
			}
			res, err := s.Context(ctx, req)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(res)
			}
			a.printContext(ctx, s, res)
			return nil
		})
	}
	return c
}

// printContext prints the block alone on standard output, so that it can be piped; the rest goes beside it.
func (a *app) printContext(ctx context.Context, s session, res evoke.ContextResult) {
	if res.Skipped != "" {
		a.note("no block: %s", res.Skipped)
		return
	}
	if isTerminal(a.process.Out) {
		a.printf("%s", res.Text)
	} else {
		io.WriteString(a.process.Out, res.Text) //nolint:errcheck // as Fprintf; what a program reads is exact
	}
	if res.Text != "" && !strings.HasSuffix(res.Text, "\n") {
		a.printf("\n")
	}
	sure := ""
	if res.Confidence > 0 {
		sure = ", confidence " + score(res.Confidence)
	}
	a.note("%d of %s (%s), %s, %d left out%s", res.Tokens, count(res.Budget, "token"), res.Tokenizer, count(len(res.Items), "item"), len(res.LeftOut), sure)
	if res.Empty != "" {
		a.note("no hits: %s", whyEmpty(res.Empty))
	}
	for _, f := range res.WhyNot {
		a.note("why not %s: %s, score %s, rank %s: %s", visible(f.ID), f.Outcome, fateScore(f), fateRank(f), visible(f.Detail))
	}
	a.printHealth(ctx, s, res.Embedder, res.PendingVectors, res.Degraded)
}
