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
	m.count(ctx, "feedback", r.Who, "", map[string]int{"items": res.Updated})
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

// Forget removes items, for good or, when the request asks for it, softly (see Restore). With items that go for good goes
// what was distilled from nothing else, and what control data keeps of them; tombstones keep them from coming back by replay
// or import (see LiftErasure). Softly forgotten items, and what was distilled from nothing else, are out of sight. What stood
// after a removed turn gets vectors of its own again, so that nothing of the removed text stays in them. A section of the
// profile that rests on nothing else goes, too; one that rests on more is marked (ProfileSection.Stale). What waits in
// quarantine goes with its turn. Erase does more: it looks whether anything is left.
func (m *Memory) Forget(ctx context.Context, r ForgetRequest) (res ForgetResult, err error) {
	var sc store.Scope
	defer func() {
		if !r.DryRun {
			counts := map[string]int{"items": res.Forgotten, "derived": res.Derived, "sections": res.Sections}
			m.audit(ctx, deed(r.verb(), r.Who, err, counts, append([]string{res.ID}, m.auditedIDs(ctx, sc, &r)...)...))
		}
	}()
	if err := r.validate(); err != nil {
		return ForgetResult{}, err
	}
	if err := m.checkSoft(&r); err != nil {
		return ForgetResult{}, err
	}
	if sc, err = m.memory(r.Who); err != nil {
		return ForgetResult{}, err
	}
	if r.Query != "" {
		return m.preview(ctx, sc, r)
	}
	return m.forget(ctx, sc, r)
}

func (r *ForgetRequest) validate() error {
	if n := bools(len(r.IDs) > 0, r.Filter != nil, r.All, r.Query != ""); n != 1 {
		return store.Invalid("forget", "told what: exactly one of ids, a filter, a query or all", "")
	}
	if r.Query != "" && !r.DryRun {
		return store.Invalid("query", "only looked at in a dry run: forget the ids that it shows", "")
	}
	if len(r.IDs) > 0 {
		return checkIDs(r.IDs)
	}
	if r.Filter == nil {
		return nil
	}
	if r.Filter.IsZero() {
		return store.Invalid("filter", "a filter that selects something less than everything (use all for that)", "")
	}
	return r.Filter.Validate()
}

func (m *Memory) forget(ctx context.Context, sc store.Scope, r ForgetRequest) (res ForgetResult, err error) {
	unlock, err := m.hold(ctx, sc)
	if err != nil {
		return ForgetResult{}, fmt.Errorf("forget: %w", err)
	}
	defer unlock()
	items, err := m.selected(ctx, sc, r)
	if err != nil {
		return ForgetResult{}, fmt.Errorf("forget: %w", err)
	}
	if r.All && r.Thread != "" {
		stays, err := m.elsewhere(ctx, sc, r.Thread, items)
		if err != nil {
			return ForgetResult{}, fmt.Errorf("forget: %w", err)
		}
		items = slices.DeleteFunc(items, func(it store.Item) bool { return stays[it.ID] })
	}
	res = ForgetResult{Forgotten: len(items), DryRun: r.DryRun}
	for _, id := range r.IDs {
		if !slices.ContainsFunc(items, func(it store.Item) bool { return it.ID == id }) {
			res.Unknown = append(res.Unknown, id)
		}
	}
	if r.DryRun {
		if res.Items, err = m.shown(ctx, sc, items); err != nil {
			return ForgetResult{}, fmt.Errorf("forget: %w", err)
		}
	}
	if r.Soft {
		return m.forgetSoftly(ctx, sc, items, &r, res)
	}
	how := removing{by: newID(), facts: true, marks: true}
	plan, err := m.planRemoval(ctx, sc, items, how)
	if err != nil {
		return ForgetResult{}, fmt.Errorf("forget: %w", err)
	}
	if err := m.checkHeld(ctx, sc, plan.gone); err != nil {
		return ForgetResult{}, fmt.Errorf("forget: %w", err)
	}
	if res.Derived, res.Sections = plan.derived, plan.sections; r.DryRun || len(items) == 0 {
		return res, nil
	}
	res.ID = how.by
	return res, m.forgetParts(ctx, sc, items, how)
}

// forgetParts removes items in bounded writes. Their texts are read again: those of a whole memory are not wanted at once. A
// hold that is placed meanwhile stops it before the next part.
func (m *Memory) forgetParts(ctx context.Context, sc store.Scope, items []store.Item, how removing) error {
	for part := range slices.Chunk(items, pageItems) {
		ids := make([]string, len(part))
		for i := range part {
			ids[i] = part[i].ID
		}
		whole, err := m.store.Get(ctx, sc, ids)
		if err != nil {
			return fmt.Errorf("forget: %w", err)
		}
		if len(whole) == 0 { // they went with a part before
			continue
		}
		plan, err := m.planRemoval(ctx, sc, whole, how)
		if err != nil {
			return fmt.Errorf("forget: %w", err)
		}
		if err := m.checkHeld(ctx, sc, plan.gone); err != nil {
			return fmt.Errorf("forget: %w", err)
		}
		if _, err := m.remove(ctx, plan); err != nil {
			return fmt.Errorf("forget: %w", err)
		}
	}
	return nil
}

// auditedIDs are the ids of a request as they go on record: those of what goes for good as keyed hashes.
func (m *Memory) auditedIDs(ctx context.Context, sc store.Scope, r *ForgetRequest) []string {
	if r.Soft {
		return m.onRecord(ctx, r.Who, r.IDs...)
	}
	marks, err := m.marks(ctx, false)
	if err != nil || marks == nil || sc.Tenant == "" {
		return nil
	}
	ids := make([]string, len(r.IDs))
	for i, id := range r.IDs {
		ids[i] = marks.Pseudonym(sc, id)
	}
	return ids
}

// selected returns the items to remove; those of a filter without their texts.
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
	for it, err := range store.Items(ctx, m.store, sc, q) {
		if err != nil {
			return nil, err
		}
		it.Content, it.Metadata = "", nil // the texts of a whole memory are not wanted at once
		all = append(all, *it)
	}
	return all, nil
}

// erase deletes items in bounded writes, and makes a change of the profile with the first.
func (m *Memory) erase(ctx context.Context, sc store.Scope, items []store.Item, profile store.Change) error {
	for part := range slices.Chunk(items, 500) {
		w := m.newWrite(sc)
		w.Change, profile = profile, store.Change{} // first: no crash may leave a summary of what is gone
		for i := range part {
			w.Delete = append(w.Delete, part[i].ID)
		}
		var err error
		if w.Embed, err = m.turnsAfter(ctx, sc, part, items); err != nil {
			return err
		}
		if err := m.commit(ctx, w); err != nil {
			return fmt.Errorf("forget: %w", err)
		}
	}
	return nil
}

// turnsAfter returns the ids of the turns right after those of part that are not of all, which part is of.
func (m *Memory) turnsAfter(ctx context.Context, sc store.Scope, part, all []store.Item) (ids []string, err error) {
	type place struct {
		session  string
		position int
	}
	have := make(map[place]bool, len(all))
	for i := range all {
		have[place{all[i].Turn.Session, all[i].Turn.Position}] = true
	}
	for i := range part {
		t := part[i].Turn
		if !t.IsTurn() || have[place{t.Session, t.Position + 1}] {
			continue
		}
		next, err := m.following(ctx, sc, t)
		if err != nil {
			return nil, err
		}
		ids = append(ids, next...)
	}
	return ids, nil
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
