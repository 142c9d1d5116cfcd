package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

func (a *app) restoreCmd() *cobra.Command {
	var r evoke.RestoreRequest
	var filter filterFlags
	var list bool
	c := &cobra.Command{
		Use: "restore [ID…]", Short: "Bring back what was softly forgotten, as it was", Args: cobra.ArbitraryArgs,
		Long: `Brings back what "evoke forget --soft" or a retention took out of sight, as it was: by id, by filter, all of a memory, or all that one
call or operation took (--batch; without --user and --agent in every memory). --list shows what can come back, and until when.`,
		Example: `  evoke restore --user ada --list
  evoke restore --user ada --batch 0192…`,
	}
	filter.add(c)
	c.Flags().BoolVar(&list, "list", false, "show what is softly forgotten in the memory")
	c.Flags().StringVar(&r.Batch, "batch", "", "id of a soft forgetting, or of a retention")
	c.Flags().BoolVar(&r.All, "all", false, "everything in the memory that --user and --agent name")
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "count only")
	c.RunE = func(c *cobra.Command, args []string) error {
		f, err := filter.filter()
		if err != nil {
			return err
		}
		r.Who, r.IDs = a.who, args
		if !f.IsZero() {
			r.Filter = &f
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			if list {
				return a.listForgotten(ctx, s, f)
			}
			everywhere := r.Batch != "" && r.Who == (evoke.Who{}) && len(r.IDs) == 0 && r.Filter == nil && !r.All
			if everywhere && !r.DryRun {
				return a.restoreBatch(ctx, s, r.Batch)
			}
			r.Everywhere = everywhere
			res, err := s.Restore(ctx, r)
			if err == nil && res.Restored == 0 && r.Batch != "" {
				err = knownBatch(ctx, s, r.Batch)
			}
			if err != nil {
				return err
			}
			return a.printRestored(res)
		})
	}
	return c
}

// restoreBatch brings back in every memory what one call or operation took.
func (a *app) restoreBatch(ctx context.Context, s session, batch string) error {
	op, err := s.RestoreBatch(ctx, batch)
	if err == nil {
		op, err = s.WaitOperation(ctx, op.ID)
	}
	var did evoke.Restored
	if err == nil && op.State == store.OperationDone && json.Unmarshal(op.Result, &did) == nil && did.Items == 0 {
		err = knownBatch(ctx, s, batch)
	}
	if err != nil {
		return err
	}
	return a.printOperation(op)
}

// knownBatch is the error of a batch of which nothing can be restored, unless it is of an operation that is on record.
func knownBatch(ctx context.Context, s session, batch string) error {
	_, err := s.Operation(ctx, batch)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: nothing that can be restored there is of the batch %s (evoke restore --list shows a memory's)", store.ErrNotFound, visible(batch))
	}
	return err
}

func (a *app) printRestored(res evoke.RestoreResult) error {
	unknown := slices.DeleteFunc(slices.Clone(res.Unknown), func(id string) bool { return slices.Contains(res.Kept, id) })
	if a.json {
		if err := a.printJSON(res); err != nil {
			return err
		}
		return unknownIDs(unknown)
	}
	verb := "restored"
	if res.DryRun {
		verb = "would be restored"
	}
	a.printf("%s %s\n", count(res.Restored, "item"), verb)
	if res.Sections > 0 {
		a.printf("%s of the profile follow\n", count(res.Sections, "version"))
	}
	for _, id := range res.Kept {
		a.printf("%s is not forgotten: nothing to bring back\n", visible(id))
	}
	return unknownIDs(unknown)
}

func (a *app) listForgotten(ctx context.Context, s session, f store.Filter) error {
	r := evoke.ListRequest{Who: a.who, Filter: f, Limit: 1000}
	items := []store.Item{}
	for {
		page, err := s.Forgotten(ctx, r)
		if err != nil {
			return err
		}
		items = append(items, page.Items...)
		if r.Cursor = page.Next; r.Cursor == "" {
			break
		}
	}
	if a.json {
		return a.printJSON(map[string]any{"items": items})
	}
	if len(items) == 0 {
		a.printf("nothing is softly forgotten\n")
		return nil
	}
	rows := make([][]string, len(items))
	for i := range items {
		it := &items[i]
		until := "with its sources"
		if !it.Aside.PurgeAt.IsZero() {
			until = it.Aside.PurgeAt.Format(time.DateOnly)
		}
		rows[i] = []string{visible(it.ID), string(it.Kind), it.Aside.ForgottenAt.Format(time.DateOnly), until, visible(it.Aside.ForgottenBy), visible(it.Content)}
	}
	return a.table([]string{"ID", "KIND", "FORGOTTEN", "UNTIL", "BATCH", "CONTENT"}, rows)
}

func (a *app) retainCmd() *cobra.Command {
	var r evoke.RetainRequest
	var all bool
	c := &cobra.Command{
		Use: "retain", Short: "Run the retention policy: what memories keep no longer goes, softly unless it says otherwise", Args: noArgs,
		Long: `Runs the tenant's retention policy (the section retention of the settings, or evoke policy) on the memories of --user and --agent, or
with --all-of-tenant on every one. What goes can be restored by the operation's id unless the policy removes for good; what a legal hold covers stays. --dry-run
shows what would go, and why. It runs by itself only on a schedule: evoke schedule set retain --every 24h`,
		Example: `  evoke retain --all-of-tenant --dry-run`,
	}
	addAllOfTenant(c, &all)
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "take nothing; show what would go, and why")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := a.checkTold(all); err != nil {
			return err
		}
		r.User, r.Agent = a.who.User, a.who.Agent
		return a.withStore(c, func(ctx context.Context, s session) error {
			op, err := s.Retain(ctx, r)
			if err == nil {
				op, err = s.WaitOperation(ctx, op.ID)
			}
			if err != nil {
				return err
			}
			return a.printSwept(op)
		})
	}
	return c
}

// printSwept shows what a retention took, or would take.
func (a *app) printSwept(op store.Operation) error {
	var s evoke.Swept
	if a.json || op.State != store.OperationDone || json.Unmarshal(op.Result, &s) != nil {
		return a.printOperation(op)
	}
	verb := "gone for good"
	switch {
	case s.DryRun:
		verb = "would go"
	case !s.Until.IsZero():
		verb = "out of sight"
	}
	a.printf("%s of %s %s, %d held\n", count(s.Items, "item"), countOf(s.Memories, "memory", "memories"), verb, s.Held)
	for _, reason := range slices.Sorted(maps.Keys(s.Reasons)) {
		a.printf("  %s: %d\n", reason, s.Reasons[reason])
	}
	if !s.DryRun && s.Items > 0 && !s.Until.IsZero() {
		a.printf("until %s they come back with: evoke restore --batch %s\n", s.Until.Format(time.DateOnly), op.ID)
	}
	if len(s.Removals) == 0 {
		return nil
	}
	rows := make([][]string, len(s.Removals))
	for i, x := range s.Removals {
		rows[i] = []string{visible(x.ID), string(x.Reason), fmt.Sprintf("%.3f", x.Worth), fmt.Sprint(x.Days), string(x.Kind), string(x.Category)}
	}
	return a.table([]string{"ID", "WHY", "WORTH", "DAYS", "KIND", "CATEGORY"}, rows)
}

func (a *app) holdCmd() *cobra.Command {
	c := &cobra.Command{Use: "hold", Short: "Keep memories from being removed: legal holds", Args: noSuchCommand}
	var h evoke.LegalHold
	add := &cobra.Command{
		Use: "add", Short: "Place a hold on a user, an agent, a thread, or the tenant", Args: noArgs,
		Long:    "While a hold lasts, nothing that it covers is forgotten for good, erased, purged or taken by retention. --user, --agent and --thread say what it covers: all that are given must hold.",
		Example: `  evoke hold add --user ada --reason "claim 2026-17"`,
	}
	add.Flags().StringVar(&h.ID, "id", "", "a name of its own (default: one is made)")
	addAllOfTenant(add, &h.Tenant)
	add.Flags().StringVar(&h.Reason, "reason", "", "shown to whom the hold stops (required)")
	add.RunE = func(c *cobra.Command, _ []string) error {
		h.User, h.Agent, h.Thread = a.who.User, a.who.Agent, a.who.Thread
		return a.withStore(c, func(ctx context.Context, s session) error {
			made, err := s.AddHold(ctx, h)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(made)
			}
			a.printf("%s\n", visible(made.ID))
			return nil
		})
	}
	list := &cobra.Command{
		Use: "list", Short: "Show the holds", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c, func(ctx context.Context, s session) error {
				holds, err := s.Holds(ctx)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"holds": holds})
				}
				if len(holds) == 0 {
					a.printf("no holds\n")
					return nil
				}
				rows := make([][]string, len(holds))
				for i, h := range holds {
					user := visible(h.User)
					if h.Tenant {
						user = "(all of the tenant)"
					}
					rows[i] = []string{visible(h.ID), user, visible(h.Agent), visible(h.Thread), h.At.Format(time.DateOnly), visible(h.By), visible(h.Reason)}
				}
				return a.table([]string{"ID", "USER", "AGENT", "THREAD", "SINCE", "BY", "REASON"}, rows)
			})
		},
	}
	release := &cobra.Command{
		Use: "release ID", Short: "End a hold", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s session) error {
				if err := s.ReleaseHold(ctx, args[0]); err != nil {
					return shownBy(err, "evoke hold")
				}
				a.note("released: what it kept may be removed again")
				return nil
			})
		},
	}
	c.RunE = list.RunE
	c.AddCommand(add, list, release)
	return c
}

func (a *app) scheduleCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "schedule", Short: "Show, set and end what starts again and again: consolidate, retain, purge", Args: noSuchCommand,
		Long: "Schedules are kept with the memories and run while a server or a command has the store open; what was missed is made up for once.",
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withStore(c, func(ctx context.Context, s session) error {
			list, err := s.Schedules(ctx)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"schedules": list})
			}
			if len(list) == 0 {
				a.printf("no schedules\n")
				return nil
			}
			return a.printSchedules(list)
		})
	}
	var every, next string
	set := &cobra.Command{
		Use: "set NAME", Short: "Have an operation (consolidate, retain, purge) start every so often", Args: cobra.ExactArgs(1),
		Example: `  evoke schedule set retain --every 24h`,
	}
	set.Flags().StringVar(&every, "every", "24h", "how often, in whole hours, days or weeks: 24h, 7d, 2w")
	set.Flags().StringVar(&next, "next", "", "when first: "+laterForms+" (default: once that time has passed)")
	set.RunE = func(c *cobra.Command, args []string) error {
		d, ok := age(every)
		if !ok || d < time.Hour || d%time.Hour != 0 {
			return store.Invalid("--every", "whole hours, days or weeks: 24h, 7d, 2w", fmt.Sprintf("%.40q", every))
		}
		first, err := later("next", next)
		if err != nil {
			return err
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			made, err := s.SetSchedule(ctx, evoke.Schedule{Name: args[0], EveryHours: int(d / time.Hour), Next: first})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(made)
			}
			return a.printSchedules([]evoke.Schedule{made})
		})
	}
	c.AddCommand(set, &cobra.Command{
		Use: "drop NAME", Short: "End a schedule", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s session) error {
				if err := s.DropSchedule(ctx, args[0]); err != nil {
					return shownBy(err, "evoke schedule")
				}
				a.note("%s starts no longer by itself", visible(args[0]))
				return nil
			})
		},
	})
	return c
}

func (a *app) printSchedules(list []evoke.Schedule) error {
	rows := make([][]string, len(list))
	for i, s := range list {
		last := ""
		if !s.Last.IsZero() {
			last = s.Last.Format(time.RFC3339)
		}
		rows[i] = []string{s.Name, fmt.Sprintf("%dh", s.EveryHours), s.Next.Format(time.RFC3339), last, s.Operation}
	}
	return a.table([]string{"NAME", "EVERY", "NEXT", "LAST", "OPERATION"}, rows)
}
