package extract_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/store"
	"evoke/store/sqlitestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ann = store.Scope{Tenant: "acme", User: "ann"}

// open returns a store in memory that is closed at the end of the test.
func open(t testing.TB) *sqlitestore.DB {
	t.Helper()
	db, err := sqlitestore.OpenMemory(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func ingester(t testing.TB, db *sqlitestore.DB, opts *extract.IngestOptions) *extract.Ingester {
	t.Helper()
	g, err := extract.NewIngester(db, db, opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// say ingests and must succeed.
func say(t testing.TB, g *extract.Ingester, thread string, msgs ...message.Message) *extract.Result {
	t.Helper()
	r, err := g.Ingest(context.Background(), ann, thread, msgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// list returns the scope's items of some kinds, ordered by position or id.
func list(t testing.TB, s store.Store, sc store.Scope, v store.View, kinds ...store.Kind) []store.Item {
	t.Helper()
	var out []store.Item
	q := store.ListQuery{Filter: store.Filter{Kinds: kinds}, View: v, Order: store.ByID, Limit: 1000}
	for {
		p, err := s.List(context.Background(), sc, q)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p.Items...)
		if p.Next == "" {
			return out
		}
		q.Cursor = p.Next
	}
}

func turnsOf(t testing.TB, s store.Store) []store.Item {
	t.Helper()
	return list(t, s, ann, store.View{All: true}, store.Episodic)
}

func factsOf(t testing.TB, s store.Store) []store.Item {
	t.Helper()
	return list(t, s, ann, store.Current(time.Now()), store.Semantic, store.Procedural)
}

func withID(m message.Message, id string) message.Message {
	m.ID = id
	return m
}
