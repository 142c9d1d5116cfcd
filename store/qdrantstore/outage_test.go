package qdrantstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"evoke/scoring"
	"evoke/store"
)

const (
	queryBatch  = "/qdrant.Points/QueryBatch"
	query       = "/qdrant.Points/Query"
	count       = "/qdrant.Points/Count"
	updateBatch = "/qdrant.Points/UpdateBatch"
	upsert      = "/qdrant.Points/Upsert"
)

func down() error    { return status.Error(codes.Unavailable, "down") }
func refused() error { return status.Error(codes.InvalidArgument, "bad") }

// TestRetries: the client has none of its own.
func TestRetries(t *testing.T) {
	ctx := context.Background()
	srv := startStandin(t)
	db := openAt(t, srv.Addr(), nil)
	put(t, db, alice, facts(3)...)
	srv.Calls()
	srv.Fail(queryBatch, down(), down())
	srv.Fail(updateBatch, down())
	c, err := db.Search(ctx, alice, store.Query{View: store.Current(now), Recent: 3})
	must(t, err)
	put(t, db, alice, item("late", "text"))
	if calls := srv.Calls(); len(c.Records) != 3 || calls[queryBatch] != 3 || calls[updateBatch] != 2 {
		t.Errorf("%d records after calls %v", len(c.Records), calls)
	}
	srv.Fail(updateBatch, refused())
	if err := db.Apply(ctx, alice, store.Change{Put: facts(1)}); err == nil || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a refusal gave %v", err)
	}
	if calls := srv.Calls(); calls[updateBatch] != 1 {
		t.Errorf("a refused call was repeated: %v", calls)
	}
}

// TestRestart: a server that comes back within the call's time is not noticed; one that stays away is unavailable.
func TestRestart(t *testing.T) {
	ctx := context.Background()
	srv := startStandin(t)
	db := openAt(t, srv.Addr(), func(o *Options) { o.Timeout = 5 * time.Second })
	put(t, db, alice, facts(3)...)
	srv.Stop()
	back := make(chan error)
	go func() {
		time.Sleep(300 * time.Millisecond)
		back <- srv.Serve(srv.Addr())
	}()
	got, err := db.Get(ctx, alice, []string{"i00001"})
	must(t, <-back)
	must(t, err)
	if len(got) != 1 {
		t.Errorf("after the restart %d items", len(got))
	}
	srv.Stop()
	db.set.Timeout = 300 * time.Millisecond
	start := time.Now()
	_, err = db.Get(ctx, alice, []string{"i00001"})
	wantErr(t, "no server", err, store.ErrUnavailable)
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("it took %v to give up", d)
	}
	must(t, srv.Serve(srv.Addr()))
}

// TestMute: a listener that never answers costs no more than the deadline, ours or the caller's.
func TestMute(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	start := time.Now()
	_, err = Open(context.Background(), &Options{URL: "qdrant://" + l.Addr().String(), Timeout: 200 * time.Millisecond})
	wantErr(t, "our deadline", err, store.ErrUnavailable)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err = Open(ctx, &Options{URL: "qdrant://" + l.Addr().String()})
	wantErr(t, "the caller's deadline", err, context.DeadlineExceeded)
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("it took %v", d)
	}
}

// TestWaitTimeout: the server stopped waiting and may apply the update later. That is not done.
func TestWaitTimeout(t *testing.T) {
	ctx := context.Background()
	srv := startStandin(t)
	db := openAt(t, srv.Addr(), nil)
	srv.Slow(1)
	c := store.Change{Put: facts(3)}
	wantErr(t, "a late update", db.Apply(ctx, alice, c), store.ErrUnavailable)
	must(t, db.Apply(ctx, alice, c))
	srv.Settle() // the late one comes after all: the same items
	page, err := db.List(ctx, alice, store.ListQuery{View: store.View{All: true}, Order: store.ByID})
	must(t, err)
	if got := ids(page.Items); !slices.Equal(got, ids(c.Put)) {
		t.Errorf("items %v", got)
	}
}

// TestInterruptedApply: a change that broke off between two requests is completed by its repetition.
func TestInterruptedApply(t *testing.T) {
	ctx := context.Background()
	srv := startStandin(t)
	db := openAt(t, srv.Addr(), nil)
	put(t, db, alice, item("old", "goes"))
	c := store.Change{Put: facts(2*updatePoints + 10), Delete: []string{"old"}}
	srv.Fail(updateBatch, nil, refused())
	if err := db.Apply(ctx, alice, c); err == nil {
		t.Fatal("the failure was swallowed")
	}
	if n, err := db.count(ctx, alice); err != nil || n != updatePoints+1 {
		t.Errorf("%d points after the failure: %v", n, err)
	}
	must(t, db.Apply(ctx, alice, c))
	if n, err := db.count(ctx, alice); err != nil || n != len(c.Put) {
		t.Errorf("%d points after the repetition: %v", n, err)
	}
}

// TestFailedArm: a query that the server refuses costs its own arm only.
func TestFailedArm(t *testing.T) {
	ctx := context.Background()
	srv := startStandin(t)
	db := openAt(t, srv.Addr(), nil)
	must(t, db.SetModel(ctx, model, dim))
	r := rand.New(rand.NewPCG(5, 5))
	items := facts(10)
	put(t, db, alice, items...)
	must(t, db.SetEmbeddings(ctx, alice, embed(r, items)))
	q := store.Query{View: store.Current(now), Vector: unit(r), Terms: scoring.QueryTerms("tea"), Dense: 3, Lexical: 3, Recent: 3}
	srv.Fail(queryBatch, refused())
	srv.Fail(query, refused())
	c, err := db.Search(ctx, alice, q)
	must(t, err)
	if len(c.Failed) != 1 || c.Failed[store.DenseArm] == nil || len(ranked(c, store.LexicalArm)) != 3 || len(ranked(c, store.RecentArm)) != 3 {
		t.Errorf("failed %v, lexical %v, recent %v", c.Failed, ranked(c, store.LexicalArm), ranked(c, store.RecentArm))
	}
	srv.Fail(count, refused())
	c, err = db.Search(ctx, alice, q)
	must(t, err)
	if len(c.Failed) != 1 || c.Failed[store.LexicalArm] == nil || len(ranked(c, store.DenseArm)) != 3 {
		t.Errorf("without statistics: failed %v", c.Failed)
	}
	srv.Fail(queryBatch, refused())
	srv.Fail(query, refused(), refused(), refused())
	if _, err = db.Search(ctx, alice, q); err == nil {
		t.Error("no arm could answer, and that is no error")
	}
}

// TestRounds: a search is one count a term and two more, one batch of arms, and what was nominated.
func TestRounds(t *testing.T) {
	ctx := context.Background()
	srv := startStandin(t)
	db := openAt(t, srv.Addr(), nil)
	must(t, db.SetModel(ctx, model, dim))
	r := rand.New(rand.NewPCG(6, 6))
	items := facts(50)
	for i := range items {
		items[i].ValidFrom = now.Add(time.Duration(i) * time.Minute)
		items[i].Importance = float64(i) / 100
		items[i].Turn = store.Turn{Session: "s", Position: i}
	}
	put(t, db, alice, items...)
	must(t, db.SetEmbeddings(ctx, alice, embed(r, items)))
	srv.Calls()
	_, err := db.Search(ctx, alice, store.Query{View: store.Current(now), Vector: unit(r), Terms: scoring.QueryTerms("tea number3"), Dense: 5, Lexical: 5, Recent: 5, Important: 5})
	must(t, err)
	calls := srv.Calls()
	if calls[count] != 4 || calls[queryBatch] != 1 || calls["/qdrant.Points/Get"] != 1 || calls["/qdrant.Points/Scroll"] != 1 || calls[query] > 2 || len(calls) != 5 {
		t.Errorf("calls %v", calls)
	}
}

// TestKey: a wrong key is told as such, and no error or address shows it.
func TestKey(t *testing.T) {
	srv := startStandin(t)
	srv.Require("secret-key")
	for _, key := range []string{"", "wrong-key"} {
		_, err := Open(context.Background(), &Options{URL: "qdrant://" + srv.Addr(), APIKey: key})
		wantErr(t, "a wrong key", err, store.ErrUnavailable)
		if err != nil && (strings.Contains(err.Error(), "wrong-key") || !strings.Contains(err.Error(), "API key")) {
			t.Errorf("the error: %v", err)
		}
	}
	openAt(t, srv.Addr(), func(o *Options) { o.APIKey = "secret-key" })
}
