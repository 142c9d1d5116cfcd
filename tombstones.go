package evoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"evoke/extract"
	"evoke/store"
	"evoke/store/lifecycle"
)

// erasureSettings is the kind of the setting that holds the installation's keys of erasure.
const erasureSettings = "erasure"

// skippedErased is why nothing was kept of what comes back after it was erased.
const skippedErased = "erased"

// marking holds the keys of erasure, which are made when something is erased for the first time.
type marking struct {
	mu   sync.Mutex
	made *lifecycle.Marks
	read bool
}

// marks returns the keys of erasure. Unless they are to be made they are nil before the first erasure.
func (e *engine) marks(ctx context.Context, create bool) (*lifecycle.Marks, error) {
	k := &e.marking
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.made != nil || k.read && !create {
		return k.made, nil
	}
	if err := e.readMarks(ctx); err != nil || k.made != nil || !create {
		return k.made, err
	}
	made := lifecycle.NewMarks()
	value, err := json.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("encode the keys of erasure: %w", err)
	}
	_, err = e.ledger.SaveSetting(ctx, store.Setting{Kind: erasureSettings, Name: "keys", Value: value, At: e.now()})
	switch {
	case errors.Is(err, store.ErrConflict): // another process was first
		err = e.readMarks(ctx)
	case err == nil:
		k.made = made
	}
	if err != nil {
		return nil, fmt.Errorf("keep the keys of erasure: %w", err)
	}
	return k.made, nil
}

func (e *engine) readMarks(ctx context.Context) error {
	all, err := e.ledger.Settings(ctx, "", erasureSettings)
	if err != nil {
		return fmt.Errorf("read the keys of erasure: %w", err)
	}
	if len(all) > 0 {
		var m lifecycle.Marks
		if err := json.Unmarshal(all[0].Value, &m); err != nil {
			return fmt.Errorf("read the keys of erasure: %w", err)
		}
		e.marking.made = &m
	}
	e.marking.read = true
	return nil
}

// erasedTurns tells which of the turns were erased: the same message, by its id or by its place and time. A message without
// either is a new statement, whatever it says.
func (e *engine) erasedTurns(ctx context.Context, sc store.Scope, turns []store.Item) ([]bool, error) {
	return e.erasedBefore(ctx, sc, turns, func(m *lifecycle.Marks, it *store.Item) []string {
		return []string{m.Item(sc, it), m.Turn(sc, it)}
	}, nil)
}

// erasedItems tells which of the items were erased: the same text under the same id.
func (e *engine) erasedItems(ctx context.Context, sc store.Scope, items []store.Item) ([]bool, error) {
	return e.erasedBefore(ctx, sc, items, func(m *lifecycle.Marks, it *store.Item) []string { return []string{m.Item(sc, it)} }, nil)
}

// erasedImports tells which of the items of an export or a backup were erased: the same text, under whatever id, unless it
// was recorded after that. began is when the import began: an item that is no older says nothing of when it was recorded.
func (e *engine) erasedImports(ctx context.Context, sc store.Scope, items []store.Item, began time.Time) ([]bool, error) {
	return e.erasedBefore(ctx, sc, items,
		func(m *lifecycle.Marks, it *store.Item) []string { return []string{m.Item(sc, it), m.Text(sc, it)} },
		func(it *store.Item, n int, at time.Time) bool {
			return n == 0 || !it.RecordedAt.After(at) || !it.RecordedAt.Before(began)
		})
}

// erasedFacts tells which operations would store again what was distilled from the same turn before and erased.
func (e *engine) erasedFacts(ctx context.Context, sc store.Scope, ops []extract.Operation) ([]bool, error) {
	items := make([]store.Item, len(ops))
	for i := range ops {
		items[i] = store.Item{Kind: ops[i].Kind, Content: store.CleanText(ops[i].Content), Provenance: store.Provenance{Turns: []string{ops[i].Turn}}}
	}
	gone, err := e.erasedBefore(ctx, sc, items, func(m *lifecycle.Marks, it *store.Item) []string {
		return []string{m.Fact(sc, it.Kind, it.Content, it.Provenance.Turns[0])}
	}, nil)
	if err != nil {
		return nil, err
	}
	return e.forgottenFacts(ctx, sc, items, gone)
}

// erasedKey tells whether what was done under an idempotency key was erased.
func (e *engine) erasedKey(ctx context.Context, sc store.Scope, key string) (bool, error) {
	gone, err := e.erasedBefore(ctx, sc, make([]store.Item, 1), func(m *lifecycle.Marks, _ *store.Item) []string { return []string{m.Key(sc, key)} }, nil)
	return err == nil && gone[0], err
}

// erasedBefore tells which of the items have a tombstone. counts, if given, tells whether that of an item's n-th mark, made
// at a time, counts.
func (e *engine) erasedBefore(ctx context.Context, sc store.Scope, items []store.Item, of func(*lifecycle.Marks, *store.Item) []string,
	counts func(it *store.Item, n int, at time.Time) bool,
) ([]bool, error) {
	gone := make([]bool, len(items))
	m, err := e.marks(ctx, false)
	if err != nil || m == nil || len(items) == 0 {
		return gone, err
	}
	var hashes []string
	marks := make([][]string, len(items))
	for i := range items {
		marks[i] = of(m, &items[i])
		hashes = append(hashes, marks[i]...)
	}
	there, err := e.ledger.Tombstoned(ctx, sc.Tenant, hashes)
	if err != nil {
		return nil, fmt.Errorf("look for tombstones: %w", err)
	}
	at := make(map[string]time.Time, len(there))
	for _, t := range there {
		at[t.Hash] = t.At
	}
	for i := range items {
		for n, h := range marks[i] {
			if when, ok := at[h]; ok && (counts == nil || counts(&items[i], n, when)) {
				gone[i] = true
			}
		}
	}
	return gone, nil
}

// LiftErasure lets what an erasure removed be taken in again: it removes the tombstones that the operation, or the Forget,
// of the id given left, and returns how many there were. It is ErrNotFound when there are none and no operation has the id.
func (m *Memory) LiftErasure(ctx context.Context, operation string) (n int, err error) {
	defer func() { m.audit(ctx, deed("lift erasure", Who{}, err, map[string]int{"tombstones": n}, operation)) }()
	if operation == "" {
		return 0, store.Invalid("operation", "given", "")
	}
	if err := store.ValidateName("operation", operation); err != nil {
		return 0, err
	}
	if n, err = m.ledger.LiftTombstones(ctx, m.tenant, operation); err != nil {
		return 0, fmt.Errorf("lift erasure: %w", err)
	}
	if n == 0 {
		_, err := m.ledger.Operation(ctx, m.tenant, operation)
		if errors.Is(err, store.ErrNotFound) {
			return 0, fmt.Errorf("lift erasure: %w: no tombstones are of that id; it takes that of an erasure's operation, or the one that a forgetting for good was answered with", store.ErrNotFound)
		}
		if err != nil {
			return 0, fmt.Errorf("lift erasure: %w", err)
		}
	}
	return n, nil
}
