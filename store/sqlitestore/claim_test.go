package sqlitestore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"evoke/store"
)

// backlog fills the queue with due jobs of a few tenants, quickly.
func backlog(tb testing.TB, db *DB, n int) {
	tb.Helper()
	const tenants = 5
	err := db.w.do(context.Background(), func(t *tx) error {
		for i := range tenants {
			if _, err := t.scope(store.Scope{Tenant: fmt.Sprint("tenant", i), User: "u"}); err != nil {
				return err
			}
		}
		return t.exec(`INSERT INTO jobs (scope, thread, generation, first_at, due_at, not_before, attempts, note, lease, leased, lease_until, tenant)
WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i + 1 < ?1)
SELECT s.n, 'thread' || c.i, c.i + 1, c.i, c.i, ?2, 0, '', '', 0, ?2, s.tenant FROM c JOIN scopes s ON s.tenant = 'tenant' || (c.i % ?3)`, n, noTime, tenants)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// TestClaimsOfALongQueue: a claim and the look at what is due next cost about the same, however many jobs wait.
func TestClaimsOfALongQueue(t *testing.T) {
	now := time.Now()
	took := func(n int) time.Duration {
		db := openT(t, Memory, nil)
		backlog(t, db, n)
		best := time.Hour
		for range 20 {
			begin := time.Now()
			jobs, err := db.Claim(t.Context(), now, time.Minute, 4, store.Tenants{Except: []string{"tenant3"}})
			if err != nil || len(jobs) != 4 {
				t.Fatalf("%d jobs, %v", len(jobs), err)
			}
			if _, ok, err := db.NextDue(t.Context(), store.Tenants{}); err != nil || !ok {
				t.Fatal(ok, err)
			}
			best = min(best, time.Since(begin))
		}
		return best
	}
	small, large := took(200), took(60_000)
	if large > 20*small { // a queue 300 times as long
		t.Errorf("%v with 200 jobs, %v with 60000", small, large)
	}
	t.Logf("%v with 200 jobs, %v with 60000", small, large)
}
