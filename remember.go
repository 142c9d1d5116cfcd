package evoke

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"evoke/extract"
	"evoke/scoring"
	"evoke/store"
)

// Remember stores one item as it is, or confirms the one that makes the same statement already, perhaps in other words
// (see extract.Sames); that one keeps its words.
func (m *Memory) Remember(ctx context.Context, r RememberRequest) (RememberResult, error) {
	at, err := m.place(r.Who)
	if err != nil {
		return RememberResult{}, err
	}
	red := redaction{by: at.set.Redactor}
	if at.ok && !at.set.Memory.Disabled && !r.NoStore {
		r.Content, r.Metadata, r.Speaker = red.text(r.Content), red.metadata(r.Metadata), red.text(r.Speaker)
		if m.redacted(&red); red.err != nil {
			return RememberResult{}, red.err
		}
	}
	it := m.newItem(r)
	if err := it.Prepare(m.limits); err != nil {
		return RememberResult{}, err
	}
	switch {
	case !at.ok:
		return RememberResult{Skipped: skippedByPolicy}, nil
	case at.set.Memory.Disabled:
		return RememberResult{Skipped: "disabled"}, nil
	case r.NoStore:
		return RememberResult{Skipped: "no_store"}, nil
	}
	it.ContentKey = store.ContentKey(it.Kind, it.Content)
	res, err := m.idempotent(ctx, at.write, r.IdempotencyKey, r.hash(), func(w *store.Write) (RememberResult, error) {
		return m.remember(ctx, at.write, it, r.ID != "", w)
	})
	if err == nil {
		res.Redacted = red.found
	}
	return res, err
}

// hash identifies the request under its idempotency key: all that the caller gave, whatever the time.
func (r RememberRequest) hash() string {
	r.IdempotencyKey = ""
	return bodyHash(r)
}

func (m *Memory) newItem(r RememberRequest) store.Item {
	now := m.now()
	it := store.Item{
		ID: r.ID, Kind: r.Kind, Category: r.Category, Content: r.Content, Metadata: r.Metadata,
		Importance: or(r.Importance, 0.5), Confidence: or(r.Confidence, 1),
		ValidFrom: r.ValidFrom, ValidTo: r.ValidTo, RecordedAt: now,
		Turn:       store.Turn{Thread: r.Thread, Speaker: r.Speaker},
		Provenance: store.Provenance{Origin: "remember"},
	}
	if it.ID == "" {
		it.ID = newID()
	}
	if it.Kind == "" {
		it.Kind = store.Semantic
	}
	if it.ValidFrom.IsZero() {
		it.ValidFrom = now
	}
	if !it.ValidTo.IsZero() {
		it.ClosedAt = now
	}
	return it
}

// remember fills the write of one new item. The scope is locked.
func (m *Memory) remember(ctx context.Context, sc store.Scope, it store.Item, named bool, w *store.Write) (RememberResult, error) {
	old, err := m.sameStatement(ctx, sc, &it, named)
	if err != nil {
		return RememberResult{}, fmt.Errorf("remember: %w", err)
	}
	taken, err := m.store.Get(ctx, sc, []string{it.ID})
	if err != nil {
		return RememberResult{}, fmt.Errorf("remember: %w", err)
	}
	if len(taken) == 1 && taken[0].ContentKey != it.ContentKey {
		return RememberResult{}, fmt.Errorf("id: %w: an item with this id exists (use update to change it)", store.ErrConflict)
	}
	if old != nil {
		old.Confidence = max(old.Confidence, it.Confidence)
		old.Importance = max(old.Importance, it.Importance)
		old.Provenance.Evidence++
		w.Put = []store.Item{*old}
		return RememberResult{Item: *old, Existing: true}, nil
	}
	if len(taken) == 1 {
		return RememberResult{Item: taken[0], Existing: true}, nil
	}
	w.Put = []store.Item{it}
	w.Embed = []string{it.ID}
	return RememberResult{Item: it}, nil
}

// alikeCandidates is how many lexical candidates are compared with a statement that is to be remembered.
const alikeCandidates = 20

// sameStatement finds the current item that says the same as one to be remembered, as the write path tells it
// (extract.Sames), or returns nil. Words may differ only where nothing else would be lost: neither is bound in time, and
// the new item has no metadata, no id of the caller's choice and no other category. What holds for one task
// only is never the same.
func (m *Memory) sameStatement(ctx context.Context, sc store.Scope, it *store.Item, named bool) (*store.Item, error) {
	if it.Kind == store.Episodic {
		return nil, nil
	}
	f := store.Filter{Kinds: []store.Kind{it.Kind}}
	exact := f
	exact.ContentKeys = []string{it.ContentKey}
	page, err := m.store.List(ctx, sc, store.ListQuery{Filter: exact, View: m.view(time.Time{}, false), Limit: 100})
	if err != nil {
		return nil, err
	}
	known := page.Items
	if !named && it.ValidTo.IsZero() && len(it.Metadata) == 0 {
		found, err := m.store.Search(ctx, sc, store.Query{
			Filter: f, View: m.view(time.Time{}, false), Terms: scoring.QueryTerms(it.Content), Lexical: alikeCandidates,
		})
		if err != nil {
			return nil, err
		}
		for i := range found.Records {
			old := &found.Records[i].Item
			if old.ContentKey != it.ContentKey && old.ValidTo.IsZero() && (it.Category == "" || it.Category == old.Category) {
				known = append(known, *old)
			}
		}
	}
	known = slices.DeleteFunc(known, func(old store.Item) bool { return old.Provenance.Durability == string(extract.DurableTask) })
	return extract.Sames(extract.StatementOf(it), known), nil
}

// Update changes fields of one item and returns the current version. New content makes a new version with an id of
// its own; the old one is closed and linked.
func (m *Memory) Update(ctx context.Context, r UpdateRequest) (store.Item, error) {
	sc, err := m.memory(r.Who)
	if err != nil {
		return store.Item{}, err
	}
	if err := m.redactUpdate(&r); err != nil {
		return store.Item{}, err
	}
	unlock := m.lock(sc)
	defer unlock()
	items, err := m.store.Get(ctx, sc, []string{r.ID})
	if err != nil {
		return store.Item{}, fmt.Errorf("update: %w", err)
	}
	if len(items) == 0 {
		return store.Item{}, fmt.Errorf("item: %w", store.ErrNotFound)
	}
	old := items[0]
	if old.SupersededBy != "" || !old.RetractedAt.IsZero() {
		return store.Item{}, fmt.Errorf("item: %w: only the current version can be changed (its history names it)", store.ErrConflict)
	}
	next := old
	r.apply(&next)
	if r.ValidTo != nil {
		next.ClosedAt = m.now()
	}
	w := m.newWrite(sc)
	if next.Content = store.CleanText(next.Content); next.Content != old.Content {
		m.newVersion(&old, &next, r)
		w.Put = []store.Item{old, next}
	} else {
		w.Put = []store.Item{next}
	}
	if err := w.Put[len(w.Put)-1].Prepare(m.limits); err != nil {
		return store.Item{}, err
	}
	next = w.Put[len(w.Put)-1]
	if next.TextKey() != items[0].TextKey() && !next.IsProfile() {
		w.Embed = []string{next.ID}
	}
	if err := m.commit(ctx, w); err != nil {
		return store.Item{}, fmt.Errorf("update: %w", err)
	}
	return next, nil
}

func (r *UpdateRequest) apply(it *store.Item) {
	if r.Content != nil {
		it.Content = *r.Content
	}
	if r.Category != nil {
		it.Category = *r.Category
	}
	if r.Metadata != nil {
		md := it.Metadata.Clone()
		if md == nil {
			md = store.Metadata{}
		}
		for k, v := range r.Metadata {
			md[k] = v
		}
		it.Metadata = md
	}
	it.Importance = or(r.Importance, it.Importance)
	it.Confidence = or(r.Confidence, it.Confidence)
	it.ValidFrom = or(r.ValidFrom, it.ValidFrom)
	it.ValidTo = or(r.ValidTo, it.ValidTo)
}

// newVersion closes old and makes next its successor. The new version holds from now unless the caller says otherwise.
func (m *Memory) newVersion(old, next *store.Item, r UpdateRequest) {
	now := m.now()
	next.ID = newID()
	next.RecordedAt = now
	next.Supersedes = old.ID
	if old.IsProfile() { // it stays that section
		next.FollowProfile(old)
	} else {
		next.ContentKey = store.ContentKey(next.Kind, next.Content)
	}
	if r.ValidFrom == nil && now.After(old.ValidFrom) { // what begins later still does, in other words
		next.ValidFrom = now
	}
	old.Close(next.ValidFrom, now)
	old.SupersededBy = next.ID
}

func or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}

// newID makes a time-ordered id.
func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		id = uuid.New() // the random source failed once; v4 draws again and is as unique
	}
	return id.String()
}

func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
