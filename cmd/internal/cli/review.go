package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/extract"
	"evoke/store"
)

func (a *app) reviewCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "review", Aliases: []string{"quarantine"}, Short: "Decide on what was extracted and waits", Args: noSuchCommand,
		Long: `What an extractor proposed and what does not stand in the conversation, or cannot be told to, waits here; and what the setting
review.mode wants a person to see first. It is seen nowhere and changes nothing until it is approved.`,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.reviewListCmd(), a.approveCmd(), a.editProposalCmd(), a.rejectCmd())
	return c
}

// reviewFlags select entries.
type reviewFlags struct{ extractor, reason, category, before string }

func (f *reviewFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.extractor, "extractor", "", "only of this extractor: llm/2")
	c.Flags().StringVar(&f.reason, "reason", "", "only of this reason: ungrounded, review_all, review_low_confidence, review_category")
	c.Flags().StringVar(&f.category, "category", "", "only of this category")
	c.Flags().StringVar(&f.before, "before", "", "only what was proposed before this time: "+timeForms)
}

func (f *reviewFlags) filter(who evoke.Who) (evoke.ReviewFilter, error) {
	before, err := when("before", f.before)
	return evoke.ReviewFilter{Who: who, Extractor: f.extractor, Reason: f.reason, Category: store.Category(f.category), Before: before}, err
}

func (a *app) reviewListCmd() *cobra.Command {
	var limit int
	var cursor string
	var flags reviewFlags
	c := &cobra.Command{Use: "list", Short: "Show what waits, newest first: of all memories, or those that --user and --agent name", Args: noArgs}
	flags.add(c)
	c.Flags().IntVar(&limit, "limit", 100, "entries a page, 1 to 1000")
	c.Flags().StringVar(&cursor, "cursor", "", "go on where a page ended")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if limit < 1 {
			return store.Invalid("--limit", "from 1 to 1000", fmt.Sprint(limit))
		}
		f, err := flags.filter(a.who)
		if err != nil {
			return err
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			res, err := s.Quarantined(ctx, evoke.QuarantineRequest{
				Who: f.Who, Extractor: f.Extractor, Reason: f.Reason, Category: f.Category, Before: f.Before, Limit: limit, Cursor: cursor,
			})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(res)
			}
			return a.printQuarantine(res)
		})
	}
	return c
}

func (a *app) printQuarantine(res evoke.QuarantineResult) error {
	if len(res.Entries) == 0 {
		a.printf("nothing waits for review\n")
		return nil
	}
	rows := make([][]string, len(res.Entries))
	for i, e := range res.Entries {
		said := strings.Join(strings.Fields(visible(first(e.Operation.Content, e.Operation.Target))), " ")
		would := string(e.Operation.Action)
		if first(e.Operation.Target, e.Operation.Replaces) != "" && e.Operation.Action == extract.Add {
			would = "replace"
		}
		rows[i] = []string{e.ID, e.At.Format(time.RFC3339), visible(e.User), e.Reason, fmt.Sprint(max(e.Times, 1)), would, clip(said, contentWidth)}
	}
	if err := a.table([]string{"ID", "WHEN", "USER", "REASON", "TIMES", "WOULD", "CONTENT"}, rows); err != nil {
		return err
	}
	if res.Next != "" {
		a.note("more with --cursor %s", res.Next)
	}
	return nil
}

func (a *app) approveCmd() *cobra.Command {
	var flags reviewFlags
	c := &cobra.Command{
		Use: "approve [ID…]", Short: "Store what you vouch for: the ids given, or all that the flags select",
		Example: `  evoke review approve --user ada --category preference`,
	}
	flags.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		f, err := flags.filter(a.who)
		if err != nil {
			return err
		}
		return a.withMemory(c, func(ctx context.Context, s session) error {
			res, err := a.approve(ctx, s, args, f)
			if err != nil {
				return err
			}
			return a.printApproved(ctx, s, res)
		})
	}
	return c
}

func (a *app) approve(ctx context.Context, s session, ids []string, f evoke.ReviewFilter) (evoke.ApproveResult, error) {
	if len(ids) > 0 {
		return s.Approve(ctx, ids)
	}
	total := evoke.ApproveResult{Items: []store.Item{}}
	for r := (evoke.ReviewAllRequest{Filter: f}); ; {
		res, err := s.ApproveAll(ctx, r)
		total.Approved += res.Approved
		total.Items, total.Refused = append(total.Items, res.Items...), append(total.Refused, res.Refused...)
		if r.Cursor = res.Next; err != nil || r.Cursor == "" {
			return total, err
		}
	}
}

func (a *app) printApproved(ctx context.Context, s session, res evoke.ApproveResult) error {
	if err := a.settle(ctx, s, settleWait); err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(res); err != nil {
			return err
		}
	} else if res.Approved > 0 || len(res.Refused)+len(res.Unknown) == 0 {
		a.printf("%s approved\n", countOf(res.Approved, "entry", "entries"))
	}
	for _, r := range res.Refused {
		a.note("%s: %s", visible(r.ID), r.Why)
	}
	if len(res.Unknown) > 0 {
		return unknownEntries(res.Unknown)
	}
	if len(res.Refused) > 0 {
		return store.Invalid("ids", "of entries that can be stored", countOf(len(res.Refused), "entry", "entries")+" refused")
	}
	return nil
}

func (a *app) editProposalCmd() *cobra.Command {
	var category string
	var importance float64
	var approve bool
	c := &cobra.Command{
		Use: "edit ID [TEXT…]", Short: "Put your words in the place of what waits; it waits on", Args: cobra.MinimumNArgs(1),
		Example: `  evoke review edit 0198c0de-0000-7000-8000-000000000000 "Lives in Oslo since May" --approve`,
	}
	c.Flags().StringVar(&category, "category", "", "another category; none with an empty one")
	c.Flags().Float64Var(&importance, "importance", 0, "another importance, 0 to 1")
	c.Flags().BoolVar(&approve, "approve", false, "and store it")
	c.RunE = func(c *cobra.Command, args []string) error {
		r := evoke.EditProposalRequest{ID: args[0]}
		if len(args) > 1 {
			text, err := a.text(args[1:])
			if err != nil {
				return err
			}
			r.Content = &text
		}
		if c.Flags().Changed("category") {
			cat := store.Category(category)
			r.Category = &cat
		}
		if c.Flags().Changed("importance") {
			r.Importance = &importance
		}
		return a.withMemory(c, func(ctx context.Context, s session) error {
			e, err := s.EditProposal(ctx, r)
			if errors.Is(err, store.ErrNotFound) {
				return unknownEntries(args[:1])
			}
			if err != nil {
				return err
			}
			if approve {
				res, err := s.Approve(ctx, args[:1])
				if err != nil {
					return err
				}
				return a.printApproved(ctx, s, res)
			}
			if a.json {
				return a.printJSON(e)
			}
			return a.printQuarantine(evoke.QuarantineResult{Entries: []evoke.QuarantineEntry{e}})
		})
	}
	return c
}

func (a *app) rejectCmd() *cobra.Command {
	var flags reviewFlags
	c := &cobra.Command{Use: "reject [ID…]", Short: "Remove what is wrong: the ids given, or all that the flags select"}
	flags.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		f, err := flags.filter(a.who)
		if err != nil {
			return err
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			res, err := a.reject(ctx, s, args, f)
			if err != nil {
				return err
			}
			if a.json {
				if err := a.printJSON(res); err != nil {
					return err
				}
			} else if res.Rejected > 0 || len(res.Unknown) == 0 {
				a.printf("%s rejected\n", countOf(res.Rejected, "entry", "entries"))
			}
			if len(res.Unknown) > 0 {
				return unknownEntries(res.Unknown)
			}
			return nil
		})
	}
	return c
}

func (a *app) reject(ctx context.Context, s session, ids []string, f evoke.ReviewFilter) (evoke.RejectResult, error) {
	if len(ids) > 0 {
		return s.Reject(ctx, ids)
	}
	var total evoke.RejectResult
	for {
		res, err := s.RejectAll(ctx, evoke.ReviewAllRequest{Filter: f})
		if total.Rejected += res.Rejected; err != nil || res.Next == "" {
			return total, err
		}
	}
}

// countOf writes a number of things whose plural has a form of its own.
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func unknownEntries(ids []string) error {
	shown := make([]string, 0, 20)
	for _, id := range ids[:min(len(ids), 20)] {
		shown = append(shown, visible(id))
	}
	return fmt.Errorf("%w: none of what waits in this tenant: %s (evoke review list shows it)", store.ErrNotFound, strings.Join(shown, ", "))
}
