package sqlitestore

import (
	"context"
	"database/sql"
	"testing"
)

// TestUpgradeEvents: events of schema 1 are told where their turns begin: where the thread's event before them ends.
func TestUpgradeEvents(t *testing.T) {
	ctx := context.Background()
	ms, err := loadMigrations(embedded, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := migrate(ctx, conn, ms[:1]); err != nil {
		t.Fatal(err)
	}
	_, err = conn.ExecContext(ctx, `INSERT INTO scopes VALUES (1, 'acme', 'ann', ''), (2, 'acme', 'bob', '');
INSERT INTO events VALUES ('acme', 'a', 1, 't', 2, 'dead', 0, 'x', 1, 1), ('acme', 'b', 1, 't', 6, 'stored', 1, '', 2, 2),
('acme', 'c', 1, 'u', 3, 'pending', 0, '', 3, 3), ('acme', 'd', 2, 't', 4, 'pending', 0, '', 3, 3)`)
	if err != nil {
		t.Fatal(err)
	}
	if err := migrate(ctx, conn, ms); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int{"a": 0, "b": 2, "c": 0, "d": 0} {
		var first int
		if err := conn.QueryRowContext(ctx, "SELECT first FROM events WHERE id = ?", id).Scan(&first); err != nil || first != want {
			t.Errorf("event %s begins at %d, want %d (%v)", id, first, want, err)
		}
	}
}
