package evoke

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"evoke/store"
	"evoke/store/lifecycle"
)

// between calls what is given once, after the listings of everything that came before it.
type between struct {
	store.Store
	lists atomic.Int32
	after int32
	do    func()
}

func (b *between) List(ctx context.Context, sc store.Scope, q store.ListQuery) (store.Page, error) {
	page, err := b.Store.List(ctx, sc, q)
	if q.View.All && q.Order == store.ByID && b.lists.Add(1) == b.after {
		b.do()
	}
	return page, err
}

// What is written while an undo plans counts: a turn that a fact came to rest on by then is left alone and named.
func TestUndoSeesWhatIsWrittenWhileItPlans(t *testing.T) {
	t.Parallel()
	m := open(t, nil)
	w := Who{User: "u"}
	put := func(line string) {
		t.Helper()
		if res, err := m.Import(t.Context(), w, strings.NewReader(line), nil); err != nil || res.Imported != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	for i := range 3 {
		put(fmt.Sprintf(`{"id": "t%d", "kind": "episodic", "content": "turn %d", "turn": {"thread": "a"}}`, i, i))
	}
	m.engine.store = &between{Store: m.engine.store, after: 2, do: func() { // the plan lists all twice
		put(`{"id": "f", "kind": "semantic", "content": "a fact", "turn": {"thread": "b"}, "provenance": {"turns": ["t1"]}}`)
	}}
	_, did := undo(t, m, w, lifecycle.Batch{Thread: "a"})
	if did.Retracted != 2 || len(did.Left) != 1 || did.Left[0].ID != "t1" {
		t.Errorf("%+v", did)
	}
}
