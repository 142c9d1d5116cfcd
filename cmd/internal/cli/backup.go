package cli

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"evoke"
	"evoke/cmd/internal/wire"
)

func (a *app) backupCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "backup DIR", Short: "Make a backup of the whole store, check one, bring one back", Args: cobra.ExactArgs(1),
		Long: `Makes a backup of everything that the store keeps, of all tenants, in the new directory DIR: one consistent copy, also while a server
works on it. It is put in place only when it is complete. With items on a Qdrant server (store.url) no other process may hold the ledger
meanwhile. A backup is not encrypted and holds what was stored when it was made: keep it as the store itself.`,
		Example: `  evoke backup /backups/2026-03-01
  evoke backup check /backups/2026-03-01
  evoke backup restore /backups/2026-03-01 --store /data/new`,
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			done := a.spinner("backing up")
			b, err := wire.Backup(c.Context(), cfg, args[0], a.outside())
			done()
			if err != nil {
				return err
			}
			return a.printBackup(b)
		},
	}
	var erasedIn string
	restore := &cobra.Command{
		Use: "restore DIR", Short: "Bring a backup back into an empty store", Args: cobra.ExactArgs(1),
		Long: `Checks the backup and brings it back into the data directory of --store (and the collection of store.url), which must hold nothing yet. With
--erased-in, the data directory that the backup is of, what was erased there since does not come back; without it the receipts of erasures
tell what has to be erased again.`,
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			done := a.spinner("restoring")
			res, err := wire.RestoreBackup(c.Context(), cfg, args[0], erasedIn, a.outside())
			done()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(res)
			}
			a.printf("%s restored, %d erased since and left out\n", count(res.Items, "item"), res.Erased)
			return nil
		},
	}
	restore.Flags().StringVar(&erasedIn, "erased-in", "", "data directory whose erasures hold for the backup, too")
	check := &cobra.Command{
		Use: "check DIR", Short: "Tell whether a backup is as it was made", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			b, err := evoke.CheckBackup(c.Context(), args[0])
			if err != nil {
				return err
			}
			return a.printBackup(b)
		},
	}
	c.AddCommand(restore, check)
	return c
}

// outside is what opening a store has of the world of a command.
func (a *app) outside() *wire.Options {
	logger := slog.New(slog.NewTextHandler(a.process.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return &wire.Options{NoModel: true, Existing: true, Logger: logger, Environ: a.process.Environ}
}

func (a *app) printBackup(b evoke.BackupManifest) error {
	if a.json {
		return a.printJSON(b)
	}
	rows := make([][]string, len(b.Files))
	for i, f := range b.Files {
		rows[i] = []string{f.Name, fmt.Sprint(f.Bytes), f.SHA256}
	}
	return a.table([]string{"FILE", "BYTES", "SHA256"}, rows)
}
