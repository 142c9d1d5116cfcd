package extract

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"evoke/store"
)

// Conversations are not extracted in the order in which they were held: one goes quiet later than another, one is imported
// afterwards, one is extracted again. So what decides which value of an exclusive subject holds now is when it was said
// last, not when it arrived: what was said before the holder takes its place in the chain of versions behind it. What was
// said at the same time counts in the order of arrival.

// saidOf is when a statement was last made. Items of a time before that was kept tell it by their beginning.
func saidOf(it *store.Item) time.Time {
	if it.Provenance.Said.IsZero() {
		return it.ValidFrom
	}
	return it.Provenance.Said
}

// saidNow is the moment of a turn, which a client may have set: never after now, where it would hold off all that is said
// until then.
func saidNow(at, now time.Time) time.Time {
	if at.IsZero() || at.After(now) {
		return now
	}
	return at
}

// longestMaxWait is the most that MaxWait may be: so long what was said waits to be extracted while the conversation goes on.
const longestMaxWait = time.Hour

// outdates reports whether the operation at hand was said before an item, which may be nil. What was said later than now was
// said by a clock that went back since: what is said now comes after it, and what was said long ago does not.
func (r *reconciler) outdates(it *store.Item) bool {
	if it == nil {
		return false
	}
	said := saidOf(it)
	if said.After(r.now) {
		said = r.now.Add(-longestMaxWait)
	}
	return r.said.Before(said)
}

// counts returns the closed version for which an operation's turn counts already: the turn was extracted again.
func (r *reconciler) counts(op *Operation) *store.Item {
	var gone *store.Item
	for _, it := range r.past {
		if slices.Contains(it.Provenance.Turns, op.Turn) {
			f, g := op.form(), NewForm(StatementOf(it))
			if f.Same(&g) == Different {
				continue
			}
			if it.RetractedAt.IsZero() {
				return it
			}
			gone = it
		}
	}
	return gone
}

// again takes account of a statement that stands already. One that stood without its subject gets it, and then no other
// value of that subject stands beside it.
func (r *reconciler) again(same, holder *store.Item, op Operation) *store.Item {
	if op.Exclusive && op.Subject != "" && same.Provenance.Subject == "" && speakerOf(same.Turn.Speaker) == speakerOf(op.Speaker) {
		switch {
		case holder == nil:
			same.Provenance.Subject = op.Subject
			r.index(same)
		case r.outdates(holder):
			r.close(same, holder.ValidFrom)
			same.SupersededBy = holder.ID
			if holder.Supersedes == "" {
				holder.Supersedes = same.ID
				r.touch(holder)
			}
		default:
			return r.add(op, holder, same)
		}
	}
	return r.confirm(same, op)
}

// backfill puts what was said before a holder into the chain of versions behind it. What stands there already is
// confirmed.
func (r *reconciler) backfill(next *store.Item, op Operation) *store.Item {
	f := op.form()
	var prev *store.Item // the version before, which was said before, too
	end := next.ValidFrom
	for range mostVersions {
		old := r.past[next.Supersedes]
		if old == nil {
			break
		}
		g := NewForm(StatementOf(old))
		if f.Same(&g) != Different {
			return r.confirm(old, op)
		}
		if !r.outdates(old) {
			prev = old
			break
		}
		if old.RetractedAt.IsZero() && old.ValidFrom.Before(end) {
			end = old.ValidFrom
		}
		next = old
	}
	it := r.item(op)
	if it == nil {
		return nil
	}
	it.ClosedAt, it.Supersedes, it.SupersededBy = r.now, next.Supersedes, next.ID
	if it.ValidTo.IsZero() || it.ValidTo.After(end) {
		it.ValidTo = end
	}
	if it.ValidTo.Before(it.ValidFrom) {
		it.ValidTo = it.ValidFrom
	}
	next.Supersedes = it.ID
	r.touch(next)
	if prev != nil {
		prev.SupersededBy = it.ID
		r.touch(prev)
	}
	r.shorten(it)
	r.past[it.ID] = it
	r.fresh[it.ID], r.counted[it.ID] = true, true
	r.touch(it)
	return it
}

// shorten ends the versions behind one where it begins.
func (r *reconciler) shorten(it *store.Item) {
	next := it
	for range mostVersions {
		old := r.past[next.Supersedes]
		if old == nil {
			return
		}
		if old.RetractedAt.IsZero() && old.ValidTo.After(it.ValidFrom) && old.ValidTo.After(old.ValidFrom) {
			old = r.redate(old, it.ValidFrom, next)
		}
		next = old
	}
}

// redate gives a version that has ended an earlier end, but none before it began, in a version of its own in front of the
// one after it: what was known before stays as it was. Where nobody knew of an end yet, it is set in place.
func (r *reconciler) redate(old *store.Item, end time.Time, next *store.Item) *store.Item {
	end = store.Later(end, old.ValidFrom)
	if !old.ClosedAt.Before(r.now) {
		old.ValidTo = end
		r.touch(old)
		return old
	}
	again := *old
	again.ID = uuid.NewSHA1(uuid.NameSpaceOID, []byte(old.ID+"\x00"+end.String())).String()
	again.RecordedAt, again.ClosedAt, again.ValidTo = r.now, r.now, end
	again.Supersedes, again.SupersededBy = old.ID, old.SupersededBy
	old.RetractedAt, old.SupersededBy, next.Supersedes = r.now, again.ID, again.ID
	r.past[again.ID] = &again
	r.redated[again.ID] = true
	r.touch(next)
	r.touch(old)
	r.touch(&again)
	return &again
}

// mostVersions bounds the chain of versions that is read behind a holder.
const mostVersions = 512

// versions reads the closed versions behind the current ones that operations speak of and that were said no earlier, or hold
// from later on: what backfill and shorten need. said tells when an operation was said and from tells from when on what it
// says holds; read returns an item or nil.
func versions(current []store.Item, ops []Operation, said, from func(*Operation) time.Time, read func(id string) (*store.Item, error)) ([]store.Item, error) {
	holders, byID := map[subjectKey]*store.Item{}, map[string]*store.Item{}
	for i := range current {
		it := &current[i]
		byID[it.ID] = it
		if s := it.Provenance.Subject; s != "" && !it.Closed() {
			holders[subjectOf(s, it.Turn.Speaker)] = it
		}
	}
	var out []store.Item
	latest, begins := map[string]time.Time{}, map[string]time.Time{} // when a current version was said last and from when on it holds, the operations so far included
	for i := range ops {
		op := &ops[i]
		for _, it := range [...]*store.Item{byID[op.Target], holders[subjectOf(op.subject(), op.Speaker)]} {
			if it == nil {
				continue
			}
			if latest[it.ID].IsZero() {
				latest[it.ID], begins[it.ID] = saidOf(it), it.ValidFrom
			}
			at, since := said(op), from(op)
			before := since.Before(begins[it.ID])
			if begins[it.ID] = store.Later(begins[it.ID], since); at.After(latest[it.ID]) {
				if latest[it.ID] = at; !before {
					continue
				}
			}
			for n := 0; it.Supersedes != "" && byID[it.Supersedes] == nil && n < mostVersions; n++ {
				old, err := read(it.Supersedes)
				if err != nil {
					return nil, err
				}
				if old == nil {
					break
				}
				byID[old.ID] = old
				out = append(out, *old)
				it = old
			}
		}
	}
	return out, nil
}
