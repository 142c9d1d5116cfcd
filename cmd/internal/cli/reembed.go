package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

func (a *app) reembedCmd() *cobra.Command {
	var all, noWait bool
	c := &cobra.Command{
		Use: "reembed", Short: "Compute the vectors anew after a change of the embedding model", Args: noArgs,
		Long: `After the embedding model was changed the store's vectors are of the old one, and recall is by words alone. This computes those of all
items of all tenants anew. It is an operation that goes on after an interruption, at the next command or start of a server that has the
model; items stay as they are. A server does it while it answers with "evoke serve --reembed".`,
	}
	c.Flags().BoolVar(&all, "all", false, "also when the vectors are of the model already")
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait for the end")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withMemory(c, func(ctx context.Context, s session) error {
			op, err := s.Reembed(ctx, all)
			if errors.Is(err, store.ErrConflict) {
				st, err := s.Stats(ctx, evoke.Who{})
				if err != nil {
					return err
				}
				note := fmt.Sprintf("nothing to do: the vectors are those of %s already (evoke reembed --all computes them anew)", st.Embedder)
				if a.json {
					return a.printJSON(map[string]any{"operation": nil, "note": note})
				}
				a.printf("%s\n", visible(note))
				return nil
			}
			if err != nil {
				return err
			}
			if !noWait {
				if op, err = a.waitShowing(ctx, s, op, "re-embedding"); err != nil {
					return err
				}
			}
			return a.printOperation(op)
		})
	}
	return c
}

// waitShowing waits for the end of an operation and shows how far it is.
func (a *app) waitShowing(ctx context.Context, s session, op store.Operation, what string) (store.Operation, error) {
	bar := a.bar(100, what)
	defer bar.Finish() //nolint:errcheck // nothing can be done about a bar that is not drawn
	for !op.State.Ended() {
		limited, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		next, err := s.WaitOperation(limited, op.ID)
		cancel()
		switch {
		case err == nil || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			if op = next; op.Total > 0 {
				_ = bar.Set64(100 * int64(op.Done) / int64(op.Total)) // as Finish above
			}
		case ctx.Err() != nil:
			a.note("it goes on at the next command; evoke operations cancel %s ends it", op.ID)
			return op, ctx.Err()
		default:
			return op, err
		}
	}
	return op, nil
}

// endedWell is the error of an operation that did not come to its end.
func endedWell(op store.Operation) error {
	if op.State == store.OperationDone {
		return nil
	}
	return fmt.Errorf("%w: %s (evoke operations retry %s goes on from there)", store.ErrInvalid, op.Note, op.ID)
}

// importFile waits for the operation that imports a file.
func (a *app) importFile(ctx context.Context, s session, op store.Operation) (res evoke.ImportResult, err error) {
	if op, err = a.waitShowing(ctx, s, op, "importing"); err != nil {
		return res, err
	}
	if len(op.Result) > 0 {
		err = json.Unmarshal(op.Result, &res)
	}
	return res, errors.Join(err, endedWell(op))
}
