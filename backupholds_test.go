package evoke

import (
	"errors"
	"os"
	"slices"
	"testing"

	"evoke/store"
	"evoke/store/sqlitestore"
)

// holdsAll restores a backup and looks for what it has to hold.
func holdsAll(t *testing.T, backup, dir string, known map[string]string) {
	t.Helper()
	if _, err := RestoreBackup(t.Context(), backup, dir, nil); err != nil {
		t.Fatal(err)
	}
	db, err := sqlitestore.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
	of := map[string][]string{}
	for id, user := range known {
		of[user] = append(of[user], id)
	}
	for user, ids := range of {
		for part := range slices.Chunk(ids, 500) {
			got, err := db.Get(t.Context(), store.Scope{Tenant: "default", User: user}, part)
			if err != nil || len(got) != len(part) {
				t.Errorf("%d of %d acknowledged turns are in the backup, %v", len(got), len(part), err)
			}
		}
	}
	if err := errors.Join(db.Close(), os.RemoveAll(dir), os.RemoveAll(backup)); err != nil {
		t.Error(err)
	}
}
