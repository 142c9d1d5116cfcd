//go:build unix

package sqlitestore

import (
	"errors"
	"fmt"
	"os"
)

// syncDir makes a rename within a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync data directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync data directory: %w", err)
	}
	return nil
}
