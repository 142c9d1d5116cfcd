package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
	"evoke/store/lifecycle/foreign"
)

func (a *app) exportCmd() *cobra.Command {
	var output string
	var checksum bool
	c := &cobra.Command{
		Use: "export", Short: "Write every version of every item as JSON Lines", Args: noArgs,
		Long: `Writes every version of every item as JSON Lines: of the memory that --user and --agent name, or, with neither, of the whole tenant.
The last line has their number and checksum; memories that hold the same items have the same. docs/export.md describes the format.`,
	}
	c.Flags().StringVarP(&output, "output", "o", "", "file to write (default standard output); put in place only when complete")
	c.Flags().BoolVar(&checksum, "checksum", false, "only print the number of items and their checksum")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withStore(c, func(ctx context.Context, s session) error {
			if checksum {
				return a.printChecksum(ctx, s)
			}
			n, err := a.exportTo(ctx, s, output)
			if err != nil {
				return err
			}
			whole := ""
			if a.who.User == "" && a.who.Agent == "" {
				whole = fmt.Sprintf(" of all memories of tenant %s", s.Tenant())
			}
			a.note("%s%s", count(n, "item"), whole)
			return nil
		})
	}
	return c
}

func (a *app) printChecksum(ctx context.Context, s session) error {
	sum, err := s.Checksum(ctx, a.who)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(sum)
	}
	a.printf("%s  %s\n", sum.SHA256, count(sum.Items, "item"))
	return nil
}

// exportTo writes to a file beside the target first: a half export never stands under the name of a whole one.
func (a *app) exportTo(ctx context.Context, s session, output string) (n int, err error) {
	bar := a.bar(-1, "exporting")
	defer bar.Finish() //nolint:errcheck // nothing can be done about a bar that is not drawn
	if output == "" {
		return s.Export(ctx, a.who, a.process.Out)
	}
	f, err := os.CreateTemp(filepath.Dir(output), ".evoke-export-*")
	if err != nil {
		return 0, fmt.Errorf("%w: %w", store.ErrInvalid, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	n, err = s.Export(ctx, a.who, io.MultiWriter(f, bar))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return n, err
	}
	return n, os.Rename(f.Name(), output)
}

func (a *app) importCmd() *cobra.Command {
	var noWait bool
	var from string
	c := &cobra.Command{
		Use: "import [FILE…]", Short: "Read items from JSON Lines, keeping ids, times and places",
		Long: `Reads JSON Lines: what export wrote, or {"id", "text", "speaker", "time", "type", "meta"} a line. Items keep what the line gives;
nothing is merged and nothing is distilled. Lines that fail are named and the rest is imported; the exit code is then 2. An export that was
altered or cut off is told. A file is imported by an operation: what interrupts it does no harm, it goes on at the next command.

With --from the file is another system's: memories of deer-flow (memory.json), memory-registry (JSON Lines) or mem0 (get_all, export),
or conversations.json of an export of chatgpt or claude, whose conversations come in as turns.`,
	}
	c.Flags().StringVar(&from, "from", "", "what wrote the file: deer-flow, memory-registry, mem0, chatgpt or claude")
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait for vectors")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.withMemory(c, func(ctx context.Context, s session) error {
			total := evoke.ImportResult{}
			if len(args) == 0 {
				args = []string{"-"}
			}
			var err error
			for _, name := range args {
				var res evoke.ImportResult
				if res, err = a.importOne(ctx, s, name, foreign.Format(from)); err != nil && name != "-" {
					err = fmt.Errorf("%s: %w", name, err)
				}
				add(&total, res)
				if err != nil {
					break
				}
			}
			if err != nil {
				return fmt.Errorf("after %s imported: %w", count(total.Imported, "item"), err)
			}
			if !noWait {
				if err := a.waitForVectors(ctx, s); err != nil {
					return err
				}
			}
			return a.printImported(total)
		})
	}
	return c
}

// importOne imports a file as an operation, anything else as it is read.
func (a *app) importOne(ctx context.Context, s session, name string, from foreign.Format) (res evoke.ImportResult, err error) {
	if st, cannot := os.Stat(name); name != "-" && cannot == nil && st.Mode().IsRegular() {
		op, err := s.ImportFile(ctx, a.who, name, from)
		if err != nil {
			return res, err
		}
		return a.importFile(ctx, s, op)
	}
	err = a.oneInput(name, "importing", func(in io.Reader) (err error) {
		if from == "" {
			res, err = s.Import(ctx, a.who, in, nil)
		} else {
			res, err = s.ImportFrom(ctx, a.who, from, in, nil)
		}
		return err
	})
	return res, err
}

func add(total *evoke.ImportResult, res evoke.ImportResult) {
	total.Imported, total.Same, total.FailedN = total.Imported+res.Imported, total.Same+res.Same, total.FailedN+res.FailedN
	total.Erased += res.Erased
	total.ID, total.Again = strings.TrimSpace(total.ID+" "+res.ID), total.Again+res.Again
	total.Failed = append(total.Failed, res.Failed...)
	for name, n := range res.UnknownFields {
		if total.UnknownFields == nil {
			total.UnknownFields = map[string]int{}
		}
		total.UnknownFields[name] += n
	}
}

// waitForVectors waits until all are computed: an import is long work, and a person who does not want it can stop it
// without losing anything.
func (a *app) waitForVectors(ctx context.Context, s session) error {
	st, err := s.Stats(ctx, a.who)
	if err != nil || st.Embedder == "none" {
		return err
	}
	done := a.spinner("embedding")
	defer done()
	return s.Settle(ctx)
}

func (a *app) printImported(res evoke.ImportResult) error {
	if a.json {
		if err := a.printJSON(res); err != nil {
			return err
		}
	} else {
		a.printf("%d imported, %d the same as before, %d failed\n", res.Imported, res.Same, res.FailedN)
		if res.Erased > 0 {
			a.printf("%d were erased before and stay away (evoke erase --lift ID lets them in)\n", res.Erased)
		}
		if res.Again > 0 {
			a.printf("%d of these had been taken back by an undo and hold again\n", res.Again)
		}
		if res.Imported > 0 {
			for id := range strings.FieldsSeq(res.ID) {
				a.note("evoke undo --operation %s takes it back", id)
			}
		}
		for _, f := range res.Failed {
			a.note("line %d: %s", f.Line, f.Error)
		}
		for _, name := range sortedKeys(res.UnknownFields) {
			a.note("field %q is not in the format and was left aside: %s", name, count(res.UnknownFields[name], "line"))
		}
	}
	if res.FailedN > 0 {
		return store.Invalid("import", "lines that can all be read", fmt.Sprintf("%d that cannot", res.FailedN))
	}
	return nil
}
