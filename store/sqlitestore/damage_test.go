package sqlitestore

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke/store"
)

// TestDamaged: a file that is not a sound database is reported as damaged and stays as it is, byte for byte.
func TestDamaged(t *testing.T) {
	skipShort(t)
	sound := t.TempDir()
	fillDir(t, sound, 200)
	whole, err := os.ReadFile(filepath.Join(sound, dbName))
	if err != nil {
		t.Fatal(err)
	}
	changed := func(f func([]byte)) []byte {
		b := bytes.Clone(whole)
		f(b)
		return b
	}
	garbage := make([]byte, 8192)
	for i := range garbage {
		garbage[i] = byte(i * 7)
	}
	for name, content := range map[string][]byte{
		"empty":         {},
		"one byte":      {'S'},
		"garbage":       garbage,
		"text":          []byte(strings.Repeat("this is no database\n", 500)),
		"half":          whole[:len(whole)/2],
		"a page short":  whole[:len(whole)-4096],
		"a byte short":  whole[:len(whole)-1],
		"magic":         changed(func(b []byte) { b[3] ^= 0xff }),
		"page size":     changed(func(b []byte) { b[16], b[17] = 0x12, 0x35 }),
		"first page":    changed(func(b []byte) { clear(b[100:4096]) }),
		"page type":     changed(func(b []byte) { b[4096*3] = 0x77 }),
		"zeroed middle": changed(func(b []byte) { clear(b[len(b)/2 : len(b)/2+3*4096]) }),
		"noise": changed(func(b []byte) {
			r := rand.New(rand.NewPCG(1, 1))
			for i := 4096; i < len(b); i += 97 {
				b[i] ^= byte(1 + r.IntN(255))
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, dbName), content, 0o600); err != nil {
				t.Fatal(err)
			}
			before := files(t, dir)
			for range 2 {
				db, err := Open(context.Background(), dir, nil)
				if err == nil {
					db.Close()
				}
				if !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("error %v, want ErrCorrupt", err)
				}
			}
			if diff := cmp.Diff(before, files(t, dir)); diff != "" {
				t.Error("the damaged directory was changed")
			}
		})
	}
}

// TestDamagedWithLog: a log without its database, and a damaged database that has one, stay as they are too.
func TestDamagedWithLog(t *testing.T) {
	skipShort(t)
	ctx := context.Background()
	live := t.TempDir()
	fillDir(t, live, 50)
	db := openT(t, live, nil)
	if err := db.CommitBoth(ctx, killWrite(1)); err != nil {
		t.Fatal(err)
	}
	snapshot := files(t, live) // as a crash would leave it
	if len(snapshot[dbName+"-wal"]) == 0 {
		t.Fatal("there is no log to test with")
	}
	for name, f := range map[string]func(map[string][]byte){
		"database gone":    func(m map[string][]byte) { delete(m, dbName) },
		"database empty":   func(m map[string][]byte) { m[dbName] = nil },
		"database garbled": func(m map[string][]byte) { clear(m[dbName][:4096]) },
		"log garbled":      func(m map[string][]byte) { m[dbName+"-wal"][13] ^= 1 },
		"log replaced":     func(m map[string][]byte) { m[dbName+"-wal"] = []byte(strings.Repeat("this is no log\n", 500)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			m := map[string][]byte{}
			for k, v := range snapshot {
				m[k] = bytes.Clone(v)
			}
			f(m)
			for k, v := range m {
				if err := os.WriteFile(filepath.Join(dir, k), v, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := files(t, dir)
			db, err := Open(ctx, dir, nil)
			if err == nil {
				db.Close()
			}
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("error %v, want ErrCorrupt", err)
			}
			if diff := cmp.Diff(before, files(t, dir)); diff != "" {
				t.Error("the damaged directory was changed")
			}
		})
	}
	t.Run("sound", func(t *testing.T) {
		dir := t.TempDir()
		for k, v := range snapshot {
			if err := os.WriteFile(filepath.Join(dir, k), v, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		db := openT(t, dir, nil)
		if st, err := db.Stats(ctx, benchScope, store.View{All: true}); err != nil || st.Total != 52 {
			t.Errorf("%d items, %v; want the one in the log too: 52", st.Total, err)
		}
	})
}

// TestDamagedWhileOpen: a page that goes bad under an open store is reported by what reads it, and nothing is replaced.
func TestDamagedWhileOpen(t *testing.T) {
	skipShort(t)
	ctx := context.Background()
	dir := t.TempDir()
	fillDir(t, dir, 3000)
	db := openT(t, dir, nil)
	file := filepath.Join(dir, dbName)
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for page := int64(3); page < info.Size()/4096; page++ {
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, 64), page*4096); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Search(ctx, benchScope, store.Query{View: store.View{All: true}, Recent: 5}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("search: %v, want ErrCorrupt", err)
	}
	if _, err := db.List(ctx, benchScope, store.ListQuery{View: store.View{All: true}, Limit: 5000}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("list: %v, want ErrCorrupt", err)
	}
	if err := db.Check(ctx); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("check: %v, want ErrCorrupt", err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("the damaged file was changed")
	}
}

// TestForeign: a newer schema and another program's database are refused by name, untouched.
func TestForeign(t *testing.T) {
	skipShort(t)
	ctx := context.Background()
	for name, statement := range map[string]string{"newer Evoke": "PRAGMA user_version = 99", "not Evoke's": "PRAGMA application_id = 7"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fillDir(t, dir, 5)
			db := openT(t, dir, nil)
			if _, err := db.w.conn.ExecContext(ctx, statement); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			before := files(t, dir)
			_, err := Open(ctx, dir, nil)
			if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v, want one that says %q", err, name)
			}
			if diff := cmp.Diff(before, files(t, dir)); diff != "" {
				t.Error("the directory was changed")
			}
		})
	}
}
