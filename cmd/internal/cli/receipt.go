package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"evoke/store"
	"evoke/store/lifecycle"
)

func (a *app) receiptCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "receipt", Short: "Show and verify the signed receipts of erasures", Args: noSuchCommand,
		Long: "An erasure that is done has a receipt: what was removed, where it was looked for afterwards, and what is out of its reach.",
	}
	var out, key string
	show := &cobra.Command{
		Use: "show OPERATION", Short: "Show the receipt of an erasure, or write it to a file", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s session) error {
				signed, err := s.Receipt(ctx, args[0])
				if err != nil {
					return shownBy(err, "evoke operations --kind erase")
				}
				return a.putReceipt(signed, out)
			})
		},
	}
	show.Flags().StringVarP(&out, "output", "o", "", "file to write it to")
	verify := &cobra.Command{
		Use: "verify FILE", Short: "Check that a receipt is this installation's, or the key's, and unchanged", Args: cobra.ExactArgs(1),
		Long: `Checks a receipt, of a file or of standard input ("-"). With --key neither a store nor a server is needed.`,
		RunE: func(c *cobra.Command, args []string) error {
			signed, err := a.readReceipt(args[0])
			if err != nil {
				return err
			}
			if key != "" {
				r, err := signed.Verify(key)
				return a.verified(r, err)
			}
			return a.withStore(c, func(ctx context.Context, s session) error {
				r, err := s.VerifyReceipt(ctx, signed)
				return a.verified(r, err)
			})
		},
	}
	verify.Flags().StringVar(&key, "key", "", "the public key to verify with (default: this installation's)")
	public := &cobra.Command{
		Use: "key", Short: "Show the public key that verifies this installation's receipts", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c, func(ctx context.Context, s session) error {
				key, err := s.ReceiptKey(ctx)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]string{"key": key})
				}
				a.printf("%s\n", key)
				return nil
			})
		},
	}
	c.AddCommand(show, verify, public)
	return c
}

// putReceipt prints a receipt as a file holds it, or writes it to one.
func (a *app) putReceipt(signed lifecycle.SignedReceipt, out string) error {
	text, err := json.MarshalIndent(signed, "", "  ")
	if err != nil {
		return fmt.Errorf("encode receipt: %w", err)
	}
	if out == "" {
		a.printf("%s\n", text)
		return nil
	}
	if err := os.WriteFile(out, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write receipt: %w", err)
	}
	a.printf("receipt written to %s\n", visible(out))
	return nil
}

// maxReceipt bounds the file of a receipt.
const maxReceipt = 1 << 20

func (a *app) readReceipt(name string) (signed lifecycle.SignedReceipt, err error) {
	err = a.oneInput(name, "reading", func(in io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(in, maxReceipt))
		if err != nil {
			return fmt.Errorf("read receipt: %w", err)
		}
		if json.Unmarshal(text, &signed) != nil {
			return store.Invalid("receipt", "JSON as an erasure's receipt is written", "")
		}
		return nil
	})
	return signed, err
}

func (a *app) verified(r lifecycle.Receipt, err error) error {
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	a.printReceipt(&r)
	return nil
}

// printReceipt tells a receipt in words.
func (a *app) printReceipt(r *lifecycle.Receipt) {
	a.printf("erasure %s of %s, done %s\n", r.Operation, r.DoneAt.Sub(r.AskedAt).Round(time.Millisecond), r.DoneAt.Format(time.RFC3339))
	for _, place := range slices.Sorted(maps.Keys(r.Removed)) {
		a.printf("  removed: %d %s\n", r.Removed[place], place)
	}
	a.printf("  tombstones: %d\n", r.Tombstones)
	for _, p := range r.Probes {
		shared, note := "", ""
		if p.Shared > 0 {
			shared = fmt.Sprintf(", %d passages that are in what is kept, too", p.Shared)
		}
		if p.Note != "" {
			note = " (" + p.Note + ")"
		}
		a.printf("  probed: %s, %d looked at, %d found%s%s\n", p.Place, p.Looked, p.Found, shared, note)
	}
	for _, rest := range r.Residual {
		a.printf("  out of reach: %s: %s; until %s\n", rest.Place, rest.What, rest.Until)
	}
	if r.Clean {
		a.printf("nothing of it was found\n")
	} else {
		a.printf("SOMETHING OF IT WAS FOUND\n")
	}
}
