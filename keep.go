package evoke

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"evoke/store"
)

// maxForgetDays bounds how long what is softly forgotten may be kept.
const maxForgetDays = 3650

func checkForgetDays(days int) error {
	if days < 1 || days > maxForgetDays {
		return store.Invalid("memory.forget_days", fmt.Sprintf("from 1 to %d", maxForgetDays), fmt.Sprint(days))
	}
	return nil
}

// inSight refuses an item that is softly forgotten: for all who read, it is not there.
func inSight(it *store.Item) error {
	if !it.Aside.Forgotten() {
		return nil
	}
	until := ""
	if !it.Aside.PurgeAt.IsZero() {
		until = " and can be restored until " + it.Aside.PurgeAt.UTC().Format(time.DateOnly)
	}
	return fmt.Errorf("item: %w on %s%s", store.ErrForgotten, it.Aside.ForgottenAt.UTC().Format(time.DateOnly), until)
}

// softForget is the verb of what Restore brings back; forgetBatch begins the ids of what one call took, which tells it from
// what an operation took.
const (
	softForget  = "forget softly"
	forgetBatch = "forget-"
)

func (r *ForgetRequest) verb() string {
	if r.Soft || !r.Until.IsZero() {
		return softForget
	}
	return "forget"
}

// checkSoft completes what a request says of soft forgetting.
func (m *Memory) checkSoft(r *ForgetRequest) error {
	if r.Until.IsZero() {
		if r.Soft {
			r.Until = m.now().AddDate(0, 0, m.forgetDays)
		}
		return nil
	}
	r.Soft, r.Until = true, r.Until.UTC().Truncate(time.Microsecond)
	if now := m.now(); !r.Until.After(now) || r.Until.After(now.AddDate(0, 0, maxForgetDays)) {
		return store.Invalid("until", fmt.Sprintf("a time to come, at most %d days from now (leave out soft and until to forget for good)", maxForgetDays), "")
	}
	return nil
}

// forgetSoftly takes what was selected out of sight. What is out of sight already stays as it is.
func (m *Memory) forgetSoftly(ctx context.Context, sc store.Scope, items []store.Item, r *ForgetRequest, res ForgetResult) (ForgetResult, error) {
	items = store.Remembered(items)
	res.Forgotten, res.Until = len(items), r.Until
	if len(items) == 0 {
		return res, nil
	}
	derived, err := m.alsoForgotten(ctx, sc, items)
	if err != nil {
		return ForgetResult{}, fmt.Errorf("forget: %w", err)
	}
	items, res.Derived = append(items, derived...), len(derived)
	a := aside{m: m, sc: sc, at: m.now(), dry: r.DryRun}
	if !r.DryRun {
		res.ID = forgetBatch + newID()
	}
	_, sections, err := a.change(ctx, items, func(it *store.Item) bool { return a.hide(it, res.ID, r.Until) })
	if res.Sections = sections; err != nil {
		return res, fmt.Errorf("forget: %w", err)
	}
	return res, nil
}

// alsoForgotten lists what was distilled from nothing but the items and what is softly forgotten already, and what was merged
// into any of these.
func (m *Memory) alsoForgotten(ctx context.Context, sc store.Scope, items []store.Item) ([]store.Item, error) {
	gone := make(map[string]bool, len(items))
	items = slices.Clone(items)
	for i := range items {
		gone[items[i].ID] = true
		if items[i].Kind == "" { // its place alone was read
			items[i].Kind = store.Episodic
		}
	}
	resting, err := m.resting(ctx, sc, items)
	if err != nil {
		return nil, err
	}
	resting = store.Remembered(resting)
	derived := slices.DeleteFunc(slices.Clone(resting), func(it store.Item) bool {
		return gone[it.ID] || it.IsSummary() || // see aside.summaries
			!slices.ContainsFunc(it.Provenance.Turns, func(id string) bool { return gone[id] })
	})
	var turns []string
	for i := range derived {
		turns = append(turns, derived[i].Provenance.Turns...)
	}
	already, err := m.forgottenOf(ctx, sc, turns)
	if err != nil {
		return nil, err
	}
	derived = slices.DeleteFunc(derived, func(it store.Item) bool {
		return slices.ContainsFunc(it.Provenance.Turns, func(id string) bool { return !gone[id] && !already[id] })
	})
	for i := range derived {
		gone[derived[i].ID] = true
	}
	after := lineageOf(resting)
	for more := true; more; { // what was merged may have taken others in before
		more = false
		for i := range resting {
			if it := &resting[i]; !gone[it.ID] && after.goesInto(gone, it) {
				gone[it.ID], more = true, true
				derived = append(derived, *it)
			}
		}
	}
	return derived, nil
}

// forgottenOf tells which of the items named are softly forgotten.
func (m *Memory) forgottenOf(ctx context.Context, sc store.Scope, ids []string) (map[string]bool, error) {
	forgotten := map[string]bool{}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	for part := range slices.Chunk(slices.Compact(ids), maxIDs) {
		page, err := m.store.List(ctx, sc, store.ListQuery{
			Filter: store.Filter{IDs: part}, View: store.View{Forgotten: true}, Order: store.ByID, Limit: len(part),
		})
		if err != nil {
			return nil, fmt.Errorf("read what is forgotten: %w", err)
		}
		for i := range page.Items {
			forgotten[page.Items[i].ID] = true
		}
	}
	return forgotten, nil
}

// Forgotten lists what is softly forgotten in a memory and not yet gone, by id: Item.Aside tells since when, until when it
// can be restored, and by what call or operation it went. Of the request only whose, the filter and the page count.
func (m *Memory) Forgotten(ctx context.Context, r ListRequest) (store.Page, error) {
	sc, err := m.memory(r.Who)
	if err != nil {
		return store.Page{}, err
	}
	if r.Limit < 0 || r.Limit > 1000 {
		return store.Page{}, store.Invalid("limit", "from 1 to 1000", fmt.Sprint(r.Limit))
	}
	if err := r.Filter.Validate(); err != nil {
		return store.Page{}, err
	}
	page, err := m.store.List(ctx, sc, store.ListQuery{
		Filter: narrow(r.Filter, r.Thread), View: store.View{Forgotten: true}, Order: store.ByID, Limit: r.Limit, Cursor: r.Cursor,
	})
	if err != nil {
		return store.Page{}, fmt.Errorf("list: %w", err)
	}
	return page, nil
}

// withoutForgotten leaves out, in place, what waits for review and claims to rest on a turn that is softly forgotten.
func (m *Memory) withoutForgotten(ctx context.Context, entries []store.Quarantined) ([]store.Quarantined, error) {
	turns := map[store.Scope][]string{}
	for i := range entries {
		turns[entries[i].Scope] = append(turns[entries[i].Scope], entries[i].Turn)
	}
	type turn struct {
		sc store.Scope
		id string
	}
	gone := map[turn]bool{}
	for sc, ids := range turns {
		forgotten, err := m.forgottenOf(ctx, sc, ids)
		if err != nil {
			return nil, err
		}
		for id := range forgotten {
			gone[turn{sc, id}] = true
		}
	}
	return slices.DeleteFunc(entries, func(q store.Quarantined) bool { return gone[turn{q.Scope, q.Turn}] }), nil
}

// forgottenFacts adds to gone the facts that were distilled from the same turn before and are softly forgotten.
func (e *engine) forgottenFacts(ctx context.Context, sc store.Scope, facts []store.Item, gone []bool) ([]bool, error) {
	at := map[string][]int{}
	for i := range facts {
		key := store.ContentKey(facts[i].Kind, facts[i].Content)
		at[key] = append(at[key], i)
	}
	if len(at) == 0 {
		return gone, nil
	}
	q := store.ListQuery{Filter: store.Filter{ContentKeys: slices.Collect(maps.Keys(at))}, View: store.View{Forgotten: true}, Order: store.ByID, Limit: 1000}
	page, err := e.store.List(ctx, sc, q) // more of these few words there are not
	if err != nil {
		return nil, fmt.Errorf("look for forgotten facts: %w", err)
	}
	for i := range page.Items {
		it := &page.Items[i]
		for _, n := range at[it.ContentKey] {
			gone[n] = gone[n] || slices.Contains(it.Provenance.Turns, facts[n].Provenance.Turns[0])
		}
	}
	return gone, nil
}
