package cli

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"evoke/cmd/internal/config"
	"evoke/cmd/internal/server"
	"evoke/store"
)

func (a *app) keyCmd() *cobra.Command {
	c := &cobra.Command{Use: "key", Short: "Make API keys for the server", Args: noSuchCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(a.keyNewCmd())
	return c
}

func (a *app) keyNewCmd() *cobra.Command {
	var name, role string
	var agents, users []string
	c := &cobra.Command{
		Use: "new [NAME]", Short: "Make a key; it is shown once and stored nowhere", Args: cobra.MaximumNArgs(1),
		Long: `Makes a key for the tenant of --tenant and prints it, its hash, and what to add to the configuration file. The key itself is shown
once and stored nowhere. The log and the audit log call it by its name. An administrator of the whole tenant needs --agent-grant '*'.`,
		Example: `  evoke key new "chat server" --tenant acme --role write --agent-grant '*'
  evoke key new boss --tenant acme --role admin --agent-grant '*'
  evoke key new operator --role installation`,
	}
	c.Flags().StringVar(&name, "name", "", "")
	c.Flags().Lookup("name").Hidden = true // what NAME was before evoke keys new took it so
	c.Flags().StringVar(&role, "role", "write", "read, write or admin, of the tenant; or installation, which is above tenants and reads no memory")
	c.Flags().StringSliceVar(&agents, "agent-grant", nil, `patterns of the agents granted, "*" for all (default: calls without an agent only)`)
	c.Flags().StringSliceVar(&users, "user-grant", nil, "users granted (default: every user of the tenant)")
	c.RunE = func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) > 0 && name != "":
			return store.Invalid("--name", "left out when NAME is given", "both")
		case len(args) > 0:
			name = args[0]
		}
		above := config.Role(role) == config.Installation
		if !above && !config.Role(role).Allows(config.Read) {
			return store.Invalid("--role", "read, write or admin (or installation)", fmt.Sprintf("%.40q", role))
		}
		if above && (len(agents) > 0 || len(users) > 0 || a.tenant != "") {
			return store.Invalid("--role", "read, write or admin with a tenant, agents or users: a key of the installation reads no memory", "")
		}
		cfg, err := a.config()
		if err != nil {
			return err
		}
		if err := store.ValidateNewTenant("--tenant", cfg.Tenant); err != nil && !above {
			return fmt.Errorf("%w (a key for a tenant that has this name already: evoke keys new)", err)
		}
		secret := make([]byte, 32)
		if _, err := rand.Read(secret); err != nil {
			return fmt.Errorf("random source: %w", err)
		}
		key := "evk_" + base64.RawURLEncoding.EncodeToString(secret)
		hash := server.HashKey(key)
		section := map[string]any{"tenant": cfg.Tenant, "role": role, "agents": agents}
		if name != "" {
			section["name"] = name
		}
		switch {
		case above:
			section = map[string]any{"role": role}
			if name != "" {
				section["name"] = name
			}
		case len(agents) == 0:
			section["agents"] = []string{}
		}
		if len(users) > 0 {
			section["users"] = users
		}
		y, err := yaml.Marshal(map[string]any{"keys": map[string]any{hash: section}})
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(map[string]any{"key": key, "hash": hash, "yaml": string(y)})
		}
		a.printf("%s\n\nIts hash: %s\nAdd to the configuration file, at the left margin (without its first line where there is a \"keys:\" already):\n\n%s", key, hash, y)
		a.note("the key is shown this once; keep it where only its user reads it")
		a.noteNarrow(role, agents, users)
		return nil
	}
	return c
}

// noteNarrow warns of a key of an administrator that may not look after the tenant as a whole.
func (a *app) noteNarrow(role string, agents, users []string) {
	if config.Role(role) == config.Admin && (len(users) > 0 || !slices.Contains(agents, "*")) {
		a.note("this key may not look after the whole tenant (policy, retention, erasing, keys, most of the admin page): that needs --agent-grant '*' and no --user-grant")
	}
}
