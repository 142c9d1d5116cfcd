package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

func (a *app) operationsCmd() *cobra.Command {
	var state string
	var r evoke.OperationsRequest
	c := &cobra.Command{
		Use: "operations", Short: "Show, cancel and run again the tenant's long work", Args: noSuchCommand,
		Long: `Lists the tenant's long work, such as erasures, newest first. What has not ended goes on while a server or a command has the store open.`,
	}
	c.Flags().StringVar(&r.Kind, "kind", "", "such as erase (default all)")
	c.Flags().StringVar(&state, "state", "", "queued, running, done, failed or canceled (default all)")
	c.Flags().IntVar(&r.Limit, "limit", 100, "operations a page, 1 to 1000")
	c.Flags().StringVar(&r.Cursor, "cursor", "", "go on where a page ended")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if r.Limit < 1 {
			return store.Invalid("--limit", "from 1 to 1000", fmt.Sprint(r.Limit))
		}
		r.State = store.OperationState(state)
		return a.withStore(c, func(ctx context.Context, s session) error {
			res, err := s.Operations(ctx, r)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(res)
			}
			return a.printOperations(res)
		})
	}
	for _, verb := range []struct {
		use, short string
		do         func(context.Context, session, string) (store.Operation, error)
	}{
		{"show ID", "Show where an operation stands", func(ctx context.Context, s session, id string) (store.Operation, error) { return s.Operation(ctx, id) }},
		{"cancel ID", "Ask an operation to end at its next step", func(ctx context.Context, s session, id string) (store.Operation, error) {
			return s.CancelOperation(ctx, id)
		}},
		{"retry ID", "Run a failed or canceled operation again, from where it ended", func(ctx context.Context, s session, id string) (store.Operation, error) {
			if op, err := s.RetryOperation(ctx, id); err != nil {
				return op, err
			}
			return s.WaitOperation(ctx, id)
		}},
	} {
		c.AddCommand(&cobra.Command{
			Use: verb.use, Short: verb.short, Args: cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error {
				return a.withStore(c, func(ctx context.Context, s session) error {
					op, err := verb.do(ctx, s, args[0])
					if err != nil {
						return shownBy(err, "evoke operations")
					}
					return a.printOperation(op)
				})
			},
		})
	}
	return c
}

func (a *app) printOperations(res evoke.OperationsResult) error {
	if len(res.Operations) == 0 {
		a.printf("no operations\n")
		return nil
	}
	rows := make([][]string, len(res.Operations))
	for i, op := range res.Operations {
		rows[i] = []string{op.ID, op.Kind, string(op.State), fmt.Sprint(op.Done), op.CreatedAt.Format(time.RFC3339), visible(op.By), op.Note}
	}
	if err := a.table([]string{"ID", "KIND", "STATE", "DONE", "WHEN", "BY", "NOTE"}, rows); err != nil {
		return err
	}
	if res.Next != "" {
		a.note("more with --cursor %s", res.Next)
	}
	return nil
}

// printOperation shows an operation; one that failed is the command's failure.
func (a *app) printOperation(op store.Operation) error {
	if a.json {
		return a.printJSON(op)
	}
	a.printf("%s %s: %s\n", op.Kind, op.ID, op.State)
	var fields map[string]json.RawMessage
	if json.Unmarshal(op.Result, &fields) == nil {
		delete(fields, "receipt") // evoke receipt shows it
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			list := []json.RawMessage{fields[name]}
			_ = json.Unmarshal(fields[name], &list) // what is no list stays one value
			for _, value := range list {
				var left struct{ ID, Why string }
				if json.Unmarshal(value, &left) == nil && left.ID != "" && left.Why != "" {
					a.printf("  %s: %s, %s\n", name, visible(left.ID), visible(left.Why))
					continue
				}
				a.printf("  %s: %s\n", name, visible(string(value)))
			}
		}
	}
	if op.State == store.OperationFailed {
		a.note("%s", op.Note)
	}
	return nil
}

func (a *app) auditCmd() *cobra.Command {
	var r evoke.AuditRequest
	var from, to string
	c := &cobra.Command{
		Use: "audit", Short: "Show who did what, without content", Args: noArgs,
		Long:    "Lists who did what, newest first: the names of credentials, verbs, ids and counts. --user narrows it to what was done to one user's memory.",
		Example: `  evoke audit --verb forget --from 7d`,
	}
	c.Flags().StringVar(&r.Verb, "verb", "", "such as forget (default all)")
	c.Flags().StringVar(&from, "from", "", "from this time on: "+timeForms)
	c.Flags().StringVar(&to, "to", "", "before this time: "+timeForms)
	c.Flags().IntVar(&r.Limit, "limit", 100, "entries a page, 1 to 1000")
	c.Flags().StringVar(&r.Cursor, "cursor", "", "go on where a page ended")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if r.Limit < 1 {
			return store.Invalid("--limit", "from 1 to 1000", fmt.Sprint(r.Limit))
		}
		if r.From, err = when("from", from); err != nil {
			return err
		}
		if r.To, err = when("to", to); err != nil {
			return err
		}
		r.User = a.who.User
		return a.withStore(c, func(ctx context.Context, s session) error {
			res, err := s.Audit(ctx, r)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(res)
			}
			return a.printAudit(res)
		})
	}
	return c
}

func (a *app) printAudit(res evoke.AuditResult) error {
	if len(res.Entries) == 0 {
		a.printf("nothing is on record\n")
		return nil
	}
	rows := make([][]string, len(res.Entries))
	for i, e := range res.Entries {
		var counts []string
		for _, name := range slices.Sorted(maps.Keys(e.Counts)) {
			counts = append(counts, fmt.Sprintf("%d %s", e.Counts[name], name))
		}
		ids := ""
		if len(e.IDs) > 0 {
			if ids = visible(e.IDs[0]); len(e.IDs) > 1 {
				ids += fmt.Sprintf(" and %d more", len(e.IDs)-1)
			}
		}
		rows[i] = []string{e.At.Format(time.RFC3339), visible(e.By), e.Verb, visible(e.User), ids, strings.Join(counts, ", "), e.Error}
	}
	if err := a.table([]string{"WHEN", "BY", "VERB", "USER", "IDS", "COUNTS", "ERROR"}, rows); err != nil {
		return err
	}
	if res.Next != "" {
		a.note("more with --cursor %s", res.Next)
	}
	return nil
}
