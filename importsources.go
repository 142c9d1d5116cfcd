package evoke

import (
	"fmt"
	"maps"
	"slices"

	"evoke/store"
)

// summariesNamed notes which summaries the items of a write say to stand in their place.
func (imp *importer) summariesNamed(sc store.Scope, items []store.Item) {
	for i := range items {
		if id := items[i].Aside.Summary; id != "" {
			if imp.summaries[sc] == nil {
				imp.summaries[sc] = map[string]bool{}
			}
			imp.summaries[sc][id] = true
		}
	}
}

// freeSources ends an import: what hides behind a summary that never came is seen. An import that goes on after a restart
// does not know what was named before, and looks at all.
func (imp *importer) freeSources(goesOn bool) error {
	if goesOn {
		return imp.m.eachMemory(imp.ctx, func(sc store.Scope) error {
			return imp.freeSourcesIn(sc, func(it *store.Item) bool { return it.Provenance.Import == imp.id })
		})
	}
	for sc, named := range imp.summaries {
		known := map[string]bool{}
		for ids := range slices.Chunk(slices.Sorted(maps.Keys(named)), maxIDs) {
			have, err := imp.m.store.Get(imp.ctx, sc, ids)
			if err != nil {
				return fmt.Errorf("import: read summaries: %w", err)
			}
			for i := range have {
				known[have[i].ID] = true
			}
		}
		if len(known) == len(named) {
			continue
		}
		err := imp.freeSourcesIn(sc, func(it *store.Item) bool { return named[it.Aside.Summary] && !known[it.Aside.Summary] })
		if err != nil {
			return err
		}
	}
	return nil
}

// freeSourcesIn takes the marks of missing summaries off the items of a memory that are of those asked for.
func (imp *importer) freeSourcesIn(sc store.Scope, of func(*store.Item) bool) error {
	m := imp.m
	unlock, err := m.hold(imp.ctx, sc)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	defer unlock()
	marked := map[string][]string{}
	err = m.eachButSections(imp.ctx, sc, store.Filter{}, func(it *store.Item) {
		if id := it.Aside.Summary; id != "" && of(it) {
			marked[id] = append(marked[id], it.ID)
		}
	})
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	var ids []string
	for part := range slices.Chunk(slices.Sorted(maps.Keys(marked)), maxIDs) {
		have, err := m.store.Get(imp.ctx, sc, part)
		if err != nil {
			return fmt.Errorf("import: read summaries: %w", err)
		}
		for _, id := range part {
			if !slices.ContainsFunc(have, func(it store.Item) bool { return it.ID == id }) {
				ids = append(ids, marked[id]...)
			}
		}
	}
	for part := range slices.Chunk(ids, asidePart) {
		w := m.newWrite(sc)
		if w.Put, err = m.store.Get(imp.ctx, sc, part); err != nil {
			return fmt.Errorf("import: read sources: %w", err)
		}
		for i := range w.Put {
			w.Put[i].Aside.DropSummary()
		}
		if err := m.commit(imp.ctx, w); err != nil {
			return fmt.Errorf("import: %w", err)
		}
	}
	return nil
}
