package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"evoke/store"
)

const (
	dbName       = "evoke.db"
	newName      = "evoke.db.new" // a database that is being made; renamed when it is complete
	headerSize   = 100
	headerMagic  = "SQLite format 3\x00"
	fullCheckMax = 16 << 20 // bytes up to which opening checks every page
)

// damaged reports a database that cannot be used. Nothing is written to it.
func damaged(file, why string) error {
	return fmt.Errorf("%w: %s %s; it was left as it is: restore a backup, or import a JSON Lines export into a new directory",
		store.ErrCorrupt, file, why)
}

func size(file string) (int64, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(file); err == nil { // a database would be made in place of the link
			return 0, store.Invalid("store.path", "a directory whose "+filepath.Base(file)+" is no link to what does not exist (is its disk mounted?)", "")
		}
		return -1, nil
	case err != nil:
		return 0, fmt.Errorf("look at the database: %w", err)
	case !info.Mode().IsRegular():
		return 0, store.Invalid("store.path", "a directory whose evoke.db is a regular file", "")
	}
	return info.Size(), nil
}

// inspectHeader tells whether a database exists and refuses one whose first bytes or length cannot be a database's. It
// reads the files themselves, because SQLite would take an empty file for a new database and drop a log without one.
func inspectHeader(dir string) (exists bool, err error) {
	file := filepath.Join(dir, dbName)
	length, err := size(file)
	if err != nil {
		return false, err
	}
	wal, err := size(file + "-wal")
	if err != nil {
		return false, err
	}
	if length < 0 {
		if wal > 0 {
			return false, damaged(file, "is missing although its log evoke.db-wal exists")
		}
		return false, nil
	}
	if err := inspectLog(file + "-wal"); err != nil {
		return false, err
	}
	f, err := os.Open(file)
	if err != nil {
		return false, fmt.Errorf("open the database: %w", err)
	}
	defer f.Close()
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(f, header); err != nil {
		return false, damaged(file, "is shorter than the header of a database")
	}
	if string(header[:len(headerMagic)]) != headerMagic {
		return false, damaged(file, "does not begin as a SQLite database does")
	}
	page := int64(binary.BigEndian.Uint16(header[16:]))
	if page == 1 {
		page = 65536
	}
	if page < 512 || page&(page-1) != 0 {
		return false, damaged(file, "has an impossible page size in its header")
	}
	// With a log, the newest pages may be there and not yet in the file.
	pages := int64(binary.BigEndian.Uint32(header[28:]))
	if wal <= 0 && pages > 0 && length < pages*page {
		return false, damaged(file, fmt.Sprintf("is cut off: %d of %d bytes", length, pages*page))
	}
	return true, nil
}

const walHeader = 32

// inspectLog refuses a log whose header is neither one nor yet unwritten: SQLite would take it for empty and delete it,
// and with it what was acknowledged and is nowhere else.
func inspectLog(file string) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer f.Close()
	var h [walHeader]byte
	switch _, err := io.ReadFull(f, h[:]); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), err == nil && h == [walHeader]byte{}:
		return nil // cut off before its first commit was acknowledged
	case err != nil:
		return fmt.Errorf("read the log: %w", err)
	}
	if !soundLog(h) {
		return damaged(file, "does not begin as a log does, although the newest writes may be in it")
	}
	return nil
}

// soundLog checks the magic number and the checksum, whose byte order the number's last bit tells.
func soundLog(h [walHeader]byte) bool {
	magic := binary.BigEndian.Uint32(h[:])
	if magic&^1 != 0x377f0682 {
		return false
	}
	word := binary.LittleEndian.Uint32
	if magic&1 == 1 {
		word = binary.BigEndian.Uint32
	}
	var a, b uint32
	for i := 0; i < 24; i += 8 {
		a += word(h[i:]) + b
		b += word(h[i+4:]) + a
	}
	return a == binary.BigEndian.Uint32(h[24:]) && b == binary.BigEndian.Uint32(h[28:])
}

// inspectPages reads an existing database through a connection that cannot write, before any connection that can is
// opened: its schema, the first page of every table and index, and, when it is small, every page.
func inspectPages(ctx context.Context, dir string, known int) error {
	file := filepath.Join(dir, dbName)
	params := []string{"mode=ro"}
	if wal, err := size(file + "-wal"); err != nil {
		return err
	} else if wal <= 0 {
		params = append(params, "immutable=1") // nothing to recover, so no log and no shared memory are made
	}
	length, err := size(file)
	if err != nil {
		return err
	}
	look := probe
	if length <= fullCheckMax {
		look = quickCheck
	}
	return inspect(ctx, file, params, known, look)
}

// inspect opens a database file as the parameters say, refuses one that is not Evoke's or that a newer program wrote, and looks
// into it.
func inspect(ctx context.Context, file string, params []string, known int, look func(ctx context.Context, conn *sql.Conn, file string) error) (err error) {
	db, err := sql.Open("sqlite", dsn(file, params...))
	if err != nil {
		return wrap("open "+file, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return wrap("open "+file, err)
	}
	defer conn.Close()
	if err := ofEvoke(ctx, conn, file); err != nil {
		return err
	}
	version, err := schemaVersion(ctx, conn)
	if err != nil {
		return err
	}
	if err := checkVersion(version, known); err != nil {
		return err
	}
	return look(ctx, conn, file)
}

// ofEvoke refuses a database of another program.
func ofEvoke(ctx context.Context, conn *sql.Conn, file string) error {
	var app int64
	if err := conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return wrap("inspect "+file, err)
	}
	if app != applicationID {
		return fmt.Errorf("%w: %s is a SQLite database, but not Evoke's: choose another", store.ErrInvalid, file)
	}
	return nil
}

// quickCheck reads every page.
func quickCheck(ctx context.Context, conn *sql.Conn, file string) error {
	var verdict string
	if err := conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return wrap("check "+file, err)
	}
	if verdict != "ok" {
		return damaged(file, "fails its check")
	}
	return nil
}

// probe reads one row of every table.
func probe(ctx context.Context, conn *sql.Conn, _ string) error {
	tables, err := tableNames(ctx, conn)
	if err != nil {
		return wrap("read schema", err)
	}
	for _, t := range tables {
		var n int
		query := `SELECT count(*) FROM (SELECT 1 FROM "` + strings.ReplaceAll(t, `"`, `""`) + `" LIMIT 1)`
		if err := conn.QueryRowContext(ctx, query).Scan(&n); err != nil {
			return wrap("read table "+t, err)
		}
	}
	return nil
}

func tableNames(ctx context.Context, conn *sql.Conn) (names []string, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("scan: %w", err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// dsn names a database file with SQLite parameters; whatever the file's name holds stays part of the name.
func dsn(file string, params ...string) string {
	name := filepath.ToSlash(file)
	if filepath.VolumeName(file) != "" {
		name = "/" + name
	}
	u := url.URL{Path: name}
	return "file:" + u.EscapedPath() + "?" + strings.Join(params, "&")
}
