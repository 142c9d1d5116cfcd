package extract

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"evoke/scoring"
	"evoke/store"
)

// alikeCandidates is how many items that share words with a statement are compared with it.
const alikeCandidates = 20

// facts reads the scope's current distilled items and, beside them, those that were stored otherwise and may make one of
// the statements that operations would store: by its exact words, by some of its words or, where near names them, by its
// meaning. Of what holds for one task only it reads the thread's.
func (w *Worker) facts(ctx context.Context, sc store.Scope, thread string, ops []Operation, turns map[string]store.Item, near map[string][]string) ([]store.Item, error) {
	view := store.Current(w.now())
	view.Threads = []string{thread}
	q := store.ListQuery{Filter: store.Filter{Kinds: []store.Kind{store.Semantic, store.Procedural}, Distilled: true}, View: view, Order: store.ByID, Limit: 1000}
	var out []store.Item
	for it, err := range store.Items(ctx, w.store, sc, q) {
		if err != nil {
			return nil, fmt.Errorf("list facts: %w", err)
		}
		if !it.IsSummary() {
			out = append(out, *it)
		}
	}
	have := map[string]bool{}
	for i := range out {
		have[out[i].ID] = true
	}
	for i := range ops {
		op := &ops[i]
		if op.Action != Add && op.Action != Supersede {
			continue
		}
		more, err := Candidates(ctx, w.store, sc, view, op.Kind, op.Content, near[op.Content])
		if err != nil {
			return nil, err
		}
		for _, it := range more {
			if !have[it.ID] {
				have[it.ID] = true
				out = append(out, it)
			}
		}
	}
	said := func(op *Operation) time.Time { t := turns[op.Turn]; return saidNow(t.ValidFrom, w.now()) }
	from := func(op *Operation) time.Time {
		if op.At.IsZero() {
			return said(op)
		}
		return op.At
	}
	old, err := versions(out, ops, said, from, func(id string) (*store.Item, error) { return one(ctx, w.store, sc, id) })
	return append(out, old...), err
}

// one reads an item, nil when there is none that is remembered.
func one(ctx context.Context, s store.Store, sc store.Scope, id string) (*store.Item, error) {
	items, err := s.Get(ctx, sc, []string{id})
	if err != nil || len(items) == 0 || items[0].Aside.Forgotten() {
		return nil, err
	}
	return &items[0], nil
}

// Versions reads the closed versions of an item's subject that Placement.Current must hold beside the current ones when
// the item begins no later than what stands of its subject.
func Versions(ctx context.Context, s store.Store, sc store.Scope, it *store.Item, current []store.Item) ([]store.Item, error) {
	op := Operation{Subject: it.Provenance.Subject, Speaker: it.Turn.Speaker}
	from := func(*Operation) time.Time { return it.ValidFrom }
	return versions(current, []Operation{op}, from, from, func(id string) (*store.Item, error) { return one(ctx, s, sc, id) })
}

// Candidates reads the items in a view that may make a statement: those with its exact key, those that share words with it
// and those of the ids near that are of its kind. It decides nothing.
func Candidates(ctx context.Context, s store.Store, sc store.Scope, view store.View, kind store.Kind, content string, near []string) ([]store.Item, error) {
	if !slices.Contains(store.Kinds(), kind) || store.CleanText(content) == "" {
		return nil, nil
	}
	of := store.Filter{Kinds: []store.Kind{kind}}
	exact := of
	exact.ContentKeys = []string{store.ContentKey(kind, store.CleanText(content))}
	page, err := s.List(ctx, sc, store.ListQuery{Filter: exact, View: view, Limit: 100})
	if err != nil {
		return nil, fmt.Errorf("list statements alike: %w", err)
	}
	out := page.Items
	if terms := scoring.QueryTerms(content); len(terms) > 0 {
		found, err := s.Search(ctx, sc, store.Query{Filter: of, View: view, Terms: terms, Lexical: alikeCandidates})
		if err != nil {
			return nil, fmt.Errorf("search statements alike: %w", err)
		}
		for i := range found.Records {
			out = append(out, found.Records[i].Item)
		}
	}
	if len(near) > 0 {
		items, err := s.Get(ctx, sc, near)
		if err != nil {
			return nil, fmt.Errorf("read statements alike: %w", err)
		}
		for i := range items {
			if view.Sees(&items[i]) && of.Match(&items[i]) {
				out = append(out, items[i])
			}
		}
	}
	out = slices.DeleteFunc(out, func(it store.Item) bool { return it.IsSummary() })
	slices.SortFunc(out, func(a, b store.Item) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(out, func(a, b store.Item) bool { return a.ID == b.ID }), nil
}

func isDistilled(it *store.Item) bool { return it.Provenance.Extractor != "" }

// mostNear bounds how many statements of one extraction are looked up in the vector space.
const mostNear = 64

// neighbours asks for the items that mean nearly what operations would store, by content. Without vectors, or when they
// cannot be had now, statements are compared by their words alone: nothing waits for an embedder.
func (w *Worker) neighbours(ctx context.Context, sc store.Scope, ops []Operation) map[string][]string {
	if w.opts.Neighbours == nil {
		return nil
	}
	near := map[string][]string{}
	for i := range ops {
		content := ops[i].Content
		if _, asked := near[content]; asked || ops[i].Action != Add && ops[i].Action != Supersede || len(near) == mostNear {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, nearWithin)
		items, err := w.opts.Neighbours(ctx, sc, content)
		cancel()
		if err != nil {
			w.opts.Logger.WarnContext(ctx, "statements are compared by their words alone", "error", reasonOf(err))
			return near
		}
		ids := make([]string, len(items))
		for j := range items {
			ids[j] = items[j].ID
		}
		near[content] = ids
	}
	return near
}

// nearWithin is how long one look at the vector space may take.
const nearWithin = 3 * time.Second
