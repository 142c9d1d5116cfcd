package evoke

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"evoke/extract/contradict"
	"evoke/extract/rules"
	"evoke/scoring"
	"evoke/store"
	"evoke/store/lifecycle"
)

// consolidator is one run of an operation.
type consolidator struct {
	m      *Memory
	p      *lifecycle.Progress
	args   consolidating
	policy ConsolidationPolicy
	at     consolidatedUntil
	by     lifecycle.Summarizer
	failed int             // of the model, in a row
	taken  map[string]bool // what a dry run would merge away
}

// material is what of a memory may be summarised, and how much smaller summaries made it already.
type material struct {
	items       []store.Item
	base, saved int
}

// memory consolidates one memory. Groups are made and texts written while others may write to it; each summary becomes
// durable, in one write with the marks of its sources, only if these are as they were. What a run that was cut off wrote is
// counted by its marks.
func (c *consolidator) memory(ctx context.Context, sc store.Scope) (res Consolidated, err error) {
	res.Reasons = map[string]int{}
	if c.policy.Merge { // before what is there twice is summarised
		if err := c.merge(ctx, sc, &res); err != nil {
			return res, err
		}
	}
	mat, err := c.material(ctx, sc)
	if err != nil {
		return res, err
	}
	if c.args.DryRun {
		n := len(mat.items)
		mat.items = slices.DeleteFunc(mat.items, func(it store.Item) bool { return c.taken[it.ID] })
		mat.base -= n - len(mat.items)
	}
	var ready []summarised
	fewer := int(math.Ceil(c.policy.Share*float64(mat.base))) - mat.saved
	for _, g := range c.policy.Groups(mat.items, fewer) {
		if fewer <= 0 {
			break
		}
		s, err := c.summarise(ctx, sc, g, &res)
		if err != nil {
			return res, err
		}
		if s == nil {
			continue
		}
		fewer -= len(s.sources) - 1
		if c.args.DryRun {
			res.found(sc, s)
			continue
		}
		if ready = append(ready, *s); len(ready) == groupsInAWrite {
			if err := c.write(ctx, sc, ready); err != nil {
				return res, err
			}
			ready = ready[:0]
		}
	}
	if err := c.write(ctx, sc, ready); err != nil {
		return res, err
	}
	return res, c.count(ctx, sc, &res)
}

// summarised is a group with the item that is to stand for it.
type summarised struct {
	by      string
	words   int
	sources []store.Item
	item    store.Item
}

func (c *Consolidated) found(sc store.Scope, s *summarised) {
	g := FoundGroup{User: sc.User, Agent: sc.Agent, By: s.by, Date: s.item.Date(), Words: s.words, Kept: scoring.WordCount(s.item.Content)}
	for i := range s.sources {
		g.IDs = append(g.IDs, s.sources[i].ID)
	}
	c.Groups = first(append(c.Groups, g))
	c.Summaries++
	c.Items += len(s.sources)
}

// material lists what may be summarised: what was said and noted, not what extractors made of it, which the write path keeps
// in order; nothing that stands for itself (corrections, standing instructions, how to do things), is bound to a task or a
// term, came from a tool, or waits for extraction.
func (c *consolidator) material(ctx context.Context, sc store.Scope) (material, error) {
	var mat material
	threads := map[string]thread{}
	view := store.Current(c.m.now())
	view.Sources = true
	until := c.args.At.Add(-time.Duration(*c.policy.MinAgeHours) * time.Hour)
	q := store.ListQuery{View: view, Order: store.ByID, Limit: pageItems}
	for it, err := range store.Items(ctx, c.m.store, sc, q) {
		if err != nil {
			return mat, fmt.Errorf("read items: %w", err)
		}
		switch {
		case it.IsSummary():
			mat.saved--
			continue
		case it.Aside.Summary != "":
			mat.base, mat.saved = mat.base+1, mat.saved+1
			continue
		}
		mat.base++
		if len(mat.items) == maxConsolidated || !plainItem(it) || whenSaid(it).After(until) {
			continue
		}
		waits, err := c.waits(ctx, sc, it, threads)
		if err != nil {
			return mat, err
		}
		if !waits {
			mat.items = append(mat.items, *it)
		}
	}
	return mat, nil
}

func whenSaid(it *store.Item) time.Time {
	if it.ValidFrom.IsZero() {
		return it.RecordedAt
	}
	return it.ValidFrom
}

// plainItem reports whether a summary may stand for an item at all.
func plainItem(it *store.Item) bool {
	p := &it.Provenance
	switch {
	case it.Kind == store.Procedural, it.Category == store.Correction, it.Category == store.Behavior, it.IsProfile(),
		it.OfTask(), !it.ValidTo.IsZero(), !it.ExpiresAt.IsZero(), it.Turn.Role == "tool", p.Interim:
		return false
	case it.Kind == store.Semantic: // a value of a subject is replaced when it changes; within a summary it could not be
		return p.Extractor == "" && p.Subject == "" && rules.Subject(it.Content, "") == ""
	}
	return true
}

// waits reports whether a turn is still to be extracted from: it is beyond what its thread was extracted up to, and an event
// of that is open. Where every event ended, as those of a conversation in which no assistant spoke do, nothing is to come.
func (c *consolidator) waits(ctx context.Context, sc store.Scope, it *store.Item, threads map[string]thread) (bool, error) {
	if !it.Turn.IsTurn() {
		return false, nil
	}
	th, ok := threads[it.Turn.Session]
	if !ok {
		var err error
		if th.ThreadState, err = c.m.ledger.Thread(ctx, sc, it.Turn.Session); err != nil {
			return false, fmt.Errorf("read thread: %w", err)
		}
		if th.Next > th.Cursor {
			open, err := c.m.ledger.ListEvents(ctx, sc.Tenant, store.EventQuery{State: store.EventPending, Scope: &sc, Thread: it.Turn.Session, Limit: 1})
			if err != nil {
				return false, fmt.Errorf("read events: %w", err)
			}
			th.open = len(open.Events) > 0
		}
		threads[it.Turn.Session] = th
	}
	return th.open && it.Turn.Position >= th.Cursor, nil
}

// thread is how far one was extracted, and whether an event of it is open.
type thread struct {
	store.ThreadState
	open bool
}

// summarise has a text written for a group, without those of its items that contradict each other. nil: it is left alone.
func (c *consolidator) summarise(ctx context.Context, sc store.Scope, g lifecycle.Group, res *Consolidated) (*summarised, error) {
	items, contradictions := uncontested(g.Items)
	res.Contradictions = first(append(res.Contradictions, contradictions...))
	leave := func(why string) (*summarised, error) {
		res.Left++
		res.Reasons[why]++
		return nil, nil
	}
	if len(items) < c.policy.Least {
		return leave("contradiction")
	}
	id := lifecycle.SummaryID(items, c.by.Name())
	if have, err := c.m.store.Get(ctx, sc, []string{id}); err != nil || len(have) > 0 {
		return nil, err // it was there once and is no longer: whoever took it back wants the items as they are
	}
	by := c.by
	if c.args.DryRun {
		by = lifecycle.Quotations{} // a question costs
	}
	if c.failed == mostUnanswered {
		return leave("unavailable")
	}
	limited, cancel := context.WithTimeout(ctx, summaryTimeLimit)
	text, err := by.Summarize(limited, sc, c.m.asShown(items))
	cancel()
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		c.failed++
		return leave("unavailable")
	}
	c.failed = 0
	if by.Name() != (lifecycle.Quotations{}).Name() { // a model may take long over a memory
		if err := c.p.Save(ctx, c.at, c.at.Items+c.at.Merged, 0); err != nil {
			return nil, err
		}
	}
	held, err := lifecycle.CheckSummary(text, items, c.policy.Least)
	if err != nil {
		return leave(whyLeft(err))
	}
	if len(held) < len(items) && by.Name() == (lifecycle.Quotations{}).Name() {
		return leave("thin")
	}
	it := lifecycle.NewSummary(store.CleanText(text), held, by.Name(), c.p.Operation().ID, c.m.now())
	it.ID = id
	if err := it.Prepare(c.m.limits); err != nil {
		return leave("long")
	}
	return &summarised{g.By, g.Words(), held, it}, nil
}

// uncontested leaves out the items that contradict another of the same speaker, and names the pairs.
func uncontested(items []store.Item) (left []store.Item, pairs []Contradiction) {
	claims := make([]contradict.Claims, len(items))
	for i := range items {
		claims[i] = contradict.Of(items[i].Content)
	}
	contested := make([]bool, len(items))
	for i := range items {
		for j := i + 1; j < len(items); j++ {
			if items[i].Turn.Speaker == items[j].Turn.Speaker && claims[i].Contradict(claims[j]) {
				contested[i], contested[j] = true, true
				pairs = append(pairs, Contradiction{items[i].ID, items[j].ID})
			}
		}
	}
	for i := range items {
		if !contested[i] {
			left = append(left, items[i])
		}
	}
	return left, pairs
}

func whyLeft(err error) string {
	for _, w := range [...]struct {
		err error
		why string
	}{{lifecycle.ErrEmpty, "empty"}, {lifecycle.ErrLong, "long"}, {lifecycle.ErrLanguage, "language"}} {
		if errors.Is(err, w.err) {
			return w.why
		}
	}
	return "thin"
}

// write makes summaries durable, each if its sources are what they were when it was written.
func (c *consolidator) write(ctx context.Context, sc store.Scope, ready []summarised) error {
	if len(ready) == 0 {
		return nil
	}
	unlock, err := c.m.hold(ctx, sc)
	if err != nil {
		return err
	}
	defer unlock()
	w := c.m.newWrite(sc)
	now := c.m.now()
	view := store.Current(now)
	for i := range ready {
		s := &ready[i]
		ids := append([]string{s.item.ID}, s.item.Provenance.Turns...)
		have, err := c.m.store.Get(ctx, sc, ids)
		if err != nil {
			return fmt.Errorf("read sources: %w", err)
		}
		if len(have) != len(s.sources) || slices.ContainsFunc(have, func(it store.Item) bool { return !view.Sees(&it) || it.Closed() || !s.rests(&it) }) {
			continue // changed meanwhile: the next run sees to it
		}
		for j := range have {
			have[j].Aside.Summary, have[j].Aside.SummarizedAt = s.item.ID, now
		}
		s.item.RecordedAt = now
		w.Put = append(append(w.Put, s.item), have...)
		w.Embed = append(w.Embed, s.item.ID)
	}
	if err := c.m.commit(ctx, w); err != nil {
		return fmt.Errorf("write summaries: %w", err)
	}
	return c.p.Save(ctx, c.at, c.at.Items+c.at.Merged, 0)
}

// rests reports whether an item is a source as it was.
func (s *summarised) rests(it *store.Item) bool {
	return slices.ContainsFunc(s.sources, func(x store.Item) bool { return x.ID == it.ID && x.TextKey() == it.TextKey() })
}

// count fills in what the operation wrote to a memory, by its marks: counts kept beside them could miss a step that a crash
// cut off.
func (c *consolidator) count(ctx context.Context, sc store.Scope, res *Consolidated) error {
	if c.args.DryRun {
		return nil
	}
	op := c.p.Operation().ID
	return c.m.eachItem(ctx, sc, func(it *store.Item) error {
		switch p := &it.Provenance; {
		case p.By == op && it.IsSummary():
			res.Summaries++
			res.Items += len(p.Turns)
		case p.By == op:
			res.Merged-- // the new version of the one that takes in
		case p.EndedBy == op:
			res.Merged++
		}
		return nil
	})
}
