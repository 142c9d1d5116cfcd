package vectorize

import (
	"context"
	"fmt"
	"slices"
	"time"

	"evoke/scoring"
	"evoke/store"
)

// ViewsVersion names the text views below; it is part of a vector space's identity.
const ViewsVersion = "v1"

// job is one item with the texts that its vectors stand for.
type job struct {
	item    *store.Item
	own     []string // one text a chunk
	context string   // own text with the previous turn before it; "" for none
	vectors [][]float32
}

func (j *job) texts() []string {
	if j.context == "" {
		return j.own
	}
	return append(slices.Clip(j.own), j.context)
}

func (j *job) same(o *job) bool { return j.context == o.context && slices.Equal(j.own, o.own) }

func (j *job) embedding(model string) store.Embedding {
	e := store.Embedding{ID: j.item.ID, Model: model, TextKey: j.item.TextKey(), Own: j.vectors[:len(j.own)]}
	if j.context != "" {
		e.Context = j.vectors[len(j.own)]
	}
	return e
}

// plan reads the items and the turns before them and builds their views. Unknown ids are left out.
//
// A short item has one own view, "[8 May 2023] speaker: text"; a long one is chunked, without the date. A dated turn of
// one chunk also has a context view, the previous turn of its session followed by its own text.
func (w *Worker) plan(ctx context.Context, sc store.Scope, ids []string) (map[string]*job, error) {
	items, err := w.store.Get(ctx, sc, ids)
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	prev, err := w.previous(ctx, sc, items)
	if err != nil {
		return nil, err
	}
	jobs := make(map[string]*job, len(items))
	for i := range items {
		it := &items[i]
		j := &job{item: it}
		if chunks := scoring.Chunks(scoring.OwnView(it.Turn.Speaker, it.Content, time.Time{})); len(chunks) > 1 {
			j.own = chunks
		} else {
			j.own = []string{scoring.OwnView(it.Turn.Speaker, it.Content, it.Local())}
			if p := prev[place{it.Turn.Session, it.Turn.Position - 1}]; p != nil && it.Turn.IsTurn() && !it.ValidFrom.IsZero() && !it.IsSummary() {
				j.context = scoring.ContextView(p.Turn.Speaker, p.Content, it.Turn.Speaker, it.Content)
			}
		}
		jobs[it.ID] = j
	}
	return jobs, nil
}

type place struct {
	session  string
	position int
}

// previous reads the turns that stand just before the given ones. What was closed, retracted or forgotten gives no context.
func (w *Worker) previous(ctx context.Context, sc store.Scope, items []store.Item) (map[place]*store.Item, error) {
	bounds := map[string]store.PositionRange{}
	for i := range items {
		t := items[i].Turn
		if !t.IsTurn() || t.Position == 0 {
			continue
		}
		b, ok := bounds[t.Session]
		if !ok {
			b = store.PositionRange{From: t.Position - 1, To: t.Position}
		}
		bounds[t.Session] = store.PositionRange{From: min(b.From, t.Position-1), To: max(b.To, t.Position)}
	}
	out := map[place]*store.Item{}
	for session, r := range bounds {
		q := store.ListQuery{Filter: store.Filter{Sessions: []string{session}, Positions: r},
			View: store.View{All: true}, Order: store.ByID, Limit: 1000}
		for it, err := range store.Items(ctx, w.store, sc, q) {
			if err != nil {
				return nil, fmt.Errorf("read neighbours: %w", err)
			}
			if !it.IsSummary() && !it.Closed() && !it.Aside.Forgotten() {
				out[place{it.Turn.Session, it.Turn.Position}] = it
			}
		}
	}
	return out, nil
}
