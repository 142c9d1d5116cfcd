package qdrantstore

import (
	"math"
	"time"
	"unicode/utf8"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/types/known/timestamppb"

	"evoke/store"
)

// within is the filter of every request: the scope, and what else must hold. No other place names the scope.
func within(sc store.Scope, conds ...*qdrant.Condition) *qdrant.Filter {
	return &qdrant.Filter{Must: append([]*qdrant.Condition{qdrant.NewMatchKeyword(fieldScope, sc.Key())}, conds...)}
}

// never matches nothing.
func never() *qdrant.Condition { return qdrant.NewMatchKeywords(fieldScope) }

func not(cs ...*qdrant.Condition) *qdrant.Condition {
	return qdrant.NewFilterAsCondition(&qdrant.Filter{MustNot: cs})
}

func anyOf(cs ...*qdrant.Condition) *qdrant.Condition {
	return qdrant.NewFilterAsCondition(&qdrant.Filter{Should: cs})
}

// current selects the items that statistics count.
func current() *qdrant.Condition { return qdrant.NewMatchBool(fieldCurrent, true) }

// selection is filter and view together.
func selection(sc store.Scope, f *store.Filter, v store.View) []*qdrant.Condition {
	return append(viewConditions(v), filterConditions(sc, f)...)
}

// viewConditions are store.View.Sees. Stored times are whole microseconds, so comparing them with the floor of a moment is
// exact; a time that is not set has no field, and no range holds it.
func viewConditions(v store.View) []*qdrant.Condition {
	kept := qdrant.NewIsEmpty(fieldForgotten)
	switch {
	case v.Forgotten:
		return []*qdrant.Condition{not(kept)}
	case v.All && v.Kept:
		return []*qdrant.Condition{kept}
	case v.All:
		return nil
	}
	cs := append([]*qdrant.Condition{ownTasks(v.Threads), kept}, asideConditions(v)...)
	if !v.Profile {
		cs = append(cs, not(qdrant.NewMatchKeywords(fieldContentKey, store.ProfileKeys()...)))
	}
	at := v.ValidAt
	if at.IsZero() {
		at = v.Now
	} else {
		cs = append(cs, not(after(fieldValidFrom, at)))
	}
	ended := upTo(fieldValidTo, at)
	if v.KnownAt.IsZero() {
		if v.ValidAt.IsZero() {
			ended = anyOf(ended, after(fieldOver, v.Now))
		}
		return append(cs, qdrant.NewIsEmpty(fieldRetracted), not(ended))
	}
	return append(cs, not(after(fieldRecordedAt, v.KnownAt)), not(upTo(fieldRetracted, v.KnownAt)),
		anyOf(not(ended), after(fieldClosedAt, v.KnownAt)))
}

// asideConditions leave out what is kept no longer and what a summary stands for.
func asideConditions(v store.View) []*qdrant.Condition {
	if v.KnownAt.IsZero() {
		cs := []*qdrant.Condition{not(upTo(fieldExpires, v.Now))}
		if !v.Sources {
			cs = append(cs, qdrant.NewIsEmpty(fieldSummarized))
		}
		return cs
	}
	cs := []*qdrant.Condition{not(upTo(fieldExpires, v.KnownAt))}
	if !v.Sources {
		cs = append(cs, not(upTo(fieldSummarized, v.KnownAt)))
	}
	return cs
}

// ownTasks leaves out what holds for one task only, but for the tasks of the named threads.
func ownTasks(threads []string) *qdrant.Condition {
	other := not(qdrant.NewMatchBool(fieldTask, true))
	if len(threads) == 0 {
		return other
	}
	return anyOf(append(oneOf(nil, fieldThread, threads), other)...)
}

func after(field string, t time.Time) *qdrant.Condition {
	return qdrant.NewDatetimeRange(field, &qdrant.DatetimeRange{Gt: stamp(t)})
}

func upTo(field string, t time.Time) *qdrant.Condition {
	return qdrant.NewDatetimeRange(field, &qdrant.DatetimeRange{Lte: stamp(t)})
}

// stamp is the microsecond that a moment lies in, brought into the years that stored times are in.
func stamp(t time.Time) *timestamppb.Timestamp {
	switch lowest := minTime.Add(-time.Microsecond); {
	case t.Before(lowest):
		t = lowest
	case t.After(maxTime):
		t = maxTime
	}
	return timestamppb.New(t.UTC().Truncate(time.Microsecond))
}

// ceiling is the first whole microsecond not before t.
func ceiling(t time.Time) time.Time {
	if c := t.Truncate(time.Microsecond); c.Before(t) {
		return c.Add(time.Microsecond)
	}
	return t
}

// filterConditions are store.Filter.Match.
func filterConditions(sc store.Scope, f *store.Filter) []*qdrant.Condition {
	if f.IsZero() {
		return nil
	}
	var cs []*qdrant.Condition
	if len(f.IDs) > 0 {
		cs = append(cs, qdrant.NewHasID(pointIDs(sc, f.IDs)...))
	}
	cs = oneOf(cs, fieldKind, f.Kinds)
	cs = oneOf(cs, fieldCategory, f.Categories)
	cs = oneOf(cs, fieldThread, f.Threads)
	cs = oneOf(cs, fieldSession, f.Sessions)
	cs = oneOf(cs, fieldRole, f.Roles)
	cs = oneOf(cs, fieldSpeaker, f.Speakers)
	cs = oneOf(cs, fieldContentKey, f.ContentKeys)
	if f.Distilled {
		cs = append(cs, qdrant.NewMatchBool(fieldDistilled, true))
	}
	cs = oneOf(cs, fieldSubject, f.Subjects)
	if p := f.Positions; !p.IsZero() {
		r := &qdrant.Range{Gte: qdrant.PtrOf(float64(p.From))}
		if p.To != 0 {
			r.Lt = qdrant.PtrOf(float64(p.To))
		}
		cs = append(cs, qdrant.NewRange(fieldPosition, r))
	}
	cs = timeRange(cs, fieldValidFrom, f.Valid)
	cs = timeRange(cs, fieldRecordedAt, f.Recorded)
	cs = timeRange(cs, fieldExpires, f.Expires)
	for i := range f.Metadata {
		cs = metadataTest(cs, &f.Metadata[i])
	}
	for i := range f.All {
		cs = append(cs, filterConditions(sc, &f.All[i])...)
	}
	for i := range f.None {
		if f.None[i].IsZero() {
			cs = append(cs, never())
			continue
		}
		cs = append(cs, not(allOf(filterConditions(sc, &f.None[i]))))
	}
	return alternatives(cs, sc, f.Any)
}

func alternatives(cs []*qdrant.Condition, sc store.Scope, fs []store.Filter) []*qdrant.Condition {
	if len(fs) == 0 {
		return cs
	}
	should := make([]*qdrant.Condition, len(fs))
	for i := range fs {
		if fs[i].IsZero() {
			return cs // one of them selects everything
		}
		should[i] = allOf(filterConditions(sc, &fs[i]))
	}
	return append(cs, anyOf(should...))
}

func allOf(cs []*qdrant.Condition) *qdrant.Condition {
	if len(cs) == 1 {
		return cs[0]
	}
	return qdrant.NewFilterAsCondition(&qdrant.Filter{Must: cs})
}

func oneOf[T ~string](cs []*qdrant.Condition, field string, list []T) []*qdrant.Condition {
	if len(list) == 0 {
		return cs
	}
	words := make([]string, 0, len(list))
	for _, w := range list {
		if utf8.ValidString(string(w)) { // no stored name is otherwise
			words = append(words, string(w))
		}
	}
	return append(cs, qdrant.NewMatchKeywords(field, words...))
}

func timeRange(cs []*qdrant.Condition, field string, r store.TimeRange) []*qdrant.Condition {
	if r.IsZero() {
		return cs
	}
	d := &qdrant.DatetimeRange{}
	if !r.From.IsZero() {
		if r.From.After(maxTime) {
			return append(cs, never())
		}
		d.Gte = stamp(ceiling(r.From))
	}
	if !r.To.IsZero() {
		if r.To.After(maxTime) {
			d.Lte = stamp(maxTime)
		} else {
			d.Lt = stamp(ceiling(r.To))
		}
	}
	return append(cs, qdrant.NewDatetimeRange(field, d))
}

// metadataTest is one condition: any of the values, and a number in the range.
func metadataTest(cs []*qdrant.Condition, c *store.Condition) []*qdrant.Condition {
	if len(c.In) > 0 {
		entries := make([]string, len(c.In))
		for i, v := range c.In {
			entries[i] = metaEntry(c.Key, v)
		}
		cs = append(cs, qdrant.NewMatchKeywords(fieldMeta, entries...))
	}
	if c.Min == nil && c.Max == nil {
		return cs
	}
	if isNaN(c.Min) || isNaN(c.Max) {
		return append(cs, never())
	}
	return append(cs, qdrant.NewNestedFilter(fieldNums, &qdrant.Filter{Must: []*qdrant.Condition{
		qdrant.NewMatchKeyword(fieldNumKey, metaKey(c.Key)), qdrant.NewRange(fieldNumValue, &qdrant.Range{Gte: c.Min, Lte: c.Max})}}))
}

func isNaN(f *float64) bool { return f != nil && math.IsNaN(*f) }
