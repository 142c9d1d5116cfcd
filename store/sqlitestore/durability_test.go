package sqlitestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"evoke/scoring"
	"evoke/store"
)

// fillDir makes a database with n items, vectors and control data, and closes it.
func fillDir(t *testing.T, dir string, n int) {
	t.Helper()
	ctx := context.Background()
	db, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.SetModel(ctx, "m", benchDim); err != nil {
		t.Fatal(err)
	}
	items := benchItems(n)
	if err := db.Apply(ctx, benchScope, store.Change{Put: items}); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	themes := benchThemes(r)
	var es []store.Embedding
	for i := range items {
		if i%3 != 0 {
			es = append(es, store.Embedding{ID: items[i].ID, Model: "m", TextKey: items[i].TextKey(), Own: [][]float32{benchVector(r, themes)}})
		}
	}
	if err := db.SetEmbeddings(ctx, benchScope, es); err != nil {
		t.Fatal(err)
	}
	if err := db.CommitBoth(ctx, killWrite(0)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReopen: everything is there after closing, and a search answers the same from the file as before from memory.
func TestReopen(t *testing.T) {
	skipShort(t)
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "a dir with ?, # and %20 in its name")
	fillDir(t, dir, 300)
	db := openT(t, dir, nil)
	q := benchQueries(1)[0]
	before, err := db.Search(ctx, benchScope, q)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := db.Claim(ctx, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), time.Hour, 5, store.Tenants{})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("jobs %v, %v", jobs, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openT(t, dir, nil)
	after, err := db.Search(ctx, benchScope, q)
	if err != nil {
		t.Fatal(err)
	}
	byID := cmpopts.SortSlices(func(a, b store.Record) bool { return a.Item.ID < b.Item.ID })
	if diff := cmp.Diff(before, after, byID, cmp.Comparer(store.Value.Equal)); diff != "" {
		t.Errorf("the search after reopening (-before +after):\n%s", diff)
	}
	// The lease of the process that ended holds nobody up.
	again, err := db.Claim(ctx, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), time.Hour, 5, store.Tenants{})
	if err != nil || len(again) != 1 {
		t.Errorf("jobs after reopening %v, %v", again, err)
	}
	if model, err := db.Model(ctx); model != "m" || err != nil {
		t.Errorf("model %q, %v", model, err)
	}
}

// files reads everything in a directory but the lock and the shared memory of connections.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		if e.Name() == lockName || strings.HasSuffix(e.Name(), "-shm") {
			continue
		}
		if out[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestDeletedTextLeavesTheFiles: deleted text leaves the files while they are in use, not only when they are closed.
func TestDeletedTextLeavesTheFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("calls one after another: they run without -short")
	}
	ctx, dir := context.Background(), t.TempDir()
	db := openT(t, dir, nil)
	w := killWrite(1)
	w.Put[0].Content = "the zebraquartz code is 4471"
	if err := db.CommitBoth(ctx, w); err != nil {
		t.Fatal(err)
	}
	held := func() (where []string) {
		for name, b := range files(t, dir) {
			if bytes.Contains(b, []byte("zebraquartz")) {
				where = append(where, name)
			}
		}
		return where
	}
	if len(held()) == 0 {
		t.Fatal("the text is nowhere to be found")
	}
	if err := db.Apply(ctx, w.Scope, store.Change{Delete: []string{w.Put[0].ID}}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); len(held()) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("deleted text is still in %v", held())
		}
	}
}

// A link whose target is not there, such as a disk that is not mounted, is not a missing database.
func TestDanglingLink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, dbName)
	if err := os.Symlink(filepath.Join(t.TempDir(), "absent", dbName), link); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	db, err := Open(context.Background(), dir, nil)
	if err == nil {
		db.Close()
	}
	if !errors.Is(err, store.ErrInvalid) {
		t.Errorf("error %v, want ErrInvalid", err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
}

// TestMigrate: steps run in order, once; a step that fails leaves the database as it was, also where steps before it ran.
func TestMigrate(t *testing.T) {
	ctx := context.Background()
	db := openT(t, Memory, nil)
	conn := db.w.conn
	first, err := loadMigrations(embedded, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	n := len(first)
	bad := append(first[:n:n], migration{"fine", "CREATE TABLE half (x)"}, migration{"bad", "CREATE TABLE half (x);"})
	if err := migrate(ctx, conn, bad); err == nil || !strings.Contains(err.Error(), "bad") {
		t.Errorf("a step that cannot run: %v", err)
	}
	var exists int
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'").Scan(&exists); err != nil || exists != 0 {
		t.Errorf("half a step was left (%v)", err)
	}
	good := append(first[:n:n], migration{"two", "CREATE TABLE two (x)"}, migration{"three", "ALTER TABLE two ADD COLUMN y; INSERT INTO two VALUES (1, 2)"})
	for range 2 {
		if err := migrate(ctx, conn, good); err != nil {
			t.Fatal(err)
		}
	}
	var rows int
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM two").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v; want each step run once", rows, err)
	}
	if v, err := schemaVersion(ctx, conn); v != n+2 || err != nil {
		t.Errorf("schema %d, %v; want %d", v, err, n+2)
	}
	if err := migrate(ctx, conn, first); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a newer schema: %v", err)
	}
	for _, names := range [][]string{{"002_x.sql"}, {"001_a.sql", "003_b.sql"}, {"first.sql"}} {
		fsys := fstest.MapFS{}
		for _, name := range names {
			fsys["m/"+name] = &fstest.MapFile{}
		}
		if _, err := loadMigrations(fsys, "m"); err == nil {
			t.Errorf("migrations %v pass", names)
		}
	}
}

// TestDiskFull: a database that may not grow refuses what needs room, says why, and reads on; with room it writes again.
func TestDiskFull(t *testing.T) {
	skipShort(t)
	ctx := context.Background()
	db := openT(t, t.TempDir(), nil)
	if err := db.Apply(ctx, benchScope, store.Change{Put: benchItems(50)}); err != nil {
		t.Fatal(err)
	}
	var pages int
	if err := db.w.conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	limit := func(n int) {
		if _, err := db.w.conn.ExecContext(ctx, fmt.Sprint("PRAGMA max_page_count = ", n)); err != nil {
			t.Fatal(err)
		}
	}
	limit(pages + 4)
	big := benchItems(2000)[50:]
	err := db.Apply(ctx, benchScope, store.Change{Put: big})
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "no room") {
		t.Errorf("a full disk: %v", err)
	}
	// Writes that fit and writes that do not, together: only the latter fail.
	errs := make(chan error, 20)
	for i := range 20 {
		go func() {
			c := store.Change{Put: big}
			if i%2 == 0 {
				c = store.Change{Delete: []string{"nothing"}}
			}
			err := db.Apply(ctx, benchScope, c)
			if (i%2 == 0) != (err == nil) {
				errs <- fmt.Errorf("write %d: %w", i, errors.Join(err, errors.New("(want the small ones made and the large refused)")))
				return
			}
			errs <- nil
		}()
	}
	for range 20 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if st, err := db.Stats(ctx, benchScope, store.View{All: true}); err != nil || st.Total != 50 {
		t.Errorf("%d items, %v; want the first 50", st.Total, err)
	}
	c, err := db.Search(ctx, benchScope, store.Query{View: store.View{All: true}, Recent: 100})
	if err != nil || len(c.Records) != 50 {
		t.Errorf("search: %v", err)
	}
	limit(1 << 30)
	if err := db.Apply(ctx, benchScope, store.Change{Put: big}); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := db.Check(ctx); err != nil {
		t.Error(err)
	}
}

// TestAnalyzerVersion: analysed text of another version is made anew from the text.
func TestAnalyzerVersion(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	fillDir(t, dir, 20)
	db := openT(t, dir, nil)
	for _, doc := range [][]byte{{1, 200, 0}, {}, []byte("damaged")} {
		if _, err := db.w.conn.ExecContext(ctx, "UPDATE items SET doc = ?", doc); err != nil {
			t.Fatal(err)
		}
		u := uncached{db}
		c, err := u.Search(ctx, benchScope, store.Query{View: store.View{All: true}, Terms: scoring.QueryTerms("message number"), Lexical: 5})
		if err != nil || len(c.Records) != 1 {
			t.Errorf("doc %q: %v, %+v", doc, err, c)
		}
		db.cache.wait()
		var renewed int
		if err := db.read.QueryRowContext(ctx, "SELECT count(*) FROM items WHERE length(doc) > 10").Scan(&renewed); err != nil || renewed != 21 {
			t.Errorf("%d items renewed, %v; want all 21", renewed, err)
		}
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]*Options{
		"durability": {Durability: "most"}, "index_bytes": {IndexBytes: -1}, "readers": {Readers: 65}, "lock_wait": {LockWait: -1},
	} {
		if _, err := Open(context.Background(), Memory, o); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(context.Background(), "", nil); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("no directory: %v", err)
	}
}
