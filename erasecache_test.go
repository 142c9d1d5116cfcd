package evoke

import (
	"context"
	"sync/atomic"
	"testing"

	"evoke/embed/cache"
	"evoke/recall"
	"evoke/store"
)

// asked counts the queries that reach the embedder itself.
type asked struct {
	bagEmbedder
	queries atomic.Int64
}

func (a *asked) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	a.queries.Add(1)
	return a.bagEmbedder.EmbedQuery(ctx, text)
}

// The vectors of queries, which may quote what is erased, are forgotten with it; until then they are kept.
func TestErasureForgetsTheVectorsOfQueries(t *testing.T) {
	inner := &asked{}
	kept, err := cache.New(inner, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, &Options{Embedder: kept})
	ann := Who{User: "ann"}
	lines(t, m, ann, 3)
	find := func() int64 {
		if _, err := m.Recall(t.Context(), RecallRequest{Who: ann, Request: recall.Request{Query: "what is kept in the harbour"}}); err != nil {
			t.Fatal(err)
		}
		return inner.queries.Load()
	}
	first := find()
	if again := find(); first == 0 || again != first {
		t.Fatalf("asked for %d vectors, then for %d: no vector is kept", first, again)
	}
	op, err := m.Erase(t.Context(), EraseRequest{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if op, _ = erased(t, m, op.ID); op.State != store.OperationDone {
		t.Fatal(op.State, op.Note)
	}
	before := inner.queries.Load() // the probes ask, too
	lines(t, m, Who{User: "bob"}, 1)
	if _, err := m.Recall(t.Context(), RecallRequest{Who: Who{User: "bob"}, Request: recall.Request{Query: "what is kept in the harbour"}}); err != nil {
		t.Fatal(err)
	}
	if after := inner.queries.Load(); after == before {
		t.Error("the vector of a query from before the erasure is still kept")
	}
}
