package evoke

import (
	"context"
	"fmt"
	"slices"

	"evoke/extract"
	"evoke/store"
)

// RestoreRequest names what was softly forgotten and is to come back: exactly one of IDs, Batch, Filter and All.
type RestoreRequest struct {
	Who
	IDs    []string
	Batch  string // ForgetResult.ID, or the id of an operation: all that it took out of sight
	Filter *store.Filter
	All    bool // everything that can be restored in the memory named by Who
	DryRun bool // count only
	// Everywhere counts, in a dry run of a batch, in every memory of the tenant, as RestoreBatch restores.
	Everywhere bool
}

// RestoreResult counts what came (or would come) back.
type RestoreResult struct {
	Restored int      `json:"restored"`
	Sections int      `json:"sections,omitempty"` // versions of the profile's sections that came back or are no longer marked for resting on them
	Unknown  []string `json:"unknown,omitempty"`  // ids of what is not softly forgotten, or past its time
	Kept     []string `json:"kept,omitempty"`     // those of them that are in the memory and in sight: nothing is to be done
	DryRun   bool     `json:"dry_run,omitempty"`
}

func (r *RestoreRequest) validate() error {
	if n := bools(len(r.IDs) > 0, r.Batch != "", r.Filter != nil, r.All); n != 1 {
		return store.Invalid("restore", "told what: exactly one of ids, a batch, a filter or all", "")
	}
	if r.Everywhere && (r.Batch == "" || !r.DryRun || r.Who != (Who{})) {
		return store.Invalid("everywhere", "left out, or asked in a dry run of a batch, without a user, an agent and a thread (RestoreBatch restores)", "")
	}
	if r.Filter != nil && r.Filter.IsZero() {
		return store.Invalid("filter", "a filter that selects something less than everything (use all for that)", "")
	}
	if len(r.IDs) > 0 {
		return checkIDs(r.IDs)
	}
	if err := store.ValidateName("batch", r.Batch); err != nil || r.Filter == nil {
		return err
	}
	return r.Filter.Validate()
}

// Restore brings back what was softly forgotten, as it was, with what followed it: what was distilled from it alone, or merged
// into it, comes with it; sections of the profile are in sight again, and no longer marked, unless something else that they
// rest on is still forgotten. A section that was written anew meanwhile stands; the one that comes back is the version before
// it. What is past its time is gone, purged or not.
func (m *Memory) Restore(ctx context.Context, r RestoreRequest) (res RestoreResult, err error) {
	defer func() {
		if !r.DryRun {
			m.audit(ctx, deed("restore", r.Who, err, map[string]int{"items": res.Restored, "sections": res.Sections}, append([]string{r.Batch}, m.onRecord(ctx, r.Who, r.IDs...)...)...))
		}
	}()
	if err := r.validate(); err != nil {
		return RestoreResult{}, err
	}
	if r.Everywhere {
		res.DryRun = true
		err = m.eachMemory(ctx, func(sc store.Scope) error {
			in, err := m.restore(ctx, sc, r)
			res.Restored, res.Sections = res.Restored+in.Restored, res.Sections+in.Sections
			return err
		})
		return res, err
	}
	sc, err := m.memory(r.Who)
	if err != nil {
		return RestoreResult{}, err
	}
	return m.restore(ctx, sc, r)
}

// restore is Restore in one memory.
func (m *Memory) restore(ctx context.Context, sc store.Scope, r RestoreRequest) (res RestoreResult, err error) {
	unlock, err := m.hold(ctx, sc)
	if err != nil {
		return RestoreResult{}, fmt.Errorf("restore: %w", err)
	}
	defer unlock()
	items, err := m.restorable(ctx, sc, &r)
	if err != nil {
		return RestoreResult{}, fmt.Errorf("restore: %w", err)
	}
	res.DryRun = r.DryRun
	for _, id := range r.IDs {
		if !slices.ContainsFunc(items, func(it store.Item) bool { return it.ID == id }) && !slices.Contains(res.Unknown, id) {
			res.Unknown = append(res.Unknown, id)
		}
	}
	if res.Kept, err = m.inSight(ctx, sc, res.Unknown); err != nil {
		return RestoreResult{}, fmt.Errorf("restore: %w", err)
	}
	a := aside{m: m, sc: sc, at: m.now(), dry: r.DryRun}
	res.Restored, res.Sections, err = a.change(ctx, items, show)
	if err != nil {
		return res, fmt.Errorf("restore: %w", err)
	}
	return res, nil
}

// inSight tells which of the ids are of items that are not softly forgotten.
func (m *Memory) inSight(ctx context.Context, sc store.Scope, ids []string) (kept []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	items, err := m.store.Get(ctx, sc, ids)
	for i := range items {
		if !items[i].Aside.Forgotten() {
			kept = append(kept, items[i].ID)
		}
	}
	return kept, err
}

// restorable lists what a request selects of what can be restored. Sections that are out of sight for their sources come
// with these.
func (m *Memory) restorable(ctx context.Context, sc store.Scope, r *RestoreRequest) ([]store.Item, error) {
	q := store.ListQuery{View: store.View{Forgotten: true}, Order: store.ByID, Limit: pageItems}
	if r.Filter != nil {
		q.Filter = *r.Filter
	}
	if len(r.IDs) > 0 {
		q.Filter.IDs = r.IDs
	}
	q.Filter = narrow(q.Filter, r.Thread)
	now := m.now()
	var all []store.Item
	batches := map[string]string{} // of what was selected by its id
	for it, err := range store.Items(ctx, m.store, sc, q) {
		if err != nil {
			return nil, err
		}
		by := it.Aside.ForgottenBy
		if it.IsProfile() && by == extract.HiddenBySources || r.Batch != "" && r.Batch != by || past(it, now) {
			continue
		}
		batches[it.ID] = by
		all = append(all, store.Item{ID: it.ID, Turn: it.Turn}) // the texts of a whole memory are not wanted at once
	}
	if r.Batch != "" || r.All || len(all) == 0 {
		return all, nil
	}
	return m.withDerived(ctx, sc, all, batches)
}

// withDerived adds what was distilled from what comes back, or merged into it, and went with it.
func (m *Memory) withDerived(ctx context.Context, sc store.Scope, all []store.Item, batches map[string]string) ([]store.Item, error) {
	facts := store.Filter{Any: []store.Filter{{Distilled: true}, {Kinds: []store.Kind{store.Semantic, store.Procedural}}}}
	q := store.ListQuery{Filter: facts, View: store.View{Forgotten: true}, Order: store.ByID, Limit: pageItems}
	var merged []store.Item // places only, with what they were merged into
	add := func(it *store.Item) {
		all = append(all, store.Item{ID: it.ID, Turn: it.Turn})
		batches[it.ID] = it.Aside.ForgottenBy
	}
	for it, err := range store.Items(ctx, m.store, sc, q) {
		if err != nil {
			return nil, err
		}
		_, chosen := batches[it.ID]
		switch {
		case chosen || it.IsProfile():
		case slices.ContainsFunc(it.Provenance.Turns, func(id string) bool { return batches[id] == it.Aside.ForgottenBy }):
			add(it)
		case mergedAway(it):
			merged = append(merged, store.Item{ID: it.ID, Turn: it.Turn, SupersededBy: it.SupersededBy, Aside: it.Aside})
		}
	}
	for more := true; more; { // what was merged may have taken others in before
		n := len(merged)
		merged = slices.DeleteFunc(merged, func(it store.Item) bool {
			comes := batches[it.SupersededBy] == it.Aside.ForgottenBy
			if comes {
				add(&it)
			}
			return comes
		})
		more = len(merged) < n
	}
	return all, nil
}
