package evoke

import (
	"context"
	"fmt"
	"slices"
	"time"

	"evoke/extract"
	"evoke/store"
	"evoke/store/lifecycle"
)

// modelSummarizer is an extractor that can also summarise.
type modelSummarizer interface {
	extract.Extractor
	lifecycle.Summarizer
}

// summarizer is what writes the tenant's summaries.
func (m *Memory) summarizer(model bool) (lifecycle.Summarizer, error) {
	if !model {
		return lifecycle.Quotations{}, nil
	}
	set, err := m.settings(m.tenant)
	if err != nil {
		return nil, err
	}
	x := set.Extractor
	if x == nil {
		x = m.base.Extractor
	}
	if s, ok := x.(modelSummarizer); ok {
		return s, nil
	}
	return nil, store.Invalid("model", "false, or the tenant set up with a language model that summarises (llm.model)", "")
}

// Sources returns what a summary stands for, as it is now, in the order in which it was said, or ErrNotFound when there is no
// summary of that id.
func (m *Memory) Sources(ctx context.Context, w Who, id string) ([]store.Item, error) {
	it, err := m.Get(ctx, w, id)
	if err != nil {
		return nil, err
	}
	if !it.IsSummary() {
		return nil, fmt.Errorf("summary: %w: the item stands for no others", store.ErrNotFound)
	}
	at, err := m.place(w)
	if err != nil {
		return nil, err
	}
	out := []store.Item{}
	for _, sc := range at.read {
		items, err := m.store.Get(ctx, sc, it.Provenance.Turns)
		if err != nil {
			return nil, fmt.Errorf("sources: %w", err)
		}
		if out = append(out, store.Remembered(items)...); len(out) > 0 {
			break // all are of the summary's own memory
		}
	}
	return out, nil
}

// followed is a write with what it brings about between summaries and what they stand for.
type followed struct {
	e    *engine
	w    *store.Write
	at   time.Time
	puts map[string]int // place in w.Put by id: the last counts
	seen map[string]*store.Item
	was  map[string]time.Time // since when a source that was let go had been aside
}

// followSummaries completes a write: a summary that goes (taken back, closed, replaced, softly forgotten) lets its sources be
// seen again, one that comes or comes back stands for them, and one of which a source goes or changes goes as well. The scope
// is locked.
func (e *engine) followSummaries(ctx context.Context, w *store.Write) error {
	if !slices.ContainsFunc(w.Put, func(it store.Item) bool {
		return it.Aside.Summary != "" || it.IsSummary()
	}) {
		return nil
	}
	f := followed{e: e, w: w, at: e.now(), puts: map[string]int{}, seen: map[string]*store.Item{}, was: map[string]time.Time{}}
	w.Put = slices.Clone(w.Put)
	for i := range w.Put {
		f.puts[w.Put[i].ID] = i
	}
	for i := range len(w.Put) {
		if f.puts[w.Put[i].ID] != i || w.Put[i].Aside.Summary == "" {
			continue
		}
		if err := f.source(ctx, w.Put[i].ID); err != nil {
			return err
		}
	}
	for _, stands := range [...]bool{false, true} { // what goes lets go before what comes takes over
		for i := 0; i < len(w.Put); i++ {
			if it := w.Put[i]; f.puts[it.ID] == i && it.IsSummary() && inForce(&it) == stands {
				if err := f.summary(ctx, &it, stands); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// inForce reports whether an item holds and is in sight, whatever stands in its place.
func inForce(it *store.Item) bool {
	return !it.Closed() && it.SupersededBy == "" && !it.Aside.Forgotten()
}

// get reads an item as the write leaves it, nil when there is none.
func (f *followed) get(ctx context.Context, id string) (*store.Item, error) {
	if i, ok := f.puts[id]; ok {
		it := f.w.Put[i]
		return &it, nil
	}
	if it, ok := f.seen[id]; ok {
		return it, nil
	}
	items, err := f.e.store.Get(ctx, f.w.Scope, []string{id})
	if err != nil {
		return nil, fmt.Errorf("read summaries: %w", err)
	}
	if len(items) == 0 || slices.Contains(f.w.Delete, id) {
		f.seen[id] = nil
		return nil, nil
	}
	f.seen[id] = &items[0]
	return &items[0], nil
}

func (f *followed) put(it store.Item) {
	if i, ok := f.puts[it.ID]; ok {
		f.w.Put[i] = it
		return
	}
	f.puts[it.ID] = len(f.w.Put)
	f.w.Put = append(f.w.Put, it)
}

// source deals with an item that says that a summary stands in its place.
func (f *followed) source(ctx context.Context, id string) error {
	it, err := f.get(ctx, id)
	if err != nil || it == nil {
		return err
	}
	s, err := f.get(ctx, it.Aside.Summary)
	if err != nil || s == nil {
		return err
	}
	if !slices.Contains(s.Provenance.Turns, id) { // a new version, of which the summary knows nothing
		it.Aside.DropSummary()
		f.put(*it)
		return nil
	}
	if inForce(it) && it.ExpiresAt.IsZero() || !inForce(s) {
		return nil
	}
	if it.Aside.Forgotten() {
		s.Aside.ForgetAs(it.Aside)
	} else { // the words of what is kept for a term would outlive it
		retract(s, f.at)
	}
	f.put(*s)
	return nil
}

// retract takes an item back, by a clock that went back no earlier than it was known.
func retract(s *store.Item, at time.Time) { s.RetractedAt = store.Later(at, s.RecordedAt) }

// comesBack reports whether a summary that stands did not before the write, nor did the version before it, and is none that an
// import brings as it was; and since when it counts as standing.
func (f *followed) comesBack(ctx context.Context, s *store.Item) (back bool, since time.Time, err error) {
	ids := []string{s.ID}
	if s.Supersedes != "" {
		ids = append(ids, s.Supersedes)
	}
	before, err := f.e.store.Get(ctx, f.w.Scope, ids)
	if err != nil {
		return false, since, fmt.Errorf("read summaries: %w", err)
	}
	since = f.at
	if slices.ContainsFunc(before, func(it store.Item) bool { return it.ID == s.ID && it.Aside.Forgotten() }) {
		if since, err = f.stoodSince(ctx, s); err != nil { // as if it had never gone
			return false, since, err
		}
	}
	imported := len(before) == 0 && s.Provenance.Import != ""
	return !imported && !slices.ContainsFunc(before, func(it store.Item) bool { return inForce(&it) }), since, nil
}

// stoodSince is when a summary came to stand for its sources: with its first version, where it was edited since.
func (f *followed) stoodSince(ctx context.Context, s *store.Item) (time.Time, error) {
	for seen := map[string]bool{}; s.Provenance.Edited && s.Provenance.By == "" && s.Supersedes != "" && !seen[s.ID]; {
		seen[s.ID] = true
		before, err := f.get(ctx, s.Supersedes)
		if err != nil {
			return time.Time{}, err
		}
		if before == nil || !before.IsSummary() {
			break
		}
		s = before
	}
	return s.RecordedAt, nil
}

// free reports whether a summary may stand for all of its sources.
func (f *followed) free(ctx context.Context, s *store.Item) (bool, error) {
	for _, id := range s.Provenance.Turns {
		if it, err := f.get(ctx, id); err != nil || it != nil && !mayStand(s, it) {
			return false, err
		}
	}
	return true, nil
}

// mayStand reports whether a summary may stand for a source: it holds, for good, has no other in its place, and is still what
// filters and the summary's date take it for. One that was edited has the date of that.
func mayStand(s, it *store.Item) bool {
	return inForce(it) && it.ExpiresAt.IsZero() && (it.Aside.Summary == "" || it.Aside.Summary == s.ID) &&
		lifecycle.SameLot(it, s) && (s.Provenance.Edited || !it.ValidFrom.Before(s.ValidFrom))
}

// summary has a summary stand for its sources, or no longer. One that comes back while they changed or another stands for one
// of them is taken back at once. One that is kept for a term stands in nobody's place.
func (f *followed) summary(ctx context.Context, s *store.Item, stands bool) error {
	since := f.at
	if stands {
		back, at, err := f.comesBack(ctx, s)
		if err != nil {
			return err
		}
		free := true
		since = at
		if back {
			if free, err = f.free(ctx, s); err != nil {
				return err
			}
		}
		if !free {
			retract(s, f.at)
			f.put(*s)
		}
		stands = free && s.ExpiresAt.IsZero()
	}
	for _, id := range s.Provenance.Turns {
		it, err := f.get(ctx, id)
		if err != nil {
			return err
		}
		if it == nil {
			continue
		}
		held := stands && inForce(it) && lifecycle.Holds(s.Content, it.Content)
		switch {
		case !held && it.Aside.Summary == s.ID:
			f.was[id] = it.Aside.SummarizedAt
			it.Aside.DropSummary()
		case held && it.Aside.Summary == "":
			it.Aside.Summary, it.Aside.SummarizedAt = s.ID, since
			if since, ok := f.was[id]; ok {
				it.Aside.SummarizedAt = since
			}
		default:
			continue
		}
		f.put(*it)
	}
	return nil
}
