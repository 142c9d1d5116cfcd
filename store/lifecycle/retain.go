package lifecycle

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"evoke/store"
)

// Retention says what a memory keeps no longer. The zero value keeps everything but what has an end of its own
// (store.Item.ExpiresAt). Ages are counted from when an item was recorded. Sections of a profile are none of its business:
// they follow their sources.
type Retention struct {
	// MaxItems bounds a memory's current items: beyond it those least worth keeping go (store.Item.Worth). 0: no bound.
	MaxItems int `json:"max_items,omitempty"`
	// TTLDays is the age beyond which current items go whose importance is below 0.3, unless they are protected. 0: none.
	TTLDays int `json:"ttl_days,omitempty"`
	// Kinds and Categories are ages in days beyond which items of a kind or a category go, whatever their importance,
	// closed and retracted versions, too. A category's age takes the place of its kind's. What the user corrected goes by the
	// age of its category alone.
	Kinds      map[store.Kind]int     `json:"kinds,omitempty"`
	Categories map[store.Category]int `json:"categories,omitempty"`
	// HistoryDays is how long versions are kept that were closed or retracted. 0: for good.
	HistoryDays int `json:"history_days,omitempty"`
	// Hard removes for good; by default what goes can be restored for Options.ForgetDays.
	Hard bool `json:"hard,omitempty"`
}

const (
	maxRetentionDays  = 36500
	maxRetentionItems = 100_000_000
	// lowImportance is below what TTLDays counts: the rule of the memories that forget by age and importance.
	lowImportance = 0.3
)

// Validate names the field that is out of its range.
func (r *Retention) Validate() error {
	if r == nil {
		return nil
	}
	type field struct {
		name   string
		n, max int
	}
	fields := []field{{"retention.max_items", r.MaxItems, maxRetentionItems}, {"retention.ttl_days", r.TTLDays, maxRetentionDays},
		{"retention.history_days", r.HistoryDays, maxRetentionDays}}
	for k, days := range r.Kinds {
		if err := k.Validate(); err != nil {
			return fmt.Errorf("retention.kinds: %w", err)
		}
		fields = append(fields, field{"retention.kinds." + string(k), days, maxRetentionDays})
	}
	for c, days := range r.Categories {
		if err := c.Validate(); err != nil || c == "" {
			return store.Invalid("retention.categories", "preference, knowledge, context, behavior, goal or correction", "")
		}
		fields = append(fields, field{"retention.categories." + string(c), days, maxRetentionDays})
	}
	slices.SortFunc(fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	for _, f := range fields {
		if f.n < 0 || f.n > f.max {
			return store.Invalid(f.name, fmt.Sprintf("from 1 to %d, or 0 for none", f.max), fmt.Sprint(f.n))
		}
	}
	return nil
}

// Reason is why retention takes an item.
type Reason string

// The reasons. Of several the first counts.
const (
	Expired     Reason = "expired"      // its own end has come
	TooOld      Reason = "ttl"          // older than its kind or category is kept
	OldVersion  Reason = "history"      // closed or retracted so long ago
	Unimportant Reason = "old"          // older than TTLDays, and of little importance
	OverCount   Reason = "max_items"    // of too many items one of those least worth keeping
	WithSummary Reason = "with_summary" // the summary that stands in its place goes
)

// Removal is an item that retention takes.
type Removal struct {
	ID       string         `json:"id"`
	Reason   Reason         `json:"reason"`
	Worth    float64        `json:"worth"` // see store.Item.Worth
	Kind     store.Kind     `json:"kind"`
	Category store.Category `json:"category,omitempty"`
	Days     int            `json:"days"` // its age

	with string // the summary in the item's place; in a plan the outermost that goes, or the item itself
}

// Plan is what retention takes of one memory.
type Plan struct {
	Removals []Removal // a summary and what it stands for next to each other (see Parts); else by id
	Held     int       // items that would go were they not held
	Items    int       // current ones that were counted
}

// Parts cuts the removals into parts of at most n items, or of what goes with one summary, however many: a summary goes out of
// sight with the first of its sources, and lets those of another part be seen again.
func (p *Plan) Parts(n int) (parts [][]Removal) {
	from, end := 0, 0
	for end < len(p.Removals) {
		next := end + 1
		for next < len(p.Removals) && p.Removals[next].with == p.Removals[end].with {
			next++
		}
		if next-from > n && end > from {
			parts, from = append(parts, p.Removals[from:end]), end
		}
		end = next
	}
	if from < end {
		parts = append(parts, p.Removals[from:end])
	}
	return parts
}

// age of an item in whole days; one recorded in the future is of none.
func age(it *store.Item, now time.Time) int {
	return int(max(0, now.Sub(it.RecordedAt)) / (24 * time.Hour))
}

func older(since, now time.Time, days int) bool {
	return days > 0 && !since.IsZero() && now.Sub(since) > time.Duration(days)*24*time.Hour
}

// Reason tells why retention takes an item by itself, "" when it does not.
func (r *Retention) Reason(it *store.Item, now time.Time) Reason {
	if it.IsProfile() || it.Aside.Forgotten() {
		return ""
	}
	ended := it.RetractedAt
	if ended.IsZero() && !it.ValidTo.IsZero() && !it.ValidTo.After(now) {
		if ended = it.ClosedAt; ended.Before(it.ValidTo) {
			ended = it.ValidTo
		}
	}
	switch {
	case !it.ExpiresAt.IsZero() && !it.ExpiresAt.After(now):
		return Expired
	case older(it.RecordedAt, now, r.ttl(it)):
		return TooOld
	case !ended.IsZero():
		if older(ended, now, r.HistoryDays) {
			return OldVersion
		}
	case it.Importance < lowImportance && !it.Protected() && older(it.RecordedAt, now, r.TTLDays):
		return Unimportant
	}
	return ""
}

// ttl is the number of days that an item is kept, 0 for no bound.
func (r *Retention) ttl(it *store.Item) int {
	if days, ok := r.Categories[it.Category]; ok {
		return days
	}
	if it.Category == store.Correction || it.Provenance.Corrections > 0 {
		return 0
	}
	return r.Kinds[it.Kind]
}

// planPage is how many items a plan reads at once.
const planPage = 500

// kept is what a plan remembers of a current item.
type kept struct {
	Removal
	recorded  int64
	protected bool
	held      bool
}

// Plan tells what retention takes of a memory as it stands. It is the same for the same memory and moment, and holds a few
// words an item. held, which may be nil, tells what a legal hold covers: it stays, but counts.
func (r *Retention) Plan(ctx context.Context, s store.Reader, sc store.Scope, now time.Time, held func(*store.Item) bool) (Plan, error) {
	var p Plan
	var current []kept
	sources := map[string][]Removal{} // of the summaries
	view := store.Current(now)
	q := store.ListQuery{View: store.View{All: true, Kept: true}, Order: store.ByID, Limit: planPage}
	for it, err := range store.Items(ctx, s, sc, q) {
		if err != nil {
			return Plan{}, fmt.Errorf("read items: %w", err)
		}
		isHeld := held != nil && held(it)
		x := Removal{ID: it.ID, Reason: r.Reason(it, now), Worth: round(it.Worth(now)), Kind: it.Kind, Category: it.Category, Days: age(it, now), with: it.Aside.Summary}
		switch {
		case x.Reason != "" && isHeld:
			p.Held++
		case x.Reason != "":
			p.Removals = append(p.Removals, x)
			continue
		}
		switch {
		case it.Aside.Summary != "" && !isHeld:
			sources[it.Aside.Summary] = append(sources[it.Aside.Summary], x)
		case view.Sees(it):
			current = append(current, kept{x, it.RecordedAt.UnixMicro(), it.Protected(), isHeld})
		}
	}
	p.Items = len(current)
	p.Removals = append(p.Removals, r.beyond(current, &p)...)
	for i := 0; i < len(p.Removals); i++ { // those that are added, too: a summary may be of summaries
		id := p.Removals[i].ID
		for _, x := range sources[id] {
			x.Reason = WithSummary
			p.Removals = append(p.Removals, x)
		}
		delete(sources, id)
	}
	p.group()
	return p, nil
}

// mostNested is how deep summaries of summaries go: what is imported may stand in a ring.
const mostNested = 100

// group puts what goes with one summary next to it. A summary may be of summaries.
func (p *Plan) group() {
	at := make(map[string]int, len(p.Removals))
	for i := range p.Removals {
		at[p.Removals[i].ID] = i
	}
	for i := range p.Removals {
		last := i
		for range mostNested {
			next, ok := at[p.Removals[last].with]
			if !ok || next == last {
				break
			}
			last = next
		}
		p.Removals[i].with = p.Removals[last].ID
	}
	slices.SortFunc(p.Removals, func(a, b Removal) int { return cmp.Or(cmp.Compare(a.with, b.with), cmp.Compare(a.ID, b.ID)) })
}

// beyond are the items that are too many: the protected last, else those of the least worth first, of equal ones the older,
// and of those as old the one with the smaller id.
func (r *Retention) beyond(current []kept, p *Plan) []Removal {
	excess := len(current) - r.MaxItems
	if r.MaxItems == 0 || excess <= 0 {
		return nil
	}
	slices.SortFunc(current, func(a, b kept) int {
		if a.protected != b.protected {
			if b.protected {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Worth, b.Worth), cmp.Compare(a.recorded, b.recorded), cmp.Compare(a.ID, b.ID))
	})
	out := make([]Removal, 0, excess)
	for i := range current {
		if len(out) == excess {
			break
		}
		if x := &current[i]; x.held {
			p.Held++
		} else {
			x.Reason = OverCount
			out = append(out, x.Removal)
		}
	}
	return out
}

// Still reports whether a removal that was planned is still due: the item is as little worth keeping as it was.
func (r *Retention) Still(x *Removal, it *store.Item, now time.Time) bool {
	switch x.Reason {
	case OverCount:
		return store.Current(now).Sees(it) && round(it.Worth(now)) <= x.Worth
	case WithSummary:
		return it.Aside.Summary != "" && !it.Aside.Forgotten()
	default:
		return r.Reason(it, now) != ""
	}
}

// round makes a worth a number that reads well, and equal ones equal on every machine.
func round(x float64) float64 { return math.Round(x*1e6) / 1e6 }
