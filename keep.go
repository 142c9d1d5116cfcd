package evoke

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"evoke/extract"
	"evoke/store"
	"evoke/store/lifecycle"
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
		return gone[it.ID] || it.Provenance.Origin == lifecycle.SummaryOrigin || // see aside.summaries
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
	for more := true; more; { // what was merged may have taken others in before
		more = false
		for i := range resting {
			if it := &resting[i]; !gone[it.ID] && gone[it.SupersededBy] && mergedAway(it) {
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

// aside moves items out of sight and back. The scope is locked.
type aside struct {
	m   *Memory
	sc  store.Scope
	at  time.Time
	dry bool // write nothing
}

// hide marks an item as softly forgotten, by a call or an operation; false when it is already.
func (a *aside) hide(it *store.Item, by string, until time.Time) bool {
	if it.Aside.Forgotten() {
		return false
	}
	it.Aside.ForgetAs(store.Aside{ForgottenAt: a.at, PurgeAt: until, ForgottenBy: by})
	return true
}

// show undoes hide.
func show(it *store.Item) bool {
	if !it.Aside.Forgotten() {
		return false
	}
	it.Aside.ForgetAs(store.Aside{})
	return true
}

// asidePart is how many items change in one write.
const asidePart = 200

// change applies f to the items named (their ids and places are enough), in bounded writes, each with what follows of it:
// the sections of the profile that rest on them, and new vectors for the turns right after, in whose context they stand.
// f tells whether it changed anything; change counts those, and the versions of sections that followed. An item whose state
// is what f makes already is left alone, so that a change cut off is completed by making it again.
func (a *aside) change(ctx context.Context, items []store.Item, f func(*store.Item) bool) (changed, sections int, err error) {
	followed := map[string]bool{}
	for part := range slices.Chunk(items, asidePart) {
		ids := make([]string, len(part))
		for i := range part {
			ids[i] = part[i].ID
		}
		have, err := a.m.store.Get(ctx, a.sc, ids)
		if err != nil {
			return changed, len(followed), err
		}
		var now, was []store.Item
		for i := range have {
			before := have[i]
			if f(&have[i]) {
				now, was = append(now, have[i]), append(was, before)
			}
		}
		if changed += len(now); len(now) == 0 {
			continue
		}
		if now, err = a.summaries(ctx, now, was, f); err != nil {
			return changed, len(followed), err
		}
		w := a.m.newWrite(a.sc)
		w.Put = now
		c, err := a.sections(ctx, now)
		if err != nil {
			return changed, len(followed), err
		}
		for i := range c.Put {
			followed[c.Put[i].ID] = true
		}
		w.Put = append(w.Put, c.Put...)
		if a.dry {
			continue
		}
		if w.Embed, err = a.after(ctx, now); err != nil {
			return changed, len(followed), err
		}
		if err := a.m.commit(ctx, w); err != nil {
			return changed, len(followed), err
		}
	}
	return changed, len(followed), nil
}

// summaries adds the summaries of what changes, whether they hold or not: they go out of sight with any of their sources, and
// come back when none of these is out of sight any more; until then they share the fate of one that is.
func (a *aside) summaries(ctx context.Context, now, was []store.Item, f func(*store.Item) bool) ([]store.Item, error) {
	all, err := a.m.summariesOf(ctx, a.sc, was)
	if err != nil {
		return nil, err
	}
	at, by := make(map[string]int, len(now)), make(map[string]bool, len(was))
	for i := range now {
		at[now[i].ID], by[was[i].Aside.ForgottenBy] = i, true
	}
	for i := range now {
		if now[i].Provenance.Origin == lifecycle.SummaryOrigin {
			all = append(all, was[i])
		}
	}
	for i := range all { // a summary comes before those that it is a source of
		s := all[i]
		if n, ok := at[s.ID]; ok && s.Aside == now[n].Aside {
			continue // it was seen to
		}
		if !s.Aside.Forgotten() {
			f(&s)
		} else if by[s.Aside.ForgottenBy] {
			mark, err := a.stillOut(ctx, &s, now, at)
			if err != nil {
				return nil, err
			}
			s.Aside.ForgetAs(mark)
		}
		if n, ok := at[s.ID]; ok {
			now[n] = s
		} else if s.Aside != all[i].Aside {
			at[s.ID] = len(now)
			now = append(now, s)
		}
	}
	return now, nil
}

// stillOut is why a summary stays out of sight: the mark of a source that does. It is zero when all are in sight.
func (a *aside) stillOut(ctx context.Context, s *store.Item, now []store.Item, at map[string]int) (store.Aside, error) {
	have, err := a.m.store.Get(ctx, a.sc, s.Provenance.Turns)
	if err != nil {
		return store.Aside{}, err
	}
	for i := range have {
		it := &have[i]
		if n, ok := at[it.ID]; ok {
			it = &now[n]
		}
		if it.Aside.Forgotten() {
			return it.Aside, nil
		}
	}
	return store.Aside{}, nil
}

// sections is what a change of items does to the profile: see extract.HideSources.
func (a *aside) sections(ctx context.Context, now []store.Item) (store.Change, error) {
	versions, err := a.m.profileItems(ctx, a.sc, store.View{All: true})
	if err != nil || len(versions) == 0 {
		return store.Change{}, err
	}
	touched := make(map[string]bool, len(now))
	for i := range now {
		touched[now[i].ID] = true
		for j := range versions {
			if versions[j].ID == now[i].ID {
				versions[j] = now[i]
			}
		}
	}
	var ids []string
	for i := range versions {
		if touched[versions[i].ID] || slices.ContainsFunc(versions[i].Provenance.Turns, func(id string) bool { return touched[id] }) {
			ids = append(ids, versions[i].Provenance.Turns...)
		}
	}
	forgotten, err := a.m.forgottenOf(ctx, a.sc, ids)
	if err != nil {
		return store.Change{}, err
	}
	for i := range now {
		delete(forgotten, now[i].ID)
		if now[i].Aside.Forgotten() {
			forgotten[now[i].ID] = true
		}
	}
	return extract.HideSources(versions, touched, forgotten, a.at), nil
}

// after lists the turns right after those that change, and the changed ones that come back: their context differs now.
func (a *aside) after(ctx context.Context, now []store.Item) ([]string, error) {
	ids, err := a.m.turnsAfter(ctx, a.sc, now, now)
	if err != nil {
		return nil, err
	}
	for i := range now {
		if now[i].Turn.IsTurn() && !now[i].Aside.Forgotten() {
			ids = append(ids, now[i].ID) // what stands before it may have changed meanwhile
		}
	}
	return ids, nil
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
