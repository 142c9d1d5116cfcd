package cache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"evoke/embed"
	"evoke/embed/cache"
	"evoke/embed/embedtest"
	"evoke/embed/internal/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, inner embed.Embedder, o *cache.Options) *cache.Cache {
	t.Helper()
	c, err := cache.New(inner, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestContract(t *testing.T) {
	embedtest.Run(t, func(t *testing.T) embed.Embedder { return open(t, &fake.Embedder{}, nil) })
}

// A bound of one entry must lose nothing but time.
func TestContractUnderEviction(t *testing.T) {
	embedtest.Run(t, func(t *testing.T) embed.Embedder { return open(t, &fake.Embedder{}, &cache.Options{Entries: 1}) })
}

func TestAsksOnce(t *testing.T) {
	ctx := context.Background()
	inner := &fake.Embedder{}
	c := open(t, inner, nil)
	for range 3 {
		vs, err := c.EmbedPassages(ctx, []string{"a", "b", "a", "c"})
		if err != nil || len(vs) != 4 || fmt.Sprint(vs[0]) != fmt.Sprint(vs[2]) {
			t.Fatalf("%v, %v", vs, err)
		}
	}
	if _, err := c.EmbedPassages(ctx, []string{"d", "b"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.EmbedQuery(ctx, "a"); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := fmt.Sprint(inner.Asked()), "[passages[a b c] passages[d] query[a]]"; got != want {
		t.Errorf("asked %s, want %s: a passage is no query, and nothing is asked twice", got, want)
	}
	if c.Len() != 5 {
		t.Errorf("%d entries, want 5", c.Len())
	}
}

func TestKeepsOnlySuccesses(t *testing.T) {
	ctx := context.Background()
	inner := &fake.Embedder{}
	c := open(t, inner, nil)
	broken := errors.New("broken")
	inner.Fail(broken)
	if _, err := c.EmbedQuery(ctx, "a"); !errors.Is(err, broken) {
		t.Errorf("query: %v", err)
	}
	if _, err := c.EmbedPassages(ctx, []string{"a"}); !errors.Is(err, broken) {
		t.Errorf("passages: %v", err)
	}
	inner.Fail(nil)
	if _, err := c.EmbedQuery(ctx, "a"); err != nil {
		t.Errorf("a failure was kept: %v", err)
	}
	if _, err := c.EmbedPassages(ctx, []string{"a"}); err != nil {
		t.Errorf("a failure was kept: %v", err)
	}
}

func TestModelsDoNotMix(t *testing.T) {
	a, b := open(t, &fake.Embedder{Name: "a"}, nil), open(t, &fake.Embedder{Name: "b"}, nil)
	va, _ := a.EmbedQuery(context.Background(), "x")
	vb, _ := b.EmbedQuery(context.Background(), "x")
	if fmt.Sprint(va) == fmt.Sprint(vb) {
		t.Error("the fake gives two models the same vector: the test says nothing")
	}
	if a.Model().Name != "a" || a.Unwrap().Model().Name != "a" {
		t.Error("a cache must show the model behind it")
	}
}

func TestBounds(t *testing.T) {
	for _, o := range []cache.Options{{Entries: 10}, {Bytes: 10 * (fake.Dim*4 + 160)}} {
		c := open(t, &fake.Embedder{}, &o)
		for i := range 500 {
			if _, err := c.EmbedQuery(context.Background(), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		if c.Len() > 10 {
			t.Errorf("%+v keeps %d entries, want at most 10", o, c.Len())
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []cache.Options{{Bytes: -1}, {Entries: -1}} {
		if _, err := cache.New(&fake.Embedder{}, &o); !errors.Is(err, embed.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := cache.New(nil, nil); !errors.Is(err, embed.ErrInvalid) {
		t.Errorf("no embedder: %v", err)
	}
}

// slow lets a query go on when told to.
type slow struct {
	fake.Embedder
	calls atomic.Int32
	gate  chan struct{}
}

func (s *slow) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	s.calls.Add(1)
	select {
	case <-s.gate:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.Embedder.EmbedQuery(ctx, text)
}

func TestConcurrentQueriesShareOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &slow{gate: make(chan struct{})}
		c := open(t, inner, nil)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				v, err := c.EmbedQuery(context.Background(), "same")
				if err != nil || len(v) != fake.Dim {
					t.Errorf("%v, %v", v, err)
				}
			})
		}
		synctest.Wait()
		close(inner.gate)
		wg.Wait()
		if n := inner.calls.Load(); n != 1 {
			t.Errorf("%d calls, want 1", n)
		}
	})
}

func TestFollowersSurviveTheLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &slow{gate: make(chan struct{})}
		c := open(t, inner, nil)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.EmbedQuery(ctx, "same"); !errors.Is(err, context.Canceled) {
				t.Errorf("leader: %v", err)
			}
		})
		synctest.Wait()
		for range 3 {
			wg.Go(func() {
				if _, err := c.EmbedQuery(context.Background(), "same"); err != nil {
					t.Errorf("follower: %v", err)
				}
			})
		}
		impatient, stop := context.WithCancel(context.Background())
		wg.Go(func() {
			if _, err := c.EmbedQuery(impatient, "same"); !errors.Is(err, context.Canceled) {
				t.Errorf("impatient follower: %v", err)
			}
		})
		synctest.Wait()
		stop()
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(inner.gate)
		wg.Wait()
		if n := inner.calls.Load(); n != 2 {
			t.Errorf("%d calls, want 2: the leader's and one follower's", n)
		}
	})
}

// pieced is a fake that tells the pieces of a query: its bytes.
type pieced struct{ fake.Embedder }

func (p *pieced) EmbedQueryPieces(ctx context.Context, text string) ([]float32, []embed.Piece, error) {
	v, err := p.EmbedQuery(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	var pieces []embed.Piece
	for i := range text {
		pieces = append(pieces, embed.Piece{ID: int32(text[i]), Text: text[i : i+1], Vector: slices.Clone(v)})
	}
	return v, pieces, nil
}

func TestPiecesOfQueriesAreKept(t *testing.T) {
	ctx := context.Background()
	inner := &pieced{}
	c := open(t, inner, nil)
	for range 3 {
		v, pieces, err := c.EmbedQueryPieces(ctx, "abc")
		if err != nil || len(pieces) != 3 || pieces[1].Text != "b" || pieces[1].Vector[0] != v[0] {
			t.Fatalf("%v, %v, %v", v, pieces, err)
		}
		v[0], pieces[1].Vector[0] = 7, 7 // the caller's own
	}
	if _, err := c.EmbedQuery(ctx, "abc"); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(inner.Asked()), "[query[abc]]"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	if _, pieces, err := open(t, &fake.Embedder{}, nil).EmbedQueryPieces(ctx, "abc"); err != nil || pieces != nil {
		t.Errorf("an embedder that tells no pieces: %v, %v", pieces, err)
	}
}

// After Clear nothing is remembered.
func TestClearForgets(t *testing.T) {
	inner := &fake.Embedder{}
	c := open(t, inner, nil)
	for range 2 {
		if _, err := c.EmbedPassages(context.Background(), []string{"a"}); err != nil {
			t.Fatal(err)
		}
		c.Clear()
		if c.Len() != 0 {
			t.Errorf("%d vectors are kept", c.Len())
		}
	}
	if n := len(inner.Asked()); n != 2 {
		t.Errorf("asked %d times, want 2", n)
	}
}
