package evoke

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"evoke/extract"
	"evoke/store"
)

// ProfileRequest asks what is known of a user as a whole.
type ProfileRequest struct {
	Who
	AsOf  time.Time // what was true then; zero: now
	Known time.Time // by what was known then; zero: AsOf
}

// What a ProfileResult is made of.
const (
	ProfileOfSections = "profile" // sections that an extractor wrote
	ProfileOfFacts    = "facts"   // no section is there: the current facts, by category
)

// ProfileResult is a profile. Either all sections are given, those that nothing is written in empty, or, while no
// extractor has written any (rules do not), the facts.
type ProfileResult struct {
	Source   string           `json:"source,omitempty"`
	Sections []ProfileSection `json:"sections,omitempty"`
	Facts    []FactGroup      `json:"facts,omitempty"`
	More     bool             `json:"more,omitempty"` // there are more facts than a profile holds; list them
	Skipped  string           `json:"skipped,omitempty"`
}

// ProfileSection is one of the six: work, personal, top_of_mind, recent_months, earlier, long_term.
type ProfileSection struct {
	Name    string    `json:"name"`
	ID      string    `json:"id,omitempty"` // of the item that holds this version; its history has the others
	Content string    `json:"content"`
	Version int       `json:"version"` // from 1; 0 when nothing is written
	Updated time.Time `json:"updated,omitzero"`
	Sources []string  `json:"sources"`         // ids of the turns it rests on
	Stale   bool      `json:"stale,omitempty"` // a source was forgotten since: the text may still tell of it, until the next version or Forget
}

// FactGroup holds the facts of one category, the most important first. The last group is of those that have none.
type FactGroup struct {
	Category store.Category `json:"category"`
	Items    []store.Item   `json:"items"`
}

// maxProfileFacts bounds a profile of facts.
const maxProfileFacts = 500

// Profile answers what is known of a user as a whole. An agent with a memory of its own with the user sees, where that
// has no text for a section, the user's own.
func (m *Memory) Profile(ctx context.Context, r ProfileRequest) (ProfileResult, error) {
	at, err := m.place(r.Who)
	if err != nil {
		return ProfileResult{}, err
	}
	if !at.ok {
		return ProfileResult{Skipped: skippedByPolicy}, nil
	}
	found := map[string]*store.Item{}
	for _, sc := range at.read {
		items, err := m.profileItems(ctx, sc, m.profileView(r.AsOf, r.Known))
		if err != nil {
			return ProfileResult{}, fmt.Errorf("profile: %w", err)
		}
		for i := range items {
			if key := items[i].ContentKey; found[key] == nil {
				found[key] = &items[i]
			}
		}
	}
	if len(found) == 0 {
		return m.profileOfFacts(ctx, at, m.viewAt(r.AsOf, r.Known))
	}
	res := ProfileResult{Source: ProfileOfSections}
	for _, name := range store.ProfileSections() {
		s := ProfileSection{Name: name, Sources: []string{}}
		if it := found[store.ProfileKey(name)]; it != nil {
			s.ID, s.Content, s.Version, s.Updated, s.Stale = it.ID, it.Content, it.ProfileVersion(), it.RecordedAt, it.ProfileStale()
			s.Sources = append(s.Sources, it.Provenance.Turns...)
		}
		res.Sections = append(res.Sections, s)
	}
	return res, nil
}

func (m *Memory) profileView(asOf, known time.Time) store.View {
	v := m.viewAt(asOf, known)
	v.Profile = true
	return v
}

// profileItems reads the versions of a profile's sections that a view sees, newest first.
func (m *Memory) profileItems(ctx context.Context, sc store.Scope, v store.View) ([]store.Item, error) {
	q := store.ListQuery{Filter: store.Filter{ContentKeys: store.ProfileKeys()}, View: v, Order: store.Newest, Limit: pageItems}
	var all []store.Item
	for it, err := range store.Items(ctx, m.store, sc, q) {
		if err != nil {
			return nil, fmt.Errorf("read sections: %w", err)
		}
		all = append(all, *it)
	}
	return all, nil
}

// profileOfFacts groups the current facts by category. What holds for one task only says nothing about the user.
func (m *Memory) profileOfFacts(ctx context.Context, at place, v store.View) (ProfileResult, error) {
	res := ProfileResult{Source: ProfileOfFacts}
	q := store.ListQuery{
		Filter: store.Filter{Kinds: []store.Kind{store.Semantic, store.Procedural}}, View: v,
		Order: store.MostImportant, Limit: maxProfileFacts + 1,
	}
	groups := map[store.Category][]store.Item{}
	n := 0
	for _, sc := range at.read {
		page, err := m.store.List(ctx, sc, q)
		if err != nil {
			return res, fmt.Errorf("profile: %w", err)
		}
		for _, it := range page.Items {
			if it.Provenance.Durability == string(extract.DurableTask) {
				continue
			}
			if n == maxProfileFacts {
				res.More = true
				break
			}
			groups[it.Category] = append(groups[it.Category], it)
			n++
		}
	}
	for _, c := range append(store.Categories(), "") {
		if items := groups[c]; len(items) > 0 {
			slices.SortStableFunc(items, func(a, b store.Item) int { return cmp.Compare(b.Importance, a.Importance) }) // of two memories
			res.Facts = append(res.Facts, FactGroup{c, items})
		}
	}
	return res, nil
}

// forgetSources adds to a write what the forgetting of items does to the profile: see extract.ForgetSources.
func (m *Memory) forgetSources(ctx context.Context, sc store.Scope, items []store.Item) (store.Change, error) {
	versions, err := m.profileItems(ctx, sc, store.View{All: true})
	if err != nil || len(versions) == 0 {
		return store.Change{}, err
	}
	gone := make(map[string]bool, len(items))
	for i := range items {
		gone[items[i].ID] = true
	}
	c := extract.ForgetSources(versions, gone)
	slices.Sort(c.Delete)
	return c, nil
}
