package evoke

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"evoke/extract"
	"evoke/store"
)

// mostMerged is how many facts one may take in at once.
const mostMerged = 100

// merge has facts that say the same, by the write path's own comparison, become one: a new version of the surest of them with
// the evidence of all. The others are taken back, and so is nothing of the past; undoing the operation brings all back.
func (c *consolidator) merge(ctx context.Context, sc store.Scope, res *Consolidated) error {
	facts, err := c.mergeable(ctx, sc)
	if err != nil {
		return err
	}
	c.taken = map[string]bool{}
	gone := map[string]bool{}
	for i := range facts {
		if gone[facts[i].ID] {
			continue
		}
		takes, err := c.same(ctx, sc, &facts[i], gone)
		if err != nil {
			return err
		}
		if len(takes) == 0 {
			continue
		}
		gone[facts[i].ID] = true
		for _, id := range takes {
			gone[id] = true
		}
		if c.args.DryRun {
			for _, id := range takes {
				c.taken[id] = true
			}
			res.Merged += len(takes)
			res.Merges = first(append(res.Merges, FoundMerge{User: sc.User, Agent: sc.Agent, ID: facts[i].ID, Takes: takes}))
			continue
		}
		if err := c.mergeOne(ctx, sc, facts[i].ID, takes); err != nil {
			return err
		}
	}
	return nil
}

// mergeable lists the facts that hold, the surest first.
func (c *consolidator) mergeable(ctx context.Context, sc store.Scope) ([]store.Item, error) {
	q := store.ListQuery{
		Filter: store.Filter{Kinds: []store.Kind{store.Semantic, store.Procedural}}, View: store.Current(c.m.now()), Order: store.ByID, Limit: pageItems,
	}
	var out []store.Item
	for it, err := range store.Items(ctx, c.m.store, sc, q) {
		if err != nil {
			return nil, fmt.Errorf("read facts: %w", err)
		}
		if mayMerge(it) {
			out = append(out, *it)
		}
		if len(out) == maxConsolidated {
			break
		}
	}
	slices.SortStableFunc(out, surest)
	return out, nil
}

func surest(a, b store.Item) int {
	if a.Provenance.Evidence != b.Provenance.Evidence {
		return b.Provenance.Evidence - a.Provenance.Evidence
	}
	return a.RecordedAt.Compare(b.RecordedAt)
}

func mayMerge(it *store.Item) bool {
	return !it.IsProfile() && !it.OfTask() && it.ValidTo.IsZero() && it.ExpiresAt.IsZero() && !it.IsSummary() && it.Outcomes == (store.Outcomes{})
}

// same finds the facts that say what one says: alike in all that is not words, and the same by extract.Form.
func (c *consolidator) same(ctx context.Context, sc store.Scope, it *store.Item, gone map[string]bool) ([]string, error) {
	near := c.m.near(ctx, sc, it.Content)
	found, err := extract.Candidates(ctx, c.m.store, sc, store.Current(c.m.now()), it.Kind, it.Content, near)
	if err != nil {
		return nil, err
	}
	form := extract.NewForm(extract.StatementOf(it))
	once, err := c.mergedOnce(ctx, sc, it)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range found {
		o := &found[i]
		if o.ID == it.ID || gone[o.ID] || !mayMerge(o) || !alikeButWords(it, o) || len(out) == mostMerged {
			continue
		}
		other := extract.NewForm(extract.StatementOf(o))
		if form.Same(&other) == extract.Different && (!slices.Contains(near, o.ID) || !form.Near(&other)) {
			continue
		}
		apart, err := c.takenApart(ctx, sc, o, once)
		if err != nil {
			return nil, err
		}
		if !apart {
			out = append(out, o.ID)
		}
	}
	return out, nil
}

// takenApart reports whether a fact was merged before with one that once is of, and that was undone: whoever did so wants them
// as they are.
func (c *consolidator) takenApart(ctx context.Context, sc store.Scope, it *store.Item, once map[string]bool) (bool, error) {
	if len(once) == 0 {
		return false, nil
	}
	own, err := c.mergedOnce(ctx, sc, it)
	if err != nil {
		return false, err
	}
	for id := range own {
		if once[id] {
			return true, nil
		}
	}
	return false, nil
}

// mergedOnce are the ids of what a fact was merged into before, as long as it says what it said then. Nothing is read of one
// that no operation made.
func (c *consolidator) mergedOnce(ctx context.Context, sc store.Scope, it *store.Item) (map[string]bool, error) {
	into := map[string]bool{}
	if it.Provenance.By == "" {
		return into, nil
	}
	v := it
	for range mostMerged {
		if v.Supersedes == "" {
			break
		}
		found, err := c.m.store.Get(ctx, sc, []string{v.Supersedes})
		if err != nil {
			return nil, fmt.Errorf("read versions: %w", err)
		}
		if len(found) == 0 || found[0].Content != it.Content {
			break
		}
		if v = &found[0]; mergedAway(v) {
			into[v.SupersededBy] = true
		}
	}
	return into, nil
}

func alikeButWords(a, b *store.Item) bool {
	p, q := &a.Provenance, &b.Provenance
	return a.Category == b.Category && p.Durability == q.Durability &&
		(p.Subject == q.Subject || p.Subject == "" || q.Subject == "") && maps.EqualFunc(a.Metadata, b.Metadata, store.Value.Equal)
}

// mergeOne writes one merge, if all are still what they were found to be.
func (c *consolidator) mergeOne(ctx context.Context, sc store.Scope, id string, takes []string) error {
	unlock, err := c.m.hold(ctx, sc)
	if err != nil {
		return err
	}
	defer unlock()
	items, err := c.m.store.Get(ctx, sc, append([]string{id}, takes...))
	if err != nil {
		return fmt.Errorf("read facts: %w", err)
	}
	view := store.Current(c.m.now())
	if len(items) != len(takes)+1 || slices.ContainsFunc(items, func(it store.Item) bool { return !view.Sees(&it) || !mayMerge(&it) }) {
		return nil // changed meanwhile: the next run sees to it
	}
	form := extract.NewForm(extract.StatementOf(&items[0]))
	for i := range items[1:] {
		other := extract.NewForm(extract.StatementOf(&items[i+1]))
		if !form.Near(&other) {
			return nil
		}
	}
	op, now := c.p.Operation().ID, c.m.now()
	one := mergedOf(items)
	one.ID = uuid.NewSHA1(uuid.NameSpaceOID, []byte("merge\x00"+op+"\x00"+id)).String()
	one.RecordedAt, one.Supersedes, one.Provenance.By, one.Provenance.EndedBy = now, id, op, ""
	w := c.m.newWrite(sc)
	for i := range items {
		items[i].RetractedAt, items[i].SupersededBy, items[i].Provenance.EndedBy = now, one.ID, op
	}
	w.Put = append(items, one)
	w.Embed = []string{one.ID}
	if err := c.m.commit(ctx, w); err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	return c.p.Save(ctx, c.at, c.at.Items+c.at.Merged, 0)
}

// mergedOf is the first of several items with what all of them have: evidence, uses and turns added up, the earliest
// beginning, the greatest confidence and importance.
func mergedOf(items []store.Item) store.Item {
	one := items[0]
	one.Provenance.Turns = slices.Clone(one.Provenance.Turns)
	for i := range items[1:] {
		it := &items[i+1]
		one.Confidence, one.Importance = max(one.Confidence, it.Confidence), max(one.Importance, it.Importance)
		one.Uses += it.Uses
		one.Provenance.Evidence += it.Provenance.Evidence + 1
		one.Provenance.Corrections = max(one.Provenance.Corrections, it.Provenance.Corrections)
		if !it.ValidFrom.IsZero() && it.ValidFrom.Before(one.ValidFrom) {
			one.ValidFrom, one.Provenance.Zone, one.Provenance.Precision = it.ValidFrom, it.Provenance.Zone, it.Provenance.Precision
		}
		if it.LastUsed.After(one.LastUsed) {
			one.LastUsed = it.LastUsed
		}
		if it.Provenance.Said.After(one.Provenance.Said) {
			one.Provenance.Said = it.Provenance.Said
		}
		if one.Provenance.Subject == "" {
			one.Provenance.Subject = it.Provenance.Subject
		}
		for _, id := range it.Provenance.Turns {
			if !slices.Contains(one.Provenance.Turns, id) && len(one.Provenance.Turns) < mostMerged {
				one.Provenance.Turns = append(one.Provenance.Turns, id)
			}
		}
	}
	return one
}
