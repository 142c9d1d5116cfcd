package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/store"
)

func (a *app) tenantsCmd() *cobra.Command {
	var r evoke.TenantsRequest
	c := &cobra.Command{
		Use: "tenants", Short: "List, make, disable and enable the tenants of the store", Args: noSuchCommand,
		Long: `Lists the tenants that were made here, that the settings know, that have keys or a policy, or that hold items. Keys of a tenant are made
with "evoke keys --tenant NAME". A running server holds the store: there it is /v1/installation/tenants, for a key of role installation.`,
		Example: `  evoke tenants create acme
  evoke keys new boss --tenant acme --role admin --agent-grant '*'`,
	}
	c.Flags().IntVar(&r.Limit, "limit", 100, "tenants a page, 1 to 1000")
	c.Flags().StringVar(&r.Cursor, "cursor", "", "go on where a page ended")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if r.Limit < 1 {
			return store.Invalid("--limit", "from 1 to 1000", fmt.Sprint(r.Limit))
		}
		return a.withStore(c, func(ctx context.Context, s session) error {
			res, err := s.Installation().Tenants(ctx, r)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(res)
			}
			return a.printTenants(res)
		})
	}
	for _, verb := range []struct {
		use, short, done string
		do               func(context.Context, *evoke.Installation, string) (evoke.Tenant, error)
	}{
		{"create NAME", "Make a tenant known", "%s is there\n", func(ctx context.Context, all *evoke.Installation, name string) (evoke.Tenant, error) {
			return all.CreateTenant(ctx, name)
		}},
		{"disable NAME", "Refuse everything of a tenant until it is enabled again; nothing is removed", "%s is disabled\n", func(ctx context.Context, all *evoke.Installation, name string) (evoke.Tenant, error) {
			return all.DisableTenant(ctx, name)
		}},
		{"enable NAME", "End a disable", "%s is enabled\n", func(ctx context.Context, all *evoke.Installation, name string) (evoke.Tenant, error) {
			return all.EnableTenant(ctx, name)
		}},
	} {
		c.AddCommand(&cobra.Command{
			Use: verb.use, Short: verb.short, Args: cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error {
				return a.withStore(c, func(ctx context.Context, s session) error {
					t, err := verb.do(ctx, s.Installation(), args[0])
					if err != nil {
						return shownBy(err, "evoke tenants")
					}
					if a.json {
						return a.printJSON(t)
					}
					a.printf(verb.done, visible(t.Name))
					return nil
				})
			},
		})
	}
	return c
}

func (a *app) printTenants(res evoke.TenantsResult) error {
	if len(res.Tenants) == 0 {
		a.printf("no tenants\n")
		return nil
	}
	yes := map[bool]string{true: "yes", false: "no"}
	rows := make([][]string, len(res.Tenants))
	for i, t := range res.Tenants {
		state := "enabled"
		if t.Disabled {
			state = "disabled"
		}
		rows[i] = []string{visible(t.Name), state, fmt.Sprint(t.Keys), yes[t.Policy], yes[t.Items], yes[t.Settings], visible(t.By)}
	}
	if err := a.table([]string{"NAME", "STATE", "KEYS", "POLICY", "ITEMS", "SETTINGS", "MADE BY"}, rows); err != nil {
		return err
	}
	if res.Next != "" {
		a.note("more with --cursor %s", res.Next)
	}
	return nil
}
