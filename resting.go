package evoke

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"evoke/store"
)

// resting lists what was distilled or summarised, of which some may rest on the items.
func (m *Memory) resting(ctx context.Context, sc store.Scope, items []store.Item) ([]store.Item, error) {
	return m.restingOn(ctx, &removal{sc: sc, gone: items, how: removing{facts: true}})
}

// restingOn lists what may go with a removal: what was distilled, if a turn goes or the removal is strict; what was merged
// into one that goes, which no condition finds but that it is a fact; and summaries.
func (m *Memory) restingOn(ctx context.Context, r *removal) ([]store.Item, error) {
	turns := slices.ContainsFunc(r.gone, func(it store.Item) bool { return it.Kind == store.Episodic })
	facts := store.Filter{Kinds: []store.Kind{store.Semantic, store.Procedural}}
	var f store.Filter
	switch all := (store.Filter{Distilled: true}); {
	case r.how.strict || r.how.facts && turns && slices.ContainsFunc(r.gone, mayHaveMerged):
		f = store.Filter{Any: []store.Filter{all, facts}}
	case r.how.facts && turns:
		f = all
	case r.how.facts && slices.ContainsFunc(r.gone, mayHaveMerged):
		f = facts
	default:
		return m.summariesOf(ctx, r.sc, r.gone)
	}
	var found []store.Item
	err := m.eachButSections(ctx, r.sc, f, func(it *store.Item) {
		if len(it.Provenance.Turns) > 0 || it.SupersededBy != "" || it.Supersedes != "" {
			found = append(found, *it)
		}
	})
	return found, err
}

// mergedAway reports whether an item was merged into the one that supersedes it, which says the same.
func mergedAway(it *store.Item) bool {
	return it.SupersededBy != "" && it.Provenance.EndedBy != "" && !it.RetractedAt.IsZero() && it.ValidTo.IsZero()
}

// lineage tells, by the id of an item, which are said to come after it.
type lineage map[string][]string

func lineageOf(items []store.Item) lineage {
	after := lineage{}
	for i := range items {
		if before := items[i].Supersedes; before != "" {
			after[before] = append(after[before], items[i].ID)
		}
	}
	return after
}

// goesInto reports whether an item was merged into one that goes, and goes with it. One whose merge was undone goes on in a version
// of its own, whose past it is as long as that stays.
func (after lineage) goesInto(gone map[string]bool, it *store.Item) bool {
	return gone[it.SupersededBy] && mergedAway(it) && !slices.ContainsFunc(after[it.ID], func(id string) bool { return !gone[id] })
}

// mayHaveMerged reports whether an item may be what others were merged into: an operation made it.
func mayHaveMerged(it store.Item) bool { return it.Kind != store.Episodic && it.Provenance.By != "" }

// summariesOf lists the summaries of any of the items, of whatever version and whether they hold or not, with the summaries
// of these. They are of the kinds of what they stand for.
func (m *Memory) summariesOf(ctx context.Context, sc store.Scope, items []store.Item) ([]store.Item, error) {
	of, kinds := map[string]bool{}, []store.Kind{}
	for i := range items {
		it := &items[i]
		if it.IsProfile() {
			continue
		}
		// What extractors made is never summarised by us, but what is imported may say that it is.
		if p := &it.Provenance; p.Extractor == "" || it.IsSummary() || it.Aside.Summary != "" {
			of[it.ID] = true
			if !slices.Contains(kinds, it.Kind) {
				kinds = append(kinds, it.Kind)
			}
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	f := store.Filter{Distilled: true}
	if !slices.Contains(kinds, "") {
		f.Kinds = kinds
	}
	var all, found []store.Item
	err := m.eachButSections(ctx, sc, f, func(it *store.Item) {
		if it.IsSummary() {
			all = append(all, *it)
		}
	})
	for more := true; more && err == nil; {
		more = false
		all = slices.DeleteFunc(all, func(it store.Item) bool {
			rests := slices.ContainsFunc(it.Provenance.Turns, func(id string) bool { return of[id] })
			if rests {
				found, more, of[it.ID] = append(found, it), true, true
			}
			return rests
		})
	}
	return found, err
}

// eachButSections visits what a filter selects of all versions, without the sections of the profile.
func (m *Memory) eachButSections(ctx context.Context, sc store.Scope, f store.Filter, see func(*store.Item)) error {
	q := store.ListQuery{Filter: f, View: store.View{All: true}, Order: store.ByID, Limit: pageItems}
	for it, err := range store.Items(ctx, m.store, sc, q) {
		if err != nil {
			return fmt.Errorf("list items: %w", err)
		}
		if !it.IsProfile() {
			see(it)
		}
	}
	return nil
}

// elsewhere tells which of the items of a thread were distilled from turns of others, too: they stay when the thread goes.
func (m *Memory) elsewhere(ctx context.Context, sc store.Scope, thread string, items []store.Item) (map[string]bool, error) {
	ids := map[string]bool{}
	for i := range items {
		if p := &items[i].Provenance; p.Extractor != "" {
			for _, id := range p.Turns {
				ids[id] = true
			}
		}
	}
	other := map[string]bool{}
	for part := range slices.Chunk(slices.Sorted(maps.Keys(ids)), maxIDs) {
		turns, err := m.store.Get(ctx, sc, part)
		if err != nil {
			return nil, fmt.Errorf("read sources: %w", err)
		}
		for i := range turns {
			if turns[i].Turn.Thread != thread {
				other[turns[i].ID] = true
			}
		}
	}
	stays := map[string]bool{}
	for i := range items {
		if p := &items[i].Provenance; p.Extractor != "" && !items[i].IsSummary() {
			stays[items[i].ID] = slices.ContainsFunc(p.Turns, func(id string) bool { return other[id] })
		}
	}
	return stays, nil
}
