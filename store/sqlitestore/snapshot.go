package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"evoke/store"
)

// Snapshot writes a copy of the whole database, as it is at one moment after the call began, into a new file that only its
// owner may read. Writers go on meanwhile. The copy holds what is stored and nothing of what was deleted.
func (db *DB) Snapshot(ctx context.Context, file string) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	return db.reading(func(r *sql.DB) error {
		var name string
		if db.memory == nil {
			if err := r.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&name); err != nil {
				return wrap("find the database's file", err)
			}
			return vacuumInto(ctx, dsn(name, "mode=rw"), file)
		}
		conn, err := r.Conn(ctx)
		if err != nil {
			return wrap("snapshot", err)
		}
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 0"); err != nil {
			return wrap("snapshot", err)
		}
		defer conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only = 1") //nolint:errcheck // the reader's own habit
		return into(ctx, conn, file)
	})
}

// SnapshotDir is Snapshot of a data directory, which another process may have open.
func SnapshotDir(ctx context.Context, dir, file string) error {
	exists, err := inspectHeader(dir)
	if err != nil {
		return err
	}
	if !exists {
		return store.Invalid("store.path", "a data directory of Evoke", dir)
	}
	return vacuumInto(ctx, dsn(filepath.Join(dir, dbName), "mode=rw"), file)
}

func vacuumInto(ctx context.Context, name, file string) (err error) {
	db, err := sql.Open("sqlite", name+"&_pragma=busy_timeout(10000)")
	if err != nil {
		return wrap("snapshot", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return wrap("snapshot", err)
	}
	defer conn.Close()
	return into(ctx, conn, file)
}

func into(ctx context.Context, conn *sql.Conn, file string) error {
	if err := ofEvoke(ctx, conn, "what is to be copied"); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // an empty file is taken, and its mode kept
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", file); err != nil {
		return wrap("snapshot", err)
	}
	return syncFile(file)
}

func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// CheckFile reads every page of a snapshot and fails with store.ErrCorrupt for a damaged one, and with store.ErrInvalid for one
// that a newer program or something else wrote.
func CheckFile(ctx context.Context, file string) error {
	ms, err := loadMigrations(embedded, "migrations")
	if err != nil {
		return err
	}
	return inspect(ctx, file, []string{"mode=ro", "immutable=1"}, len(ms), quickCheck)
}

// HasDatabase tells whether a directory holds a database, sound or not, or what is left of one.
func HasDatabase(dir string) (bool, error) {
	for _, name := range []string{dbName, dbName + "-wal"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true, nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return false, fmt.Errorf("look at the data directory: %w", err)
		}
	}
	return false, nil
}

// PlaceFile copies a snapshot into a new data directory, as its database.
func PlaceFile(file, dir string) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: store.path: must be a directory that is there or can be made: %w", store.ErrInvalid, err)
	}
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("open the backup: %w", err)
	}
	defer in.Close()
	name := filepath.Join(dir, newName)
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove an unfinished database: %w", err)
	}
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the database: %w", err)
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("write the database: %w", err)
	}
	if err := os.Rename(name, filepath.Join(dir, dbName)); err != nil {
		return fmt.Errorf("name the database: %w", err)
	}
	return syncDir(dir)
}

// MoveDatabase moves the database of a directory that nobody has open, and that was closed well, into another one without.
func MoveDatabase(from, to string) error {
	file := filepath.Join(from, dbName)
	if wal, err := size(file + "-wal"); err != nil {
		return err
	} else if wal > 0 {
		return damaged(file, "was not closed well")
	}
	if err := os.Rename(file, filepath.Join(to, dbName)); err != nil {
		return fmt.Errorf("move the database: %w", err)
	}
	return syncDir(to)
}

// TakeErasures gives the database of a directory the marks of erasure of another one, of the same installation, which may be
// newer: what was erased there since. Nobody may have the directory open; the other one somebody may.
func TakeErasures(ctx context.Context, from, dir string) (n int, err error) {
	if there, err := inspectHeader(from); err != nil || !there {
		return 0, errors.Join(err, store.Invalid("erased-in", "a data directory of Evoke", from))
	}
	db, err := sql.Open("sqlite", dsn(filepath.Join(dir, dbName), "mode=rw"))
	if err != nil {
		return 0, wrap("take erasures", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, wrap("take erasures", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "ATTACH DATABASE ? AS other", dsn(filepath.Join(from, dbName), "mode=rw")); err != nil {
		return 0, wrap("take erasures", err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "DETACH DATABASE other") //nolint:errcheck // the connection ends
	var own, others int
	err = errors.Join(conn.QueryRowContext(ctx, "PRAGMA main.user_version").Scan(&own), conn.QueryRowContext(ctx, "PRAGMA other.user_version").Scan(&others))
	if err != nil {
		return 0, wrap("take erasures", err)
	}
	if own != others {
		return 0, store.Invalid("erased-in", fmt.Sprintf("a data directory of schema %d (this program brings it there by opening it)", own), fmt.Sprint(others))
	}
	var foreign bool
	err = conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM other.settings o JOIN main.settings m USING (kind, tenant, name)
WHERE kind = 'erasure' AND o.value <> m.value)`).Scan(&foreign)
	if err != nil {
		return 0, wrap("take erasures", err)
	}
	if foreign {
		return 0, store.Invalid("erased-in", "the data directory of the installation that the backup is of", "another's")
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return 0, wrap("take erasures", err)
	}
	defer tx.Rollback() //nolint:errcheck // a no-op after Commit
	if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO main.settings (kind, tenant, name, value, version, at)
SELECT kind, tenant, name, value, version, at FROM other.settings WHERE kind = 'erasure'`); err != nil {
		return 0, wrap("take erasures", err)
	}
	res, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO main.tombstones (tenant, hash, at, operation)
SELECT tenant, hash, at, operation FROM other.tombstones`)
	if err != nil {
		return 0, wrap("take erasures", err)
	}
	taken, err := res.RowsAffected()
	if err != nil {
		return 0, wrap("take erasures", err)
	}
	return int(taken), wrap("take erasures", tx.Commit())
}
