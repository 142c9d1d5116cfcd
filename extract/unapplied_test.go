package extract_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/store"
	"evoke/store/sqlitestore"
)

// items are an item store apart from the ledger, as on a node with Qdrant. before is asked before every change.
type items struct {
	*sqlitestore.DB
	before func() error
}

func (s *items) Apply(ctx context.Context, sc store.Scope, c store.Change) error {
	if err := s.before(); err != nil {
		return err
	}
	return s.DB.Apply(ctx, sc, c)
}

// A turn is recorded before it is among the items. An extraction that begins in between must not pass over it, whether
// the change is only slow or failed and waits to be replayed.
func TestATurnThatIsNotAmongTheItemsYetIsNotPassedOver(t *testing.T) {
	for name, between := range map[string]func() error{
		"slow":   func() error { time.Sleep(time.Second); return nil },
		"failed": func() error { return fmt.Errorf("items: %w", store.ErrUnavailable) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var next func() error
				s := &items{DB: open(t), before: func() error {
					f := next
					if next = nil; f != nil {
						return f()
					}
					return nil
				}}
				ledger, x, locks := open(t), &script{}, new(extract.Locks)
				w, err := extract.NewWorker(s, ledger, x, &extract.WorkerOptions{Locks: locks})
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(w.Stop)
				g, err := extract.NewIngester(s, ledger, &extract.IngestOptions{Locks: locks, Wake: w.Wake, MaxWait: 30 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				say(t, g, "th", user("one"), assistant("1"))
				time.Sleep(29*time.Second + 500*time.Millisecond)
				next = between
				_, err = g.Ingest(t.Context(), ann, "th", []message.Message{user("two"), assistant("2")}, nil)
				if (err != nil) != (name == "failed") {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				var seen []string
				for _, texts := range x.seen() {
					seen = append(seen, texts...)
				}
				if d := cmp.Diff([]string{"one", "1", "two", "2"}, seen); d != "" {
					t.Error(d)
				}
				counts, err := ledger.CountEvents(t.Context(), ann.Tenant)
				if err != nil || counts[store.EventPending] != 0 || counts[store.EventNothing] != 2 {
					t.Errorf("%v, %v", counts, err)
				}
			})
		})
	}
}

// A turn whose change failed counts for the turns that come next: with its counterpart it makes a pair.
func TestATurnOfACallThatFailedCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := true
		s := &items{DB: open(t), before: func() error {
			if fail {
				return fmt.Errorf("items: %w", store.ErrUnavailable)
			}
			return nil
		}}
		g, err := extract.NewIngester(s, open(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Ingest(t.Context(), ann, "th", []message.Message{user("one")}, nil); !errors.Is(err, store.ErrUnavailable) {
			t.Fatal(err)
		}
		fail = false
		if r := say(t, g, "th", assistant("1")); r.State != store.EventPending || r.Turns[0].Position != 1 {
			t.Errorf("%+v", r)
		}
	})
}
