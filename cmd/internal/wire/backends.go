package wire

import (
	"context"
	"errors"
	"fmt"
	"io"

	"evoke"
	"evoke/cmd/internal/config"
	"evoke/store/qdrantstore"
	"evoke/store/sqlitestore"
)

// backends are closed from the last to the first.
type backends []io.Closer

// Close closes them all.
func (b backends) Close() error {
	var errs []error
	for i := len(b) - 1; i >= 0; i-- {
		errs = append(errs, b[i].Close())
	}
	return errors.Join(errs...)
}

// openBackends opens the data directory and, where the settings name one, the Qdrant server: then it keeps the items and
// the ledger stays in the directory.
func openBackends(ctx context.Context, c *config.Config, opts *evoke.Options) (backends, error) {
	db, err := sqlitestore.Open(ctx, opts.Path, &sqlitestore.Options{
		Durability: sqlitestore.Durability(c.Store.Durability), Limits: opts.Limits, Logger: opts.Logger,
	})
	if err != nil {
		return nil, err
	}
	opts.Store, opts.Ledger = db, db
	if c.Store.URL == "" {
		return backends{db}, nil
	}
	items, err := qdrantstore.Open(ctx, &qdrantstore.Options{
		URL: c.Store.URL, APIKey: c.Store.APIKey, Collection: c.Store.Collection, Limits: opts.Limits, Logger: opts.Logger,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store.url: %w", err), db.Close())
	}
	opts.Store = items
	return backends{db, items}, nil
}
