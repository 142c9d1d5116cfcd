package evoke

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke/extract"
	"evoke/extract/message"
	"evoke/extract/rules"
	"evoke/recall"
	"evoke/store"
)

// counting counts the runs of an extractor.
type counting struct {
	extract.Extractor
	runs atomic.Int64
}

func (c *counting) Extract(ctx context.Context, b extract.Batch) ([]extract.Operation, error) {
	c.runs.Add(1)
	return c.Extractor.Extract(ctx, b)
}

// One event sent a hundred times at once, and a hundred times more after a restart, by clients that do not know whether
// they got through: its turns are there once, it is extracted once, its facts are there once. It is known again by its
// key, or by the ids of its messages.
func TestTheSameEventAHundredTimes(t *testing.T) {
	said := chat("My name is Ada and I like tea.", "Hello Ada.")
	withIDs := []message.Message{said[0], said[1]}
	withIDs[0].ID, withIDs[1].ID = "m1", "m2"
	for name, r := range map[string]IngestRequest{
		"key": {Messages: said, IdempotencyKey: "k"},
		"ids": {Messages: withIDs},
	} {
		t.Run(name, func(t *testing.T) {
			r.Who = Who{User: "u", Thread: "t"}
			x, dir := &counting{Extractor: rules.New(nil)}, t.TempDir()
			for range 2 {
				m, err := Open(t.Context(), &Options{Path: dir, Extractor: x})
				if err != nil {
					t.Fatal(err)
				}
				var wg sync.WaitGroup
				for range 100 {
					wg.Go(func() {
						if _, err := m.Ingest(t.Context(), r); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if _, err := m.Flush(t.Context(), r.Who); err != nil {
					t.Fatal(err)
				}
				st, err := m.Stats(t.Context(), r.Who)
				if err != nil || st.Episodic != 2 || st.Semantic != 2 || st.Pending.Threads != 0 {
					t.Errorf("%+v, %v", st, err)
				}
				if err := m.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if n := x.runs.Load(); n != 1 {
				t.Errorf("extracted %d times", n)
			}
		})
	}
}

// What a caller gets is his to change, and what he gave is too: neither changes what is stored.
func TestWhatIsHandedOutIsACopy(t *testing.T) {
	m := open(t, nil)
	who := Who{User: "u"}
	given := store.Metadata{"colour": store.String("green"), "tags": store.List("a", "b")}
	want := store.Metadata{"colour": store.String("green"), "tags": store.List("a", "b")}
	r, err := m.Remember(t.Context(), RememberRequest{Who: who, ID: "x", Content: "The user likes green tea", Metadata: given})
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(it *store.Item) {
		it.Metadata["colour"] = store.String("spoilt")
		copy(it.Metadata["tags"].Strings(), []string{"spoilt"})
		delete(it.Metadata, "tags")
		for i := range it.Provenance.Turns {
			it.Provenance.Turns[i] = "spoilt"
		}
	}
	whole := func(it *store.Item) bool { return cmp.Equal(it.Metadata, want, cmp.AllowUnexported(store.Value{})) }
	given["colour"] = store.String("spoilt")
	spoil(&r.Item)
	for range 2 {
		it, err := m.Get(t.Context(), who, "x")
		if err != nil || !whole(&it) {
			t.Fatalf("%+v, %v", it, err)
		}
		spoil(&it)
		page, err := m.List(t.Context(), ListRequest{Who: who})
		if err != nil || !whole(&page.Items[0]) {
			t.Fatalf("%+v, %v", page, err)
		}
		spoil(&page.Items[0])
		res, err := m.Recall(t.Context(), RecallRequest{Who: who, Request: recall.Request{Query: "tea"}})
		if err != nil || len(res.Hits) != 1 || !whole(&res.Hits[0].Item) {
			t.Fatalf("%+v, %v", res, err)
		}
		spoil(&res.Hits[0].Item)
	}
	var out strings.Builder
	if _, err := m.Export(t.Context(), who, &out); err != nil || strings.Contains(out.String(), "spoilt") {
		t.Errorf("%s, %v", out.String(), err)
	}
}
