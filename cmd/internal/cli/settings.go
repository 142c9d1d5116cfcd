package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"evoke/cmd/internal/config"
)

func (a *app) configCmd() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Check and show the settings", Args: noSuchCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(
		&cobra.Command{
			Use: "check", Short: "Check the file, the variables and the flags", Args: noArgs,
			RunE: func(*cobra.Command, []string) error {
				cfg, err := a.config()
				if err != nil {
					return err
				}
				if err := cfg.CheckListen(); err != nil {
					return err
				}
				file := cfg.File()
				if a.json {
					return a.printJSON(map[string]any{"ok": true, "file": file})
				}
				if file == "" {
					file = "no file: defaults, variables and flags"
				}
				a.printf("ok (%s)\n", file)
				return nil
			},
		},
		&cobra.Command{
			Use: "show", Short: "Print what is in force and where it comes from; secrets are not shown", Args: noArgs,
			RunE: func(*cobra.Command, []string) error {
				cfg, err := a.config()
				if err != nil {
					return err
				}
				lines := cfg.Show()
				if a.json {
					return a.printJSON(lines)
				}
				rows := make([][]string, len(lines))
				for i, l := range lines {
					rows[i] = []string{l.Key, fmt.Sprint(l.Value), l.Origin}
				}
				return a.table([]string{"KEY", "VALUE", "FROM"}, rows)
			},
		},
		&cobra.Command{
			Use: "reference", Short: "Print the reference of all settings (Markdown)", Args: noArgs,
			RunE: func(*cobra.Command, []string) error {
				a.printf("%s", config.Reference())
				return nil
			},
		},
	)
	return c
}
