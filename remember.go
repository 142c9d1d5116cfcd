package evoke

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"evoke/extract"
	"evoke/extract/rules"
	"evoke/store"
	"evoke/store/lifecycle"
)

// Remember stores one item as it is, brought together with what is there as what is said in conversations is: the same
// statement, perhaps in other words, is confirmed and keeps its words; another value of the same subject closes the one
// before and is linked with it. See extract.Placement.
func (m *Memory) Remember(ctx context.Context, r RememberRequest) (_ RememberResult, err error) {
	kept := ""
	defer func() {
		if kept != "" || err != nil {
			m.audit(ctx, deed("remember", r.Who, err, nil, r.ID, kept))
		}
	}()
	at, err := m.place(r.Who)
	if err != nil {
		return RememberResult{}, err
	}
	if err := store.ValidateName("subject", r.Subject); err != nil {
		return RememberResult{}, err
	}
	red := redaction{by: at.set.Redactor}
	if at.ok && !at.set.Memory.Disabled && !r.NoStore {
		r.Content, r.Metadata, r.Speaker = red.text(r.Content), red.metadata(r.Metadata), red.text(r.Speaker)
		r.Subject = red.subject(r.Subject)
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
	if it.Provenance.Subject == "" && it.Kind == store.Semantic && r.plain() {
		it.Provenance.Subject = rules.Subject(it.Content, it.Turn.Speaker)
	}
	var near []string
	if it.Kind != store.Episodic && r.plain() {
		near = m.near(ctx, at.write, it.Content)
	}
	res, err := m.idempotent(ctx, at.write, r.IdempotencyKey, r.hash(), func(w *store.Write) (RememberResult, error) {
		return m.remember(ctx, at.write, it, &r, near, w)
	})
	if err == nil {
		res.Redacted, kept = red.found, res.Item.ID
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
		ValidFrom: r.ValidFrom, ValidTo: r.ValidTo, RecordedAt: now, ExpiresAt: r.ExpiresAt,
		Turn:       store.Turn{Thread: r.Thread, Speaker: r.Speaker},
		Provenance: store.Provenance{Origin: "remember", Subject: r.Subject},
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
func (m *Memory) remember(ctx context.Context, sc store.Scope, it store.Item, r *RememberRequest, near []string, w *store.Write) (RememberResult, error) {
	if gone, err := m.erasedItems(ctx, sc, []store.Item{it}); err != nil || gone[0] {
		return RememberResult{Skipped: skippedErased}, err
	}
	taken, err := m.store.Get(ctx, sc, []string{it.ID})
	if err != nil {
		return RememberResult{}, fmt.Errorf("remember: %w", err)
	}
	if len(store.Remembered(taken)) < len(taken) {
		return RememberResult{}, fmt.Errorf("id: %w: the item with this id is forgotten and can be restored (use another id)", store.ErrConflict)
	}
	if len(taken) == 1 && taken[0].ContentKey != it.ContentKey {
		return RememberResult{}, fmt.Errorf("id: %w: an item with this id exists (use update to change it)", store.ErrConflict)
	}
	p := extract.Placement{Item: it, Exclusive: it.Provenance.Subject != "", Near: near, Now: m.now()}
	if it.Kind != store.Episodic {
		if p.Current, err = m.comparable(ctx, sc, &it, r, near); err != nil {
			return RememberResult{}, fmt.Errorf("remember: %w", err)
		}
	}
	got := p.Place()
	if !got.Existing && len(taken) == 1 {
		return RememberResult{Item: taken[0], Existing: true}, nil
	}
	w.Put = got.Put
	if got.Existing && !got.Item.ExpiresAt.IsZero() && (it.ExpiresAt.IsZero() || it.ExpiresAt.After(got.Item.ExpiresAt)) {
		got.Item.ExpiresAt = it.ExpiresAt // it is to be kept as long as the latest wish says
		w.Put = append(w.Put, got.Item)
	}
	w.Embed = got.Embed
	return RememberResult{Item: got.Item, Existing: got.Existing}, nil
}

// plain reports whether a request says nothing but a statement. Only then may one in other words stand for it: nothing
// else would be lost.
func (r *RememberRequest) plain() bool {
	return r.ID == "" && r.ValidTo.IsZero() && r.ExpiresAt.IsZero() && len(r.Metadata) == 0
}

// comparable reads the current items that one to be remembered is compared with: the same statement by its exact key
// and, where a request is plain, in other words, unless that one is bound in time or of another category; and what stands
// of its subject. What holds for one task only is none of them.
func (m *Memory) comparable(ctx context.Context, sc store.Scope, it *store.Item, r *RememberRequest, near []string) ([]store.Item, error) {
	all, err := extract.Candidates(ctx, m.store, sc, store.Current(m.clock()), it.Kind, it.Content, near)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(old store.Item) bool {
		return old.ContentKey != it.ContentKey && (!r.plain() || !old.ValidTo.IsZero() || it.Category != "" && it.Category != old.Category)
	})
	if it.Provenance.Subject != "" {
		held, err := m.aboutSubject(ctx, sc, it.Provenance.Subject)
		if err != nil {
			return nil, err
		}
		for _, old := range held {
			if !slices.ContainsFunc(all, func(have store.Item) bool { return have.ID == old.ID }) {
				all = append(all, old)
			}
		}
		past, err := extract.Versions(ctx, m.store, sc, it, all)
		if err != nil {
			return nil, err
		}
		all = append(all, past...)
	}
	return slices.DeleteFunc(all, func(old store.Item) bool { return old.Provenance.Durability == string(extract.DurableTask) }), nil
}

// aboutSubject lists the current items of a subject.
func (m *Memory) aboutSubject(ctx context.Context, sc store.Scope, subject string) ([]store.Item, error) {
	q := store.ListQuery{
		Filter: store.Filter{Kinds: []store.Kind{store.Semantic, store.Procedural}, Subjects: []string{subject}},
		View:   store.Current(m.clock()), Order: store.ByID, Limit: 1000,
	}
	var out []store.Item
	for it, err := range store.Items(ctx, m.store, sc, q) {
		if err != nil {
			return nil, err
		}
		out = append(out, *it)
	}
	return out, nil
}

// Update changes fields of one item and returns the current version. New content makes a new version with an id of
// its own; the old one is closed and linked.
func (m *Memory) Update(ctx context.Context, r UpdateRequest) (now store.Item, err error) {
	defer func() {
		ids := []string{r.ID, now.ID}
		if err != nil {
			ids = m.onRecord(ctx, r.Who, ids...)
		}
		m.audit(ctx, deed("update", r.Who, err, nil, ids...))
	}()
	sc, err := m.memory(r.Who)
	if err != nil {
		return store.Item{}, err
	}
	if err := m.redactUpdate(&r); err != nil {
		return store.Item{}, err
	}
	unlock, err := m.hold(ctx, sc)
	if err != nil {
		return store.Item{}, fmt.Errorf("update: %w", err)
	}
	defer unlock()
	items, err := m.store.Get(ctx, sc, []string{r.ID})
	if err != nil {
		return store.Item{}, fmt.Errorf("update: %w", err)
	}
	if len(items) == 0 {
		return store.Item{}, noItem()
	}
	old := items[0]
	if err := inSight(&old); err != nil {
		return store.Item{}, err
	}
	if old.SupersededBy != "" || !old.RetractedAt.IsZero() {
		return store.Item{}, fmt.Errorf("item: %w: only the current version can be changed (its history names it)", store.ErrConflict)
	}
	if old.IsSummary() && r.ExpiresAt != nil && !r.ExpiresAt.IsZero() {
		return store.Item{}, store.Invalid("expires_at", "left out for a summary, which is kept as long as what it stands for", "")
	}
	next := old
	r.apply(&next)
	if old.IsSummary() && !lifecycle.SameLot(&old, &next) {
		return store.Item{}, store.Invalid("category, metadata", "left out for a summary, which has those of what it stands for (change its sources, and it goes)", "")
	}
	next.Provenance.Interim = false // what was changed stands, whatever a model says later
	if r.ValidTo != nil {
		next.ClosedAt = m.now()
	}
	w := m.newWrite(sc)
	if next.Content = store.CleanText(next.Content); next.Content != old.Content {
		m.newVersion(&old, &next, r)
		w.Put = []store.Item{old}
	}
	if err := next.Prepare(m.limits); err != nil {
		return store.Item{}, err
	}
	if of := old.Aside.Summary; of != "" && (next.ID != old.ID || !lifecycle.SameLot(&old, &next) || old.Date() != next.Date()) {
		next.Aside.DropSummary()
		if err := m.endSummary(ctx, &w, of); err != nil {
			return store.Item{}, fmt.Errorf("update: %w", err)
		}
	}
	w.Put = append(w.Put, next)
	if next.TextKey() != items[0].TextKey() && !next.IsProfile() {
		w.Embed = []string{next.ID}
	}
	if err := m.commit(ctx, w); err != nil {
		return store.Item{}, fmt.Errorf("update: %w", err)
	}
	return next, nil
}

// endSummary adds to a write that a summary is taken back: a filter, or its date, would find a source where it is no longer,
// and not where it is.
func (m *Memory) endSummary(ctx context.Context, w *store.Write, id string) error {
	found, err := m.store.Get(ctx, w.Scope, []string{id})
	if err != nil || len(found) == 0 || !inForce(&found[0]) {
		return err
	}
	retract(&found[0], m.now())
	w.Put = append(w.Put, found[0])
	return nil
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
	it.ExpiresAt = or(r.ExpiresAt, it.ExpiresAt)
}

// newVersion closes old and makes next its successor. The new version holds from now unless the caller says otherwise.
func (m *Memory) newVersion(old, next *store.Item, r UpdateRequest) {
	now := m.now()
	next.ID = newID()
	next.RecordedAt = now
	next.Supersedes = old.ID
	next.Provenance.By, next.Provenance.Import, next.Provenance.EndedBy, next.Provenance.Edited = "", "", "", true
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
	next.RecordedAt = store.Later(now, old.ClosedAt) // the clock may have gone back since
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
