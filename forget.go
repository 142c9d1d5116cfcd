package evoke

import (
	"context"
	"fmt"
	"math"
	"slices"

	"evoke/store"
)

// Feedback counts one more use of each item that helped. Uses raise an item's importance; reading never does.
func (m *Memory) Feedback(ctx context.Context, r FeedbackRequest) (FeedbackResult, error) {
	res := FeedbackResult{}
	if err := checkIDs(r.IDs); err != nil {
		return res, err
	}
	at, err := m.place(r.Who)
	if err != nil {
		return res, err
	}
	found := map[string]bool{}
	for _, sc := range at.read { // none under NoNamespace: every id is unknown there
		if err := m.feedback(ctx, sc, r.IDs, found); err != nil {
			return res, fmt.Errorf("feedback: %w", err)
		}
	}
	for _, id := range r.IDs {
		if !found[id] && !slices.Contains(res.Unknown, id) {
			res.Unknown = append(res.Unknown, id)
		}
	}
	res.Updated = len(found)
	return res, nil
}

func (m *Memory) feedback(ctx context.Context, sc store.Scope, ids []string, found map[string]bool) error {
	unlock, err := m.hold(ctx, sc)
	if err != nil {
		return err
	}
	defer unlock()
	items, err := m.store.Get(ctx, sc, ids)
	if err != nil || len(items) == 0 {
		return err
	}
	items = store.Remembered(items)
	for i := range items {
		found[items[i].ID] = true
		items[i].Uses = min(items[i].Uses, math.MaxInt-1) + 1 // an imported count may be any
		items[i].LastUsed = m.now()
	}
	w := m.newWrite(sc)
	w.Put = items
	return m.commit(ctx, w)
}

// maxIDs is how many ids one call may name.
const maxIDs = 1000

func checkIDs(ids []string) error {
	if len(ids) == 0 || len(ids) > maxIDs {
		return store.Invalid("ids", fmt.Sprintf("a list of 1 to %d ids", maxIDs), fmt.Sprint(len(ids)))
	}
	for i, id := range ids {
		if id == "" {
			return store.Invalid(fmt.Sprintf("ids[%d]", i), "given", "")
		}
		if err := store.ValidateName(fmt.Sprintf("ids[%d]", i), id); err != nil {
			return err
		}
	}
	return nil
}

// Forget removes items, for good or, when the request asks for it, softly (see Restore). What stood after a removed turn
// gets vectors of its own again, so that nothing of the removed text stays in them. A section of the profile that rests on nothing else goes, too; one that rests on more is
// marked (ProfileSection.Stale). What waits in quarantine goes with its turn.
func (m *Memory) Forget(ctx context.Context, r ForgetRequest) (res ForgetResult, err error) {
	defer func() {
		if !r.DryRun {
			m.audit(ctx, deed(r.verb(), r.Who, err, map[string]int{"items": res.Forgotten, "sections": res.Sections}, append([]string{res.ID}, r.IDs...)...))
		}
	}()
	if n := bools(len(r.IDs) > 0, r.Filter != nil, r.All); n != 1 {
		return ForgetResult{}, store.Invalid("forget", "told what: exactly one of ids, a filter or all", "")
	}
	if r.Filter != nil && r.Filter.IsZero() {
		return ForgetResult{}, store.Invalid("filter", "a filter that selects something less than everything (use all for that)", "")
	}
	if len(r.IDs) > 0 {
		if err := checkIDs(r.IDs); err != nil {
			return ForgetResult{}, err
		}
	}
	if r.Filter != nil {
		if err := r.Filter.Validate(); err != nil {
			return ForgetResult{}, err
		}
	}
	if err := m.checkSoft(&r); err != nil {
		return ForgetResult{}, err
	}
	sc, err := m.memory(r.Who)
	if err != nil {
		return ForgetResult{}, err
	}
	unlock, err := m.hold(ctx, sc)
	if err != nil {
		return ForgetResult{}, fmt.Errorf("forget: %w", err)
	}
	defer unlock()
	items, err := m.selected(ctx, sc, r)
	if err != nil {
		return ForgetResult{}, fmt.Errorf("forget: %w", err)
	}
	res = ForgetResult{Forgotten: len(items), DryRun: r.DryRun}
	for _, id := range r.IDs {
		if !slices.ContainsFunc(items, func(it store.Item) bool { return it.ID == id }) {
			res.Unknown = append(res.Unknown, id)
		}
	}
	if r.Soft {
		return m.forgetSoftly(ctx, sc, items, &r, res)
	}
	if err := m.checkHeld(ctx, sc, items); err != nil {
		return ForgetResult{}, fmt.Errorf("forget: %w", err)
	}
	profile, err := m.forgetSources(ctx, sc, items)
	if err != nil {
		return ForgetResult{}, fmt.Errorf("forget: %w", err)
	}
	if res.Sections = len(profile.Put) + len(profile.Delete); r.DryRun || len(items) == 0 {
		return res, nil
	}
	return res, m.erase(ctx, sc, items, profile)
}

// selected returns the ids and places of the items to remove.
func (m *Memory) selected(ctx context.Context, sc store.Scope, r ForgetRequest) ([]store.Item, error) {
	if len(r.IDs) > 0 {
		ids := slices.Clone(r.IDs)
		slices.Sort(ids)
		return m.store.Get(ctx, sc, slices.Compact(ids))
	}
	q := store.ListQuery{View: store.View{All: true, Kept: r.Soft}, Order: store.ByID, Limit: pageItems}
	if r.Filter != nil {
		q.Filter = *r.Filter
	}
	q.Filter = narrow(q.Filter, r.Thread)
	var all []store.Item
	for {
		page, err := m.store.List(ctx, sc, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Items { // the texts of a whole memory are not wanted at once
			all = append(all, store.Item{ID: page.Items[i].ID, Turn: page.Items[i].Turn})
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return all, nil
		}
	}
}

// erase deletes items in bounded writes, and makes a change of the profile with the first.
func (m *Memory) erase(ctx context.Context, sc store.Scope, items []store.Item, profile store.Change) error {
	type place struct {
		session  string
		position int
	}
	gone := make(map[place]bool, len(items))
	for i := range items {
		gone[place{items[i].Turn.Session, items[i].Turn.Position}] = true
	}
	for part := range slices.Chunk(items, 500) {
		w := m.newWrite(sc)
		w.Change, profile = profile, store.Change{} // first: no crash may leave a summary of what is gone
		for i := range part {
			t := part[i].Turn
			w.Delete = append(w.Delete, part[i].ID)
			if !t.IsTurn() || gone[place{t.Session, t.Position + 1}] {
				continue
			}
			after, err := m.following(ctx, sc, t)
			if err != nil {
				return err
			}
			w.Embed = append(w.Embed, after...)
		}
		if err := m.commit(ctx, w); err != nil {
			return fmt.Errorf("forget: %w", err)
		}
	}
	return nil
}

// following returns the ids of the turns right after t, whose context vectors hold some of t's text.
func (m *Memory) following(ctx context.Context, sc store.Scope, t store.Turn) ([]string, error) {
	page, err := m.store.List(ctx, sc, store.ListQuery{
		Filter: store.Filter{Sessions: []string{t.Session}, Positions: store.PositionRange{From: t.Position + 1, To: t.Position + 2}},
		View:   store.View{All: true}, Order: store.ByID, Limit: 100,
	})
	if err != nil {
		return nil, fmt.Errorf("read neighbours: %w", err)
	}
	ids := make([]string, len(page.Items))
	for i := range page.Items {
		ids[i] = page.Items[i].ID
	}
	return ids, nil
}

func bools(bs ...bool) int {
	n := 0
	for _, b := range bs {
		if b {
			n++
		}
	}
	return n
}
