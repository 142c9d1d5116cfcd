package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
	"evoke/store/lifecycle"
)

// printHistory shows the versions of an item and who did what to them.
func (a *app) printHistory(items []store.Item) error {
	changes := lifecycle.Changes(items)
	if a.json {
		return a.printJSON(struct {
			Items   []store.Item       `json:"items"`
			Changes []lifecycle.Change `json:"changes"`
		}{items, changes})
	}
	if err := a.versionTable(items); err != nil {
		return err
	}
	rows := make([][]string, len(changes))
	for i, c := range changes {
		by := c.By
		if c.Operation != "" {
			by += " " + c.Operation
		}
		rows[i] = []string{c.At.Format(time.RFC3339), c.Did, c.ID, visible(cmp.Or(c.Who, "-")), visible(cmp.Or(by, "-")), clip(visible(c.Quote), contentWidth)}
	}
	a.printf("\n")
	return a.table([]string{"WHEN", "WHAT", "VERSION", "WHO", "BY", "WORDS"}, rows)
}

func (a *app) diffCmd() *cobra.Command {
	var from, to string
	var r evoke.DiffRequest
	c := &cobra.Command{
		Use: "diff", Short: "Show what became of a memory's items between two moments", Args: noArgs,
		Long:    "Compares what was known and true at --from with what was at --to: items added, changed, closed (they hold no longer) and retracted (taken back).",
		Example: `  evoke diff --user ada --from 2026-03-01 --to 2026-04-01`,
	}
	c.Flags().StringVar(&from, "from", "", timeForms+" (needed)")
	c.Flags().StringVar(&to, "to", "", timeForms+" (default now)")
	c.Flags().IntVar(&r.Limit, "limit", 100, "differences a page, 1 to 1000")
	c.Flags().StringVar(&r.Cursor, "cursor", "", "go on where a page ended")
	c.RunE = func(c *cobra.Command, _ []string) error {
		var err error
		if r.From, err = when("from", from); err != nil {
			return err
		}
		if r.To, err = when("to", to); err != nil {
			return err
		}
		if r.Limit < 1 {
			return store.Invalid("--limit", "from 1 to 1000", fmt.Sprint(r.Limit))
		}
		r.Who = a.who
		return a.withStore(c, func(ctx context.Context, s session) error {
			res, err := s.Diff(ctx, r)
			if err != nil {
				return err
			}
			return a.printDiff(res)
		})
	}
	return c
}

func (a *app) printDiff(res evoke.DiffResult) error {
	if a.json {
		return a.printJSON(res)
	}
	if len(res.Differences) == 0 && res.Next == "" {
		a.printf("no differences\n")
		return nil
	}
	text := func(it *store.Item) string {
		if it == nil {
			return "-"
		}
		return clip(line(*it), contentWidth)
	}
	rows := make([][]string, len(res.Differences))
	for i, d := range res.Differences {
		it := d.After
		if it == nil {
			it = d.Before
		}
		rows[i] = []string{d.Did, it.ID, text(d.Before), text(d.After)}
	}
	if err := a.table([]string{"WHAT", "ID", "BEFORE", "AFTER"}, rows); err != nil {
		return err
	}
	if res.Next != "" {
		a.note("more with --cursor %s", res.Next)
	}
	return nil
}

func (a *app) undoCmd() *cobra.Command {
	var r evoke.UndoRequest
	var from, to string
	c := &cobra.Command{
		Use: "undo", Short: "Take a batch of writes to a memory back", Args: noArgs,
		Long: `Takes back what matches all flags given: what it added is retracted, what it closed or retracted holds again, and what later writes built
on is left alone and named. Views of the past stay as they are. It is an operation, and undoing that one makes the batch hold again.
It looks in the memory that --user and --agent name; with neither, --operation takes back what that did in every memory.`,
		Example: `  evoke undo --user ada --source import --dry-run
  evoke undo --operation 0198c0de-0000-7000-8000-000000000000`,
	}
	f := c.Flags()
	f.StringVar(&r.Batch.Source, "source", "", "where it came from: "+strings.Join(origins, ", "))
	f.StringVar(&r.Batch.Extractor, "extractor", "", "name and version of the extractor: rules/1")
	f.StringVar(&r.Batch.Operation, "operation", "", "id of the operation that did it, such as an undo")
	f.StringVar(&from, "from", "", "recorded at this time or later: "+timeForms)
	f.StringVar(&to, "to", "", "recorded before this time")
	f.BoolVar(&r.DryRun, "dry-run", false, "show what would change, and change nothing")
	c.RunE = func(c *cobra.Command, _ []string) error {
		var err error
		if r.Batch.From, err = when("from", from); err != nil {
			return err
		}
		if r.Batch.To, err = when("to", to); err != nil {
			return err
		}
		r.Batch.Thread = a.who.Thread
		r.Who = a.who
		r.Everywhere = r.Batch.Operation != "" && r.User == "" && r.Agent == ""
		return a.withMemory(c, func(ctx context.Context, s session) error {
			res, err := s.Undo(ctx, r)
			if err != nil {
				return err
			}
			if res.Preview != nil {
				a.noteUnmatched(r, *res.Preview)
				return a.printPreview(*res.Preview)
			}
			op, err := s.WaitOperation(ctx, res.Operation.ID)
			if err != nil {
				return err
			}
			var did lifecycle.UndoResult
			if op.State == store.OperationDone && json.Unmarshal(op.Result, &did) == nil {
				a.noteUnmatched(r, did)
			}
			return a.printOperation(op)
		})
	}
	return c
}

// origins are the sources that the engine itself gives to items.
var origins = []string{"turn", "remember", "import", "rules", "llm", "review", store.ProfileOrigin, store.SummaryOrigin}

// noteUnmatched says where an undo that found nothing has looked, and which sources there are when it asked for another.
func (a *app) noteUnmatched(r evoke.UndoRequest, res lifecycle.UndoResult) {
	if res.Selected > 0 {
		return
	}
	if !r.Everywhere {
		a.note("it looked in the memory of user %s%s only (--user and --agent name another)", first(visible(r.User), "default"), ofAgent(r.Agent))
	}
	if s := r.Batch.Source; s != "" && !slices.Contains(origins, s) {
		a.note("%q is none of the sources that Evoke writes: %s", s, strings.Join(origins, ", "))
	}
}

// ofAgent names an agent beside a user.
func ofAgent(agent string) string {
	if agent == "" {
		return ""
	}
	return " and agent " + visible(agent)
}

func (a *app) printPreview(p lifecycle.UndoResult) error {
	if a.json {
		return a.printJSON(p)
	}
	if p.Note != "" {
		a.printf("%s\n", p.Note)
		return nil
	}
	a.printf("%s would be retracted, %d would hold again, %d left alone\n", count(p.Retracted, "item"), p.Reopened, p.Conflicts)
	for _, l := range p.Left {
		a.printf("%s: %s\n", visible(l.ID), l.Why)
	}
	return nil
}
