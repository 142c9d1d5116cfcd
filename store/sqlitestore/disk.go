package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"evoke/store"
)

var _ store.Disk = (*DB)(nil)

// Scrub empties the log into the database, where secure_delete has overwritten what was deleted. Pages keep copies of what
// was moved about when they were divided: with rewrite the database is written anew without them. It needs up to twice the
// database's size in free space.
func (db *DB) Scrub(ctx context.Context, rewrite bool) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if db.memory != nil {
		return nil
	}
	whole := context.WithoutCancel(ctx) // what is begun is done
	err := db.w.alone(ctx, func(conn *sql.Conn) error {
		if rewrite {
			if err := vacuum(whole, conn); err != nil {
				return wrap("write the database anew", err)
			}
		}
		var busy, frames, moved int
		if err := conn.QueryRowContext(whole, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
			return wrap("empty the log", err)
		}
		if busy != 0 {
			return fmt.Errorf("%w: a reader keeps the log", store.ErrUnavailable)
		}
		return nil
	})
	return err
}

// vacuum writes the database anew. Where no directory takes temporary files it is done in memory.
func vacuum(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, "PRAGMA temp_store = FILE"); err != nil {
		return fmt.Errorf("choose temporary files: %w", err)
	}
	_, err := conn.ExecContext(ctx, "VACUUM")
	_, back := conn.ExecContext(ctx, "PRAGMA temp_store = MEMORY") // as the writer has it
	if err == nil || back != nil {
		return errors.Join(err, back)
	}
	if _, err = conn.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("write the database anew: %w", err)
	}
	return nil
}

// Raw hands over the bytes of all files in the data directory.
func (db *DB) Raw(ctx context.Context, visit func(name string, r io.Reader) error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if db.memory != nil {
		return nil
	}
	//nolint:wrapcheck // the function's own errors, which name what failed
	return filepath.WalkDir(db.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return ignoreGone(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return ignoreGone(err)
		}
		defer f.Close()
		name, err := filepath.Rel(db.dir, path)
		if err != nil {
			return fmt.Errorf("name a file: %w", err)
		}
		return visit(filepath.ToSlash(name), f)
	})
}

// ignoreGone: a file may go while the directory is read.
func ignoreGone(err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("read the data directory: %w", err)
}

// Texts hands over every value of every table.
func (db *DB) Texts(ctx context.Context, visit func(table string, value []byte) error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	var tables []string
	err := db.rows(ctx, "read schema", "SELECT name FROM sqlite_schema WHERE type = 'table'", nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		tables = append(tables, name)
		return err //nolint:wrapcheck // db.rows names the operation
	})
	if err != nil {
		return err
	}
	for _, table := range tables {
		query := `SELECT * FROM "` + strings.ReplaceAll(table, `"`, `""`) + `"`
		if err := db.rows(ctx, "read "+table, query, nil, func(rows *sql.Rows) error { return values(rows, table, visit) }); err != nil {
			return err
		}
	}
	return nil
}

func values(rows *sql.Rows, table string, visit func(table string, value []byte) error) error {
	names, err := rows.Columns()
	if err != nil {
		return err //nolint:wrapcheck // db.rows names the operation
	}
	row, into := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range row {
		into[i] = &row[i]
	}
	if err := rows.Scan(into...); err != nil {
		return err //nolint:wrapcheck // as above
	}
	for _, v := range row {
		if err := visit(table, v); err != nil {
			return err
		}
	}
	return nil
}
