package evoke

import (
	"fmt"
	"maps"
	"slices"

	"evoke/store"
)

// continueThreads has conversations that came in go on behind their last turn: who says more in one of them must not be given
// the place of a turn that is there. With past nothing is distilled from what came in. The caller holds the scope's lock.
func (imp *importer) continueThreads(sc store.Scope, items []store.Item, past bool) error {
	next := map[string]int{}
	for i := range items {
		if t := items[i].Turn; t.IsTurn() && (t.Thread == "" || t.Thread == t.Session) {
			next[t.Session] = max(next[t.Session], t.Position+1)
		}
	}
	m := imp.m
	for _, thread := range slices.Sorted(maps.Keys(next)) {
		st, err := m.ledger.Thread(imp.ctx, sc, thread)
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
		if st.Next >= next[thread] {
			continue
		}
		if past && st.Cursor == st.Next { // no turn waits for extraction
			st.Cursor = next[thread]
		}
		st.Next = next[thread]
		w := m.newWrite(sc)
		w.Thread = &st
		if err := store.Commit(imp.ctx, m.store, m.ledger, w); err != nil {
			return fmt.Errorf("import: %w", err)
		}
	}
	return nil
}
