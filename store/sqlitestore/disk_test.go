package sqlitestore

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"evoke/store"
)

// copies counts the bytes of a text in the files and in the rows of a database.
func copies(t *testing.T, db *DB, text string) (raw, rows int) {
	t.Helper()
	err := db.Raw(t.Context(), func(_ string, r io.Reader) error {
		b, err := io.ReadAll(r)
		raw += bytes.Count(b, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Texts(t.Context(), func(_ string, v []byte) error { rows += bytes.Count(v, []byte(text)); return nil }); err != nil {
		t.Fatal(err)
	}
	return raw, rows
}

// What was deleted is in no file after a scrub, whatever was moved about before.
func TestScrubLeavesNothingOfWhatWasDeleted(t *testing.T) {
	db, err := Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sc := store.Scope{Tenant: "acme", User: "ann"}
	r := rand.New(rand.NewPCG(1, 2))
	var gone []string
	for n := range 20 { // in an order in which pages are divided again and again, with deletions between
		var c store.Change
		for i := range 50 {
			it := store.Item{ID: fmt.Sprintf("%08x-%d-%d", r.Uint32(), n, i), Kind: store.Semantic, Content: fmt.Sprintf("kept text %d %d", n, i), RecordedAt: time.Unix(1, 0).UTC()}
			if i%3 == 0 {
				it.ID = "zebraquartz" + it.ID
				it.Content = fmt.Sprintf("zebraquartz %0*d", r.IntN(900), n)
				it.Turn.Thread = "zebraquartz thread"
				it.Metadata = store.Metadata{"zebraquartz": store.String("zebraquartz")}
				gone = append(gone, it.ID)
			}
			c.Put = append(c.Put, it)
		}
		if r.IntN(2) == 0 {
			half := len(gone) / 2
			c.Delete, gone = gone[:half:half], gone[half:]
		}
		if err := db.Apply(t.Context(), sc, c); err != nil {
			t.Fatal(err)
		}
	}
	if raw, rows := copies(t, db, "zebraquartz"); raw == 0 || rows == 0 {
		t.Fatalf("before: %d in files, %d in rows", raw, rows)
	}
	if err := db.Apply(t.Context(), sc, store.Change{Delete: gone}); err != nil {
		t.Fatal(err)
	}
	if err := db.Scrub(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	raw, rows := copies(t, db, "zebraquartz")
	t.Logf("%d copies after emptying the log", raw)
	if rows != 0 {
		t.Errorf("%d in rows", rows)
	}
	if err := db.Scrub(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if raw, rows := copies(t, db, "zebraquartz"); raw != 0 || rows != 0 {
		t.Errorf("%d in files, %d in rows", raw, rows)
	}
	if page, err := db.List(t.Context(), sc, store.ListQuery{View: store.View{All: true}, Order: store.ByID, Limit: 1000}); err != nil || len(page.Items) != 660 {
		t.Errorf("%d items are left, %v", len(page.Items), err)
	}
}

// How long writers wait while the database is written anew.
func BenchmarkScrub(b *testing.B) {
	db, err := Open(b.Context(), b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	sc := store.Scope{Tenant: "acme", User: "ann"}
	for n := range 20 {
		var c store.Change
		for i := range 1000 {
			c.Put = append(c.Put, store.Item{ID: fmt.Sprintf("%d-%d", n, i), Kind: store.Semantic, Content: fmt.Sprintf("%0*d", 2000, i), RecordedAt: time.Unix(1, 0).UTC()})
		}
		if err := db.Apply(b.Context(), sc, c); err != nil {
			b.Fatal(err)
		}
	}
	var size int64
	err = db.Raw(b.Context(), func(_ string, r io.Reader) error { n, err := io.Copy(io.Discard, r); size += n; return err })
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		if err := db.Scrub(b.Context(), true); err != nil {
			b.Fatal(err)
		}
	}
}
