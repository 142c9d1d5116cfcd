package cli

import "github.com/spf13/cobra"

func (a *app) modelCmd() *cobra.Command {
	return &cobra.Command{Use: "model", Short: "Fetch, install, list and verify embedding models", Args: noSuchCommand, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
}
