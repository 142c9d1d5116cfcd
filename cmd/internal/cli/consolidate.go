package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

// policyFlags are those of how to consolidate.
func policyFlags(c *cobra.Command, p *evoke.ConsolidationPolicy) {
	c.Flags().StringSliceVar(&p.By, "by", nil, "what belongs together: day, topic (default both)")
	c.Flags().IntVar(&p.Least, "least", 0, "items of a group at the least, from 3 (default 3)")
	c.Flags().IntVar(&p.Words, "words", 0, "words of a group's items together at the most, 20 to 2000 (default 120)")
	c.Flags().Float64Var(&p.Share, "share", 0, "by how much of its items a memory is to become smaller, up to 1 (default 0.3)")
}

func (a *app) consolidateCmd() *cobra.Command {
	var r evoke.ConsolidateRequest
	var p evoke.ConsolidationPolicy
	var all, quotations bool
	age := 0
	c := &cobra.Command{
		Use: "consolidate", Short: "Put summaries in the place of items that belong together", Args: noArgs,
		Long: `Finds items of a memory that belong together, by day or by topic, and has a summary stand for each group. The items stay and are seen
again when their summary goes; undoing the operation takes it all back. Without flags of its own it goes by the tenant's policy. The summaries
are made of quotations unless the policy asks for the language model (--model).`,
		Example: `  evoke consolidate --user ada --dry-run
  evoke consolidate --user ada --merge
  evoke consolidate --all-of-tenant`,
	}
	policyFlags(c, &p)
	f := c.Flags()
	f.BoolVar(&r.DryRun, "dry-run", false, "show the groups, and write nothing")
	f.BoolVar(&r.Merge, "merge", false, "also merge facts that say the same in nearly the same words")
	f.BoolVar(&p.Model, "model", false, "have the language model write the summaries")
	f.BoolVar(&quotations, "quotations", false, "make them of quotations, whatever the policy says")
	f.IntVar(&age, "min-age-hours", 0, "leave items alone that were said later than so many hours ago (default 168)")
	addAllOfTenant(c, &all)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := a.checkTold(all); err != nil {
			return err
		}
		if r.User, r.Agent = a.who.User, a.who.Agent; c.Flags().Changed("min-age-hours") {
			p.MinAgeHours = &age
		}
		for _, name := range []string{"by", "least", "words", "share", "model", "quotations", "min-age-hours"} {
			if c.Flags().Changed(name) {
				r.Policy = &p
			}
		}
		return a.withMemory(c, func(ctx context.Context, s session) error {
			op, err := s.Consolidate(ctx, r)
			if err != nil {
				return err
			}
			if op, err = s.WaitOperation(ctx, op.ID); err != nil {
				return err
			}
			if r.DryRun && !a.json && op.State == store.OperationDone {
				return a.printGroups(op)
			}
			return a.printOperation(op)
		})
	}
	return c
}

func (a *app) printGroups(op store.Operation) error {
	var res evoke.Consolidated
	if err := json.Unmarshal(op.Result, &res); err != nil {
		return fmt.Errorf("read the result: %w", store.ErrCorrupt)
	}
	rows := make([][]string, len(res.Groups))
	for i, g := range res.Groups {
		rows[i] = []string{visible(g.User), visible(g.Agent), g.By, g.Date, fmt.Sprint(len(g.IDs)), fmt.Sprintf("%d → %d", g.Words, g.Kept), clip(visible(strings.Join(g.IDs, " ")), contentWidth)}
	}
	if err := a.table([]string{"USER", "AGENT", "BY", "DATE", "ITEMS", "WORDS", "IDS"}, rows); err != nil {
		return err
	}
	for _, m := range res.Merges {
		a.printf("merge %s: %s\n", visible(m.ID), visible(strings.Join(m.Takes, " ")))
	}
	for _, x := range res.Contradictions {
		a.printf("contradiction: %s and %s stay as they are\n", visible(x.A), visible(x.B))
	}
	a.printf("%s would stand for %s, %s would be merged, %s left alone\n", countOf(res.Summaries, "summary", "summaries"), count(res.Items, "item"), count(res.Merged, "fact"), count(res.Left, "group"))
	return nil
}

func (a *app) sourcesCmd() *cobra.Command {
	return &cobra.Command{
		Use: "sources ID", Short: "Show what a summary stands for", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s session) error {
				items, err := s.Sources(ctx, a.who, args[0])
				if errors.Is(err, store.ErrNotFound) { // so is an item that stands for no others
					if _, missing := s.Get(ctx, a.who, args[0]); missing != nil {
						err = unknownItem(missing, args[0])
					}
				}
				if err != nil {
					return err
				}
				return a.printItems(items, "", a.versionTable)
			})
		},
	}
}
