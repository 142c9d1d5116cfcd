package evoke

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"evoke/store"
	"evoke/store/lifecycle"
)

// Swept counts what an operation of the kind "purge" or "retain" took.
type Swept struct {
	Memories int                      `json:"memories,omitempty"` // that a retention looked into
	Items    int                      `json:"items"`
	Reasons  map[lifecycle.Reason]int `json:"reasons,omitempty"` // items by why they went
	Held     int                      `json:"held,omitempty"`    // items that a legal hold keeps
	Until    time.Time                `json:"until,omitzero"`    // until then it can be restored, by the operation's id; zero: it is gone for good
	DryRun   bool                     `json:"dry_run,omitempty"` // nothing went
	// Removals are, of a dry run, the items that would go, the first 1000.
	Removals []lifecycle.Removal `json:"removals,omitempty"`
}

func (s *Swept) counts() map[string]int {
	c := map[string]int{"memories": s.Memories, "items": s.Items, "held": s.Held}
	for reason, n := range s.Reasons {
		c[string(reason)] = n
	}
	return c
}

// sweep is the checkpoint of a purge or a retention: what was counted, with what goes next, so that a step which a crash
// cut off is neither lost nor counted twice.
type sweep struct {
	Swept
	Scope store.Scope `json:"scope,omitzero"` // the memory that Next is of
	Next  []string    `json:"next,omitempty"`
	// Why are the reasons of Next, by which what a hold keeps after all is not counted as taken.
	Why  map[string]lifecycle.Reason `json:"why,omitempty"`
	Seen string                      `json:"seen,omitempty"` // key of the last memory that is done
}

// sweeper takes what is due, in bounded steps.
type sweeper struct {
	m    *Memory
	p    *lifecycle.Progress
	at   sweep
	now  time.Time
	hard bool
}

// sweepPart is how many items go in one write.
const sweepPart = 200

func (s *sweeper) resume(ctx context.Context) error {
	if _, err := s.p.Checkpoint(&s.at); err != nil {
		return err
	}
	if s.at.Reasons == nil {
		s.at.Reasons = map[lifecycle.Reason]int{}
	}
	if len(s.at.Next) == 0 {
		return nil
	}
	unlock, err := s.m.hold(ctx, s.at.Scope)
	if err != nil {
		return err
	}
	defer unlock()
	items, err := s.m.store.Get(ctx, s.at.Scope, s.at.Next)
	if err != nil || len(items) == 0 {
		return err
	}
	_, err = s.take(ctx, s.at.Scope, items) // what is kept is looked at again
	return err
}

// step takes some items of a memory, those of which due gives a reason. The memory is locked from the moment that they are
// read, so that nothing comes to rest on them meanwhile. It tells how many of them legal holds keep.
func (s *sweeper) step(ctx context.Context, sc store.Scope, ids []string, due func(*store.Item) lifecycle.Reason) (held int, err error) {
	unlock, err := s.m.hold(ctx, sc)
	if err != nil {
		return 0, err
	}
	defer unlock()
	items, err := s.m.store.Get(ctx, sc, ids)
	if err != nil {
		return 0, err
	}
	holds, err := s.m.holding(ctx, sc)
	if err != nil {
		return 0, err
	}
	covered, err := holds.of(ctx, items)
	if err != nil {
		return 0, err
	}
	next := s.at
	next.Scope, next.Next, next.Reasons = sc, nil, maps.Clone(s.at.Reasons)
	var going []store.Item
	for i := range items {
		switch {
		case due(&items[i]) == "":
		case covered[items[i].ID] != nil: // placed since the plan was made
			held++
		default:
			going = append(going, items[i])
		}
	}
	if s.hard {
		chosen := len(going)
		forgotten, rest := parted(going)
		if forgotten, err = s.m.spare(ctx, sc, forgotten, s.asForgotten()); err != nil {
			return 0, err
		}
		if rest, err = s.m.spare(ctx, sc, rest, removing{by: s.p.Operation().ID}); err != nil {
			return 0, err
		}
		going = append(forgotten, rest...)
		held += chosen - len(going)
	}
	next.Why = make(map[string]lifecycle.Reason, len(going))
	for i := range going {
		id, reason := going[i].ID, due(&going[i])
		next.Next, next.Why[id] = append(next.Next, id), reason
		next.Reasons[reason]++
	}
	next.Items += len(going)
	if len(going) == 0 {
		return held, nil
	}
	if err := s.p.Save(ctx, next, next.Items, 0); err != nil {
		return held, err
	}
	s.at = next
	late, err := s.take(ctx, sc, going)
	return held + late, err
}

// take removes items for good, or takes them out of sight, and tells how many a hold keeps that was placed since they were
// counted. The scope is locked.
func (s *sweeper) take(ctx context.Context, sc store.Scope, items []store.Item) (held int, err error) {
	if !s.hard {
		a := aside{m: s.m, sc: sc, at: s.now}
		by := s.p.Operation().ID
		_, _, err := a.change(ctx, items, func(it *store.Item) bool { return a.hide(it, by, s.at.Until) })
		return 0, err
	}
	forgotten, rest := parted(items)
	held, err = s.remove(ctx, sc, forgotten, s.asForgotten())
	if err != nil {
		return held, err
	}
	more, err := s.remove(ctx, sc, rest, removing{by: s.p.Operation().ID})
	return held + more, err
}

// parted are the items that somebody forgot, and the others. What somebody forgot goes as it would have gone at once, with
// what rests on it, and does not come back by replay. Retention lets facts outlive their turns, and what is said again be kept
// again.
func parted(items []store.Item) (forgotten, rest []store.Item) {
	for i := range items {
		if strings.HasPrefix(items[i].Aside.ForgottenBy, forgetBatch) {
			forgotten = append(forgotten, items[i])
		} else {
			rest = append(rest, items[i])
		}
	}
	return forgotten, rest
}

func (s *sweeper) asForgotten() removing {
	return removing{by: s.p.Operation().ID, facts: true, marks: true}
}

// remove removes items for good, but what a hold keeps that was placed since they were chosen, which does not count as taken.
func (s *sweeper) remove(ctx context.Context, sc store.Scope, items []store.Item, how removing) (held int, err error) {
	going, err := s.m.spare(ctx, sc, items, how)
	if err != nil {
		return 0, err
	}
	if held = len(items) - len(going); held > 0 {
		s.uncount(items, going)
	}
	if len(going) == 0 {
		return held, nil
	}
	plan, err := s.m.planRemoval(ctx, sc, going, how)
	if err != nil {
		return held, err
	}
	_, err = s.m.remove(ctx, plan)
	return held, err
}

// uncount takes back that items were counted as taken, but those that go.
func (s *sweeper) uncount(items, going []store.Item) {
	s.at.Items -= len(items) - len(going)
	for i := range items {
		reason, known := s.at.Why[items[i].ID]
		if !known || slices.ContainsFunc(going, func(it store.Item) bool { return it.ID == items[i].ID }) {
			continue
		}
		if s.at.Reasons[reason]--; s.at.Reasons[reason] == 0 {
			delete(s.at.Reasons, reason)
		}
	}
}

// done marks a memory as done, so that it is not counted again.
func (s *sweeper) done(ctx context.Context, sc store.Scope, held int) error {
	next := s.at
	next.Held += held
	next.Next, next.Why, next.Scope, next.Seen = nil, nil, store.Scope{}, sc.Key()
	next.Memories++
	if err := s.p.Save(ctx, next, next.Items, 0); err != nil {
		return err
	}
	s.at = next
	return nil
}

// ended puts on record what a sweep did, unless it goes on at the next start.
func (s *sweeper) ended(ctx context.Context, verb string, w Who, err error) {
	if endedBy(ctx, s.p, err) {
		s.m.audit(ctx, deed(verb, w, err, s.at.counts(), s.p.Operation().ID))
	}
}

const purgeKind = "purge"

// purging are the arguments of a purge.
type purging struct {
	At time.Time `json:"at"`
}

// Purge starts an operation of the kind "purge": what was softly forgotten and is past its time, and what expired as long
// ago as soft forgetting lasts, goes for good, unless a legal hold keeps it. It runs every day of itself once a tenant has
// something that can come due; see Schedules.
func (m *Memory) Purge(ctx context.Context) (store.Operation, error) {
	op, err := m.submit(ctx, purgeKind, purging{At: m.now()})
	m.audit(ctx, deed("start purge", Who{}, err, nil, op.ID))
	return op, err
}

func (m *Memory) purgeWork(ctx context.Context, p *lifecycle.Progress) (_ any, err error) {
	var args purging
	if err := p.Args(&args); err != nil {
		return nil, err
	}
	s := sweeper{m: m, p: p, now: args.At, hard: true}
	defer func() { s.ended(ctx, purgeKind, Who{}, err) }()
	if err := s.resume(ctx); err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	s.at.Held = 0 // it looks at all memories again
	grace := args.At.AddDate(0, 0, -m.forgetDays)
	expired := store.ListQuery{Filter: store.Filter{Expires: store.TimeRange{To: grace.Add(time.Microsecond)}}, View: store.View{All: true, Kept: true}}
	for _, q := range []store.ListQuery{{View: store.View{Forgotten: true}}, expired} {
		err := m.eachMemory(ctx, func(sc store.Scope) error { return s.purgeMemory(ctx, sc, q, grace) })
		if err != nil {
			return nil, fmt.Errorf("purge: %w", err)
		}
	}
	return s.at.Swept, nil
}

// purgeMemory removes what is due of what a query lists, a page at a time.
func (s *sweeper) purgeMemory(ctx context.Context, sc store.Scope, q store.ListQuery, grace time.Time) error {
	due := func(it *store.Item) lifecycle.Reason {
		if past(it, s.now) || !it.Aside.Forgotten() && !it.ExpiresAt.IsZero() && !it.ExpiresAt.After(grace) {
			return lifecycle.Expired
		}
		return ""
	}
	q.Order, q.Limit = store.ByID, sweepPart
	for {
		page, err := s.m.store.List(ctx, sc, q)
		if err != nil {
			return err
		}
		var ids []string
		for i := range page.Items {
			if due(&page.Items[i]) != "" {
				ids = append(ids, page.Items[i].ID)
			}
		}
		if len(ids) > 0 {
			held, err := s.step(ctx, sc, ids, due)
			if err != nil {
				return err
			}
			s.at.Held += held
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}

// past reports whether what was softly forgotten is past its time.
func past(it *store.Item, now time.Time) bool {
	return it.Aside.Forgotten() && !it.Aside.PurgeAt.IsZero() && !it.Aside.PurgeAt.After(now)
}
