package sqlitestore

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"evoke/store"
)

// primary returns SQLite's primary result code of an error, 0 when it is not SQLite's.
func primary(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// wrap says what failed and gives SQLite's errors the project's meaning.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	switch primary(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%s: %w: the database is damaged and was left as it is; restore a backup or a JSON Lines export into a new directory: %w",
			op, store.ErrCorrupt, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%s: %w: no room left for the database; free disk space and repeat (stored data stays readable): %w",
			op, store.ErrUnavailable, err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM:
		return fmt.Errorf("%s: %w: %w", op, store.ErrUnavailable, err)
	case sqlite3.SQLITE_INTERRUPT:
		return fmt.Errorf("%s: %w", op, context.Canceled)
	}
	return fmt.Errorf("%s: %w", op, err)
}
