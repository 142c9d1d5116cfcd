package lifecycle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"evoke/store"
)

// step works out one write from what stands now.
type step struct {
	u  *Undo
	sc store.Scope
	p  *plan
	at time.Time

	known   map[string]*store.Item // read so far, with the changes; nil for one that is not there
	changed map[string]*store.Item
	order   []string // ids of the changed
	embed   []string

	retracted, reopened []string
}

func (u *Undo) step(sc store.Scope, p *plan) *step {
	return &step{u: u, sc: sc, p: p, at: u.Clock().UTC().Truncate(time.Microsecond), known: map[string]*store.Item{}, changed: map[string]*store.Item{}}
}

func (s *step) get(ctx context.Context, id string) (*store.Item, error) {
	it, seen := s.known[id]
	if seen {
		return it, nil
	}
	items, err := s.u.Store.Get(ctx, s.sc, []string{id})
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	if len(items) == 1 {
		it = &items[0]
	}
	s.known[id] = it
	return it, nil
}

func (s *step) put(it *store.Item) {
	if s.changed[it.ID] == nil {
		s.order = append(s.order, it.ID)
	}
	s.changed[it.ID], s.known[it.ID] = it, it
}

func (s *step) do(ctx context.Context, un unit) error {
	for _, id := range un.retract {
		it, err := s.get(ctx, id)
		if err != nil {
			return err
		}
		if it == nil || !it.RetractedAt.IsZero() {
			continue // erased or retracted meanwhile
		}
		if _, free, err := s.end(ctx, it); err != nil {
			return err
		} else if !free {
			s.p.left[id] = replacedLater
			continue
		}
		s.retract(it)
		s.retracted = append(s.retracted, id)
	}
	items := make([]*store.Item, 0, len(un.reopen))
	for _, id := range un.reopen {
		it, err := s.get(ctx, id)
		if err != nil {
			return err
		}
		if it != nil && it.Closed() {
			items = append(items, it)
		}
	}
	slices.SortFunc(items, oldestFirst)
	for _, it := range items {
		if err := s.reopen(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// oldestFirst puts a version before the one that took its place, also when both were recorded at one time.
func oldestFirst(a, b *store.Item) int {
	switch {
	case a.SupersededBy == b.ID:
		return -1
	case b.SupersededBy == a.ID:
		return 1
	}
	return cmp.Or(a.RecordedAt.Compare(b.RecordedAt), cmp.Compare(a.ID, b.ID))
}

// now is the time of a change to an item: not before what is known of it, even when the clock went back.
func (s *step) now(it *store.Item) time.Time {
	at := s.at
	for _, t := range [...]time.Time{it.RecordedAt, it.ClosedAt, it.RetractedAt} {
		if t.After(at) {
			at = t
		}
	}
	return at
}

func (s *step) retract(it *store.Item) {
	it.RetractedAt, it.Provenance.EndedBy = s.now(it), s.p.op
	s.put(it)
}

// end returns the last version after an item, and whether all versions after it are gone or go with this undo.
func (s *step) end(ctx context.Context, it *store.Item) (last *store.Item, free bool, err error) {
	free, last = true, it
	seen := map[string]bool{it.ID: true}
	for id := it.SupersededBy; id != "" && !seen[id]; id = last.SupersededBy {
		seen[id] = true
		v, err := s.get(ctx, id)
		if err != nil {
			return nil, false, err
		}
		if v == nil {
			return last, free, nil // erased
		}
		if v.RetractedAt.IsZero() && !s.p.retract[id] && v.Provenance.By != s.p.op || s.changedSince(v, it) {
			free = false
		}
		last = v
	}
	return last, free, nil
}

// changedSince tells whether others changed a later version after the operation to be undone had retracted an item: what
// that operation left is no longer there to be undone.
func (s *step) changedSince(v, it *store.Item) bool {
	of := s.p.batch.Operation
	if of == "" || it.Provenance.EndedBy != of {
		return false
	}
	p := &v.Provenance
	return v.RecordedAt.After(it.RetractedAt) && p.By != of && p.By != s.p.op || v.RetractedAt.After(it.RetractedAt) && p.EndedBy != of && p.EndedBy != s.p.op
}

// reopen makes an item that the batch ended hold again, in a new version at the end of its chain.
func (s *step) reopen(ctx context.Context, it *store.Item) error {
	again := *it
	again.ID = s.p.newID(it.ID)
	if have, err := s.get(ctx, again.ID); err != nil || have != nil {
		return err
	}
	closer, err := s.get(ctx, it.SupersededBy)
	if err != nil {
		return err
	}
	if !it.RetractedAt.IsZero() && !it.RetractedAt.Equal(it.ClosedAt) && !s.p.batch.retracted(it) {
		return nil // retracted by another since
	}
	byBatch := closer != nil && s.p.added[closer.ID] && !closer.RetractedAt.IsZero() || s.p.batch.closed(it)
	if !byBatch && !s.p.batch.retracted(it) {
		return nil // its end is not of the batch, or no longer
	}
	last, free, err := s.end(ctx, it)
	if err != nil {
		return err
	}
	if !free {
		s.p.left[it.ID] = replacedLater
		return nil
	}
	if !it.ClosedAt.IsZero() && byBatch {
		again.ValidTo, again.ClosedAt = time.Time{}, time.Time{}
	}
	if taken, err := s.taken(ctx, &again, it); err != nil {
		return err
	} else if taken {
		s.p.left[it.ID] = otherValue
		return nil
	}
	at := max(s.now(it).UnixMicro(), s.now(last).UnixMicro())
	again.RecordedAt, again.RetractedAt = time.UnixMicro(at).UTC(), time.Time{}
	if !again.ValidTo.IsZero() {
		again.ClosedAt = again.RecordedAt
	}
	again.Supersedes, again.SupersededBy = last.ID, ""
	again.Provenance.By, again.Provenance.EndedBy = s.p.op, ""
	again.Provenance.Turns = slices.Clone(it.Provenance.Turns)
	for i, id := range again.Provenance.Turns {
		if s.p.reopen[id] {
			again.Provenance.Turns[i] = s.p.newID(id)
		}
	}
	if again.IsProfile() {
		again.FollowProfile(last)
	}
	if it.RetractedAt.IsZero() {
		s.retract(it)
	}
	if last.Closed() {
		last.SupersededBy = again.ID
		s.put(last)
	} else { // two held before one took their place
		again.Supersedes = it.ID
	}
	s.put(&again)
	if s.reopened = append(s.reopened, it.ID); !again.IsProfile() {
		s.embed = append(s.embed, again.ID)
	}
	return nil
}

// taken tells whether a subject got another value, apart from the item's chain, since the item ended.
func (s *step) taken(ctx context.Context, again, it *store.Item) (bool, error) {
	if it.Provenance.Subject == "" || !again.ValidTo.IsZero() {
		return false, nil
	}
	ended := it.RetractedAt
	if ended.IsZero() || !it.ClosedAt.IsZero() && it.ClosedAt.Before(ended) {
		ended = it.ClosedAt
	}
	q := store.ListQuery{Filter: store.Filter{Subjects: []string{it.Provenance.Subject}, Kinds: []store.Kind{it.Kind}}, View: store.Current(s.at), Order: store.Newest, Limit: readItems}
	q.View.Profile = it.IsProfile()
	page, err := s.u.Store.List(ctx, s.sc, q) // the newest are enough: older ones stood beside it
	if err != nil {
		return false, fmt.Errorf("undo: %w", err)
	}
	for i := range page.Items {
		v := &page.Items[i]
		if now := s.known[v.ID]; now != nil {
			v = now
		}
		if !v.Closed() && v.Turn.Speaker == it.Turn.Speaker && v.RecordedAt.After(ended) && !s.p.retract[v.ID] && v.Provenance.By != s.p.op {
			return true, nil
		}
	}
	return false, nil
}
