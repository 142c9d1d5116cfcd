package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

// eraseFlags are those of evoke erase beside the filters.
type eraseFlags struct {
	yes, verify  bool
	dryRun       bool
	lift, output string
}

func (a *app) eraseCmd() *cobra.Command {
	var r evoke.EraseRequest
	var filter filterFlags
	var flags eraseFlags
	c := &cobra.Command{
		Use: "erase", Short: "Erase for good what is kept of a user, an agent or the whole tenant, in every memory", Args: noArgs,
		Long: `Erases what is kept of --user (also in memories with agents), of --agent, or with --all-of-tenant of everybody; --thread and the filters
narrow it. What was distilled from nothing else goes, too, with all that the queue, the audit log and the records of blocks keep of it. Then
every path is probed, and a signed receipt tells what was found: evoke receipt. It is an operation that goes on after an interruption;
"evoke forget" is for one memory. What was erased stays away from retries, replays and imports until --lift.`,
		Example: `  evoke erase --user ada --dry-run
  evoke erase --user ada --yes --receipt ada.json
  evoke erase --user ada --thread trip --verify --yes
  evoke erase --lift 0192…`,
	}
	filter.add(c)
	addAllOfTenant(c, &r.Tenant)
	c.Flags().BoolVar(&flags.yes, "yes", false, "do it: nothing brings it back")
	c.Flags().BoolVar(&flags.dryRun, "dry-run", false, "count what is selected, and erase nothing")
	c.Flags().BoolVar(&flags.verify, "verify", false, "tell what was probed, and fail when anything was found")
	c.Flags().StringVar(&flags.output, "receipt", "", "file to write the receipt to")
	c.Flags().StringVar(&flags.lift, "lift", "", "erase nothing: let what the erasure, or the forgetting, of this id removed be taken in again")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if flags.lift != "" {
			if r.Tenant || a.who != (evoke.Who{}) {
				return store.Invalid("--lift", "given without --user, --agent, --thread and --all-of-tenant: the id says what is let in again", "")
			}
			return a.liftErasure(c, flags.lift)
		}
		f, err := filter.filter()
		if err != nil {
			return err
		}
		if r.User, r.Agent, r.Thread = a.who.User, a.who.Agent, a.who.Thread; !f.IsZero() {
			r.Filter = &f
		}
		if err := a.checkTold(r.Tenant); err != nil {
			return err
		}
		if flags.dryRun || !flags.yes {
			return a.withStore(c, func(ctx context.Context, s session) error { return a.eraseCount(ctx, s, r, flags.dryRun) })
		}
		return a.withStore(c, func(ctx context.Context, s session) error { return a.erase(ctx, s, r, flags) })
	}
	return c
}

// eraseCount tells what an erasure would select: as the answer of a dry run, else in the error that asks for --yes.
func (a *app) eraseCount(ctx context.Context, s session, r evoke.EraseRequest, dryRun bool) error {
	n, err := s.CountErasable(ctx, r)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s of %s", count(n.Items, "item"), countOf(n.Memories, "memory", "memories"))
	switch {
	case !dryRun:
		return store.Invalid("erase", fmt.Sprintf("confirmed with --yes: %s would be erased for good, with what rests on nothing else (evoke export keeps a copy)", what), "")
	case a.json:
		return a.printJSON(struct {
			evoke.EraseCount
			DryRun bool `json:"dry_run"`
		}{n, true})
	}
	a.printf("%s would be erased for good, with what rests on nothing else\n", what)
	return nil
}

func (a *app) erase(ctx context.Context, s session, r evoke.EraseRequest, flags eraseFlags) error {
	op, err := s.Erase(ctx, r)
	if err != nil {
		return err
	}
	if op, err = s.WaitOperation(ctx, op.ID); err != nil {
		return err
	}
	if err := a.printOperation(op); err != nil || op.State != store.OperationDone || flags.output == "" && !flags.verify {
		return err
	}
	signed, err := s.Receipt(ctx, op.ID)
	if err != nil {
		return err
	}
	if flags.output != "" {
		if err := a.putReceipt(signed, flags.output); err != nil {
			return fmt.Errorf("%w (the erasure is done: evoke receipt show %s -o FILE writes it elsewhere)", err, op.ID)
		}
	}
	if !flags.verify {
		return nil
	}
	receipt, err := s.VerifyReceipt(ctx, signed)
	if err != nil {
		return err
	}
	if !a.json {
		a.printReceipt(&receipt)
	}
	if !receipt.Clean {
		return fmt.Errorf("%w: something of what was erased was found: see evoke receipt show %s", store.ErrUnavailable, op.ID)
	}
	return nil
}

func (a *app) liftErasure(c *cobra.Command, operation string) error {
	return a.withStore(c, func(ctx context.Context, s session) error {
		n, err := s.LiftErasure(ctx, operation)
		if err != nil {
			return shownBy(err, "evoke operations --kind erase")
		}
		if a.json {
			return a.printJSON(map[string]int{"tombstones": n})
		}
		a.printf("%s lifted\n", count(n, "tombstone"))
		return nil
	})
}
