package extract

import (
	"context"
	"slices"

	"evoke/store"
)

// mostHalvings bounds, for one run of a job, how often a part that failed for good is halved: what cannot be read at all
// must not be asked about event by event.
const mostHalvings = 16

// search looks for the event that makes a part fail, so that it does not bury the others of the same conversation.
type search struct {
	bad      int   // where, among the refs of the thread, the part ends that is known to fail; 0: none is
	limit    int   // where the part at hand is to end at the latest; 0: no matter
	halvings int   // done so far
	borders  []int // positions at which events begin; nil before they were read
}

// failed notes that a part failed for good and reports whether a smaller one is to be tried.
func (a *attempt) failed(ctx context.Context, p *part, refs []turnRef) bool {
	cut := a.halve(ctx, refs, p.fresh, p.end)
	a.search.bad, a.search.limit = p.end, cut
	if cut == 0 {
		a.search.bad = 0
	}
	return cut > 0
}

// passed notes that the thread is done up to a place: what fails is behind it.
func (a *attempt) passed(ctx context.Context, refs []turnRef, fresh int) {
	s := &a.search
	if s.bad <= fresh {
		s.bad, s.limit = 0, 0
		return
	}
	if s.limit = a.halve(ctx, refs, fresh, s.bad); s.limit == 0 {
		s.limit = s.bad
	}
}

// halve returns the border between events closest to the middle of a part, as a place among refs; 0: there is none.
func (a *attempt) halve(ctx context.Context, refs []turnRef, from, to int) int {
	if a.search.halvings == mostHalvings || to-from < 2 {
		return 0
	}
	if a.search.borders == nil {
		if err := a.readBorders(ctx); err != nil {
			a.opts.Logger.WarnContext(ctx, "a batch that failed is not halved", "error", reasonOf(err))
			return 0
		}
	}
	best, mid := 0, (from+to)/2
	for _, at := range a.search.borders {
		i, _ := slices.BinarySearchFunc(refs, at, func(r turnRef, at int) int { return r.position - at })
		if i > from && i < to && (best == 0 || distance(i, mid) < distance(best, mid)) {
			best = i
		}
	}
	if best > 0 {
		a.search.halvings++
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

func (a *attempt) readBorders(ctx context.Context) error {
	at := []int{}
	q := store.EventQuery{Scope: &a.job.Scope, Thread: a.job.Thread, State: store.EventPending, Limit: 1000}
	for {
		page, err := a.ledger.ListEvents(ctx, a.job.Scope.Tenant, q)
		if err != nil {
			return err
		}
		for i := range page.Events {
			at = append(at, page.Events[i].From)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			a.search.borders = at
			return nil
		}
	}
}
