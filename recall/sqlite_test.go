package recall

import (
	"math"
	"testing"

	"evoke/store"
	"evoke/store/sqlitestore"
)

// The embedded store and a brute-force search bring the same answers: what decides is the second stage.
func TestSQLiteAnswersLikeBruteForce(t *testing.T) {
	ctx := t.Context()
	model := toy{axes: []string{"greyhound", "tea", "run", "pottery", "weekend"}}
	db, err := sqlitestore.OpenMemory(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.SetModel(ctx, model.Model().ID(), model.Model().Dim); err != nil {
		t.Fatal(err)
	}
	brute := newFake()
	var change store.Change
	var vectors []store.Embedding
	for _, r := range conversation().scopes[alice].records {
		it := r.Item
		it.RecordedAt = now
		if err := it.Prepare(store.Limits{}); err != nil {
			t.Fatal(err)
		}
		v, _ := model.EmbedQuery(ctx, it.Content)
		e := store.Embedding{ID: it.ID, Model: model.Model().ID(), TextKey: it.TextKey(), Own: [][]float32{v}, Context: v}
		change.Put = append(change.Put, it)
		vectors = append(vectors, e)
		brute.add(alice, it, e.Rows()...)
	}
	if err := db.Apply(ctx, alice, change); err != nil {
		t.Fatal(err)
	}
	if err := db.SetEmbeddings(ctx, alice, vectors); err != nil {
		t.Fatal(err)
	}
	a, b := engine(t, db, model, Options{}), engine(t, brute, model, Options{})
	for _, q := range []string{"Which animal did Jonas adopt?", "What is the greyhound called?", "green tea or coffee?", "Mira's pottery class", "when does he run", "", "11 May"} {
		req := Request{Query: q, Limit: 8, MinScore: ptr(0.0)}
		x, y := recall(t, a, req), recall(t, b, req)
		if len(x.Hits) != len(y.Hits) || x.Embedder != y.Embedder || x.Degraded != nil {
			t.Errorf("%q: %v and %v", q, ids(x), ids(y))
			continue
		}
		for i := range x.Hits {
			if math.Abs(x.Hits[i].Score-y.Hits[i].Score) > 0.01 { // vectors are kept in 8 bits
				t.Errorf("%q: %v %g and %v %g", q, ids(x), x.Hits[i].Score, ids(y), y.Hits[i].Score)
				break
			}
		}
	}
	// Also of items that were never nominated, and with the same scores.
	why := Request{Query: "Which animal did Jonas adopt?", Limit: 1, MinScore: ptr(0.0), WhyNot: []string{"1", "2", "6", "8", "nowhere"}}
	narrow := Options{Dense: 2, Lexical: 2, Recent: -1, Important: -1}
	x, y := recall(t, engine(t, db, model, narrow), why), recall(t, engine(t, brute, model, narrow), why)
	for i := range why.WhyNot {
		f, g := x.WhyNot[i], y.WhyNot[i]
		if (f.Outcome == NotFound) != (g.Outcome == NotFound) || math.Abs(f.Score-g.Score) > 0.01 {
			t.Errorf("%s: %s %g and %s %g", f.ID, f.Outcome, f.Score, g.Outcome, g.Score)
		}
	}
	// Another tenant's scope of the same name is empty.
	other := store.Scope{Tenant: "other", User: alice.User}
	res, err := a.Recall(ctx, []store.Scope{other}, Request{Query: "greyhound"})
	if err != nil || len(res.Hits) != 0 {
		t.Errorf("%v, %v", ids(res), err)
	}
}
