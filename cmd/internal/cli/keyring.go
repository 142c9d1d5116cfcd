package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

func (a *app) keysCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "keys", Short: "Make, rotate and revoke keys of the tenant that live in the store", Args: noSuchCommand,
		Long: `Keys of the tenant of --tenant that live in the store beside those of the configuration file ("evoke key new"), hashed. A running server
holds the store: there it is /v1/admin/keys. A secret is shown once and kept nowhere.`,
		Example: `  evoke keys new "chat server" --tenant acme --role write --agent-grant '*'
  evoke keys rotate "chat server" --tenant acme --grace 7d`,
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withStore(c, func(ctx context.Context, s session) error {
			keys, err := s.Keys(ctx)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"keys": keys})
			}
			return a.printKeys(keys)
		})
	}
	c.AddCommand(a.keysNewCmd(), a.keysRotateCmd(), a.keysRevokeCmd())
	return c
}

func (a *app) keysNewCmd() *cobra.Command {
	var r evoke.KeyRequest
	var expires string
	c := &cobra.Command{Use: "new NAME", Short: "Make a key; its secret is shown once", Args: cobra.ExactArgs(1)}
	c.Flags().StringVar(&r.Role, "role", "write", "read, write or admin")
	c.Flags().StringSliceVar(&r.Agents, "agent-grant", nil, `patterns of the agents granted, "*" for all (default: calls without an agent only)`)
	c.Flags().StringSliceVar(&r.Users, "user-grant", nil, "users granted (default: every user of the tenant)")
	c.Flags().StringVar(&expires, "expires", "", "until when it is taken: "+laterForms+" (default: until it is revoked)")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if r.ExpiresAt, err = later("expires", expires); err != nil {
			return err
		}
		r.Name = args[0]
		return a.withStore(c, func(ctx context.Context, s session) error {
			made, err := s.CreateKey(ctx, r)
			if err != nil {
				return err
			}
			if !a.json {
				defer a.noteNarrow(r.Role, r.Agents, r.Users)
			}
			return a.printSecret(made)
		})
	}
	return c
}

func (a *app) keysRotateCmd() *cobra.Command {
	var grace string
	c := &cobra.Command{Use: "rotate NAME", Short: "Give a key a new secret", Args: cobra.ExactArgs(1)}
	c.Flags().StringVar(&grace, "grace", "0", "for how long the old secret is taken as well, at most 30 days: 36h, 7d, 2w")
	c.RunE = func(c *cobra.Command, args []string) error {
		both, ok := age(grace)
		if !ok {
			return store.Invalid("--grace", "a length of time such as 36h, 7d or 2w, at most 30 days", fmt.Sprintf("%.40q", grace))
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			made, err := s.RotateKey(ctx, args[0], both)
			if err != nil {
				return shownBy(err, "evoke keys")
			}
			return a.printSecret(made)
		})
	}
	return c
}

func (a *app) keysRevokeCmd() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "End a key", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s session) error {
				k, err := s.RevokeKey(ctx, args[0])
				if err != nil {
					return shownBy(err, "evoke keys")
				}
				if a.json {
					return a.printJSON(k)
				}
				a.printf("%s is not taken any more\n", visible(k.Name))
				return nil
			})
		},
	}
}

func (a *app) printSecret(made evoke.KeySecret) error {
	if a.json {
		return a.printJSON(made)
	}
	a.printf("%s\n", made.Secret)
	a.note("the key is shown this once; keep it where only its user reads it")
	return nil
}

func (a *app) printKeys(keys []evoke.Key) error {
	if len(keys) == 0 {
		a.printf("no keys in the store\n")
		return nil
	}
	some := func(names []string, none string) string {
		if len(names) == 0 {
			return none
		}
		return clip(visible(strings.Join(names, ", ")), contentWidth)
	}
	rows := make([][]string, len(keys))
	for i, k := range keys {
		ends := "never"
		if !k.ExpiresAt.IsZero() {
			ends = k.ExpiresAt.Format(time.RFC3339)
		}
		rows[i] = []string{visible(k.Name), k.Role, some(k.Agents, "none"), some(k.Users, "all"), day(k.CreatedAt), ends}
	}
	if err := a.table([]string{"NAME", "ROLE", "AGENTS", "USERS", "MADE", "EXPIRES"}, rows); err != nil {
		return fmt.Errorf("print keys: %w", err)
	}
	return nil
}
