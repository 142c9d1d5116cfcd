package sqlitestore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"evoke/store"
)

const lockName = "evoke.lock"

// lockDir takes the directory for this process. Closing the file gives it back.
func lockDir(ctx context.Context, dir string, wait time.Duration) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: the data directory must be writable: open its lock: %w", store.ErrUnavailable, err)
	}
	deadline := time.Now().Add(wait)
	for {
		ok, err := tryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock data directory %s: %w", dir, err)
		}
		if ok {
			return f, nil
		}
		if !time.Now().Before(deadline) {
			f.Close()
			return nil, fmt.Errorf("%w: data directory %s is in use by another process: stop it, or choose another directory (store.path)",
				store.ErrLocked, dir)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
