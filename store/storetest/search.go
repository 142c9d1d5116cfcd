package storetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"evoke/scoring"
	"evoke/store"
)

func terms(text string) []scoring.QueryTerm { return scoring.QueryTerms(text) }

// queries draws queries over the words of the corpus with arms of different sizes.
func queries(seed uint64, n int) []store.Query {
	r := rand.New(rand.NewPCG(seed, 3))
	qs := make([]store.Query, n)
	for i := range qs {
		var text []string
		for range r.IntN(7) {
			text = append(text, pick(r, words))
		}
		qs[i] = store.Query{View: store.Current(now), Vector: unit(r, testDim), Terms: terms(strings.Join(text, " ")),
			Dense: r.IntN(40), Lexical: r.IntN(40), Recent: r.IntN(40), Important: r.IntN(40)}
	}
	return qs
}

// armsAgree: every arm nominates what an exhaustive reference nominates.
func armsAgree(t *testing.T, s store.Store) {
	items := corpus(20, 300)
	es := embeddings(20, items)
	fill(t, s, alice, items, es)
	ref := newReference(items, es)
	for _, q := range queries(20, 40) {
		c, err := s.Search(context.Background(), alice, q)
		must(t, err)
		ref.check(t, q, c)
	}
}

// armsWithinFilter: an arm's candidates are the best of those that the filter selects, not what is left of the best.
func armsWithinFilter(t *testing.T, s store.Store) {
	items := corpus(21, 300)
	es := embeddings(21, items)
	fill(t, s, alice, items, es)
	ref := newReference(items, es)
	size := 0.0
	fs := []store.Filter{
		{Kinds: []store.Kind{store.Procedural}},
		{Sessions: []string{"s1"}, Roles: []string{"user", ""}},
		{Metadata: []store.Condition{{Key: "size", Min: &size}}},
		{IDs: ids(items[100:110])},
		{Any: []store.Filter{{Categories: []store.Category{store.Goal}}, {IDs: ids(items[:3])}}, None: []store.Filter{{Speakers: []string{"Bo"}}}},
		{Threads: []string{"no such thread"}},
	}
	for i, q := range queries(21, 36) {
		q.Filter = fs[i%len(fs)]
		c, err := s.Search(context.Background(), alice, q)
		must(t, err)
		ref.check(t, q, c)
	}
}

// armsAsOf: the arms search the view, older versions included when it sees them.
func armsAsOf(t *testing.T, s store.Store) {
	items := corpus(22, 200)
	es := embeddings(22, items)
	fill(t, s, alice, items, es)
	ref := newReference(items, es)
	vs := manyViews()
	for i, q := range queries(22, 60) {
		q.View = vs[i*7%len(vs)]
		c, err := s.Search(context.Background(), alice, q)
		must(t, err)
		ref.check(t, q, c)
	}
}

// armsAlone: each arm can be asked alone, and none gives nothing.
func armsAlone(t *testing.T, s store.Store) {
	ctx := context.Background()
	items := corpus(23, 60)
	es := embeddings(23, items)
	fill(t, s, alice, items, es)
	ref := newReference(items, es)
	vector, query := unit(rand.New(rand.NewPCG(1, 1)), testDim), terms("tea Berlin 東京")
	for name, q := range map[string]store.Query{
		"dense": {Vector: vector, Dense: 7}, "lexical": {Terms: query, Lexical: 7}, "recent": {Recent: 7}, "important": {Important: 7},
		"vector for scores only": {Vector: vector, Recent: 7}, "no vector": {Dense: 7, Recent: 3}, "no terms": {Lexical: 7}, "nothing": {Vector: vector, Terms: query},
	} {
		q.View = store.Current(now)
		c, err := s.Search(ctx, alice, q)
		must(t, err)
		ref.check(t, q, c)
		if name == "nothing" && len(c.Records) != 0 {
			t.Errorf("no arm was asked and %d items came", len(c.Records))
		}
	}
}

func contextArm(t *testing.T, s store.Store) {
	ctx := context.Background()
	put(t, s, alice,
		turn("q", "s", 4, "Which sport do you prefer?"), turn("a1", "s", 5, "Tennis."), turn("a2", "s", 6, "And a swim."),
		turn("a3", "s", 7, "Nothing else."), turn("before", "s", 3, "Hello."), turn("other", "s2", 5, "Chess."), item("fact", "unrelated"))
	q := store.Query{View: store.Current(now), Terms: terms("sport"), Lexical: 10}
	c, err := s.Search(ctx, alice, q)
	must(t, err)
	got := map[string]map[store.Arm]int{}
	for _, r := range c.Records {
		got[r.Item.ID] = r.Ranks
	}
	want := map[string]map[store.Arm]int{"q": {store.LexicalArm: 1}, "a1": {store.ContextArm: 1}, "a2": {store.ContextArm: 2}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("nominated %v, want %v", got, want)
	}
	// An item that is a hit itself carries both ranks; the filter rules the arm too.
	q.Terms = terms("sport tennis")
	q.Filter = store.Filter{None: []store.Filter{{IDs: []string{"a2"}}}}
	c, err = s.Search(ctx, alice, q)
	must(t, err)
	for _, r := range c.Records {
		switch r.Item.ID {
		case "a1":
			if r.Ranks[store.LexicalArm] == 0 || r.Ranks[store.ContextArm] == 0 {
				t.Errorf("a hit behind a hit has ranks %v", r.Ranks)
			}
		case "a2":
			t.Error("the filter leaves a2 out")
		}
	}
}

func neighbours(t *testing.T, s store.Store) {
	ctx := context.Background()
	p2 := turn("p2", "s", 0, "two turns before")
	p1 := turn("p1", "s", 1, "one turn before")
	own := turn("own", "s", 2, "the turn itself")
	copied := turn("a fact", "s", 1, "a fact that stands at the same place")
	copied.Kind = store.Semantic
	retracted := turn("0", "s", 1, "never mind")
	retracted.RetractedAt = now.Add(-1)
	put(t, s, alice, own, p1, p2, copied, retracted, turn("far", "s", 100, "alone"), turn("elsewhere", "s9", 1, "another session"))
	items := []store.Item{own, p1, p2, copied, retracted}
	ref := newReference(items, nil)
	q := store.Query{View: store.Current(now), Filter: store.Filter{IDs: []string{"own", "p1"}}, Recent: 10}
	c, err := s.Search(ctx, alice, q)
	must(t, err)
	if len(c.Records) != 2 {
		t.Fatalf("%d records, want 2", len(c.Records))
	}
	for i := range c.Records {
		ref.checkRecord(t, q, &c.Records[i])
	}
	// What stands before follows deletions and moves.
	must(t, s.Apply(ctx, alice, store.Change{Delete: []string{"p1", "a fact"}}))
	p2.Turn.Position = 1
	put(t, s, alice, p2)
	ref = newReference([]store.Item{own, p2, retracted}, nil)
	q.Filter.IDs = []string{"own"}
	c, err = s.Search(ctx, alice, q)
	must(t, err)
	if len(c.Records) != 1 {
		t.Fatalf("%d records, want 1", len(c.Records))
	}
	ref.checkRecord(t, q, &c.Records[0])
}

// chunked: an item of several rows is nominated once, by its best.
func chunked(t *testing.T, s store.Store) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(5, 5))
	long, short := item("long", strings.TrimSpace(strings.Repeat("A sentence about tea. ", 80))), item("short", "tea")
	es := []store.Embedding{
		{ID: "long", Model: testModel, TextKey: long.TextKey(), Own: [][]float32{unit(r, testDim), unit(r, testDim), unit(r, testDim)}},
		{ID: "short", Model: testModel, TextKey: short.TextKey(), Own: [][]float32{unit(r, testDim)}},
	}
	fill(t, s, alice, []store.Item{long, short}, es)
	ref := newReference([]store.Item{long, short}, es)
	for i := range es[0].Own {
		q := store.Query{View: store.Current(now), Vector: es[0].Own[i], Dense: 1}
		c, err := s.Search(ctx, alice, q)
		must(t, err)
		ref.check(t, q, c)
		if len(c.Records) != 1 || c.Records[0].Item.ID != "long" || c.Records[0].Dense < 1.9 {
			t.Errorf("chunk %d does not find its item", i)
		}
	}
}

// followsWrites: a search that starts after a write returned sees it, write by write.
func followsWrites(t *testing.T, s store.Store) {
	ctx := context.Background()
	must(t, s.SetModel(ctx, testModel, testDim))
	r := rand.New(rand.NewPCG(30, 30))
	state := map[string]store.Item{}
	vectors := map[string]store.Embedding{}
	pool := corpus(30, 400)
	for step := range 120 {
		it := pool[r.IntN(len(pool))]
		it.ID = fmt.Sprintf("i%04d", r.IntN(25))
		switch old, exists := state[it.ID]; {
		case exists && r.IntN(4) == 0:
			must(t, s.Apply(ctx, alice, store.Change{Delete: []string{it.ID}}))
			delete(state, it.ID)
			delete(vectors, it.ID)
		case exists && r.IntN(3) == 0: // the same text, other properties
			old.Importance, old.Uses, old.RetractedAt, old.ValidTo = it.Importance, it.Uses, it.RetractedAt, old.ValidFrom
			put(t, s, alice, old)
			state[it.ID] = old
		case exists && r.IntN(2) == 0:
			e := randomEmbedding(r, &old)
			must(t, s.SetEmbeddings(ctx, alice, []store.Embedding{e}))
			vectors[it.ID] = e
		default:
			put(t, s, alice, it)
			if exists && old.TextKey() != it.TextKey() {
				delete(vectors, it.ID)
			}
			state[it.ID] = it
		}
		var items []store.Item
		for _, it := range state {
			items = append(items, it)
		}
		var es []store.Embedding
		for _, e := range vectors {
			es = append(es, e)
		}
		q := queries(uint64(step), 1)[0]
		c, err := s.Search(ctx, alice, q)
		must(t, err)
		newReference(items, es).check(t, q, c)
		if t.Failed() {
			t.Fatalf("at step %d", step)
		}
	}
}

func queryRefused(t *testing.T, s store.Store) {
	ctx := context.Background()
	items := corpus(24, 20)
	fill(t, s, alice, items, embeddings(24, items))
	for name, q := range map[string]store.Query{"dense": {Dense: -1}, "lexical": {Lexical: -1}, "recent": {Recent: -1}, "important": {Important: -1}, "too many": {Recent: 10001}} {
		_, err := s.Search(ctx, alice, q)
		wantErr(t, name, err, store.ErrInvalid)
	}
	nan := unit(rand.New(rand.NewPCG(1, 2)), testDim)
	nan[3] = float32(math.NaN())
	for name, v := range map[string][]float32{"dimension": make([]float32, testDim+1), "NaN": nan, "zeros": make([]float32, testDim), "empty": {}} {
		c, err := s.Search(ctx, alice, store.Query{View: store.View{All: true}, Vector: v, Dense: 5, Recent: 5})
		must(t, err)
		if len(c.Failed) != 1 || c.Failed[store.DenseArm] == nil {
			t.Errorf("%s: failed arms %v, want the dense one", name, c.Failed)
		}
		if len(c.Records) != 5 {
			t.Errorf("%s: %d records, want what the other arm gives", name, len(c.Records))
		}
		for i := range c.Records {
			if c.Records[i].Embedded {
				t.Errorf("%s: a record says that it has a dense score", name)
			}
		}
	}
}

// statistics follow the current items alone, whatever the query selects.
func statistics(t *testing.T, s store.Store) {
	ctx := context.Background()
	closed, retracted := item("closed", "tea once"), item("retracted", "tea never")
	closed.ValidTo = now.Add(1e12)
	retracted.RetractedAt = now
	put(t, s, alice, item("a", "tea"), item("b", "tea tea tea"), item("c", "coffee"), closed, retracted)
	word := terms("tea")
	for _, q := range []store.Query{
		{View: store.Current(now), Terms: word, Lexical: 1},
		{View: store.View{All: true}, Terms: word, Lexical: 1},
		{View: store.AsOf(now.AddDate(-1, 0, 0)), Terms: word, Lexical: 1},
		{View: store.Current(now), Terms: word, Recent: 1},
		{View: store.Current(now), Terms: word, Lexical: 1, Filter: store.Filter{IDs: []string{"c"}}},
	} {
		c, err := s.Search(ctx, alice, q)
		must(t, err)
		if c.Stats.Docs != 3 || c.Stats.DF[word[0].Term] != 2 || c.Pending != 3 {
			t.Errorf("%d items, %d with the term, %d pending; want 3, 2, 3", c.Stats.Docs, c.Stats.DF[word[0].Term], c.Pending)
		}
	}
}

// corrections: words that no current item has are taken as what they are a slip of, when that is asked for.
func corrections(t *testing.T, s store.Store) {
	ctx := context.Background()
	gone := item("gone", "gardenia")
	gone.RetractedAt = now
	put(t, s, alice, item("a", "the garden behind the kitchen"), item("b", "garden tools"), item("c", "coffee"), gone)
	for _, c := range []struct {
		query   string
		correct bool
		want    string
		best    string
	}{
		{"gadren tools", true, "garden tools", "b"},
		{"gadren tools", false, "gadren tools", "b"},
		{"kitchn", true, "kitchen", "a"},
		{"kitchn", false, "kitchn", ""},
		{"gardenai", true, "gardenai", ""}, // only a retracted item has what it is a slip of
		{"coffee", true, "coffee", "c"},    // nothing to correct
		{"kicthen gadren", true, "kitchen garden", "a"},
	} {
		got, err := s.Search(ctx, alice, store.Query{View: store.Current(now), Terms: terms(c.query), Correct: c.correct, Lexical: 5})
		must(t, err)
		if diff := cmp.Diff(terms(c.want), got.Terms); diff != "" {
			t.Errorf("%q, correct %v: %s", c.query, c.correct, diff)
		}
		for _, q := range got.Terms {
			n := 0
			for _, r := range got.Records {
				if slices.ContainsFunc(r.Doc.Terms(), func(f scoring.TermFreq) bool { return f.Term == q.Term }) {
					n++
				}
			}
			if got.Stats.DF[q.Term] != n {
				t.Errorf("%q: %q in %d items, want %d", c.query, q.Token, got.Stats.DF[q.Term], n)
			}
		}
		known := terms(c.query)
		for i := range known {
			known[i].Known = true
		}
		kept, err := s.Search(ctx, alice, store.Query{View: store.Current(now), Terms: known, Correct: true, Lexical: 5})
		must(t, err)
		if diff := cmp.Diff(known, kept.Terms); diff != "" {
			t.Errorf("%q as known words: %s", c.query, diff)
		}
		best := ""
		for _, r := range got.Records {
			if r.Ranks[store.LexicalArm] == 1 {
				best = r.Item.ID
			}
		}
		if best != c.best {
			t.Errorf("%q, correct %v: best %q, want %q", c.query, c.correct, best, c.best)
		}
	}
}

// unwritten: a scope that nobody wrote to is empty, not an error.
func unwritten(t *testing.T, s store.Store) {
	ctx := context.Background()
	c, err := s.Search(ctx, alice, store.Query{View: store.Current(now), Vector: make([]float32, 3), Terms: terms("x y"), Dense: 5, Lexical: 5, Recent: 5, Important: 5})
	must(t, err)
	if len(c.Records) != 0 || c.Stats.Docs != 0 || c.Pending != 0 {
		t.Errorf("%d records, %d items", len(c.Records), c.Stats.Docs)
	}
	got, err := s.Get(ctx, alice, []string{"a"})
	must(t, err)
	page, err := s.List(ctx, alice, store.ListQuery{})
	must(t, err)
	if len(got)+len(page.Items) != 0 || page.Next != "" {
		t.Error("an unwritten scope holds items")
	}
	must(t, s.Apply(ctx, alice, store.Change{}))
	must(t, s.Apply(ctx, alice, store.Change{Delete: []string{"none"}}))
	scs, err := s.Scopes(ctx, "acme")
	must(t, err)
	if !slices.Equal(scs, nil) {
		t.Errorf("scopes %v hold no items", scs)
	}
}
