package sqlitestore

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"evoke/store"
)

//go:embed migrations/*.sql
var embedded embed.FS

// applicationID marks a SQLite file as Evoke's ("EVOK").
const applicationID = 0x45564f4b

// migration is one step of the schema; steps are numbered from 1 without gaps.
type migration struct {
	name string
	sql  string
}

// loadMigrations reads the numbered steps of a folder.
func loadMigrations(fsys fs.FS, dir string) ([]migration, error) {
	entries, err := fs.ReadDir(fsys, dir) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	var ms []migration
	for _, e := range entries {
		number, _, ok := strings.Cut(e.Name(), "_")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n != len(ms)+1 {
			return nil, fmt.Errorf("migration %s: want a name that begins with %03d_", e.Name(), len(ms)+1)
		}
		text, err := fs.ReadFile(fsys, path.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		ms = append(ms, migration{name: e.Name(), sql: string(text)})
	}
	return ms, nil
}

// migrate brings the database to the newest step, in one transaction: when a step fails the database is as it was.
func migrate(ctx context.Context, conn *sql.Conn, ms []migration) error {
	version, err := schemaVersion(ctx, conn)
	if err != nil {
		return err
	}
	if err := checkVersion(version, len(ms)); err != nil {
		return err
	}
	if version == len(ms) {
		return nil
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return wrap("begin", err)
	}
	defer tx.Rollback() //nolint:errcheck // a no-op after Commit; otherwise the first error counts
	for _, m := range ms[version:] {
		if _, err := tx.ExecContext(ctx, m.sql); err != nil {
			return fmt.Errorf("migration %s, nothing was changed: %w", m.name, wrap("run", err))
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(ms))); err != nil {
		return wrap("set schema version", err)
	}
	return wrap("commit", tx.Commit())
}

func checkVersion(version, known int) error {
	if version < 0 || version > known {
		return fmt.Errorf("%w: the database has schema %d and this program knows schemas up to %d: it was written by a newer Evoke, use that one",
			store.ErrInvalid, version, known)
	}
	return nil
}

func schemaVersion(ctx context.Context, conn *sql.Conn) (int, error) {
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, wrap("read schema version", err)
	}
	return version, nil
}
