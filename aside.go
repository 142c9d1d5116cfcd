package evoke

import (
	"context"
	"slices"
	"time"

	"evoke/extract"
	"evoke/store"
)

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
		if now[i].IsSummary() {
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
