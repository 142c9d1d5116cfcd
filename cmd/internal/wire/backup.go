package wire

import (
	"context"
	"errors"
	"fmt"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/store"
	"evoke/store/qdrantstore"
)

// Backup makes a backup of what the settings name: of the embedded store also while another process has it open.
func Backup(ctx context.Context, c *config.Config, to string, o *Options) (_ evoke.BackupManifest, err error) {
	if c.Store.URL == "" {
		dir, err := dataDir(c, o.Environ)
		if err != nil {
			return evoke.BackupManifest{}, err
		}
		return evoke.BackupDir(ctx, dir, to)
	}
	e, err := Open(ctx, c, o)
	if errors.Is(err, store.ErrLocked) {
		err = fmt.Errorf("%w (with items on a server a backup is made while no server holds the ledger)", err)
	}
	if err != nil {
		return evoke.BackupManifest{}, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return e.Backup(ctx, to)
}

// RestoreBackup brings a backup back into the store that the settings name, which must be empty.
func RestoreBackup(ctx context.Context, c *config.Config, from, erasedIn string, o *Options) (_ evoke.BackupRestored, err error) {
	dir, err := dataDir(c, o.Environ)
	if err != nil {
		return evoke.BackupRestored{}, err
	}
	opts := evoke.RestoreBackupOptions{
		ErasedIn: erasedIn, Logger: o.Logger,
		Limits: store.Limits{ContentBytes: c.Limits.ContentBytes, MetadataKeys: c.Limits.MetadataKeys, MetadataBytes: c.Limits.MetadataBytes},
	}
	if c.Store.URL != "" {
		items, err := qdrantstore.Open(ctx, &qdrantstore.Options{
			URL: c.Store.URL, APIKey: c.Store.APIKey, Collection: c.Store.Collection, Limits: opts.Limits, Logger: o.Logger,
		})
		if err != nil {
			return evoke.BackupRestored{}, fmt.Errorf("store.url: %w", err)
		}
		defer func() { err = errors.Join(err, items.Close()) }()
		opts.Items = items
	}
	return evoke.RestoreBackup(ctx, from, dir, &opts)
}
