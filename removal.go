package evoke

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"evoke/store"
	"evoke/store/lifecycle"
)

// removing says how items are removed for good.
type removing struct {
	by string // the operation, or the deed, that does it; its tombstones are lifted by this name
	// facts says that what was distilled from nothing else goes too, and that what stays loses the quotation. Retention lets
	// facts outlive their turns. Summaries go always: they hold the words.
	facts bool
	// strict says that sections of the profile go also when they rest on more: their texts may tell of what goes.
	strict bool
	marks  bool // tombstones keep it from coming back by replay
	whole  bool // the whole memory goes: what rests on it goes by itself, and links need not be mended
}

// removal is what one write takes from a memory, and what it changes of the rest.
type removal struct {
	sc       store.Scope
	how      removing
	gone     []store.Item // what was selected, then what goes with it
	derived  int          // how many of these were not selected
	sections int          // of the profile, that go or are marked
	change   store.Change // of what stays, with the sections that go
}

// planRemoval finds what goes with the items and what changes of what stays. The scope is locked.
func (m *Memory) planRemoval(ctx context.Context, sc store.Scope, items []store.Item, how removing) (*removal, error) {
	r := &removal{sc: sc, how: how, gone: slices.Clone(items)}
	gone := make(map[string]bool, len(items))
	for i := range items {
		gone[items[i].ID] = true
	}
	stays := map[string]store.Item{}
	if !how.whole {
		if err := m.planDerived(ctx, r, gone, stays); err != nil {
			return nil, err
		}
	}
	if !how.whole {
		if err := m.planLinks(ctx, r, gone, stays); err != nil {
			return nil, err
		}
	}
	profile, err := m.forgetSources(ctx, sc, r.gone)
	if err != nil {
		return nil, err
	}
	r.sections = len(profile.Put) + len(profile.Delete)
	if how.strict {
		for i := range profile.Put {
			profile.Delete = append(profile.Delete, profile.Put[i].ID)
		}
		profile.Put = nil
	}
	for _, it := range profile.Put { // they change the rest of an item
		stays[it.ID] = it
	}
	for _, id := range profile.Delete {
		delete(stays, id)
	}
	r.change.Delete = profile.Delete
	for _, id := range slices.Sorted(maps.Keys(stays)) {
		r.change.Put = append(r.change.Put, stays[id])
	}
	return r, nil
}

// planDerived adds what rests on nothing but what goes, and summaries of any of it; what rests on more loses the sources
// and, where they alone have it, the quotation.
func (m *Memory) planDerived(ctx context.Context, r *removal, gone map[string]bool, stays map[string]store.Item) error {
	resting, err := m.restingOn(ctx, r)
	if err != nil {
		return err
	}
	after := lineageOf(resting)
	for more := true; more; { // a summary may rest on facts
		more = false
		for i := range resting {
			it := &resting[i]
			left := slices.DeleteFunc(slices.Clone(it.Provenance.Turns), func(id string) bool { return gone[id] })
			rests := len(left) < len(it.Provenance.Turns) && (len(left) == 0 || it.IsSummary())
			merged := r.how.facts && after.goesInto(gone, it)
			if gone[it.ID] || !rests && !merged || !r.how.facts && !it.IsSummary() {
				continue
			}
			gone[it.ID], more = true, true
			r.gone = append(r.gone, *it)
			r.derived++
		}
	}
	if !r.how.facts {
		return nil
	}
	for i := range resting {
		it := resting[i]
		left := slices.DeleteFunc(slices.Clone(it.Provenance.Turns), func(id string) bool { return gone[id] })
		if gone[it.ID] || len(left) == len(it.Provenance.Turns) {
			continue
		}
		it.Provenance.Turns = left
		if it.Provenance.Quote != "" {
			turns, err := m.store.Get(ctx, r.sc, left)
			if err != nil {
				return fmt.Errorf("read sources: %w", err)
			}
			if !slices.ContainsFunc(turns, func(t store.Item) bool { return strings.Contains(t.Content, it.Provenance.Quote) }) {
				it.Provenance.Quote = ""
			}
		}
		stays[it.ID] = it
	}
	return nil
}

// planLinks has what stays name nothing that goes: versions lose the links, and what a summary stood for is seen again.
func (m *Memory) planLinks(ctx context.Context, r *removal, gone map[string]bool, stays map[string]store.Item) error {
	marks, err := m.marks(ctx, true)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for i := range r.gone {
		it := &r.gone[i]
		linked := []string{it.Supersedes, it.SupersededBy}
		if it.IsSummary() {
			linked = append(linked, it.Provenance.Turns...)
		}
		for _, id := range linked {
			if _, have := stays[id]; id != "" && !gone[id] && !have {
				wanted[id] = true
			}
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(wanted)), maxIDs) {
		items, err := m.store.Get(ctx, r.sc, ids)
		if err != nil {
			return fmt.Errorf("read versions: %w", err)
		}
		for _, it := range items {
			stays[it.ID] = it
		}
	}
	if err := m.planPointers(ctx, r, gone, stays); err != nil {
		return err
	}
	for id, it := range stays {
		unlink(&it, gone, func(name string) string { return marks.Pseudonym(r.sc, name) })
		stays[id] = it
	}
	return nil
}

// planPointers adds what names an item that goes and is not named by it: merging and undoing leave links in one direction alone.
func (m *Memory) planPointers(ctx context.Context, r *removal, gone map[string]bool, stays map[string]store.Item) error {
	var kinds []store.Kind
	for i := range r.gone {
		if p := &r.gone[i].Provenance; (p.By != "" || p.EndedBy != "") && !slices.Contains(kinds, r.gone[i].Kind) {
			kinds = append(kinds, r.gone[i].Kind)
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	return m.eachButSections(ctx, r.sc, store.Filter{Kinds: kinds}, func(it *store.Item) {
		if _, have := stays[it.ID]; !have && !gone[it.ID] && (gone[it.Supersedes] || gone[it.SupersededBy]) {
			stays[it.ID] = *it
		}
	})
}

func unlink(it *store.Item, gone map[string]bool, pseudonym func(string) string) {
	for _, link := range [...]*string{&it.Supersedes, &it.SupersededBy} {
		if gone[*link] {
			*link = pseudonym(*link)
		}
	}
	if gone[it.Aside.Summary] {
		it.Aside.DropSummary()
	}
}

// tombstones are what keeps a removal from coming back.
func (r *removal) tombstones(marks *lifecycle.Marks) []string {
	var all []string
	for i := range r.gone {
		all = append(all, marks.Of(r.sc, &r.gone[i])...)
	}
	return all
}

// threads are those that the items were said in.
func (r *removal) threads() []string {
	all := map[string]bool{}
	for i := range r.gone {
		all[r.gone[i].Turn.Thread] = true
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}

// ids are those of all that goes.
func (r *removal) ids() []string {
	ids := slices.Clone(r.change.Delete)
	for i := range r.gone {
		ids = append(ids, r.gone[i].ID)
	}
	return ids
}

// remove makes a removal: first the tombstones, then the items, then what control data keeps of them. It can be made again
// after it was cut off anywhere.
func (m *Memory) remove(ctx context.Context, r *removal) (store.Traces, error) {
	if r.how.marks {
		marks, err := m.marks(ctx, true)
		if err != nil {
			return store.Traces{}, err
		}
		if err := m.entomb(ctx, r.how.by, r.tombstones(marks)); err != nil {
			return store.Traces{}, err
		}
	}
	if err := m.erase(ctx, r.sc, r.gone, r.change); err != nil {
		return store.Traces{}, err
	}
	return m.untrace(ctx, r.sc, r.how, r.ids(), r.threads())
}

func (m *Memory) entomb(ctx context.Context, by string, hashes []string) error {
	ts := make([]store.Tombstone, len(hashes))
	for i, h := range hashes {
		ts[i] = store.Tombstone{Hash: h, Operation: by, At: m.now()}
	}
	if err := m.ledger.AddTombstones(ctx, m.tenant, ts); err != nil {
		return fmt.Errorf("keep tombstones: %w", err)
	}
	return nil
}

// untrace removes what control data keeps of items that are gone, and of those of the threads of which nothing is left.
func (m *Memory) untrace(ctx context.Context, sc store.Scope, how removing, ids, threads []string) (store.Traces, error) {
	marks, err := m.marks(ctx, true)
	if err != nil {
		return store.Traces{}, err
	}
	t := store.Traced{Scope: sc, IDs: map[string]string{}, Threads: map[string]string{}}
	for _, id := range ids {
		t.IDs[id] = marks.Pseudonym(sc, id)
	}
	for _, thread := range threads {
		page, err := m.store.List(ctx, sc, store.ListQuery{Filter: store.Filter{Threads: []string{thread}}, View: store.View{All: true}, Order: store.ByID, Limit: 1})
		if err != nil {
			return store.Traces{}, fmt.Errorf("read thread: %w", err)
		}
		if len(page.Items) == 0 {
			t.Threads[thread] = marks.Pseudonym(sc, thread)
		}
	}
	return m.eraseTraces(ctx, t, how)
}

// eraseTraces removes what control data keeps, and keeps the idempotency keys of what is gone from being used again.
func (m *Memory) eraseTraces(ctx context.Context, t store.Traced, how removing) (store.Traces, error) {
	if m.blocks != nil {
		if err := m.blocks.settle(ctx); err != nil {
			return store.Traces{}, fmt.Errorf("settle the record of blocks: %w", err)
		}
	}
	found, err := m.ledger.Traces(ctx, t)
	if err != nil || found.Total() == 0 {
		return found, err
	}
	if how.marks && len(found.Keys) > 0 {
		marks, err := m.marks(ctx, true)
		if err != nil {
			return found, err
		}
		hashes := make([]string, len(found.Keys))
		for i, key := range found.Keys {
			hashes[i] = marks.Key(t.Scope, key)
		}
		if err := m.entomb(ctx, how.by, hashes); err != nil {
			return found, err
		}
	}
	if err := m.ledger.EraseTraces(ctx, t); err != nil {
		return found, fmt.Errorf("erase what control data keeps: %w", err)
	}
	return found, nil
}
