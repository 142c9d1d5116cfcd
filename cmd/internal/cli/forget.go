package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

func (a *app) forgetCmd() *cobra.Command {
	var r evoke.ForgetRequest
	var filter filterFlags
	var until string
	var yes bool
	c := &cobra.Command{
		Use: "forget [ID…]", Short: "Remove items, for good or (--soft) until a time, by id, by filter, or all of a memory",
		Example: `  evoke forget --user ada --dry-run --category goal
  evoke forget --user ada --dry-run --query "my sister"
  evoke forget --user ada --soft --until 90d 0192…
  evoke forget --user ada --thread trip --dry-run
  evoke forget --user ada --all --yes`,
	}
	filter.add(c)
	c.Flags().BoolVar(&r.All, "all", false, "everything in the memory that --user and --agent name (with --thread, of that conversation: the same without --all)")
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "count and show only")
	c.Flags().StringVar(&r.Query, "query", "", "with --dry-run, show what speaks of this: forget the ids of what is meant")
	c.Flags().BoolVar(&r.Soft, "soft", false, "take them out of sight and keep them for memory.forget_days: evoke restore brings them back")
	c.Flags().StringVar(&until, "until", "", "softly, and until then: "+laterForms)
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.RunE = func(c *cobra.Command, args []string) error {
		f, err := filter.filter()
		if err != nil {
			return err
		}
		if r.Until, err = later("until", until); err != nil {
			return err
		}
		r.Soft = r.Soft || !r.Until.IsZero()
		r.Who, r.IDs = a.who, args
		if !f.IsZero() {
			r.Filter = &f
		}
		if r.Query != "" && !r.DryRun {
			return store.Invalid("--query", "looked at with --dry-run first: it only shows what speaks of this; then forget the ids of what is meant", "")
		}
		if r.Thread != "" && len(r.IDs) > 0 {
			return store.Invalid("--thread", "left out when ids are given", "both")
		}
		if r.Thread != "" && r.Filter == nil && r.Query == "" {
			r.All = true // of that conversation
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			if !yes && !r.DryRun && !r.Soft {
				if err := a.confirmForget(ctx, s, r); err != nil {
					return err
				}
			}
			res, err := s.Forget(ctx, r)
			if err != nil {
				return err
			}
			if err := a.printForgotten(res); err != nil {
				return err
			}
			return unknownIDs(res.Unknown)
		})
	}
	return c
}

func (a *app) printForgotten(res evoke.ForgetResult) error {
	if a.json {
		return a.printJSON(res)
	}
	verb, gone := "forgotten", "went with them, or are marked where they rest on more"
	if res.DryRun {
		verb, gone = "would be forgotten", "would go with them, or be marked where they rest on more"
	}
	if err := a.printShown(res); err != nil {
		return err
	}
	if len(res.Items) > 0 && res.Items[0].Score > 0 { // found by a query, which forgets nothing
		a.printf("%s found; were all of them forgotten by their ids:\n", count(len(res.Items), "item"))
	}
	a.printf("%s %s\n", count(res.Forgotten, "item"), verb)
	if res.Derived > 0 {
		a.printf("%s that rested on nothing else %s\n", count(res.Derived, "fact"), verb)
	}
	if res.Sections > 0 {
		a.printf("%s of the profile %s\n", count(res.Sections, "version"), gone)
	}
	if !res.Until.IsZero() && res.ID != "" {
		a.printf("until %s they come back with: evoke restore --batch %s\n", res.Until.Format(time.DateOnly), res.ID)
	}
	return nil
}

// printShown shows what a dry run found.
func (a *app) printShown(res evoke.ForgetResult) error {
	if len(res.Items) == 0 {
		return nil
	}
	rows := make([][]string, len(res.Items))
	for i, it := range res.Items {
		score := ""
		if it.Score > 0 {
			score = fmt.Sprintf("%.2f", it.Score)
		}
		rows[i] = []string{visible(it.ID), string(it.Kind), it.At.Format(time.DateOnly), score, visible(it.Content)}
	}
	return a.table([]string{"ID", "KIND", "WHEN", "SCORE", "CONTENT"}, rows)
}

// confirmForget counts what would go and asks. Without a person to ask it refuses.
func (a *app) confirmForget(ctx context.Context, s session, r evoke.ForgetRequest) error {
	r.DryRun = true
	res, err := s.Forget(ctx, r)
	if err != nil {
		return err
	}
	if !isTerminal(a.process.In) {
		return store.Invalid("forget", fmt.Sprintf("confirmed with --yes: %s would be removed for good", count(res.Forgotten, "item")), "")
	}
	fmt.Fprintf(a.process.Err, "Remove %s for good? [y/N] ", count(res.Forgotten, "item"))
	answer, err := bufio.NewReader(a.process.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return fmt.Errorf("nothing was removed: %w", context.Canceled)
	}
	return nil
}
