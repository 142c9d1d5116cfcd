package recall

import (
	"context"
	"fmt"
	"slices"
	"time"

	"evoke/store"
)

// Outcome is what became of an item that Request.WhyNot names.
type Outcome string

// The outcomes, in the order of the steps that decide them.
const (
	Returned      Outcome = "returned"        // it is among the hits
	NotFound      Outcome = "not_found"       // no memory searched holds an item of this id
	NotInView     Outcome = "not_in_view"     // it is retracted, replaced or not valid at the time asked about
	Filtered      Outcome = "filtered"        // the filter does not select it
	NotNominated  Outcome = "not_nominated"   // no arm had it among its first
	BelowMinScore Outcome = "below_min_score" // its score is under the minimum
	IsDuplicate   Outcome = "duplicate"       // a better hit says the same
	BeyondLimit   Outcome = "beyond_limit"    // better items filled the page
	OverBudget    Outcome = "budget"          // a hit, but the block had no room for it (Context only)
	NotKnown      Outcome = "not_known"       // the memory could not be asked
)

// Fate tells what became of one named item, and why. Score, Parts, Rank and Explain are there for every item that was
// found, also where it never got as far as being ranked: they are what it would have had.
type Fate struct {
	ID      string  `json:"id"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail"` // the same in words, for a person
	Of      string  `json:"of,omitempty"`
	Score   float64 `json:"score"`
	Parts   Parts   `json:"parts"`
	// Rank counts from 1 among all candidates of this answer, duplicates too; 0 for an item that was not found.
	Rank    int          `json:"rank,omitempty"`
	Explain *Explanation `json:"explain,omitempty"`
}

// maxWhyNot bounds how many items a request may ask about.
const maxWhyNot = 20

func checkWhyNot(ids []string) error {
	if len(ids) > maxWhyNot {
		return store.Invalid("why_not", fmt.Sprintf("at most %d ids", maxWhyNot), fmt.Sprint(len(ids)))
	}
	for _, id := range ids {
		if id == "" || len(id) > 256 {
			return store.Invalid("why_not", "ids of 1 to 256 bytes", fmt.Sprintf("one of %d bytes", len(id)))
		}
	}
	return nil
}

// searched is one scope's answer, kept for those who ask why.
type searched struct {
	scope store.Scope
	place int
	found *store.Candidates
}

// whyNot tells the fate of every id asked about. all are the candidates, kept those of the page.
func (e *Engine) whyNot(ctx context.Context, p *plan, scopes []searched, all, kept []*candidate, res *Response) {
	named := slices.Clone(p.req.WhyNot)
	slices.Sort(named)
	named = slices.Compact(named)
	explained, failed := e.explainNamed(ctx, p, scopes, named)
	best := slices.Clone(all)
	slices.SortFunc(best, compare)
	for _, id := range p.req.WhyNot {
		if slices.ContainsFunc(res.WhyNot, func(f Fate) bool { return f.ID == id }) {
			continue
		}
		f := Fate{ID: id}
		if i := slices.IndexFunc(best, func(c *candidate) bool { return c.hit.Item.ID == id }); i >= 0 {
			p.fateOfCandidate(&f, best[i], i, kept, res)
			if x := explained[id]; x != nil {
				f.Explain = x.hit.Explain
			}
		} else {
			p.fateOfStranger(&f, explained[id], best, failed)
		}
		res.WhyNot = append(res.WhyNot, f)
	}
}

// explainNamed scores the named items as if every one had been nominated.
func (e *Engine) explainNamed(ctx context.Context, p *plan, scopes []searched, ids []string) (byID map[string]*candidate, failed error) {
	byID = map[string]*candidate{}
	q := *p
	q.req.Explain = true
	for _, s := range scopes {
		union := *s.found
		union.Records = slices.Clone(s.found.Records)
		missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			return slices.ContainsFunc(union.Records, func(r store.Record) bool { return r.Item.ID == id })
		})
		if len(missing) > 0 {
			extra, err := e.lookUp(ctx, s.scope, p, missing)
			if err != nil {
				failed = err
			} else {
				union.Records = append(union.Records, extra.Records...)
			}
		}
		scored, _ := e.score(ctx, &q, s.scope, s.place, &union)
		for _, c := range scored {
			id := c.hit.Item.ID
			if _, found := slices.BinarySearch(ids, id); found && (byID[id] == nil || compare(c, byID[id]) < 0) {
				byID[id] = c
			}
		}
	}
	return byID, failed
}

// lookUp reads items by id, whatever their state, with all that scoring needs.
func (e *Engine) lookUp(ctx context.Context, sc store.Scope, p *plan, ids []string) (*store.Candidates, error) {
	c, cancel := context.WithTimeout(ctx, share(ctx, searchShare, e.opts.SearchTimeout))
	defer cancel()
	q := store.Query{Filter: store.Filter{IDs: ids}, View: store.View{Now: p.now, All: true}, Vector: p.vector, Terms: p.terms, Correct: true, Important: len(ids)}
	if p.vector != nil {
		q.Dense = len(ids)
	}
	found, err := e.store.Search(c, sc, q)
	if err != nil {
		e.opts.Log.WarnContext(ctx, "recall: the items asked about could not be read", "error", err)
		return nil, err
	}
	for i := range found.Records {
		found.Records[i].Ranks = nil // of a search of its own
	}
	return found, nil
}

// fateOfCandidate is the fate of an item that was nominated; place is that among all candidates, from 0.
func (p *plan) fateOfCandidate(f *Fate, c *candidate, place int, kept []*candidate, res *Response) {
	f.Score, f.Parts, f.Rank, f.Explain = c.hit.Score, c.hit.Parts, place+1, c.hit.Explain
	if i := slices.Index(kept, c); i >= 0 {
		f.Outcome, f.Detail = Returned, fmt.Sprintf("it is hit %d", i+1)
		return
	}
	of := ""
	if d := slices.IndexFunc(res.Duplicates, func(d Duplicate) bool { return d.ID == f.ID }); d >= 0 {
		of = res.Duplicates[d].Of
	} else if k := p.duplicateOf(c, kept); k != nil {
		of = k.hit.Item.ID
	}
	switch {
	case !p.blank && c.hit.Score < p.minimum:
		f.Outcome, f.Detail = BelowMinScore, fmt.Sprintf("its score %.3f is under the minimum %.3f", c.hit.Score, p.minimum)
	case of != "":
		f.Outcome, f.Of, f.Detail = IsDuplicate, of, fmt.Sprintf("%s says the same and stands higher", of)
	default:
		f.Outcome, f.Detail = BeyondLimit, fmt.Sprintf("it is at rank %d with %.3f; the page of %d ends at %.3f", f.Rank, f.Score, len(kept), pageEnd(kept))
	}
}

func pageEnd(kept []*candidate) float64 {
	if len(kept) == 0 {
		return 0
	}
	return kept[len(kept)-1].hit.Score
}

// fateOfStranger is the fate of an item that was not nominated; c is nil when it is nowhere.
func (p *plan) fateOfStranger(f *Fate, c *candidate, best []*candidate, failed error) {
	if c == nil {
		f.Outcome, f.Detail = NotFound, "no memory that was searched holds an item of this id"
		if failed != nil {
			f.Outcome, f.Detail = NotKnown, "the memory could not be asked ("+reason(failed)+")"
		}
		return
	}
	it := &c.record.Item
	if it.Aside.Forgotten() { // nothing is told of what it says
		f.Outcome, f.Detail = NotInView, p.unseen(it)
		return
	}
	f.Score, f.Parts, f.Explain = c.hit.Score, c.hit.Parts, c.hit.Explain
	at, _ := slices.BinarySearchFunc(best, c, compare)
	f.Rank = at + 1
	switch {
	case !p.view.Sees(it):
		f.Outcome, f.Detail = NotInView, p.unseen(it)
	case !p.filter.Match(it):
		f.Outcome, f.Detail = Filtered, "the filter does not select it"
	default:
		f.Outcome, f.Detail = NotNominated, fmt.Sprintf("no arm had it among its first; its score %.3f would have been rank %d", f.Score, f.Rank)
	}
}

// unseen says in words why the view does not hold an item.
func (p *plan) unseen(it *store.Item) string {
	day := func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
	switch {
	case it.Aside.Forgotten():
		return "it was forgotten on " + day(it.Aside.ForgottenAt)
	case !it.ExpiresAt.IsZero() && !it.ExpiresAt.After(p.now):
		return "it was kept until " + day(it.ExpiresAt)
	case !it.RetractedAt.IsZero() && !it.RetractedAt.After(p.now):
		return "it was retracted on " + day(it.RetractedAt)
	case it.OfTask() && !slices.Contains(p.view.Threads, it.Turn.Thread):
		return "it holds for the task of its thread only"
	case it.Aside.Summary != "" && !p.view.Sources:
		return "the summary " + it.Aside.Summary + " stands in its place"
	case it.IsProfile():
		return "it is a section of the profile, which blocks and the profile show, and no search"
	case it.SupersededBy != "":
		return "it was replaced by " + it.SupersededBy
	case it.RecordedAt.After(p.now):
		return "it was not known before " + day(it.RecordedAt)
	case it.ValidFrom.After(p.now):
		return "it is not valid before " + day(it.ValidFrom)
	case !it.ValidTo.IsZero():
		return "it was valid until " + day(it.ValidTo)
	}
	return "it is not valid at the time asked about"
}

// inBlock turns the fates of a recall into those of a block: hits that it had no room for, and items that are in it for
// another reason than the query.
func inBlock(fates []Fate, b *Block) {
	for i := range fates {
		f := &fates[i]
		at := slices.IndexFunc(b.LeftOut, func(l LeftOut) bool { return l.ID == f.ID && l.Reason == "budget" })
		in := slices.IndexFunc(b.Entries, func(e Entry) bool { return e.ID == f.ID })
		switch {
		case f.Outcome == Returned && at >= 0:
			f.Outcome, f.Detail = OverBudget, fmt.Sprintf("it needs %d tokens, which the block of %d had not left", b.LeftOut[at].Tokens, b.Budget)
		case in >= 0 && (f.Outcome != Returned || b.Entries[in].Part != PartHit):
			f.Outcome, f.Detail = Returned, fmt.Sprintf("it is in the block, as %s", b.Entries[in].Part)
		}
	}
}
