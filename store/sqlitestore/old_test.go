package sqlitestore

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

// oldDir unpacks a data directory as the program of that schema left it.
func oldDir(t *testing.T, schema int) string {
	t.Helper()
	packed, err := os.Open(fmt.Sprintf("testdata/old/schema%d.db.gz", schema))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, dbName), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// schemaOf lists the columns and the indexes of a database.
func schemaOf(t *testing.T, db *DB) []string {
	t.Helper()
	var all []string
	err := db.reading(func(r *sql.DB) error {
		rows, err := r.QueryContext(t.Context(), `SELECT 'column ' || m.name || '.' || p.name || ' ' || p.type || ' ' || p."notnull" || ' ' || p.pk
FROM sqlite_schema m, pragma_table_info(m.name) p WHERE m.type = 'table'
UNION ALL SELECT 'index ' || sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			all = append(all, strings.Replace(line, "INDEX IF NOT EXISTS", "INDEX", 1))
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// A directory of each schema that a program wrote comes to the schema of a new one.
func TestOldSchemasBecomeTheNewOne(t *testing.T) {
	want := schemaOf(t, openT(t, Memory, nil))
	ms, err := loadMigrations(embedded, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	for schema := 1; schema < len(ms); schema++ {
		if diff := cmp.Diff(want, schemaOf(t, openT(t, oldDir(t, schema), nil))); diff != "" {
			t.Errorf("from schema %d (-new +upgraded):\n%s", schema, diff)
		}
	}
}

// Whoever adds a step keeps a directory of the schema before it, which the program before it wrote, so that opening it stays
// tested for good.
func TestEverySchemaBeforeHasADirectory(t *testing.T) {
	ms, err := loadMigrations(embedded, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	for schema := 1; schema < len(ms); schema++ {
		for _, ext := range []string{"db", "json"} {
			if _, err := os.Stat(fmt.Sprintf("testdata/old/schema%d.%s.gz", schema, ext)); err != nil {
				t.Errorf("%v: %s needs a directory of schema %d. In a work tree of the commit before it, run\n"+
					"EVOKE_TEST_OLD_DIR=$PWD/store/sqlitestore/testdata/old go test -run TestWriteAnOldDirectory .\nand copy the two files here", err, ms[schema].name, schema)
				continue
			}
		}
		if t.Failed() {
			continue
		}
		file, err := os.Open(filepath.Join(oldDir(t, schema), dbName))
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 100)
		_, err = io.ReadFull(file, head)
		if err = errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		if got := binary.BigEndian.Uint32(head[60:]); got != uint32(schema) { // where SQLite keeps the user version
			t.Errorf("the directory of schema %d has schema %d", schema, got)
		}
	}
}

// A step that fails leaves the file of an old directory as it was, byte for byte, and the next program that can opens it.
func TestAFailedMigrationLeavesTheFile(t *testing.T) {
	ms, err := loadMigrations(embedded, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	dir := oldDir(t, 3)
	before, err := os.ReadFile(filepath.Join(dir, dbName))
	if err != nil {
		t.Fatal(err)
	}
	o, err := (*Options)(nil).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	bad := append(ms[:len(ms):len(ms)], migration{"bad", "ALTER TABLE items ADD COLUMN half; INSERT INTO nowhere VALUES (1)"})
	if _, err := openDir(t.Context(), dir, o, bad); err == nil || !strings.Contains(err.Error(), "bad, nothing was changed") {
		t.Fatalf("it opened: %v", err)
	}
	after, err := os.ReadFile(filepath.Join(dir, dbName))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
	db := openT(t, dir, nil)
	if err := db.Check(context.Background()); err != nil {
		t.Error(err)
	}
}

// A schema that is newer than the program is refused with what to do, and the file left as it was.
func TestANewerSchemaIsRefused(t *testing.T) {
	dir := oldDir(t, 7)
	ms, err := loadMigrations(embedded, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	o, err := (*Options)(nil).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, dbName))
	if err != nil {
		t.Fatal(err)
	}
	_, err = openDir(t.Context(), dir, o, ms[:6]) // the program of schema 6
	if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "schema 7") || !strings.Contains(err.Error(), "newer Evoke") {
		t.Errorf("%v", err)
	}
	after, err := os.ReadFile(filepath.Join(dir, dbName))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}

// A step that some directory went through must never change: a later step mends. The checksums are of the steps as they are
// kept; a new step adds a line.
func TestStepsNeverChange(t *testing.T) {
	ms, err := loadMigrations(embedded, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0ea2fb6601a7494f", // 001_init
		"e997925500ed7732", // 002_review
		"f2a947da30fc466d", // 003_queue
		"8874d517f226ef62", // 004_outcomes
		"dab0be93fe66db8e", // 005_control
		"fe0accd9b820e3c1", // 006_blocks
		"df2a3ac300101e18", // 007_writing
		"a4433d2c52427c6b", // 008_aside
		"59fa46ac2039bef0", // 009_erasure
		"6aa2aef4e98a138f", // 010_review
		"7b91da51f9abf72c", // 011_audit
		"97a9b9b20bd7957b", // 012_expiring
		"9d0d6570eab03128", // 013_census
	}
	if len(ms) != len(want) {
		t.Errorf("%d steps, %d checksums: a new step needs its line here", len(ms), len(want))
	}
	for i, m := range ms[:min(len(ms), len(want))] {
		sum := sha256.Sum256([]byte(m.sql))
		if got := hex.EncodeToString(sum[:8]); got != want[i] {
			t.Errorf("%s was changed (%s, was %s): directories that went through it as it was would differ; write a new step", m.name, got, want[i])
		}
	}
}
