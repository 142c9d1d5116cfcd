package extract

import (
	"context"
	"fmt"
	"slices"
	"time"

	"evoke/store"
)

// mostSources is how many turns a section of a profile names as its sources; the latest are kept.
const mostSources = 256

// profileChanges are the changes that write sections anew, one for each section that there is something to write of: the
// version that stands is closed and linked with the new one. current are the versions that stand, turns those that the
// sections may rest on: a section none of whose turns is among them is left out, as are unknown names and empty texts.
// Of two texts for one section the later counts. A text that stands already gets the new turns as sources and no new
// version. It reads and writes nothing itself.
func profileChanges(current []store.Item, sections []Section, turns map[string]store.Item, newID func() string, now time.Time, extractor string) []store.Change {
	var out []store.Change
	for _, name := range store.ProfileSections() {
		s := lastSection(sections, name)
		if s == nil {
			continue
		}
		sources := slices.DeleteFunc(slices.Clone(s.Turns), func(id string) bool {
			_, ok := turns[id]
			return !ok
		})
		if len(sources) == 0 {
			continue
		}
		if c, ok := sectionChange(standing(current, name), name, s.Content, sources, newID, now, extractor); ok {
			out = append(out, c)
		}
	}
	return out
}

func lastSection(sections []Section, name string) *Section {
	for i := len(sections) - 1; i >= 0; i-- {
		if sections[i].Name == name && store.CleanText(sections[i].Content) != "" {
			return &sections[i]
		}
	}
	return nil
}

// standing is the current version of a section, or nil.
func standing(current []store.Item, name string) *store.Item {
	for i := range current {
		if current[i].ContentKey == store.ProfileKey(name) && !current[i].Closed() {
			return &current[i]
		}
	}
	return nil
}

func sectionChange(old *store.Item, name, content string, sources []string, newID func() string, now time.Time, extractor string) (c store.Change, ok bool) {
	content = store.CleanText(content)
	if old != nil && !old.ProfileStale() {
		sources = withSources(old.Provenance.Turns, sources)
		if old.Content == content {
			same := *old
			same.Provenance.Turns = sources
			return store.Change{Put: []store.Item{same}}, !slices.Equal(sources, old.Provenance.Turns)
		}
	}
	next := store.Item{
		ID: newID(), Kind: store.Semantic, Content: content, Importance: 0.5, Confidence: 1, ValidFrom: now, RecordedAt: now,
		Provenance: store.Provenance{Origin: store.ProfileOrigin, Extractor: extractor, Turns: withSources(nil, sources), Subject: store.ProfileKey(name)},
		ContentKey: store.ProfileKey(name),
	}
	if next.FollowProfile(old); old != nil {
		next.Supersedes = old.ID
	}
	if err := next.Prepare(store.Limits{}); err != nil {
		return store.Change{}, false
	}
	if old == nil {
		return store.Change{Put: []store.Item{next}}, true
	}
	closed := *old
	closed.Close(now, now)
	closed.SupersededBy = next.ID
	return store.Change{Put: []store.Item{closed, next}}, true
}

// withSources adds turns to a list of sources, each once; of too many the first go.
func withSources(have, more []string) []string {
	out := slices.Clone(have)
	for _, id := range more {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out[max(0, len(out)-mostSources):]
}

// ForgetSources is the change that takes forgotten turns out of a profile: versions are all versions of its sections.
// What rests on none but forgotten turns is deleted, and so is every closed version that rests on one of them; a current
// one that rests on others, too, is marked (see store.Item.ProfileStale), because its text may still tell what was forgotten.
func ForgetSources(versions []store.Item, gone map[string]bool) store.Change {
	var c store.Change
	for _, it := range versions {
		if !it.IsProfile() || gone[it.ID] {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(it.Provenance.Turns), func(id string) bool { return gone[id] })
		switch {
		case len(left) == len(it.Provenance.Turns):
		case len(left) == 0 || it.Closed():
			c.Delete = append(c.Delete, it.ID)
		default:
			it.Provenance.Turns = left
			it.MarkProfileStale()
			c.Put = append(c.Put, it)
		}
	}
	return c
}

// sections are the changes that an extraction makes to the profile. None when something that the extractor was shown was
// forgotten meanwhile: its texts may tell of it. A section that another extraction wrote meanwhile is left to the next one,
// because the text knows nothing of that. The scope is locked.
func (a *attempt) sections(ctx context.Context, b *Batch, f *finding, turns map[string]store.Item) (all store.Change, err error) {
	if len(f.Sections) == 0 || len(turns) < len(b.Before)+len(b.Turns) {
		return all, nil
	}
	shown := make([]string, len(b.Profile))
	for i := range b.Profile {
		shown[i] = b.Profile[i].ID
	}
	items, err := a.store.Get(ctx, b.Scope, shown)
	if err != nil {
		return all, fmt.Errorf("read profile again: %w", err)
	}
	if items = store.Remembered(items); len(items) < len(shown) || slices.ContainsFunc(items, func(it store.Item) bool { return it.ProfileStale() }) {
		return all, nil
	}
	current, err := a.profile(ctx, b.Scope)
	if err != nil {
		return all, err
	}
	for _, c := range profileChanges(current, unwritten(f.Sections, shown, current), turns, a.opts.NewID, a.now(), f.extractor) {
		all.Put = append(all.Put, c.Put...)
	}
	all.Delete, err = a.superseded(ctx, b.Scope, all.Put)
	return all, err
}

// keptVersions is how many closed versions of a section are kept.
const keptVersions = 50

// superseded are the oldest versions of the sections that are written, as many as are too many, but what is held. A section is
// written anew as often as its user talks; without an end its history would be most of the memory.
func (w *Worker) superseded(ctx context.Context, sc store.Scope, written []store.Item) (ids []string, err error) {
	for i := range written {
		if written[i].Supersedes == "" || written[i].Closed() {
			continue
		}
		q := store.ListQuery{
			Filter: store.Filter{ContentKeys: []string{written[i].ContentKey}}, View: store.View{All: true}, Order: store.Newest, Limit: 1000,
		}
		page, err := w.store.List(ctx, sc, q)
		if err != nil {
			return nil, fmt.Errorf("list versions of a section: %w", err)
		}
		if len(page.Items) <= keptVersions { // the version that is closed now is among them
			continue
		}
		var held map[string]bool
		if w.opts.Held != nil {
			if held, err = w.opts.Held(ctx, sc, page.Items[keptVersions:]); err != nil {
				return nil, err
			}
		}
		for i := range page.Items[keptVersions:] {
			if id := page.Items[keptVersions+i].ID; !held[id] {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// unwritten leaves out the sections that have a current version, stale ones apart, that is none of those shown.
func unwritten(sections []Section, shown []string, current []store.Item) []Section {
	return slices.DeleteFunc(slices.Clone(sections), func(s Section) bool {
		old := standing(current, s.Name)
		return old != nil && !old.ProfileStale() && !slices.Contains(shown, old.ID)
	})
}

// profile reads the sections of a scope's profile that stand.
func (w *Worker) profile(ctx context.Context, sc store.Scope) ([]store.Item, error) {
	v := store.Current(w.now())
	v.Profile = true
	page, err := w.store.List(ctx, sc, store.ListQuery{Filter: store.Filter{ContentKeys: store.ProfileKeys()}, View: v, Order: store.Newest})
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	return page.Items, nil
}
