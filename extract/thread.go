package extract

import (
	"context"
	"fmt"
	"time"

	"evoke/extract/message"
	"evoke/store"
)

// thread reads where a thread stands. One that was imported has turns and no state yet: it goes on behind them, and they
// are not extracted.
func (g *Ingester) thread(ctx context.Context, sc store.Scope, thread string) (store.ThreadState, error) {
	st, err := g.ledger.Thread(ctx, sc, thread)
	if err != nil {
		return st, fmt.Errorf("read thread: %w", err)
	}
	if st.Next > 0 {
		return st, nil
	}
	q := store.ListQuery{
		Filter: store.Filter{Kinds: []store.Kind{store.Episodic}, Threads: []string{thread}},
		View:   store.View{All: true}, Order: store.Newest, Limit: 100,
	}
	for {
		page, err := g.store.List(ctx, sc, q)
		if err != nil {
			return st, fmt.Errorf("look for imported turns: %w", err)
		}
		for i := range page.Items {
			st.Next = max(st.Next, page.Items[i].Turn.Position+1)
		}
		if page.Next == "" {
			st.Cursor = st.Next
			return st, nil
		}
		q.Cursor = page.Next
	}
}

// unstored leaves out turns whose id is stored, or came earlier in the call, with the same text.
func (g *Ingester) unstored(ctx context.Context, sc store.Scope, thread string, turns []Turn) (fresh []Turn, dropped []Dropped, err error) {
	var ids []string
	for _, t := range turns {
		if t.Message.ID != "" {
			ids = append(ids, t.Message.ID)
		}
	}
	if len(ids) == 0 {
		return turns, nil, nil
	}
	items, err := g.store.Get(ctx, sc, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("look up message ids: %w", err)
	}
	stored := make(map[string]*store.Item, len(items))
	for i := range items {
		stored[items[i].ID] = &items[i]
	}
	seen := make(map[string]*Turn, len(ids))
	for i := range turns {
		t := &turns[i]
		id := t.Message.ID
		old, was := stored[id]
		before, twice := seen[id]
		switch {
		case id == "":
			fresh = append(fresh, *t)
		case was && (old.Content != t.Content || old.Turn.Thread != thread || old.Turn.Role != string(t.Message.Role)):
			return nil, nil, fmt.Errorf("%w: messages[%d].id is stored with another text or in another thread", store.ErrConflict, t.Index)
		case was:
			dropped = append(dropped, Dropped{Index: t.Index, Reason: DropStored})
		case twice && (before.Content != t.Content || before.Message.Role != t.Message.Role):
			return nil, nil, fmt.Errorf("%w: messages[%d].id is that of messages[%d], with another text", store.ErrConflict, t.Index, before.Index)
		case twice:
			dropped = append(dropped, Dropped{Index: t.Index, Reason: DropRepeated})
		default:
			seen[id] = t
			fresh = append(fresh, *t)
		}
	}
	return fresh, dropped, nil
}

// lacks says what the turns of the thread that were not extracted yet, the new ones included, lack for an extraction, or
// "": one of a user that says something, and one of an assistant.
func (g *Ingester) lacks(ctx context.Context, sc store.Scope, st store.ThreadState, turns []Turn, now time.Time) (string, error) {
	var has, says [2]bool
	roles := [2]message.Role{message.User, message.Assistant}
	for _, t := range turns {
		for i, r := range roles {
			has[i] = has[i] || t.Message.Role == r
			says[i] = says[i] || t.Message.Role == r && !saysNothing(t.Content)
		}
	}
	says[1] = has[1] // a nod is an answer
	for i := range roles {
		if says[i] || st.Next == st.Cursor {
			continue
		}
		some, something, err := g.waits(ctx, sc, st, string(roles[i]), now)
		if err != nil {
			return "", err
		}
		has[i] = has[i] || some
		says[i] = something || i == 1 && some
	}
	switch {
	case !has[0] || !has[1]:
		return notePair, nil
	case !says[0]:
		return noteEmpty, nil
	}
	return "", nil
}

// waits reports whether the thread holds a turn of a role that was not extracted yet, and whether one that says something.
// Such turns are the newest; when that cannot be told from their times (many at one moment, or a clock set back) it says
// yes: the worker looks closely.
func (g *Ingester) waits(ctx context.Context, sc store.Scope, st store.ThreadState, role string, now time.Time) (some, something bool, err error) {
	page, err := g.store.List(ctx, sc, store.ListQuery{
		Filter: store.Filter{Kinds: []store.Kind{store.Episodic}, Threads: []string{st.Thread}, Roles: []string{role}},
		View:   store.Current(now), Order: store.Newest, Limit: 16,
	})
	if err != nil {
		return false, false, fmt.Errorf("look for waiting turns: %w", err)
	}
	waiting := 0
	for i := range page.Items {
		if it := &page.Items[i]; it.Turn.Position >= st.Cursor {
			waiting++
			something = something || !saysNothing(it.Content)
		}
	}
	switch {
	case something || page.Next == "":
		return waiting > 0, something, nil
	case waiting == len(page.Items):
		return true, true, nil
	}
	first, last := page.Items[0].RecordedAt, page.Items[len(page.Items)-1].RecordedAt
	unsure := first.After(now) || first.Equal(last)
	return waiting > 0 || unsure, unsure, nil
}
