package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"evoke/recall/tokens"
	"evoke/store"
)

const (
	mostStanding  = 50  // corrections and standing instructions looked at, the most important first
	mostBlockHits = 200 // hits of a block whose request names no limit
	tokensAHit    = 20  // about the least that one needs
	neighbourRoom = 40  // tokens that must be left for neighbours to be looked for
	neighboursOf  = 12  // hits whose neighbours are taken at the end, if there is room

	// The turns around the first five hits are worth more than the eleventh hit: on LoCoMo's development half (n = 703) the
	// share of questions whose whole evidence is in the block is 75.5, 80.4 and 87.1 % of 500, 1000 and 2000 tokens so,
	// and 73.4, 79.2 and 85.2 % with hits alone.
	earlyHits         = 10
	earlyNeighboursOf = 5

	mostSourcesLooked = 200
)

// Context answers a request with a block for a prompt that never exceeds its budget. A request that names no limit gets
// as many results as the budget may hold, from Options.BlockLimit to 200. Items that do not fit are left out, never cut
// unless by a passage that says so, and later ones that fit are taken. With a budget of 0 there is no block and nothing
// is searched. Errors are those of Recall.
//
// The block holds, in this order: the user's corrections and standing instructions, the sections of the profile, and the
// hits, where turns of one session and day are joined to one excerpt. An empty query is answered with recent and
// important items. The filter of the request holds for every part.
func (e *Engine) Context(ctx context.Context, scopes []store.Scope, req BlockRequest) (*Block, error) {
	if req.MaxTokens < 0 || req.MaxTokens > maxTokens {
		return nil, store.Invalid("max_tokens", fmt.Sprintf("from 0 to %d", maxTokens), fmt.Sprint(req.MaxTokens))
	}
	shape, err := req.Shape.validate()
	if err != nil {
		return nil, err
	}
	if req.Limit == 0 {
		req.Limit = max(e.opts.BlockLimit, min(mostBlockHits, req.MaxTokens/tokensAHit))
	}
	p, err := e.plan(scopes, req.Request)
	if err != nil {
		return nil, err
	}
	count, err := tokens.For(req.Tokenizer)
	if err != nil {
		return nil, err
	}
	if req.MaxTokens == 0 {
		return &Block{Tokenizer: count.Name(), Shape: shape, Items: []string{}, Empty: NoRoom, Response: Response{Hits: []Hit{}, Embedder: "none"}}, nil
	}
	searching, cancel := p.within(ctx)
	defer cancel()
	res, _, err := e.answer(searching, scopes, p)
	if err != nil {
		return nil, err
	}
	m := e.material(searching, scopes, p, res)
	b, err := pack(ctx, m, shape, req.MaxTokens, count)
	if err != nil {
		return nil, err
	}
	for _, d := range res.Duplicates {
		b.LeftOut = append(b.LeftOut, LeftOut{ID: d.ID, Reason: "duplicate"})
	}
	inBlock(res.WhyNot, b)
	b.Empty = blockEmptiness(b, res)
	b.Response = *res
	return b, nil
}

// material gathers what stands beside the hits, in the order of the scopes. A part that cannot be read is left out and
// named in Response.Degraded.
func (e *Engine) material(ctx context.Context, scopes []store.Scope, p *plan, res *Response) material {
	m := material{terms: p.terms}
	for i, sc := range scopes {
		standing, err := e.standing(ctx, sc, p)
		if err != nil {
			res.degrade("standing", reason(err))
		}
		for j := range standing {
			m.standing = append(m.standing, source{&standing[j], i})
		}
		sections, err := e.sections(ctx, sc, p)
		if err != nil {
			res.degrade("profile", reason(err))
		}
		for j := range sections {
			key := sections[j].ContentKey
			if !slices.ContainsFunc(m.profile, func(s source) bool { return s.item.ContentKey == key }) {
				m.profile = append(m.profile, source{&sections[j], i})
			}
		}
	}
	for i := range res.Hits {
		h := &res.Hits[i]
		if slices.ContainsFunc(m.standing, func(s source) bool { return s.item.ID == h.Item.ID && scopes[s.place] == h.Scope }) {
			continue
		}
		m.hits = append(m.hits, source{&h.Item, slices.Index(scopes, h.Scope)})
	}
	m.neighbours = func(hits []source) []source { return e.neighbours(ctx, scopes, p, hits) }
	return m
}

// read returns items of a scope that a filter selects beside that of the request.
func (e *Engine) read(ctx context.Context, sc store.Scope, p *plan, f store.Filter, profile bool, most int) ([]store.Item, error) {
	if !p.filter.IsZero() {
		f.All = append(f.All, p.filter)
	}
	view := p.view
	view.Profile = profile
	c, cancel := context.WithTimeout(ctx, share(ctx, searchShare/4, e.opts.SearchTimeout))
	defer cancel()
	found, err := e.store.Search(c, sc, store.Query{Filter: f, View: view, Important: most})
	if err == nil {
		err = found.Failed[store.ImportantArm]
	}
	if err != nil {
		e.opts.Log.WarnContext(ctx, "context: a part of the block could not be read", "error", err)
		return nil, fmt.Errorf("read: %w", err)
	}
	items := make([]store.Item, len(found.Records))
	for i := range found.Records {
		items[i] = found.Records[i].Item
	}
	return items, nil
}

// standing are the user's corrections, then the standing instructions, each the most important first.
func (e *Engine) standing(ctx context.Context, sc store.Scope, p *plan) ([]store.Item, error) {
	items, err := e.read(ctx, sc, p, store.Filter{Categories: []store.Category{store.Correction, store.Behavior}}, false, mostStanding)
	if err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(it store.Item) bool { return !stands(&it) })
	if items, err = e.spoken(ctx, sc, p, items); err != nil {
		return nil, err
	}
	slices.SortFunc(items, func(a, b store.Item) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(b.Importance, a.Importance), b.RecordedAt.Compare(a.RecordedAt), cmp.Compare(a.ID, b.ID))
	})
	return items, nil
}

func rank(it *store.Item) int {
	if it.Category == store.Correction {
		return 0
	}
	return 1
}

// spoken drops distilled items whose source turns are there and none of which a user spoke: what assistants and tools
// say is no instruction, whatever an extractor made of it.
func (e *Engine) spoken(ctx context.Context, sc store.Scope, p *plan, items []store.Item) ([]store.Item, error) {
	var ids []string
	for i := range items {
		if items[i].Provenance.Evidence == 0 {
			ids = append(ids, items[i].Provenance.Turns...)
		}
	}
	if len(ids) == 0 {
		return items, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	bare := *p
	bare.filter = store.Filter{}
	bare.view = store.View{Now: p.now, All: true}
	turns, err := e.read(ctx, sc, &bare, store.Filter{IDs: ids[:min(len(ids), mostSourcesLooked)]}, false, mostSourcesLooked)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(items, func(it store.Item) bool {
		found, user := false, false
		for i := range turns {
			if slices.Contains(it.Provenance.Turns, turns[i].ID) {
				found = true
				user = user || trustOf(&turns[i]) == OfUser
			}
		}
		return found && !user && it.Provenance.Evidence == 0
	}), nil
}

// sections are the sections of the profile, in their order, but for those that may still tell what was forgotten.
func (e *Engine) sections(ctx context.Context, sc store.Scope, p *plan) ([]store.Item, error) {
	keys := store.ProfileKeys()
	items, err := e.read(ctx, sc, p, store.Filter{ContentKeys: keys}, true, len(keys))
	if err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(it store.Item) bool { return it.ProfileStale() })
	slices.SortFunc(items, func(a, b store.Item) int {
		return cmp.Compare(slices.Index(keys, a.ContentKey), slices.Index(keys, b.ContentKey))
	})
	return items, nil
}

// neighbours are the turns before and behind the first hits, in the order of the hits. They are an extra: when they
// cannot be read there are none.
func (e *Engine) neighbours(ctx context.Context, scopes []store.Scope, p *plan, hits []source) []source {
	type spot struct {
		place           int
		thread, session string
		position        int
	}
	have := map[spot]bool{}
	at := func(s source, by int) spot {
		t := s.item.Turn
		return spot{s.place, t.Thread, t.Session, t.Position + by}
	}
	for _, h := range hits {
		have[at(h, 0)] = true
	}
	var wanted []spot
	for _, h := range hits[:min(len(hits), neighboursOf)] {
		if !h.item.Turn.IsTurn() || h.item.Kind != store.Episodic {
			continue
		}
		for _, by := range []int{-1, 1} {
			if w := at(h, by); w.position >= 0 && !have[w] {
				have[w] = true
				wanted = append(wanted, w)
			}
		}
	}
	found := map[spot]source{}
	for i, sc := range scopes {
		f := store.Filter{Kinds: []store.Kind{store.Episodic}}
		for _, w := range wanted {
			if w.place == i {
				f.Any = append(f.Any, store.Filter{Threads: threads(w.thread), Sessions: []string{w.session}, Positions: store.PositionRange{From: w.position, To: w.position + 1}})
			}
		}
		if len(f.Any) == 0 {
			continue
		}
		items, err := e.read(ctx, sc, p, f, false, len(f.Any))
		if err != nil {
			continue
		}
		for j := range items {
			s := source{&items[j], i}
			found[at(s, 0)] = s
		}
	}
	var out []source
	for _, w := range wanted {
		if s, ok := found[w]; ok {
			out = append(out, s)
		}
	}
	return out
}

func threads(t string) []string {
	if t == "" {
		return nil
	}
	return []string{t}
}
